/** Two processes on one store: one drives, the other one speaks; one is gone or asleep, the other one takes over. */
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { SqliteLog, STORE_POLL_MS } from '../../src/log/sqlite.ts';
import type { LogStore } from '../../src/log/store.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { calm } from '../kit/clock.ts';
import { openSqlite, tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { Stage } from '../kit/stage.ts';
import { expectProof, keysOf, Scene, soon, typesOf } from './children/stage.ts';
import { trio } from './children/trio.ts';

/** From a decision in one process to the start of the call in the other one. */
const WAKE_MS_MAX = 200;

describe('one process drives, another one speaks', () => {
  test('an approval wakes the driving process', async () => {
    const scene = new Scene('once');
    // It never sweeps: what does not wake it never comes.
    const server = await scene.serve({ asks: true, still: true });
    await server.line((line) => line.endsWith('approval.requested'));
    const speaker = await scene.start({ drive: false, asks: true });
    speaker.say(`approve ${server.session}`);
    await speaker.line((line) => line === 'approved');
    await server.line((line) => line.startsWith('slow 3'));
    expect(STORE_POLL_MS).toBeLessThanOrEqual(WAKE_MS_MAX / 2);
    expect(speaker.lines.filter((line) => line.startsWith('slow'))).toEqual([]);
  });

  test('one answer of two wakes it, too', async () => {
    const file = join(tempFolder(), 'log.db');
    const stage = new Stage({
      store: openSqlite(file),
      policy: { rules: [] },
      says: () => ({ calls: [1, 2].map((n) => ({ tool: 'once', args: { n } })) }),
    });
    await stage.open();
    const session = await stage.send();
    const [first] = await stage.asking(session, '1.1.1', '1.1.2');
    // Another store on the same file sees and is seen as another process is.
    const speaker = await openRuntime({ store: openSqlite(file), agents: [], drive: false });
    const digest = first?.digest ?? ('' as never);
    await speaker.decide({ session, call: '1.1.1', digest, decision: { do: 'approve' } });
    await soon('the first call runs', () => stage.world.executions.length > 0);
    expect(stage.world.executions.map((one) => one.args['n'])).toEqual([1]);
  });

  test('a message from the other process is answered by the driving one', async () => {
    const scene = new Scene('once');
    const server = await scene.start();
    const speaker = await scene.serve({ drive: false });
    await server.line((line) => line.startsWith('slow 3'));
    server.say('settle');
    await speaker.line((line) => line.endsWith('turn.ended'));
    expect(speaker.lines.filter((line) => line.startsWith('model'))).toEqual([]);
  });
});

const worldByProcess = (scene: Scene): ReadonlyMap<number, readonly string[]> => {
  const lines = linesIn(join(scene.folder, 'world'));
  return Map.groupBy(lines, (line) => Number(line.split(' ')[0]));
};

describe('two processes want to drive', () => {
  test('one does; when it is killed the other one takes over at once and runs nothing twice', async () => {
    const scene = new Scene('once');
    // Their clocks stand still: the lease of the one that is killed never runs out, and nobody sweeps.
    const processes = await Promise.all([scene.start({ still: true }), scene.start({ still: true })]);
    for (const one of processes) one.say('send');
    await Promise.all(processes.map((one) => one.line((line) => line.startsWith('session '))));
    await soon('the slow call runs', () => scene.world.some((line) => line.startsWith('slow')));
    expect(worldByProcess(scene).size).toBe(1);
    const [pid] = worldByProcess(scene).keys();
    const winner = processes.find((one) => one.process.pid === pid);
    const loser = processes.find((one) => one.process.pid !== pid);
    if (!winner || !loser) throw new Error('one has won');
    const session = (winner.lines.find((line) => line.startsWith('session ')) ?? '').slice('session '.length);
    await soon(
      'two results',
      async () => winner.lines.filter((line) => line.endsWith(' call.result')).length === 2,
    );

    await winner.kill();
    loser.say(`rest ${session}`);
    // That the owner of the lease is gone is seen on this machine.
    await loser.line((line) => line === 'rest in-doubt');
    expect(scene.world.map((line) => line.split(' ')[0])).toEqual(['model', 'fast', 'fast', 'slow']);
    const store = openSqlite(scene.file);
    await expectProof(store, session);
    const types = await typesOf(store, session);
    expect(types.filter((type) => type === 'driver.changed')).toHaveLength(1);
    expect(types.filter((type) => type === 'turn.accepted')).toHaveLength(1);
  });
});

/** A clock some way ahead of another: to whoever reads it, leases of the others have run out. */
const ahead = (ms: number, clock: Clock): Clock => ({
  now: () => clock.now() + ms,
  monotonic: () => clock.monotonic(),
  after: (wait, callback, background) => clock.after(wait, callback, background),
});

describe('a driver that stands still for longer than its lease', () => {
  test('SIGSTOP: it is taken over from, and what its tool says when it goes on is evidence', async () => {
    const scene = new Scene('once');
    // It renews no lease: it is not stopped with the store's lock in its hand.
    const server = await scene.serve({ still: true });
    await server.line((line) => line.startsWith('slow 3'));
    await soon(
      'two results',
      () => server.lines.filter((line) => line.endsWith(' call.result')).length === 2,
    );
    server.process.kill('SIGSTOP');

    const told: string[] = [];
    const store = new SqliteLog(scene.file);
    const agent = trio({ kind: 'once', tell: (line) => told.push(line) });
    const clock = ahead(LEASE_MS + 1000, systemClock);
    // Without driving by itself: with its clock it would take every lease of the other one for run out.
    const runtime = await openRuntime({ store, agents: [agent], clock, drive: false });
    onTestFinished(() => runtime.close({ drainMs: 0 }));
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.3'] });

    server.process.kill('SIGCONT');
    server.say('settle');
    await soon('the end', async () => (await typesOf(store, server.session)).includes('turn.ended'));
    expect(told).toEqual([]);
    expect(scene.world.filter((line) => line.startsWith('model'))).toEqual(['model 1.1#1', 'model 1.2#1']);
    const events = await expectProof(store, server.session);
    const late = events.filter((event) => event.type === 'call.late');
    expect(late.map((event) => event.data)).toMatchObject([{ call: '1.1.3', outcome: { kind: 'ok' } }]);
    expect(events.filter((event) => event.type === 'call.result')).toHaveLength(2);
    expect(keysOf(scene.world, 'slow')).toHaveLength(1);
  });

  test('it has seen that it was taken over from before its tool is done: the result is evidence all the same', async () => {
    const inner = new MemoryLog();
    const stage = new Stage({
      store: inner,
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'once', args: { do: 'late', n: 1 } }] } : { text: 'Done.' },
      tools: (world) => [world.tool('once', 'once', { timeoutMs: 60_000 })],
    });
    await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    await calm();
    const other = await openRuntime({
      store: { ...bound(inner), close: async () => undefined },
      agents: [stage.agent],
      clock: ahead(LEASE_MS + 1, stage.clock),
      drive: false,
    });
    expect(await other.rest(session)).toMatchObject({ status: 'in-doubt' });
    await calm();
    stage.clock.advance(2000);
    await stage.event(session, 'turn.ended');
    const late = (await stage.events(session)).filter((event) => event.type === 'call.late');
    expect(late.map((event) => event.data)).toMatchObject([{ call: '1.1.1', outcome: { kind: 'ok' } }]);
    expect(stage.world.executions).toHaveLength(1);
    expect(stage.heard.map((one) => one.step)).toEqual([1, 2]);
  });

  test('a tool that says nothing is not spoken for by the driver that has lost it', async () => {
    const store = new MemoryLog();
    const stage = new Stage({
      store,
      says: (_, step) =>
        step === 1
          ? {
              calls: [
                { tool: 'once', args: { do: 'late', n: 1 } },
                { tool: 'once', args: { do: 'hang', n: 2 } },
              ],
            }
          : { text: 'Done.' },
      tools: (world) => [world.tool('once', 'once', { timeoutMs: 60_000 })],
    });
    await stage.open();
    const session = await stage.send();
    await stage.event(session, (event) => event.type === 'call.started' && event.data.call === '1.1.2');
    await calm();
    await takenOver(store, stage, session);
    stage.clock.advance(2000);
    await calm(20);
    stage.clock.advance(60_000);
    await calm(20);
    const late = (await stage.events(session)).filter((event) => event.type === 'call.late');
    expect(late.map((event) => event.data)).toMatchObject([{ call: '1.1.1', outcome: { kind: 'ok' } }]);
  });

  test('between the record of a start and the start: nothing is run by the one that was taken over from', async () => {
    const inner = new MemoryLog();
    const stage = new Stage({
      store: inner,
      says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' }),
    });
    const gate = Promise.withResolvers<void>();
    // Its clock goes on while it stands still, and none of its timers has rung yet when it goes on.
    let stood = 0;
    const clock: Clock = {
      now: () => stage.clock.now() + stood,
      monotonic: () => stage.clock.monotonic() + stood,
      after: (ms, callback) => stage.clock.after(ms, callback),
    };
    const runtime = await openRuntime({
      store: { ...bound(inner), close: async () => undefined },
      agents: [stage.agent],
      clock,
      faults: {
        reach: async (point, { what }) => {
          if (point === 'append.after' && what.includes('call.started')) await gate.promise;
        },
      },
    });
    onTestFinished(async () => {
      const closed = runtime.close({ drainMs: 0 });
      stage.clock.advance(0);
      await closed;
    });
    const { session } = await runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' });
    await stage.event(session, 'call.started');
    await takenOver(inner, stage, session);
    stood = LEASE_MS + 1;
    gate.resolve();
    await calm(30);
    expect(stage.world.executions).toEqual([]);
  });
});

/** Another process claims the session, as when the lease has run out. */
const takenOver = async (store: LogStore, stage: Stage, session: string): Promise<void> => {
  const owner = { id: 'other', host: 'other', boot: 'b', pid: 1, started: '' };
  const now = stage.clock.now() + 2 * LEASE_MS;
  const claim = await store.claim({ session, owner, now, leaseMs: LEASE_MS, isGone: () => false });
  expect(claim.won).toBe(true);
};

const bound = (store: LogStore): LogStore => ({
  name: store.name,
  append: (append) => store.append(append),
  read: (session, from, to) => store.read(session, from, to),
  head: (session) => store.head(session),
  blob: (digest) => store.blob(digest),
  sessions: (query) => store.sessions(query),
  counts: () => store.counts(),
  claim: (request) => store.claim(request),
  renew: (session, epoch, until) => store.renew(session, epoch, until),
  release: (session, epoch) => store.release(session, epoch),
  changes: (listener) => store.changes(listener),
  close: () => store.close(),
});
