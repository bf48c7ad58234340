/** Clocks that are set, machines that sleep: the order is the number, durations are measured, nothing waits longer. */
import { describe, expect, test } from 'vitest';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { audit } from '../kit/audit.ts';
import { calm, type FakeClock } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';
import { TOOL_TIMEOUT } from '../kit/world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS: number = 24 * HOUR_MS;

/** A store in memory that calls back after each append. */
const watched = (inner: MemoryLog, appended: (count: number) => void): LogStore => {
  let count = 0;
  return {
    name: 'watched',
    append: async (append) => {
      await inner.append(append);
      appended(++count);
    },
    read: (session, from, to) => inner.read(session, from, to),
    head: (session) => inner.head(session),
    blob: (digest) => inner.blob(digest),
    sessions: (query) => inner.sessions(query),
    counts: () => inner.counts(),
    claim: (request) => inner.claim(request),
    renew: (session, epoch, until) => inner.renew(session, epoch, until),
    release: (session, epoch) => inner.release(session, epoch),
    changes: (listener) => inner.changes(listener),
    close: () => inner.close(),
  };
};

type Played = {
  readonly types: readonly string[];
  readonly appends: number;
  /** Monotonic milliseconds from the message to the end. */
  readonly ms: number;
};

/** A failing request, calls that take long, run out of time and are tried again; `set` may set the wall clock. */
const play = async (set: (clock: FakeClock, append: number) => void): Promise<Played> => {
  const inner = new MemoryLog();
  let appends = 0;
  const stage: Stage = new Stage({
    store: watched(inner, (count) => {
      appends = count;
      set(stage.clock, count);
    }),
    says: (_, step, attempt) => {
      if (step === 1)
        return attempt < 3
          ? { error: { kind: 'overloaded' } }
          : {
              calls: [
                { tool: 'none', args: { do: 'retryable', n: 1 } },
                { tool: 'long', args: { do: 'late', n: 2 } },
                { tool: 'idempotent', args: { do: 'hang', n: 3 } },
              ],
            };
      return { text: 'Done.' };
    },
    tools: (world) => [
      world.tool('none', 'none'),
      world.tool('long', 'once', { timeoutMs: 10 * TOOL_TIMEOUT }),
      world.tool('idempotent', 'idempotent'),
    ],
  });
  const runtime = await stage.open();
  const session = await stage.send();
  for (let i = 0; i < 100; i++) {
    await calm(4);
    const { status } = (await stage.runtime.sessions())[0]?.summary ?? {};
    if (status !== 'running') break;
    stage.clock.advance(stage.clock.nextIn ?? 0);
  }
  const ms = stage.clock.monotonic();
  const events = await audit(stage, session, await runtime.state(session));
  await stage.close();
  return { types: events.map((event) => event.type), appends, ms };
};

describe('the wall clock is set', () => {
  test('once, after any append, back or forth: the same events in the same order, and nothing waits longer', async () => {
    const plain = await play(() => undefined);
    expect(plain.types).toContain('request.retry');
    expect(plain.types.filter((type) => type === 'call.retry').length).toBeGreaterThan(2);
    expect(plain.types.at(-1)).toBe('call.doubted');
    for (let at = 1; at <= plain.appends; at++)
      for (const jump of [-HOUR_MS, DAY_MS]) {
        const set = await play((clock, append) => {
          if (append === at) clock.setWall(jump);
        });
        expect({ at, jump, types: set.types }).toEqual({ at, jump, types: plain.types });
        expect(set.ms).toBeLessThanOrEqual(plain.ms);
      }
  });

  test('to and fro after every append', async () => {
    const plain = await play(() => undefined);
    const set = await play((clock, append) => clock.setWall(append % 2 === 0 ? -HOUR_MS - DAY_MS : DAY_MS));
    expect(set.types).toEqual(plain.types);
    expect(set.ms).toBeLessThanOrEqual(plain.ms);
  });

  test.each([-HOUR_MS, DAY_MS])(
    'by %i ms while a tool runs: how long it ran is what was measured',
    async (jump) => {
      const stage = new Stage({
        says: (_, step) =>
          step === 1 ? { calls: [{ tool: 'long', args: { do: 'late', n: 1 } }] } : { text: 'Done.' },
        tools: (world) => [world.tool('long', 'once', { timeoutMs: 10 * TOOL_TIMEOUT })],
      });
      const runtime = await stage.open();
      const session = await stage.send();
      await stage.event(session, 'call.started');
      await calm();
      stage.clock.setWall(jump);
      stage.clock.advance(2 * TOOL_TIMEOUT);
      // A day on the wall is no day of work: the turn goes on.
      expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
      const result = await stage.event(session, 'call.result');
      expect(result.data).toMatchObject({ ms: 2 * TOOL_TIMEOUT });
    },
  );

  test('back while a retry waits: it comes when it was planned', async () => {
    const stage = new Stage({
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'none', args: { do: 'retryable', n: 1 } }] } : { text: 'Done.' },
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.retry');
    stage.clock.setWall(-HOUR_MS);
    await calm();
    stage.clock.advance(100);
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.world.executions).toHaveLength(1);
  });

  test('back before the next process: what is left of a wait is never more than the wait', async () => {
    const stage = new Stage({
      says: (_, __, attempt) => (attempt === 1 ? { error: { kind: 'overloaded' } } : { text: 'Done.' }),
    });
    await stage.open();
    const session = await stage.send();
    await stage.event(session, 'request.retry');
    stage.crash();
    stage.clock.advance(LEASE_MS + 1);
    stage.clock.setWall(-DAY_MS);
    await stage.open();
    // The lease of the one before ends by the wall; this one waits for it to be gone.
    stage.clock.setWall(DAY_MS);
    await stage.runtime.sweep();
    await calm();
    stage.clock.advance(1000);
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done' });
  });
});

/** Both clocks go on at once, as where the system counts the sleep. */
const sleepWith = async (stage: Stage, ms: number): Promise<void> => {
  stage.clock.advance(ms);
  await calm(20);
};

describe('the machine sleeps', () => {
  test('while a retry waits: it is made when the machine wakes', async () => {
    const stage = new Stage({
      says: (_, __, attempt) => (attempt === 1 ? { error: { kind: 'overloaded' } } : { text: 'Done.' }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'request.retry');
    await sleepWith(stage, 8 * HOUR_MS);
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.heard).toHaveLength(2);
  });

  test('while the model is asked: the request is given up, sent again, and the turn goes on', async () => {
    const stage = new Stage({
      says: (_, __, attempt) =>
        attempt === 1 ? { text: 'Never heard.', delayMs: DAY_MS } : { text: 'Done.' },
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'request.built');
    await calm();
    await sleepWith(stage, 8 * HOUR_MS);
    await stage.event(session, 'request.retry');
    stage.clock.advance(1000);
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.heard.map((one) => one.attempt)).toEqual([1, 2]);
  });

  test('while a write runs: it is in doubt, and its result counts when it comes', async () => {
    const stage = new Stage({
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'once', args: { do: 'late', n: 1 } }] } : { text: 'Done.' },
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    await calm();
    await sleepWith(stage, 8 * HOUR_MS);
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(await stage.types(session)).toContain('call.late');
    expect(stage.world.executions).toHaveLength(1);
  });
});

test('a process that is away for a night is no night of work: the turn is taken up and comes to its end', async () => {
  const stage = new Stage({
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'none', args: { n: 1 } }] } : { text: 'Done.' }),
  });
  await stage.open();
  // Gone with the request under way.
  stage.crash(2);
  const sent = stage.runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' });
  const { session } = await sent;
  await calm();
  expect(stage.isCrashed).toBe(true);
  stage.clock.advance(12 * HOUR_MS);
  const runtime = await stage.open();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  const end = await stage.event(session, 'turn.ended');
  expect(end.data).toMatchObject({ outcome: 'done' });
});
