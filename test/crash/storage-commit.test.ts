/**
 * A store whose answer is a fault, once, at every place in turn: before the work, or after it, which is a commit
 * whose outcome nobody knows. The session has to end as if nothing had been, with nothing done twice.
 */
import { describe, expect, test } from 'vitest';
import { MemoryLog } from '../../src/log/memory.ts';
import { StorageError, type LogStore } from '../../src/log/store.ts';
import type { Runtime } from '../../src/worker/runtime.ts';
import { audit } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

type Method = 'append' | 'read' | 'claim' | 'renew' | 'release' | 'head' | 'sessions';
type Side = 'before' | 'after';

class Faulty {
  readonly store: LogStore;
  /** How often the method was asked. */
  asked = 0;
  fired = 0;
  readonly #method: Method;
  readonly #side: Side;
  readonly #from: number;
  readonly #times: number;

  constructor(inner: LogStore, method: Method, side: Side, at: { from: number; times: number }) {
    this.#method = method;
    this.#side = side;
    this.#from = at.from;
    this.#times = at.times;
    this.store = {
      name: 'faulty',
      append: (append) => this.#ask('append', () => inner.append(append)),
      read: (session, from, to) => this.#ask('read', () => inner.read(session, from, to)),
      head: (session) => this.#ask('head', () => inner.head(session)),
      blob: (digest) => inner.blob(digest),
      sessions: (query) => this.#ask('sessions', () => inner.sessions(query)),
      counts: () => inner.counts(),
      claim: (request) => this.#ask('claim', () => inner.claim(request)),
      renew: (session, epoch, until) => this.#ask('renew', () => inner.renew(session, epoch, until)),
      release: (session, epoch) => this.#ask('release', () => inner.release(session, epoch)),
      changes: (listener) => inner.changes(listener),
      close: () => inner.close(),
    };
  }

  async #ask<T>(method: Method, work: () => Promise<T>): Promise<T> {
    if (method !== this.#method) return work();
    this.asked++;
    const fails = this.asked >= this.#from && this.asked < this.#from + this.#times;
    if (!fails) return work();
    this.fired++;
    if (this.#side === 'after') await work();
    throw new StorageError('io', `The answer to ${method} ${this.asked} is lost.`);
  }
}

const stageOver = (store: LogStore): Stage =>
  new Stage({
    store,
    policy: {
      rules: [
        { id: 'asks', when: [{ at: '/n', equals: 4 }], do: 'ask' },
        { id: 'all', do: 'allow' },
      ],
    },
    says: (_, step) => {
      if (step === 1)
        return {
          calls: [
            { tool: 'none', args: { n: 1 } },
            { tool: 'idempotent', args: { n: 2 } },
            { tool: 'reconcilable', args: { n: 3 } },
            { tool: 'once', args: { n: 4 } },
          ],
        };
      return step === 2 ? { calls: [{ tool: 'once', args: { n: 5, do: 'throw' } }] } : { text: 'Done.' };
    },
  });

/** Whoever is refused by the store asks again, exactly as before. */
const insist = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let i = 0; ; i++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError) || i > 20) throw error;
    }
  }
};

/** Lets time pass until the session waits for somebody or has come to its end. */
const settled = async (stage: Stage, runtime: Runtime, session: string, status: string): Promise<void> => {
  for (let i = 0; i < 200; i++) {
    await calm(4);
    const [row] = await insist(() => runtime.sessions());
    if (row?.session === session && row.summary.status === status) return;
    stage.clock.advance(100);
  }
  throw new Error(`${session} does not come to ${status}: ${(await stage.types(session)).join(' ')}`);
};

/** Message, approval, doubt, settlement, end. */
const play = async (stage: Stage): Promise<string> => {
  const runtime = await insist(() => stage.open());
  const { session } = await insist(() => runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' }));
  await settled(stage, runtime, session, 'waiting');
  const state = await insist(() => runtime.state(session));
  const digest = state.active?.calls[3]?.digest;
  if (!digest) throw new Error('call 4 waits');
  await insist(() => runtime.decide({ session, call: '1.1.4', digest, decision: { do: 'approve' } }));
  await settled(stage, runtime, session, 'in-doubt');
  await insist(() =>
    runtime.settle({ session, call: '1.2.1', settlement: { answer: 'happened', content: [] } }),
  );
  await settled(stage, runtime, session, 'done');
  return session;
};

const expectUndisturbed = async (stage: Stage, inner: MemoryLog, session: string): Promise<void> => {
  const rows = await inner.sessions();
  expect(rows.map((row) => row.session)).toEqual([session]);
  const events = await audit({ store: inner, world: stage.world, heard: stage.heard }, session);
  const types = events.map((event) => event.type);
  const count = (type: string): number => types.filter((one) => one === type).length;
  expect(types).not.toContain('driver.changed');
  expect({
    accepted: count('turn.accepted'),
    responses: count('response.received'),
    decided: count('approval.decided'),
    settled: count('call.settled'),
    doubted: count('call.doubted'),
    started: count('call.started'),
    results: count('call.result'),
    ended: count('turn.ended'),
  }).toEqual({
    accepted: 1,
    responses: 3,
    decided: 1,
    settled: 1,
    doubted: 1,
    started: 5,
    results: 5,
    ended: 1,
  });
  expect(stage.heard.map((one) => one.step)).toEqual([1, 2, 3]);
  expect(stage.world.executions.map((one) => one.args['n'])).toEqual([1, 2, 3, 4, 5]);
};

/** More than any of the methods is asked for in one play. */
const PLACES_MAX = 200;

const everyPlace = async (method: Method, side: Side, times: number): Promise<number> => {
  for (let from = 1; from <= PLACES_MAX; from++) {
    const inner = new MemoryLog();
    const faulty = new Faulty(inner, method, side, { from, times });
    const stage = stageOver(faulty.store);
    const session = await play(stage);
    if (faulty.fired === 0) return from - 1;
    await expectUndisturbed(stage, inner, session).catch((error: unknown) => {
      throw new Error(`With a fault ${side} ${method} ${from}: ${String(error)}`, { cause: error });
    });
    await stage.close();
  }
  throw new Error(`${method} is asked for more than ${PLACES_MAX} times`);
};

describe('a fault at every place', () => {
  test.each([
    ['append', 'before', 8],
    ['append', 'after', 8],
    ['read', 'before', 8],
    ['claim', 'before', 2],
    ['claim', 'after', 2],
    ['release', 'before', 2],
    ['release', 'after', 2],
    ['head', 'before', 2],
    ['sessions', 'before', 1],
  ] as const)('%s, %s the work: all ends as if nothing had been', async (method, side, least) => {
    // At least so many places, lest the test pass because nothing failed.
    expect(await everyPlace(method, side, 1)).toBeGreaterThanOrEqual(least);
  });

  test.each(['before', 'after'] as const)('three times in a row, %s the append', async (side) => {
    expect(await everyPlace('append', side, 3)).toBeGreaterThanOrEqual(8);
  });
});

describe('a fault of the store with a response in hand', () => {
  test('it is said as long as it lasts, and taken back after', async () => {
    const inner = new MemoryLog();
    // 1 creates the session, 2 builds the request; then the response is in hand.
    const faulty = new Faulty(inner, 'append', 'before', { from: 3, times: 4 });
    const stage = stageOver(faulty.store);
    const runtime = await stage.open();
    const { session } = await runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' });
    await calm(20);
    expect(runtime.storageFault).toMatchObject({ code: 'store-io', fault: 'io' });
    expect(stage.world.executions).toEqual([]);
    expect(stage.heard).toHaveLength(1);
    await settled(stage, runtime, session, 'waiting');
    expect(runtime.storageFault).toBeUndefined();
    expect(stage.heard).toHaveLength(1);
  });

  test('a claim that the store refuses is said as well, and tried again', async () => {
    const inner = new MemoryLog();
    const faulty = new Faulty(inner, 'claim', 'before', { from: 1, times: 1 });
    const stage = stageOver(faulty.store);
    const runtime = await stage.open();
    const { session } = await runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' });
    await calm(20);
    expect(runtime.storageFault).toMatchObject({ fault: 'io' });
    await settled(stage, runtime, session, 'waiting');
    expect(runtime.storageFault).toBeUndefined();
  });

  test('a stop in the middle of it does not throw the response away while there is time', async () => {
    const inner = new MemoryLog();
    const faulty = new Faulty(inner, 'append', 'before', { from: 3, times: 3 });
    const stage = stageOver(faulty.store);
    const runtime = await stage.open();
    const { session } = await runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' });
    await calm(20);
    expect(faulty.fired).toBeGreaterThan(0);
    const closed = runtime.close({ drainMs: 5000 });
    for (let i = 0; i < 20; i++) {
      await calm(4);
      stage.clock.advance(100);
    }
    await closed;
    const next = await stage.open();
    await settled(stage, next, session, 'waiting');
    const types = await stage.types(session);
    expect(types).not.toContain('driver.changed');
    expect(stage.heard).toHaveLength(1);
  });

  test('a read that fails while a tool runs does not lose the tool', async () => {
    const inner = new MemoryLog();
    let fails = false;
    const store: LogStore = {
      ...new Faulty(inner, 'append', 'before', { from: 0, times: 0 }).store,
      read: async (session, from, to) => {
        if (!fails) return inner.read(session, from, to);
        fails = false;
        throw new StorageError('io', 'The read failed.');
      },
    };
    const stage = new Stage({
      store,
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'long', args: { do: 'late', n: 1 } }] } : { text: 'Done.' },
      tools: (world) => [world.tool('long', 'once', { timeoutMs: 60_000 })],
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    await calm();
    // Another process appends: the driver looks, and the store does not answer.
    const speaker = await new Stage({ store: inner }).open({ drive: false });
    fails = true;
    await speaker.send({ session, key: 'more', message: 'More.' });
    await calm();
    expect(fails).toBe(false);
    for (let i = 0; i < 20; i++) {
      stage.clock.advance(200);
      await calm();
    }
    expect(await runtime.rest(session)).toMatchObject({ status: 'done', inDoubt: [] });
    expect(await stage.types(session)).not.toContain('driver.changed');
  });

  test('renewals that fail end no driver, and one that fails keeps no other from it', async () => {
    const inner = new MemoryLog();
    const renewed: string[] = [];
    const store: LogStore = Object.assign(Object.create(inner) as LogStore, {
      renew: async (session: string, epoch: number, until: number) => {
        renewed.push(session);
        if (renewed.length === 1) throw new StorageError('busy', 'Locked.');
        return inner.renew(session, epoch, until);
      },
    });
    for (const name of ['append', 'read', 'head', 'blob', 'sessions', 'claim', 'release', 'changes'] as const)
      Object.assign(store, { [name]: (inner[name] as (...args: never[]) => unknown).bind(inner) });
    const stage = new Stage({
      store,
      says: () => ({ calls: [{ tool: 'long', args: { do: 'hang' } }] }),
      tools: (world) => [world.tool('long', 'once', { timeoutMs: 600_000 })],
    });
    const runtime = await stage.open();
    for (const key of ['a', 'b', 'c']) {
      const { session } = await runtime.send({ agent: 'clerk', key, message: key });
      await stage.event(session, 'call.started');
    }
    stage.clock.advance(5000);
    await calm();
    expect(new Set(renewed).size).toBe(3);
    stage.clock.advance(5000);
    await calm();
    expect(renewed).toHaveLength(6);
  });
});
