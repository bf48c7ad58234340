/** What a step costs in counts, which no machine changes: commits, statements, bytes, and what a state holds. */
import { Session } from 'node:inspector/promises';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import { workAgent } from '../../bench/agent.ts';
import { commitsOf, cpuMs, usedBytes } from '../../bench/probe.ts';
import { QUESTION, resultAt, turnAt } from '../../bench/work.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { GROW_AFTER_COMMITS } from '../../src/log/sqlite.ts';
import type { Blob, LogStore } from '../../src/log/store.ts';
import { evolve, initial } from '../../src/session/evolve.ts';
import type { SessionState } from '../../src/session/state.ts';
import { summaryOf } from '../../src/session/summary.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';

/** Twice BEGIN, the question whether anybody else has written, and COMMIT; an INSERT for each of the five events of a step. */
const STATEMENTS_PER_STEP = 11;
/** Bodies and hashes of these events; the work itself has about 1,500 bytes. */
const CONTENT_BYTES_PER_STEP_MAX = 2850;
/** The same in pages, with what SQLite needs around it: a table of the bare work takes 2,090, two thirds of it. */
const PAGE_BYTES_PER_STEP_MAX = 3160;
/** Objects and texts that are made and thrown away again, as the engine samples them; the work itself makes a sixth. */
const ALLOCATED_BYTES_PER_STEP_MAX = 105_000;
/** More than any table of this process that is meant for a few. */
const SESSIONS_AT_ONCE = 600;
/** What a new session begins with: that it was made, and its first message. */
const EVENTS_OF_A_MESSAGE = 2;
const TURNS = 60;
const LONG_STEPS = 10_000;
/** To open a session and to go on with it, in times that it takes to read its log; quadratic work is hundreds of them. */
const OPENING_TIMES_MAX = 4;
const GOING_ON_TIMES_MAX = 8;
/** Ends a hopeless wait. */
const LONG_TIMEOUT_MS = 600_000;

/** Polls and lease renewals come by the clock and would be counted with the steps. */
const stillClock: Clock = {
  ...systemClock,
  after: (ms, callback, background) =>
    background === true ? { cancel: () => undefined } : systemClock.after(ms, callback),
};

type Run = { readonly store: LogStore; readonly steps: number; readonly began?: (step: number) => void };

const runSession = async ({ store, steps, began }: Run): Promise<string> => {
  const agent = workAgent({ steps: () => steps, ...(began && { began }) });
  const runtime = await openRuntime({ store, agents: [agent], clock: stillClock, drive: false });
  const { session } = await runtime.send({ agent: agent.definition.name, message: QUESTION });
  const { status } = await runtime.rest(session);
  expect(status).toBe('done');
  return session;
};

/** A count at each model call, and so its growth in each step. */
const growths = async (steps: number, path: string, count: () => number): Promise<readonly number[]> => {
  const counts: number[] = [];
  const store = openSqlite(path, { clock: stillClock });
  await runSession({ store, steps, began: () => counts.push(count()) });
  return counts.slice(1).map((value, i) => value - (counts[i] ?? 0));
};

/** Sessions of so many steps each in their own store: bytes of it all, as `measure` sees them. */
const bytesPerStep = async (steps: number, measure: (db: DatabaseSync) => number): Promise<number> => {
  const sizeAt = async (length: number): Promise<number> => {
    const path = tempFile();
    const store = openSqlite(path, { clock: stillClock, durability: 'normal' });
    await runSession({ store, steps: length });
    const db = new DatabaseSync(path);
    try {
      return measure(db);
    } finally {
      db.close();
    }
  };
  return ((await sizeAt(steps)) - (await sizeAt(0))) / steps;
};

const contentBytes = (db: DatabaseSync): number => {
  const { bytes } = db
    .prepare(
      `SELECT (SELECT sum(length(hash) + length(CAST(body AS BLOB)) + 6 + length(coalesce(type, ''))) FROM event)
            + (SELECT sum(length(digest) + length(body)) FROM blob) AS bytes`,
    )
    .get() as { bytes: number };
  return bytes;
};

const within = (value: number, of: number, part: number): boolean => Math.abs(value / of - 1) <= part;

const eventsRead = async ({ mock }: MockInstance<LogStore['read']>): Promise<number> => {
  const pages = await Promise.all(mock.results.map(({ value }) => value as ReturnType<LogStore['read']>));
  return pages.reduce((sum, page) => sum + page.length, 0);
};

afterEach(() => void vi.restoreAllMocks());

describe('the work of the benchmark', () => {
  it('has the sizes that the results speak of, at every step', () => {
    for (const step of [0, 7, 999, 9_999]) {
      expect(turnAt(step).text).toHaveLength(300);
      expect(within(JSON.stringify(turnAt(step).args).length, 190, 0.1)).toBe(true);
      expect(within(JSON.stringify(resultAt(step)).length, 1000, 0.1)).toBe(true);
    }
    expect(turnAt(3)).toEqual(turnAt(3));
    expect(turnAt(3).text).not.toBe(turnAt(4).text);
  });
});

describe('a step', { timeout: LONG_TIMEOUT_MS }, () => {
  it('is two durable commits, no more and no fewer', async () => {
    const path = tempFile();
    const commits = await growths(40, path, () => commitsOf(path));
    expect(commits).toEqual(Array.from({ length: 40 }, () => 2));
  });

  it('runs the same few statements at the beginning of a session and far into it', async () => {
    const spies = [
      vi.spyOn(StatementSync.prototype, 'run'),
      vi.spyOn(StatementSync.prototype, 'get'),
      vi.spyOn(StatementSync.prototype, 'all'),
      vi.spyOn(DatabaseSync.prototype, 'exec'),
    ];
    const statements = (): number => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const counts = await growths(300, tempFile(), statements);
    // Once, early on, the write-ahead log is given its length.
    const [grown, ...others] = counts.flatMap((count, i) => (count === STATEMENTS_PER_STEP ? [] : [i]));
    expect(grown).toBeLessThan(GROW_AFTER_COMMITS);
    expect(others).toEqual([]);
  });

  it('stores the same number of bytes after 10, 100 and 1,000 steps', async () => {
    const [ten, hundred, thousand] = [
      await bytesPerStep(10, contentBytes),
      await bytesPerStep(100, contentBytes),
      await bytesPerStep(1000, contentBytes),
    ];
    expect(within(hundred, ten, 0.05)).toBe(true);
    expect(within(thousand, ten, 0.05)).toBe(true);
    expect(thousand).toBeLessThanOrEqual(CONTENT_BYTES_PER_STEP_MAX);
  });

  it('takes the same number of pages after 100 and 1,000 steps', async () => {
    const pages = [await bytesPerStep(100, usedBytes), await bytesPerStep(1000, usedBytes)] as const;
    expect(within(pages[1], pages[0], 0.05)).toBe(true);
    expect(pages[1]).toBeLessThanOrEqual(PAGE_BYTES_PER_STEP_MAX);
  });

  it('allocates the same at the beginning of a session and far into it, and not much', async () => {
    const short = await allocatedPerStep(300);
    const long = await allocatedPerStep(1500);
    console.log(`allocated a step: ${Math.round(short)} bytes in 300 steps, ${Math.round(long)} in 1,500`);
    expect(short).toBeLessThanOrEqual(ALLOCATED_BYTES_PER_STEP_MAX);
    expect(long).toBeLessThanOrEqual(ALLOCATED_BYTES_PER_STEP_MAX);
  });
});

describe(`${SESSIONS_AT_ONCE} sessions at once`, { timeout: LONG_TIMEOUT_MS }, () => {
  const agent = workAgent({ steps: () => 5 });
  const message = { agent: agent.definition.name, message: QUESTION };

  /** Events that this process has read until all of them rest: those that it is sent, and those that another one has accepted. */
  const readFor = async (accepted: readonly string[], sent: number): Promise<number> => {
    const read = vi.spyOn(store, 'read');
    const runtime = await openRuntime({ store, agents: [agent], clock: stillClock });
    await Promise.all([
      ...accepted.map((session) => runtime.rest(session)),
      ...Array.from({ length: sent }, async () => runtime.rest((await runtime.send(message)).session)),
    ]);
    await runtime.close();
    return eventsRead(read);
  };
  const store = new MemoryLog();

  it('are not read at all where they begin', async () => {
    expect(await readFor([], SESSIONS_AT_ONCE)).toBe(0);
  });

  it('are each read once where another process has accepted them, and not again when they rest', async () => {
    const door = await openRuntime({ store, agents: [agent], clock: stillClock, drive: false });
    const sent = await Promise.all(Array.from({ length: SESSIONS_AT_ONCE }, () => door.send(message)));
    await door.close();
    const sessions = sent.map(({ session }) => session);
    expect((await readFor(sessions, 0)) / SESSIONS_AT_ONCE).toBe(EVENTS_OF_A_MESSAGE);
  });
});

describe('a turn', () => {
  it('reads what was appended since the turn before, however much stands before that', async () => {
    const store = new MemoryLog();
    const read = vi.spyOn(store, 'read');
    const agent = workAgent({ steps: () => 5 });
    const runtime = await openRuntime({ store, agents: [agent], clock: stillClock });
    const { session } = await runtime.send({ agent: agent.definition.name, message: QUESTION });
    await runtime.rest(session);
    const counts: number[] = [];
    for (let turn = 2; turn <= TURNS; turn++) {
      read.mockClear();
      await runtime.send({ session, message: QUESTION });
      await runtime.rest(session);
      counts.push(await eventsRead(read));
    }
    expect(new Set(counts)).toEqual(new Set([1]));
    await runtime.close();
  });
});

type Sampled = { readonly selfSize: number; readonly children: readonly Sampled[] };

const sizeOf = ({ selfSize, children }: Sampled): number =>
  children.reduce((sum, child) => sum + sizeOf(child), selfSize);

/** Bytes that the engine has allocated a step, whether they are still there or not. */
const allocatedPerStep = async (steps: number): Promise<number> => {
  const session = new Session();
  session.connect();
  try {
    await runSession({ store: new MemoryLog(), steps: 30 });
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: 512,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await runSession({ store: new MemoryLog(), steps });
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return sizeOf(profile.head) / steps;
  } finally {
    session.disconnect();
  }
};

describe(`a session of ${LONG_STEPS} steps`, () => {
  it(
    'has a state like that of a short one, opens, and goes on to rest',
    async () => {
      const { session, store } = await longSession();
      const reading = process.cpuUsage();
      const events = (await store.read(session)).map(open);
      const onceMs = cpuMs(reading);
      const sizes = requestStates(session, events).map((state) => JSON.stringify(state).length);
      expect(sizes).toHaveLength(LONG_STEPS + 1);
      // Numbers grow a few digits.
      expect(within(sizes.at(-1) ?? 0, sizes[10] ?? 0, 0.03)).toBe(true);

      const agent = workAgent({ steps: () => 0 });
      const runtime = await openRuntime({ store, agents: [agent], clock: stillClock, drive: false });
      const opening = process.cpuUsage();
      const { seq } = await runtime.state(session);
      const openingMs = cpuMs(opening);
      expect(seq).toBe(events.length);

      const going = process.cpuUsage();
      await runtime.send({ session, message: QUESTION });
      expect(await runtime.rest(session)).toMatchObject({ status: 'done', seq: seq + 4 });
      const goingMs = cpuMs(going);
      console.log(
        `ms of the processor: ${[onceMs, openingMs, goingMs].map(Math.round).join(', ')} to read, to open, to go on`,
      );
      expect(openingMs).toBeLessThan(OPENING_TIMES_MAX * onceMs);
      expect(goingMs).toBeLessThan(GOING_ON_TIMES_MAX * onceMs);
    },
    LONG_TIMEOUT_MS,
  );
});

/** Made in memory and written at once: what is looked at here is the reading of it. */
const longSession = async (): Promise<{ session: string; store: LogStore }> => {
  const memory = new MemoryLog();
  const session = await runSession({ store: memory, steps: LONG_STEPS });
  const events = await memory.read(session);
  const state = events.reduce((before, one) => evolve(before, open(one)), initial(session));
  const store = openSqlite(tempFile(), { clock: stillClock, durability: 'normal' });
  const blobs = await framesOf(memory, events.map(open));
  await store.append({ session, expected: 0, events, blobs, summary: summaryOf(state) });
  return { session, store };
};

const framesOf = async (store: LogStore, events: readonly LogEvent[]): Promise<readonly Blob[]> => {
  const digests = events.flatMap((event): readonly Digest[] =>
    event.type === 'request.built' && event.data.frame ? [event.data.frame.head, event.data.frame.tail] : [],
  );
  const blobs: Blob[] = [];
  for (const digest of digests) blobs.push({ digest, bytes: (await store.blob(digest)) ?? new Uint8Array() });
  return blobs;
};

/** The state after each request: the same point of every step. */
const requestStates = (session: string, events: readonly LogEvent[]): readonly SessionState[] => {
  const states: SessionState[] = [];
  let state = initial(session);
  for (const event of events) {
    state = evolve(state, event);
    if (event.type === 'request.built') states.push(state);
  }
  return states;
};
