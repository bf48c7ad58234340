/** kill -9, for real: what a process that was killed had begun, in the hands of the next one. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { verify } from '../../src/replay/verify.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { chores } from '../kit/chores.ts';
import { startChild, type Child } from '../kit/child.ts';
import { until } from '../kit/clock.ts';
import { tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';

type Scene = {
  readonly child: Child;
  readonly session: string;
  /** What has happened in the world so far, from the child's own record. */
  readonly world: () => readonly string[];
  /** Kills the child and opens the store here. */
  readonly resume: () => Promise<{ runtime: Runtime; store: SqliteLog; here: string[]; asked: string[] }>;
};

const scene = async (stop: string): Promise<Scene> => {
  const folder = tempFolder();
  const file = join(folder, 'log.db');
  const world = join(folder, 'world');
  const child = startChild('child-agent.ts', [file, world, stop]);
  const session = (await child.line((line) => line.startsWith('session '))).slice('session '.length);
  return {
    child,
    session,
    world: () => linesIn(world),
    resume: async () => {
      await child.kill();
      const here: string[] = [];
      const asked: string[] = [];
      const agent = chores({
        policy: stop === 'asked' ? 'ask' : 'run',
        act: async (line) => (here.push(line), `${line} done`),
        model: async (line) => void here.push(line),
        reconcile: (key) => (asked.push(key), { happened: true, result: 'It is there.' }),
      });
      const store = new SqliteLog(file);
      const runtime = await openRuntime({ store, agents: [agent] });
      onTestFinished(() => runtime.close());
      return { runtime, store, here, asked };
    },
  };
};

const eventsOf = async (store: SqliteLog, session: string): Promise<readonly LogEvent[]> =>
  (await store.read(session)).map(open);

const keyOf = (lines: readonly string[], name: string): string | undefined =>
  lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1];

test('while tools run: each kind as it has to be, and the model is asked once for each step', async () => {
  const { child, session, world, resume } = await scene('tools');
  for (const name of ['quick', 'slow', 'idempotent', 'reconcilable', 'once'])
    await child.line((line) => line.startsWith(`${name} `));
  await child.line((line) => line.startsWith('event ') && line.endsWith('call.result'));
  const { runtime, store, here, asked } = await resume();

  expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.5'] });
  // The finished read is reused, the lost one is run again, the write under its key again, the last one not at all.
  expect(new Set(here.map((line) => line.split(' ')[0]))).toEqual(new Set(['idempotent', 'slow']));
  expect(here).toHaveLength(2);
  expect(keyOf(here, 'idempotent')).toBe(keyOf(world(), 'idempotent'));
  expect(asked).toEqual([keyOf(world(), 'reconcilable')]);

  await runtime.settle({
    session,
    call: '1.1.5',
    settlement: { answer: 'happened', content: [{ type: 'text', text: 'I saw it.' }] },
  });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done', inDoubt: [] });
  expect([...world(), ...here].filter((line) => line.startsWith('model'))).toEqual([
    'model 1.1#1',
    'model 1.2#1',
  ]);
  expect([...world(), ...here].filter((line) => line.startsWith('once'))).toHaveLength(1);
  const events = await eventsOf(store, session);
  expect(events.filter((event) => event.type === 'driver.changed')).toHaveLength(1);
  expect((await verify(store, session)).findings).toEqual([]);
});

test('while the model is asked: the request is sent again, and may have been billed twice', async () => {
  const { child, session, resume } = await scene('model');
  await child.line((line) => line === 'model 1.1#1');
  const { runtime, store, here } = await resume();
  await runtime.rest(session);
  expect(here[0]).toBe('model 1.1#2');
  const retry = (await eventsOf(store, session)).find((event) => event.type === 'request.retry');
  expect(retry?.data).toMatchObject({ attempt: 2, reason: 'process-lost', maybeBilled: true });
  expect((await verify(store, session)).findings).toEqual([]);
});

test('while a person is waited for: the question stands, and the answer is executed once', async () => {
  const { child, session, resume } = await scene('asked');
  await child.line((line) => line.endsWith('approval.requested'));
  const { runtime, here } = await resume();
  expect(await runtime.rest(session)).toMatchObject({ status: 'waiting', approvals: ['1.1.1'] });
  expect(here).toEqual([]);
  const call = (await runtime.state(session)).active?.calls[0];
  if (!call?.digest) throw new Error('the call waits');
  await runtime.decide({ session, call: call.id, digest: call.digest, decision: { do: 'approve' } });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(here.map((line) => line.split(' ')[0])).toEqual(['once', 'model']);
});

test('the lease of a process that was killed is taken at once, without waiting for its end', async () => {
  const { child, session, resume } = await scene('tools');
  await child.line((line) => line.startsWith('once '));
  const { runtime, store } = await resume();
  // Nobody asks: opening is enough.
  await until('the session is taken up', async () =>
    (await eventsOf(store, session)).some((event) => event.type === 'driver.changed'),
  );
  expect(await runtime.rest(session)).toMatchObject({ inDoubt: ['1.1.5'] });
});

test('a turn that was accepted is never lost, whenever the process is killed', async () => {
  for (const word of ['session ', 'event 2 ', 'event 3 ', 'quick ', 'event 9 ', 'once ']) {
    const { child, session, resume } = await scene('tools');
    await child.line((line) => line.startsWith(word));
    const { runtime, store } = await resume();
    await runtime.rest(session);
    const events = await eventsOf(store, session);
    expect(events.some((event) => event.type === 'turn.accepted' && event.data.key === 'k')).toBe(true);
    expect(await runtime.send({ session, key: 'k', message: 'Do the chores.' })).toMatchObject({
      turn: 1,
      replayed: true,
    });
    expect((await verify(store, session)).findings).toEqual([]);
    await runtime.close();
  }
}, 120_000);
