/**
 * Captured equals rebuilt: the bytes that arrive at a server are those that the store gives again, for every adapter
 * over a real socket, through calls, a retry, a broken stream, an approval and a second turn; and after a process was
 * killed between record and wire, what is on record is what the next one sends.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { LogStore } from '../../src/log/store.ts';
import type { Model } from '../../src/model/model.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { startChild } from '../kit/child.ts';
import { seededRandom, until } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { DIALECTS } from './dialects.ts';
import { keeper } from './keeper.ts';
import { converse, STEPS, type Dialect } from './scenario.ts';

type Wire = { readonly url: string; readonly arrived: Buffer[] };

/** Answers with the steps of the story, one a request, whoever asks. */
const serve = async ({ serve: answer }: Dialect): Promise<Wire> => {
  const left = [...STEPS];
  const arrived: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrived.push(Buffer.concat(chunks));
      void answer(left.shift() ?? { text: 'The story is over.' }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived };
};

const modelOf = ({ model }: Dialect, { url }: Wire): Model =>
  model({
    url,
    next: () => {
      throw new Error('a model over a socket asks the server');
    },
  });

const runtimeOn = async (store: LogStore, model: Model): Promise<Runtime> => {
  const runtime = await openRuntime({ store, agents: [keeper(model, [])], random: seededRandom(7) });
  onTestFinished(() => runtime.close());
  return runtime;
};

/** Of every attempt that was answered or failed, in order: the request from the store alone. */
const rebuilt = async (store: LogStore, session: string): Promise<readonly string[]> => {
  const events = (await store.read(session)).map(open);
  const source = {
    eventAt: (seq: number): LogEvent | undefined => events[seq - 1],
    blob: (digest: Parameters<LogStore['blob']>[0]) => store.blob(digest),
  };
  const bodies: string[] = [];
  let built = 0;
  for (const { type, seq } of events) {
    if (type === 'request.built') built = seq;
    if (type === 'response.received' || type === 'request.failed')
      bodies.push((await rebuildRequest(source, built)).body);
  }
  return bodies;
};

const expectSame = (arrived: readonly Buffer[], bodies: readonly string[]): void => {
  expect(arrived.map((bytes) => bytes.toString('utf8'))).toEqual(bodies);
  expect(arrived.every((bytes, i) => bytes.equals(Buffer.from(bodies[i] ?? '')))).toBe(true);
};

/** Plays on what the killed process left: the approval, the rest of the turn, the second turn. */
const finish = async (runtime: Runtime, session: string): Promise<void> => {
  await until('the ledger call waits', async () => (await runtime.rest(session)).approvals.length > 0);
  const [call] = (await runtime.state(session)).active?.calls.filter(({ phase }) => phase === 'asking') ?? [];
  if (call?.digest === undefined) throw new Error('No call waits.');
  const by = { kind: 'person', name: 'Ada' } as const;
  await runtime.decide({ session, call: call.id, digest: call.digest, decision: { do: 'approve' }, by });
  await runtime.rest(session);
  await runtime.send({ session, message: 'Thank you.', key: 'two' });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
};

describe.each(DIALECTS)('$name', (dialect) => {
  test('every request that arrived is the one that the store gives again, byte for byte', async () => {
    const wire = await serve(dialect);
    const store = openSqlite(tempFile());
    const session = await converse(await runtimeOn(store, modelOf(dialect, wire)), () => undefined);
    expect(wire.arrived).toHaveLength(STEPS.length);
    expectSame(wire.arrived, await rebuilt(store, session));
    // The rate limit and the broken stream were met with the same bytes again.
    expect(wire.arrived[2]).toEqual(wire.arrived[1]);
    expect(wire.arrived[4]).toEqual(wire.arrived[3]);
  });

  test('killed between record and wire: the next process sends what is on record, once', async () => {
    const { wire, file, session, before } = await killed(dialect);
    const store = openSqlite(file);
    await finish(await runtimeOn(store, modelOf(dialect, wire)), session);
    expect(before).toBe(1);
    expect(wire.arrived).toHaveLength(STEPS.length);
    expectSame(wire.arrived, await rebuilt(store, session));
  });

  test('so does another build, whose adapter would make other bytes of it; only its next request is its own', async () => {
    const { wire, file, session } = await killed(dialect);
    const store = openSqlite(file);
    const model = modelOf(dialect, wire);
    const later: Model = {
      ...model,
      encoder: {
        ...model.encoder,
        frame: (agent) => {
          const { head, tail } = model.encoder.frame(agent);
          return { head: head.replace('{', '{"later":true,'), tail };
        },
      },
    };
    await finish(await runtimeOn(store, later), session);
    expectSame(wire.arrived, await rebuilt(store, session));
    expect(wire.arrived.map((bytes) => bytes.includes('"later":true'))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });
});

type Killed = {
  readonly wire: Wire;
  readonly file: string;
  readonly session: string;
  /** Requests that had arrived when the process was killed. */
  readonly before: number;
};

const killed = async (dialect: Dialect): Promise<Killed> => {
  const wire = await serve(dialect);
  const file = tempFile();
  const child = startChild('child-captured.ts', [file, wire.url, dialect.name]);
  const session = (await child.line((line) => line.startsWith('session '))).slice('session '.length);
  await child.line((line) => line === 'built');
  await child.kill();
  return { wire, file, session, before: wire.arrived.length };
};
