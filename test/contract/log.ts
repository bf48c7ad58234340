/**
 * What every store promises, run over each of them. The numbers are those of src/log/store.ts.
 * A store is made by `open`, empty; two calls give two stores.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseStrict } from '../../src/event/strict.ts';
import { genesis, open as openEvent } from '../../src/event/envelope.ts';
import { sha256 } from '../../src/event/canonical.ts';
import { ConflictError, FencedError, type LogStore, type Owner } from '../../src/log/store.ts';
import { blobOf, grow, OWNER_A, OWNER_B, sealed } from '../kit/chain.ts';
import { calm } from '../kit/clock.ts';
import { describeForks } from './log-fork.ts';
import { describeLeases } from './log-lease.ts';
import { describeReading } from './log-reading.ts';

export type OpenStore = () => LogStore | Promise<LogStore>;

const TEXTS: readonly (readonly [string, string])[] = [
  ['a NUL', 'before\0after'],
  ['lone surrogates', 'high \ud800 low \udc00 turned \udc00\ud800'],
  ['a pair', 'one 😀 here'],
  ['control characters and separators', '\u0001\u001f\u007f\u0085\u2028\u2029\ufeff'],
  ['raw JSON with double keys', '{"b":1,"a":2,"b":3,"__proto__":{"x":1}}'],
  ['digits beyond a double', '{"n":123456789012345678901234567890,"m":0.10000000000000000001}'],
  ['line ends', 'a\r\nb\rc\n'],
  ['text around the limit of compression', 'x'.repeat(3990)],
  ['text over the limit of compression', 'lorem ipsum '.repeat(1000)],
  ['wide text over the limit of compression', 'żółć 😀 '.repeat(2000)],
];

const claim = (store: LogStore, owner: Owner, now: number): Promise<unknown> =>
  store.claim({ session: 's', owner, now, leaseMs: 100, isGone: () => false });

export const describeLog = (name: string, openStore: OpenStore): void => {
  const fresh = async (): Promise<LogStore> => {
    const store = await openStore();
    onTestFinished(() => store.close());
    return store;
  };

  describe(`${name}: promise 1, an append is all or nothing`, () => {
    test('several events of one append stand there together, in order', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a', 'b', 'c']);
      expect(await store.read('s')).toEqual(events);
      expect(await store.head('s')).toEqual({ seq: 3, hash: events[2]?.hash });
    });

    test('a refused append leaves neither events nor blobs nor a summary', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      const blob = blobOf(Buffer.from('only with the refused append'));
      const rival = sealed('s', ['b', 'c', 'd']);
      await expect(
        store.append({ session: 's', expected: 0, events: rival, blobs: [blob] }),
      ).rejects.toBeInstanceOf(ConflictError);
      expect(await store.read('s')).toEqual(events);
      expect(await store.blob(blob.digest)).toBeUndefined();
      expect(await store.sessions()).toEqual([]);
    });

    test('a session that was refused does not exist', async () => {
      const store = await fresh();
      const events = sealed('s', ['a'], { from: 5 });
      await expect(store.append({ session: 's', expected: 4, events })).rejects.toBeInstanceOf(ConflictError);
      expect(await store.head('s')).toBeUndefined();
      await expect(store.read('s')).rejects.toMatchObject({ code: 'session-not-found' });
    });

    test('a refused append takes no append down that was sent at the same moment', async () => {
      const store = await fresh();
      await grow(store, 'old', ['a']);
      const outcomes = await Promise.allSettled([
        store.append({ session: 'one', expected: 0, events: sealed('one', ['1']) }),
        store.append({ session: 'old', expected: 0, events: sealed('old', ['not a']) }),
        store.append({ session: 'two', expected: 0, events: sealed('two', ['2', '3']) }),
      ]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect((await store.head('one'))?.seq).toBe(1);
      expect((await store.head('two'))?.seq).toBe(2);
    });

    test('an append to a closed store has an answer', async () => {
      const store = await openStore();
      await grow(store, 's', ['a']);
      await store.close();
      const late = store.append({ session: 't', expected: 0, events: sealed('t', ['a']) }).then(
        () => 'kept',
        () => 'refused',
      );
      expect(await Promise.race([late, calm(100).then(() => 'no answer')])).not.toBe('no answer');
    });
  });

  describe(`${name}: promise 2, one head, one winner`, () => {
    test('of 20 appends at one head one succeeds and the others change nothing', async () => {
      const store = await fresh();
      const [first] = await grow(store, 's', ['start']);
      const rivals = Array.from({ length: 20 }, (_, i) =>
        sealed('s', [`rival ${i}`, `and ${i}`], { from: 2, prev: first?.hash ?? genesis('s') }),
      );
      const outcomes = await Promise.allSettled(
        rivals.map((events) => store.append({ session: 's', expected: 1, events })),
      );
      const winners = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
      expect(winners).toHaveLength(1);
      const refusals = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
      );
      for (const refusal of refusals)
        expect(refusal).toMatchObject({ code: 'append-conflict', details: { head: 3 } });
      expect(await store.read('s', 2)).toEqual(rivals[winners[0] ?? -1]);
    });

    test('of 20 creations of one session one succeeds', async () => {
      const store = await fresh();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          store.append({ session: 's', expected: 0, events: sealed('s', [`from ${i}`]) }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
      expect(await store.read('s')).toHaveLength(1);
    });

    test('an append past the head and one before it are conflicts', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a', 'b']);
      const past = sealed('s', ['d'], { from: 4, prev: events[1]?.hash ?? genesis('s') });
      await expect(store.append({ session: 's', expected: 3, events: past })).rejects.toBeInstanceOf(
        ConflictError,
      );
      const before = sealed('s', ['other b'], { from: 2, prev: events[0]?.hash ?? genesis('s') });
      await expect(store.append({ session: 's', expected: 1, events: before })).rejects.toBeInstanceOf(
        ConflictError,
      );
      expect(await store.read('s')).toEqual(events);
    });
  });

  describe(`${name}: promise 3, an old epoch is fenced`, () => {
    test('an append under an epoch that was taken over is refused and changes nothing', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      await claim(store, OWNER_A, 0);
      await claim(store, OWNER_B, 1000);
      const blob = blobOf(Buffer.from('of the fenced one'));
      const next = sealed('s', ['b'], { from: 2, prev: events[0]?.hash ?? genesis('s') });
      await expect(
        store.append({ session: 's', expected: 1, events: next, epoch: 1, blobs: [blob] }),
      ).rejects.toBeInstanceOf(FencedError);
      expect(await store.read('s')).toEqual(events);
      expect(await store.blob(blob.digest)).toBeUndefined();
      await store.append({ session: 's', expected: 1, events: next, epoch: 2 });
      expect((await store.head('s'))?.seq).toBe(2);
    });

    test('an epoch that nobody was given is refused, also for a session that is not there', async () => {
      const store = await fresh();
      await expect(
        store.append({ session: 'new', expected: 0, events: sealed('new', ['a']), epoch: 1 }),
      ).rejects.toBeInstanceOf(FencedError);
      await grow(store, 's', ['a']);
      await expect(
        store.append({ session: 's', expected: 1, events: sealed('s', ['b'], { from: 2 }), epoch: 1 }),
      ).rejects.toBeInstanceOf(FencedError);
    });

    test('what comes from outside is appended without an epoch while somebody drives', async () => {
      const store = await fresh();
      await grow(store, 's', ['a']);
      await claim(store, OWNER_A, 0);
      await grow(store, 's', ['from outside']);
      expect((await store.head('s'))?.seq).toBe(2);
    });
  });

  describe(`${name}: promise 4, bytes come back`, () => {
    test.each(TEXTS)('a body with %s', async (_, text) => {
      const store = await fresh();
      const [event] = await grow(store, 's', [text]);
      const [read] = await store.read('s');
      expect(read).toEqual(event);
      expect(read && openEvent(read)).toMatchObject({ data: { message: text } });
    });

    test('a body of 5 MB', async () => {
      const store = await fresh();
      const text = randomBytes(2_500_000).toString('hex');
      const [event] = await grow(store, 's', [text]);
      const [read] = await store.read('s');
      expect(read?.hash).toBe(event?.hash);
      expect(read?.body === event?.body).toBe(true);
    });

    test.each([
      ['empty', new Uint8Array(0)],
      ['one byte', Uint8Array.of(0)],
      ['every byte', Uint8Array.from({ length: 256 }, (_, i) => i)],
      ['just under the limit of compression', new Uint8Array(4095)],
      ['compressible', new Uint8Array(5_000_000)],
      ['incompressible', randomBytes(5_000_000)],
      ['a view into a larger buffer', randomBytes(10_000).subarray(17, 6017)],
    ])('a blob: %s', async (_, bytes) => {
      const store = await fresh();
      const blob = blobOf(bytes);
      await store.append({ session: 's', expected: 0, events: sealed('s', ['a']), blobs: [blob, blob] });
      const read = await store.blob(blob.digest);
      expect(read?.length).toBe(bytes.length);
      expect(read && sha256(read)).toBe(blob.digest);
    });

    test('a blob is the same after the caller has changed its bytes, and a missing one is undefined', async () => {
      const store = await fresh();
      const bytes = Buffer.from('as it was');
      const blob = blobOf(bytes);
      await store.append({ session: 's', expected: 0, events: sealed('s', ['a']), blobs: [blob] });
      bytes.fill(0);
      expect(Buffer.from((await store.blob(blob.digest)) ?? []).toString()).toBe('as it was');
      expect(await store.blob(sha256('nobody put this here'))).toBeUndefined();
    });

    test('raw JSON inside an event keeps its digits and is strict JSON', async () => {
      const store = await fresh();
      const raw = '{"amount":9007199254740993}';
      await grow(store, 's', [raw]);
      const [read] = await store.read('s');
      const event = read && openEvent(read);
      const kept = event?.type === 'call.refused' ? event.data.message : '';
      expect(parseStrict(kept)).toMatchObject({ ok: true, canonical: raw });
    });
  });

  describe(`${name}: promise 5, sending again adds nothing`, () => {
    test('the same append after an unclear commit', async () => {
      const store = await fresh();
      const [first] = await grow(store, 's', ['a']);
      const append = {
        session: 's',
        expected: 1,
        events: sealed('s', ['b', 'c'], { from: 2, prev: first?.hash ?? genesis('s') }),
      };
      await store.append(append);
      await store.append({ ...append, again: true });
      expect(await store.read('s')).toHaveLength(3);
    });

    test('the same append after others have appended behind it', async () => {
      const store = await fresh();
      const append = { session: 's', expected: 0, events: sealed('s', ['a', 'b']) };
      await store.append(append);
      await grow(store, 's', ['c']);
      await store.append({ ...append, again: true });
      expect(await store.read('s')).toHaveLength(3);
    });

    test('equal appends of two writers at one moment have one winner', async () => {
      const store = await fresh();
      const append = { session: 's', expected: 0, events: sealed('s', ['a', 'b']) };
      const ends = await Promise.allSettled([store.append(append), store.append(append)]);
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      expect(ends[1]).toMatchObject({ reason: { code: 'append-conflict' } });
      expect(await store.read('s')).toHaveLength(2);
    });

    test('an append of which only the first events are there is a conflict', async () => {
      const store = await fresh();
      const [a, b] = sealed('s', ['a', 'b']);
      if (!a || !b) throw new Error('two events were sealed');
      await store.append({ session: 's', expected: 0, events: [a] });
      await expect(store.append({ session: 's', expected: 0, events: [a, b] })).rejects.toBeInstanceOf(
        ConflictError,
      );
      expect(await store.read('s')).toEqual([a]);
    });
  });

  describeForks(name, fresh);
  describeReading(name, fresh);
  describeLeases(name, fresh);
};
