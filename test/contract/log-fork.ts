/** Promise 6: a fork's log is its parent's up to the fork's place, and its own behind it. */
import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../src/event/envelope.ts';
import { ConflictError, FORKS_DEEP_MAX, type Append, type LogStore } from '../../src/log/store.ts';
import { blobOf, grow, OWNER_A, sealed, summary } from '../kit/chain.ts';

/** An append that creates a fork with these texts as its first own events. */
const forking = async (
  store: LogStore,
  session: string,
  [parent, seq]: readonly [parent: string, seq: number],
  texts: readonly string[],
): Promise<Append> => {
  const [last] = await store.read(parent, seq, seq);
  const events = sealed(session, texts, { from: seq + 1, ...(last && { prev: last.hash }) });
  return { session, expected: seq, fork: { parent, seq }, events, summary: summary('idle', 50) };
};

const fork = async (
  store: LogStore,
  session: string,
  at: readonly [parent: string, seq: number],
  texts: readonly string[] = ['forked'],
): Promise<readonly StoredEvent[]> => {
  const append = await forking(store, session, at, texts);
  await store.append(append);
  return append.events;
};

export const describeForks = (name: string, fresh: () => Promise<LogStore>): void => {
  describe(`${name}: promise 6, a fork has its parent's past and its own future`, () => {
    test('its log is the shared events and its own, in any range', async () => {
      const store = await fresh();
      const past = await grow(store, 'p', ['a', 'b', 'c', 'd']);
      const own = await fork(store, 'f', ['p', 2], ['x', 'y']);
      const whole = [...past.slice(0, 2), ...own];
      expect(await store.read('f')).toEqual(whole);
      expect(await store.head('f')).toEqual({ seq: 4, hash: own[1]?.hash });
      for (let from = 0; from <= 6; from++)
        for (let to = 0; to <= 6; to++)
          expect(await store.read('f', from, to)).toEqual(whole.slice(Math.max(0, from - 1), to));
    });

    test('what either appends later is in its own log alone', async () => {
      const store = await fresh();
      const past = await grow(store, 'p', ['a', 'b']);
      const own = await fork(store, 'f', ['p', 2]);
      const more = await grow(store, 'p', ['c', 'd', 'e']);
      const mine = await grow(store, 'f', ['z']);
      expect(await store.read('p')).toEqual([...past, ...more]);
      expect(await store.read('f')).toEqual([...past, ...own, ...mine]);
    });

    test('a fork of a fork, and one that leaves within the part that the two share', async () => {
      const store = await fresh();
      const past = await grow(store, 'p', ['a', 'b', 'c']);
      const first = await fork(store, 'f', ['p', 3], ['f1', 'f2']);
      const second = await fork(store, 'g', ['f', 4], ['g1']);
      const early = await fork(store, 'h', ['f', 2], ['h1']);
      expect(await store.read('g')).toEqual([...past, first[0], ...second]);
      expect(await store.read('h')).toEqual([...past.slice(0, 2), ...early]);
      expect(await store.head('h')).toEqual({ seq: 3, hash: early[0]?.hash });
    });

    test('a place that the parent does not have, and a parent that is not there, are refused', async () => {
      const store = await fresh();
      const past = await grow(store, 'p', ['a']);
      const beyond = sealed('f', ['x'], { from: 3, ...(past[0] && { prev: past[0].hash }) });
      const at = { session: 'f', expected: 2, events: beyond };
      await expect(store.append({ ...at, fork: { parent: 'p', seq: 2 } })).rejects.toMatchObject({
        code: 'fork-place-missing',
        details: { head: 1 },
      });
      await expect(store.append({ ...at, fork: { parent: 'nobody', seq: 2 } })).rejects.toMatchObject({
        code: 'session-not-found',
      });
      await expect(store.append({ ...at, expected: 0, fork: { parent: 'p', seq: 0 } })).rejects.toMatchObject(
        { code: 'fork-place-missing' },
      );
      expect(await store.head('f')).toBeUndefined();
    });

    test('of two creations of one fork one succeeds; sent again it adds nothing', async () => {
      const store = await fresh();
      await grow(store, 'p', ['a', 'b']);
      const append = await forking(store, 'f', ['p', 2], ['x']);
      const ends = await Promise.allSettled([store.append(append), store.append(append)]);
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      expect(ends[1]).toMatchObject({ reason: { code: 'append-conflict' } });
      await store.append({ ...append, again: true });
      expect(await store.read('f')).toHaveLength(3);
    });

    test('it is never made of a session that is there already, though that ends at the very place', async () => {
      const store = await fresh();
      await grow(store, 'p', ['a', 'b']);
      const there = await grow(store, 'f', ['mine', 'too']);
      await expect(store.append(await forking(store, 'f', ['p', 2], ['x']))).rejects.toBeInstanceOf(
        ConflictError,
      );
      expect(await store.read('f')).toEqual(there);
    });

    test('a refused fork leaves neither events nor blobs, and the appends beside it stand', async () => {
      const store = await fresh();
      await grow(store, 'p', ['a']);
      const blob = blobOf(Buffer.from('of the refused fork'));
      const append = { ...(await forking(store, 'f', ['p', 1], ['x'])), fork: { parent: 'p', seq: 9 } };
      const beside = await forking(store, 'g', ['p', 1], ['y']);
      const ends = await Promise.allSettled([
        store.append({ ...append, expected: 9, blobs: [blob] }),
        store.append(beside),
      ]);
      expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      expect(await store.blob(blob.digest)).toBeUndefined();
      expect((await store.head('g'))?.seq).toBe(2);
    });

    test('it has a lease of its own, and its parent keeps its epoch', async () => {
      const store = await fresh();
      await grow(store, 'p', ['a']);
      const at = { owner: OWNER_A, now: 0, leaseMs: 100, isGone: () => false };
      await store.claim({ session: 'p', ...at });
      await store.claim({ session: 'p', ...at });
      await fork(store, 'f', ['p', 1]);
      expect(await store.claim({ session: 'f', ...at })).toMatchObject({ won: true, epoch: 1 });
      expect(await store.renew('p', 2, 500)).toBe(true);
    });

    test('the list says where a session was forked from, and finds the forks of one', async () => {
      const store = await fresh();
      await grow(store, 'p', ['a', 'b']);
      await fork(store, 'f', ['p', 2]);
      await fork(store, 'g', ['f', 3]);
      await fork(store, 'h', ['p', 1]);
      const forks = (await store.sessions({ forkOf: 'p' })).map(({ session, fork: from, head }) => [
        session,
        from,
        head,
      ]);
      expect(forks).toEqual([
        ['f', { parent: 'p', seq: 2 }, 3],
        ['h', { parent: 'p', seq: 1 }, 2],
      ]);
      expect(await store.sessions({ forkOf: 'nobody' })).toEqual([]);
      expect(await store.sessions()).toHaveLength(3);
    });

    test(`a row of ${FORKS_DEEP_MAX} is read whole; one more is refused`, async () => {
      const store = await fresh();
      const log = [...(await grow(store, 's1', ['1']))];
      for (let i = 2; i <= FORKS_DEEP_MAX; i++)
        log.push(...(await fork(store, `s${i}`, [`s${i - 1}`, i - 1], [String(i)])));
      expect(await store.read(`s${FORKS_DEEP_MAX}`)).toEqual(log);
      await expect(fork(store, 'more', [`s${FORKS_DEEP_MAX}`, FORKS_DEEP_MAX])).rejects.toMatchObject({
        code: 'fork-too-deep',
      });
      expect(await store.head('more')).toBeUndefined();
    });
  });
};
