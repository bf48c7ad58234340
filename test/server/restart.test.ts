/** The restart demonstration: a server is killed in every phase of a turn, and whoever asks does not notice. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OnrecordClient } from '../../src/client/client.ts';
import type { TurnView } from '../../src/server/schemas.ts';
import { tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { LONG } from '../kit/long.ts';
import { freePort } from '../kit/port.ts';
import { ServerProcess } from './server-process.ts';

const paymentsIn = (folder: string): readonly string[] => linesIn(join(folder, 'payments'));

/** Every moment at which a turn can be interrupted: before it is accepted, after, and at each step of its work. */
const EVERY_PHASE = [
  'command.before#1',
  'append.before#1',
  'append.after#1',
  'command.after#1',
  'append.before#2',
  'append.after#2',
  'request.before#1',
  'request.after#1',
  'append.before#3',
  'append.after#3',
  'call.before#1',
  'call.after#1',
  'append.before#4',
  'append.after#4',
  'request.before#2',
  'request.after#2',
  'append.before#5',
  'append.after#5',
];
/** Those around what cannot be taken back. */
const TELLING = ['append.after#1', 'request.after#1', 'call.before#1', 'call.after#1', 'append.after#4'];
const PHASES = LONG ? EVERY_PHASE : TELLING;

// Each starts processes, kills them and starts others.
const PATIENCE = { timeout: 240_000 };
/** As long as a door lets a client wait. */
const WAIT_SECONDS = 60;

describe('kill -9 of the server', PATIENCE, () => {
  test.each(PHASES)('at %s: one turn, one set of effects, and the client never noticed', async (phase) => {
    const folder = tempFolder();
    const port = await freePort();
    const first = new ServerProcess(folder, port, phase);
    const { token } = await first.ready;
    // Somebody starts it again, as a service manager would.
    const again = first.ended.then((signal) => ({ signal, second: new ServerProcess(folder, port) }));
    const client = new OnrecordClient({ url: await first.url, token: token ?? '', attempts: 40 });
    const turn: TurnView = await client.createSession(
      { agent: 'clerk', message: 'Pay the bill.' },
      { key: 'bill-7', waitSeconds: WAIT_SECONDS },
    );
    const { signal, second } = await again;
    expect(signal).toBe('SIGKILL');
    await second.ready;
    expect(turn).toMatchObject({ turn: 1, state: 'done', text: 'Paid.', key: 'bill-7' });
    const once = await client.createSession({ agent: 'clerk', message: 'Pay the bill.' }, { key: 'bill-7' });
    expect(once).toMatchObject({ session: turn.session, turn: 1 });
    const types: string[] = [];
    for await (const { type } of client.events(turn.session)) types.push(type);
    expect(types.filter((type) => type === 'turn.accepted')).toHaveLength(1);
    expect(types.filter((type) => type === 'call.proposed')).toHaveLength(1);
    expect(new Set(paymentsIn(folder)).size).toBe(1);
    await second.stop();
  });

  test('a stream over the kill goes on where it broke off, without loss or repeat', async () => {
    const folder = tempFolder();
    const port = await freePort();
    const first = new ServerProcess(folder, port, 'call.after#1');
    const { token } = await first.ready;
    const again = first.ended.then(() => new ServerProcess(folder, port));
    const client = new OnrecordClient({ url: await first.url, token: token ?? '', attempts: 40 });
    const { session } = await client.createSession({ agent: 'clerk', message: 'Pay.' }, { key: 'k' });
    const seqs: number[] = [];
    for await (const item of client.stream(session, { turn: 1 }))
      if (item.kind === 'event') seqs.push(item.event.seq);
    const head = (await client.session(session)).head;
    expect(seqs).toEqual(Array.from({ length: head }, (_, i) => i + 1));
    await (await again).stop();
  });
});

describe('two servers on one store', PATIENCE, () => {
  test('the same key sent by fifty clients at once is one turn and one payment', async () => {
    const folder = tempFolder();
    const one = new ServerProcess(folder, 0);
    const { token = '' } = await one.ready;
    const two = new ServerProcess(folder, 0);
    const urls = [await one.url, await two.url];
    const clients = Array.from(
      { length: 50 },
      (_, i) => new OnrecordClient({ url: urls[i % 2] ?? '', token }),
    );
    const turns = await Promise.all(
      clients.map((client) =>
        client.createSession({ agent: 'clerk', message: 'Pay.' }, { key: 'same', waitSeconds: WAIT_SECONDS }),
      ),
    );
    expect(new Set(turns.map(({ session, turn, state }) => `${session} ${turn} ${state}`)).size).toBe(1);
    expect(turns[0]).toMatchObject({ turn: 1, state: 'done' });
    expect(paymentsIn(folder)).toHaveLength(1);
    const client = clients[0];
    const accepted: unknown[] = [];
    for await (const event of client?.events(turns[0]?.session ?? '') ?? [])
      if (event.type === 'turn.accepted') accepted.push(event);
    expect(accepted).toHaveLength(1);
    await Promise.all([one.stop(), two.stop()]);
  });
});
