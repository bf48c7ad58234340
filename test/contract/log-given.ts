/** Promise 6 of every store: an append that is given another log's head; and what the lists of sessions are asked. */
import { describe, expect, test } from 'vitest';
import { genesis, type StoredEvent } from '../../src/event/envelope.ts';
import { ConflictError, FencedError, type Append, type LogStore } from '../../src/log/store.ts';
import { blobOf, grow, OWNER_A, sealed, summary } from '../kit/chain.ts';

const GATE = 'control';

const after = (
  events: readonly StoredEvent[],
  text: string,
): Pick<Append, 'session' | 'expected' | 'events'> => ({
  session: 's',
  expected: events.length,
  events: sealed('s', [text], { from: events.length + 1, prev: events.at(-1)?.hash ?? genesis('s') }),
});

const fill = async (store: LogStore): Promise<LogStore> => {
  const rows: readonly (readonly [string, number | undefined, number])[] = [
    ['never', undefined, 0],
    ['early', 100, 1],
    ['late', 300, 2],
    ['zero', 0, 0],
  ];
  for (const [i, [session, wakeAt, untold]] of rows.entries())
    await store.append({
      session,
      expected: 0,
      events: sealed(session, ['a']),
      summary: { ...summary('waiting', i), untold, ...(wakeAt !== undefined && { wakeAt }) },
    });
  await grow(store, GATE, ['a log without a summary']);
  return store;
};
const names = async (
  store: LogStore,
  query?: Parameters<LogStore['sessions']>[0],
): Promise<readonly string[]> =>
  (await store.sessions(query)).map(({ session }) => session).sort((a, b) => (a < b ? -1 : 1));

export const describeGiven = (name: string, fresh: () => Promise<LogStore>): void => {
  describe(`${name}: promise 6, an append that is given another log’s head`, () => {
    test('is written while that log ends there, and where there is no such log yet', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      await store.append({ ...after(events, 'b'), given: { session: GATE, head: 0 } });
      const two = await store.read('s');
      await grow(store, GATE, ['shut', 'open']);
      await store.append({ ...after(two, 'c'), given: { session: GATE, head: 2 } });
      expect((await store.head('s'))?.seq).toBe(3);
    });

    test.each([
      ['has grown', 1],
      ['was cut or is another one', 5],
      ['was thought not to be there', 0],
    ])('is a conflict that names that log where it %s, and changes nothing', async (_, head) => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      await grow(store, GATE, ['shut', 'open']);
      const blob = blobOf(Buffer.from('of the refused one'));
      const refused = store.append({
        ...after(events, 'b'),
        blobs: [blob],
        summary: summary('running', 5),
        given: { session: GATE, head },
      });
      await expect(refused).rejects.toBeInstanceOf(ConflictError);
      await expect(refused).rejects.toMatchObject({ details: { session: GATE, expected: head, head: 2 } });
      expect(await store.read('s')).toEqual(events);
      expect(await store.blob(blob.digest)).toBeUndefined();
      expect(await store.sessions()).toEqual([]);
    });

    test('creates no session where it is refused', async () => {
      const store = await fresh();
      await grow(store, GATE, ['shut']);
      await expect(
        store.append({ ...after([], 'a'), given: { session: GATE, head: 0 } }),
      ).rejects.toBeInstanceOf(ConflictError);
      expect(await store.head('s')).toBeUndefined();
    });

    test('of a move of the gate and starts at one moment, no start is written behind the move', async () => {
      const store = await fresh();
      await grow(store, GATE, ['open']);
      const sessions = Array.from({ length: 20 }, (_, i) => `s${i}`);
      const gate = await store.head(GATE);
      if (!gate) throw new Error('the gate is there');
      const shut = sealed(GATE, ['shut'], { from: 2, prev: gate.hash });
      const order: string[] = [];
      const starts = sessions.map((session, i) => {
        const events = sealed(session, [`start ${i}`]);
        const start = store.append({ session, expected: 0, events, given: { session: GATE, head: 1 } });
        return start.then(
          () => void order.push('start'),
          () => void order.push('refused'),
        );
      });
      const half = starts.splice(10);
      const moved = store.append({ session: GATE, expected: 1, events: shut }).then(() => order.push('shut'));
      const late = sessions.map(async (session) => {
        const events = sealed(`late ${session}`, ['start']);
        await store
          .append({ session: `late ${session}`, expected: 0, events, given: { session: GATE, head: 1 } })
          .then(
            () => order.push('late start'),
            () => undefined,
          );
      });
      await Promise.all([...starts, ...half, moved, ...late]);
      expect(order.slice(order.indexOf('shut'))).not.toContain('start');
      expect(order).not.toContain('late start');
    });

    test('is known again after an unclear commit, although that log has grown since', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      const append = { ...after(events, 'b'), given: { session: GATE, head: 0 } };
      await store.append(append);
      await grow(store, GATE, ['shut']);
      await store.append({ ...append, again: true });
      expect((await store.head('s'))?.seq).toBe(2);
    });

    test('that was not written after all is refused when it is sent again to a log that has grown', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      await grow(store, GATE, ['shut']);
      const append = { ...after(events, 'b'), given: { session: GATE, head: 0 }, again: true };
      await expect(store.append(append)).rejects.toMatchObject({ details: { session: GATE } });
      expect(await store.read('s')).toEqual(events);
    });

    test('is fenced first: a driver that was taken over hears that, whatever the gate', async () => {
      const store = await fresh();
      const events = await grow(store, 's', ['a']);
      await store.claim({ session: 's', owner: OWNER_A, now: 0, leaseMs: 100, isGone: () => false });
      await grow(store, GATE, ['shut']);
      const append = { ...after(events, 'b'), epoch: 7, given: { session: GATE, head: 0 } };
      await expect(store.append(append)).rejects.toBeInstanceOf(FencedError);
    });
  });

  describe(`${name}: lists of what is due and of what nobody was told`, () => {
    test('due by a moment is due at it, and what waits for no moment is never due', async () => {
      const store = await fill(await fresh());
      expect(await names(store, { dueBy: 99 })).toEqual(['zero']);
      expect(await names(store, { dueBy: 100 })).toEqual(['early', 'zero']);
      expect(await names(store, { dueBy: Number.MAX_SAFE_INTEGER })).toEqual(['early', 'late', 'zero']);
      expect(await names(store, { dueBy: -1 })).toEqual([]);
    });

    test('a moment that has passed, or that is none any more, leaves the list with the next summary', async () => {
      const store = await fill(await fresh());
      const [event] = await store.read('early');
      const events = sealed('early', ['b'], { from: 2, prev: event?.hash ?? genesis('early') });
      await store.append({ session: 'early', expected: 1, events, summary: summary('done', 9) });
      expect(await names(store, { dueBy: 1000 })).toEqual(['late', 'zero']);
    });

    test('untold and told', async () => {
      const store = await fill(await fresh());
      expect(await names(store, { untold: true })).toEqual(['early', 'late']);
      expect(await names(store, { untold: false })).toEqual(['never', 'zero']);
      expect(await names(store, { untold: true, dueBy: 100 })).toEqual(['early']);
    });

    test('a limit keeps the ones that were changed last', async () => {
      const store = await fill(await fresh());
      expect(await names(store, { dueBy: 1000, limit: 2 })).toEqual(['late', 'zero']);
    });

    test('a log without a summary, as the gate’s is one, stands in no list', async () => {
      const store = await fill(await fresh());
      for (const query of [{}, { dueBy: 1000 }, { untold: false }, { canGoOn: false }, { canGoOn: true }])
        expect(await names(store, query)).not.toContain(GATE);
      expect((await store.head(GATE))?.seq).toBe(1);
    });
  });
};
