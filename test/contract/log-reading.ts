/** Reading: ranges, following a log that grows, the list of sessions. */
import { describe, expect, test } from 'vitest';
import { follow } from '../../src/log/follow.ts';
import type { LogStore } from '../../src/log/store.ts';
import { grow, sealed, summary } from '../kit/chain.ts';
import { until } from '../kit/clock.ts';

const put = async (store: LogStore, session: string, what: ReturnType<typeof summary>): Promise<void> =>
  store.append({ session, expected: 0, events: sealed(session, ['a', 'b']), summary: what });

const upTo43 = (from: number): number[] => Array.from({ length: 44 - from }, (_, i) => from + i);

export const describeReading = (name: string, fresh: () => Promise<LogStore>): void => {
  describe(`${name}: reading`, () => {
    test('a range has both its ends', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a', 'b', 'c', 'd']);
      expect(await store.read('s', 2, 3)).toEqual(events.slice(1, 3));
      expect(await store.read('s', 4)).toEqual(events.slice(3));
      expect(await store.read('s', 5)).toEqual([]);
      expect(await store.read('s', 3, 2)).toEqual([]);
    });

    test('a range that begins before the first event begins with the first event', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a', 'b', 'c']);
      expect(await store.read('s', 0)).toEqual(events);
    });

    test('sessions do not see each other', async () => {
      const store = await fresh();
      await grow(store, 's', ['a']);
      await grow(store, 't', ['b', 'c']);
      expect(await store.read('s')).toHaveLength(1);
      expect(await store.head('nobody')).toBeUndefined();
      await expect(store.read('nobody')).rejects.toMatchObject({ code: 'session-not-found' });
    });
  });

  describe(`${name}: following`, () => {
    test('from any position, each event once and in order, while appends go on', async () => {
      const store = await fresh();
      await grow(store, 's', ['1', '2', '3']);
      // Each ends by what it has seen: stopped from outside, one that hears of the last event later would miss it.
      const read = async (from: number): Promise<{ from: number; seen: number[] }> => {
        const seen: number[] = [];
        for await (const { seq } of follow(store, 's', { from })) {
          seen.push(seq);
          if (seq === 43) break;
        }
        return { from, seen };
      };
      const readers = [1, 3, 4, 7].map(read);
      for (let i = 0; i < 20; i++) {
        await grow(store, 's', [`x${i}`, `y${i}`]);
        await grow(store, 'noise', ['z']);
      }
      for (const { from, seen } of await Promise.all([...readers, read(1)]))
        expect(seen).toEqual(upTo43(from));
    });

    test('an event that comes between the read and the wait is seen', async () => {
      const store = await fresh();
      await grow(store, 's', ['1']);
      const reader = follow(store, 's');
      await reader.next();
      const second = reader.next();
      await grow(store, 's', ['2']);
      expect((await second).value).toMatchObject({ seq: 2 });
      await reader.return();
    });

    test('a reader that is told to end does, while it waits for more and in the middle of what is there', async () => {
      const store = await fresh();
      await grow(store, 's', ['1', '2', '3']);
      for (const taken of [3, 1]) {
        const stop = new AbortController();
        const reader = follow(store, 's', { signal: stop.signal });
        for (let i = 0; i < taken; i++) await reader.next();
        const next = taken === 3 ? reader.next() : undefined;
        stop.abort();
        expect(await (next ?? reader.next())).toEqual({ done: true, value: undefined });
      }
    });

    test('listeners are told of the session and its head, and of nothing after they left', async () => {
      const store = await fresh();
      const heads: unknown[] = [];
      // Beside that any store may say at any time that something may have changed.
      const leave = store.changes((change) => change && heads.push([change.session, change.head]));
      await grow(store, 's', ['a', 'b']);
      await until('the change is told', () => heads.length > 0);
      leave();
      await grow(store, 's', ['c']);
      expect(heads).toEqual([['s', 2]]);
    });
  });

  describe(`${name}: the list of sessions`, () => {
    test('the newest first, with head and summary as they were written', async () => {
      const store = await fresh();
      await put(store, 'old', summary('done', 10));
      await put(store, 'new', summary('waiting', 30));
      await put(store, 'mid', summary('running', 20));
      expect(await store.sessions()).toEqual([
        { session: 'new', head: 2, summary: summary('waiting', 30) },
        { session: 'mid', head: 2, summary: summary('running', 20) },
        { session: 'old', head: 2, summary: summary('done', 10) },
      ]);
    });

    test('a later summary replaces the earlier one; an append without one leaves it', async () => {
      const store = await fresh();
      await put(store, 's', summary('running', 10));
      await grow(store, 's', ['c']);
      expect(await store.sessions()).toMatchObject([{ head: 3, summary: { status: 'running' } }]);
      const head = await store.head('s');
      const events = sealed('s', ['d'], { from: 4, ...(head && { prev: head.hash }) });
      await store.append({ session: 's', expected: 3, events, summary: summary('done', 20) });
      expect(await store.sessions()).toMatchObject([{ head: 4, summary: { status: 'done', updatedAt: 20 } }]);
    });

    test('by status, agent, time and number', async () => {
      const store = await fresh();
      await put(store, 'a', summary('done', 10));
      await put(store, 'b', summary('waiting', 20, 'scribe'));
      await put(store, 'c', summary('in-doubt', 30));
      await put(store, 'd', summary('waiting', 40));
      const ids = async (query: Parameters<LogStore['sessions']>[0]): Promise<string[]> =>
        (await store.sessions(query)).map((row) => row.session);
      expect(await ids({ status: ['waiting', 'in-doubt'] })).toEqual(['d', 'c', 'b']);
      expect(await ids({ status: [] })).toEqual([]);
      expect(await ids({ agent: 'scribe' })).toEqual(['b']);
      expect(await ids({ agent: 'nobody' })).toEqual([]);
      expect(await ids({ after: { updatedAt: 30, session: 'c' } })).toEqual(['b', 'a']);
      expect(await ids({ limit: 2 })).toEqual(['d', 'c']);
      expect(await ids({ status: ['waiting'], after: { updatedAt: 40, session: 'd' }, limit: 1 })).toEqual([
        'b',
      ]);
    });

    test('how many have which status, of all tenants, and nothing of what is no session', async () => {
      const store = await fresh();
      expect(await store.counts()).toEqual({});
      await put(store, 'a', summary('done', 10));
      await put(store, 'b', summary('waiting', 20, 'scribe'));
      await put(store, 'c', { ...summary('done', 30), tenant: 'red' });
      await grow(store, 'control', ['no summary']);
      expect(await store.counts()).toEqual({ done: 2, waiting: 1 });
    });

    test('page by page every session is listed once, also those of one moment', async () => {
      const store = await fresh();
      const names = ['a', 'B', 'c-1', 'c.2', 'ä', 'z'];
      for (const [i, one] of names.entries()) await put(store, one, summary('done', 10 + (i % 2)));
      const all = (await store.sessions()).map(({ session }) => session);
      expect(all.toSorted()).toEqual(names.toSorted());
      const paged: string[] = [];
      for (let after: { updatedAt: number; session: string } | undefined; ;) {
        const [row] = await store.sessions({ limit: 1, ...(after && { after }) });
        if (!row) break;
        paged.push(row.session);
        after = { updatedAt: row.summary.updatedAt, session: row.session };
      }
      expect(paged).toEqual(all);
    });

    test('a resent append does not bring an old summary back', async () => {
      const store = await fresh();
      const first = {
        session: 's',
        expected: 0,
        events: sealed('s', ['a']),
        summary: summary('running', 10),
      };
      await store.append(first);
      const head = await store.head('s');
      const events = sealed('s', ['b'], { from: 2, ...(head && { prev: head.hash }) });
      await store.append({ session: 's', expected: 1, events, summary: summary('done', 20) });
      await store.append({ ...first, again: true });
      expect(await store.sessions()).toMatchObject([{ summary: { status: 'done' } }]);
    });
  });
};
