/** The runtime over PostgreSQL: one process drives, is killed, and another one goes on as if on another machine. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { verify } from '../../src/replay/verify.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import type { RuntimeOptions } from '../../src/worker/runtime-options.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { startChild, type Child } from '../kit/child.ts';
import { CHORES, chores } from '../kit/chores.ts';
import { tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { eventsOf, soon, typesOf } from './children/stage.ts';

const ROUNDS = 5;
const BEGAN = Date.now();

/** No lease ever runs out for it, and it does not look from time to time: what it takes up it was told of. */
const still: Clock = {
  ...systemClock,
  now: () => BEGAN,
  after: (ms, callback, background) =>
    ms === LEASE_MS / 3 ? { cancel: () => undefined } : systemClock.after(ms, callback, background),
};

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

type Scene = { readonly url: string; readonly world: string; readonly acts: () => readonly string[] };

const scene = async (): Promise<Scene> => {
  const world = join(tempFolder(), 'world');
  const acts = (): readonly string[] => linesIn(world);
  return { url: await server.store(), world, acts };
};

/** A runtime that cannot see whether the other process lives, as if it were on another machine. */
const elsewhere = async (
  url: string,
  told: string[],
  more: Partial<RuntimeOptions> = {},
): Promise<Runtime> => {
  const agent = chores({
    policy: 'run',
    act: async (line) => void told.push(line),
    model: async (line) => void told.push(line),
    reconcile: () => ({ happened: false }),
  });
  const runtime = await openRuntime({
    store: more.store ?? (await openPostgres(url)),
    agents: [agent],
    isGone: () => false,
    ...more,
  });
  onTestFinished(() => runtime.close({ drainMs: 0 }));
  return runtime;
};

const sessionOf = async (child: Child): Promise<string> =>
  (await child.line((line) => line.startsWith('session '))).slice('session '.length);

const expectWhole = async (runtime: Runtime, session: string): Promise<void> => {
  const replay = { encoderOf: () => neutralEncoder, program: PROGRAM };
  const { findings } = await verify(runtime.store, session, { replay });
  expect(findings).toEqual([]);
};

describe.skipIf(reason !== undefined)(`two processes on one database${skipped}`, { timeout: 120_000 }, () => {
  test('after kill -9 the other one is told and takes over, and nothing has run twice that must not', async () => {
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { url, world, acts } = await scene();
      const child = startChild('child-agent.ts', [url, world, 'tools']);
      const session = await sessionOf(child);
      // Not before: a session that nobody drives yet is anybody's.
      await soon('the child drives it', () => acts().length > 0);
      const told: string[] = [];
      const runtime = await elsewhere(url, told, { clock: still });
      await soon('every chore has acted', () => acts().length === 1 + CHORES.length);
      expect(told).toEqual([]);
      await child.kill();
      const killed = performance.now();
      await soon('another driver', async () =>
        (await typesOf(runtime.store, session)).includes('driver.changed'),
      );
      took.push(performance.now() - killed);
      await soon('it rests', async () => (await runtime.rest(session)).status === 'in-doubt');
      expect(acts().filter((line) => line.startsWith('once'))).toHaveLength(1);
      expect(told.filter((line) => line.startsWith('once'))).toEqual([]);
      await expectWhole(runtime, session);
      await runtime.close({ drainMs: 0 });
    }
    const sorted = took.map(Math.round).toSorted((a, b) => a - b);
    console.log(`taken over after kill -9 within ${sorted.join(', ')} ms`);
  });

  test('a process that stands still longer than its lease is taken over from, and adds nothing when it goes on', async () => {
    const { url, world, acts } = await scene();
    const child = startChild('child-agent.ts', [url, world, 'tools']);
    const session = await sessionOf(child);
    await soon('every chore has acted', () => acts().length === 1 + CHORES.length);
    // The result of the one that has ended is written: in hand it would be evidence for whoever has taken over.
    await child.line((line) => line.startsWith('event ') && line.endsWith('call.result'));
    child.process.kill('SIGSTOP');
    const clock = { ...systemClock, now: () => Date.now() + LEASE_MS + 1000 };
    const told: string[] = [];
    const runtime = await elsewhere(url, told, { clock, drive: false });
    expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt' });
    const { length } = await runtime.store.read(session);
    child.process.kill('SIGCONT');
    await child.line((line) => line.endsWith('driver.changed'));
    expect(told.filter((line) => line.startsWith('once'))).toEqual([]);
    expect(await runtime.store.read(session)).toHaveLength(length);
    await expectWhole(runtime, session);
  });

  test('a message that one process takes in is driven by the other one, at once', async () => {
    const { url } = await scene();
    const told: string[] = [];
    // Neither does its store look for what nobody told it.
    const store = await openPostgres(url, { clock: { ...systemClock, monotonic: () => 0 } });
    const driver = await elsewhere(url, told, { store, clock: still });
    const door = await elsewhere(url, [], { drive: false });
    const began = performance.now();
    const { session } = await door.send({ agent: 'chores', message: 'Do the chores.', key: 'k' });
    await soon('the turn has ended', async () =>
      (await typesOf(driver.store, session)).includes('turn.ended'),
    );
    console.log(`sent to turn ended in the other process: ${Math.round(performance.now() - began)} ms`);
    expect(told).toHaveLength(2 + CHORES.length);
    await expectWhole(driver, session);
  });

  test('the server dies and comes back while a session is driven: the turn ends, and each chore has run once', async () => {
    const dying = await PostgresServer.start();
    try {
      const url = await dying.store();
      const told: string[] = [];
      const agent = chores({
        policy: 'run',
        act: async (line) => {
          told.push(line);
          // In the middle of the effects, with their results in hand.
          if (told.length === 1 + CHORES.length) await dying.crash().then(() => dying.run());
        },
        model: async (line) => void told.push(line),
      });
      const store = await openPostgres(url);
      const runtime = await openRuntime({ store, agents: [agent], isGone: () => false });
      onTestFinished(() => runtime.close({ drainMs: 0 }));
      const { session } = await runtime.send({ agent: 'chores', message: 'Do the chores.', key: 'k' });
      await soon('the turn has ended', async () => {
        const rest = await runtime.rest(session).catch(() => undefined);
        return rest?.status === 'done';
      });
      expect(told).toHaveLength(2 + CHORES.length);
      const events = await eventsOf(store, session);
      expect(events.filter((event) => event.type === 'call.result')).toHaveLength(CHORES.length);
      await expectWhole(runtime, session);
    } finally {
      await dying.stop();
    }
  });
});
