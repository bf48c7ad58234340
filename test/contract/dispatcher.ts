/**
 * What every dispatcher promises, run over each of them. The numbers are those of src/worker/dispatcher.ts.
 *
 * A `place` is where wakes lie; each `open` of it is one process's dispatcher. One that keeps wakes in memory has a
 * place for each process, and what is promised between processes is not asked of it.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Dispatcher, Taken, Taker } from '../../src/worker/dispatcher.ts';

export type DispatcherPlace = {
  /** One more process's dispatcher on this place. */
  open(): Promise<Dispatcher>;
  /** A session that can be woken here: of a dispatcher that sits in a store, one that is there. */
  session(name: string): Promise<string>;
};

export type DispatcherUnderTest = {
  /** A new place, with nothing in it. */
  readonly place: () => Promise<DispatcherPlace>;
  /** Whether wakes reach other processes. */
  readonly shared: boolean;
};

/** Longer than any dispatcher here may take for a wake that is due; a test waits on conditions, this ends it. */
const PATIENCE_MS = 45_000;
/** As many waits as a test has, one of which is in vain. */
const TEST_MS_MAX = 60_000;
const NOTHING: Taken = { kind: 'nothing' };

type Answer = (session: string, nth: number) => Taken | Promise<Taken>;

/** Takes what it is handed, and says what it was. */
class RecordingTaker implements Taker {
  readonly taken: { readonly session: string; readonly at: number }[] = [];
  readonly #answer: Answer;
  readonly #room: number;
  under = 0;
  most = 0;

  constructor(answer: Answer = () => NOTHING, room = 1000) {
    this.#answer = answer;
    this.#room = room;
  }

  async take(session: string): Promise<Taken> {
    this.taken.push({ session, at: Date.now() });
    const nth = this.taken.filter((one) => one.session === session).length;
    this.under++;
    this.most = Math.max(this.most, this.under);
    try {
      return await this.#answer(session, nth);
    } finally {
      this.under--;
    }
  }

  room(): number {
    return this.#room - this.under;
  }

  of(session: string): readonly { readonly at: number }[] {
    return this.taken.filter((one) => one.session === session);
  }
}

/** For expect.poll: what is waited for, and until when. */
const soon = (message: string): { message: string; timeout: number; interval: number } => ({
  message,
  timeout: PATIENCE_MS,
  interval: 5,
});

type Opened = { readonly dispatcher: Dispatcher; readonly taker: RecordingTaker };

/** Started with this taker, and stopped with the test. */
const started = async (place: DispatcherPlace, taker = new RecordingTaker()): Promise<Opened> => {
  const dispatcher = await place.open();
  onTestFinished(() => dispatcher.stop());
  await dispatcher.start(taker);
  return { dispatcher, taker };
};

const gate = (): { readonly open: () => void; readonly passed: Promise<void> } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
};

export const describeDispatcher = (name: string, { place, shared }: DispatcherUnderTest): void => {
  describe(`${name}: one process`, { timeout: TEST_MS_MAX }, () => {
    test('promise 1: a wake leads to a take of that session', async () => {
      const here = await place();
      const { dispatcher, taker } = await started(here);
      const session = await here.session('ORDER-1 of "Żółć" & co');
      await dispatcher.wake({ session, reason: 'appended' });
      await expect.poll(() => taker.of(session).length > 0, soon('a take')).toBe(true);
    });

    test('promise 1: 200 sessions of three tenants are all taken', async () => {
      const here = await place();
      const { dispatcher, taker } = await started(here, new RecordingTaker(() => NOTHING, 7));
      const sessions = await Promise.all(Array.from({ length: 200 }, (_, i) => here.session(`s-${i}`)));
      await Promise.all(
        sessions.map((session, i) => dispatcher.wake({ session, tenant: `t${i % 3}`, reason: 'appended' })),
      );
      dispatcher.look();
      await expect
        .poll(() => new Set(taker.taken.map((one) => one.session)).size === 200, soon('all takes'))
        .toBe(true);
    });

    test('promise 3: nothing is taken before its time, and a wake without one overtakes it', async () => {
      const here = await place();
      const { dispatcher, taker } = await started(here);
      const later = await here.session('later');
      const notBefore = Date.now() + 1200;
      await dispatcher.wake({ session: later, notBefore, reason: 'appended' });
      const now = await here.session('now');
      await dispatcher.wake({ session: now, reason: 'appended' });
      await expect.poll(() => taker.of(now).length > 0, soon('the one without a time')).toBe(true);
      await expect.poll(() => taker.of(later).length > 0, soon('the one with a time')).toBe(true);
      // Timers and servers count whole milliseconds.
      expect(taker.of(later)[0]?.at).toBeGreaterThanOrEqual(notBefore - 2);
    });

    test('promise 4: one take of a session at a time, and a wake in the middle of it leads to another one', async () => {
      const here = await place();
      const session = await here.session('busy');
      const { open, passed } = gate();
      let under = 0;
      let most = 0;
      const taker = new RecordingTaker(async () => {
        most = Math.max(most, ++under);
        await passed;
        under--;
        return NOTHING;
      });
      const { dispatcher } = await started(here, taker);
      await dispatcher.wake({ session, reason: 'appended' });
      await expect.poll(() => taker.of(session).length === 1, soon('the first take')).toBe(true);
      await dispatcher.wake({ session, reason: 'appended' });
      await dispatcher.wake({ session, reason: 'swept' });
      open();
      await expect.poll(() => taker.of(session).length > 1, soon('another take')).toBe(true);
      expect(most).toBe(1);
    });

    test('promise 4: a session that is driven for long can be woken meanwhile', async () => {
      const here = await place();
      const session = await here.session('long');
      const rested = Promise.withResolvers<void>();
      const taker = new RecordingTaker((_, nth) =>
        nth === 1 ? { kind: 'driven', rested: rested.promise } : NOTHING,
      );
      const { dispatcher } = await started(here, taker);
      await dispatcher.wake({ session, reason: 'appended' });
      await expect.poll(() => taker.of(session).length > 0, soon('the first take')).toBe(true);
      await expect.poll(() => taker.under === 0, soon('it is answered')).toBe(true);
      const { length } = taker.of(session);
      await dispatcher.wake({ session, reason: 'appended' });
      await expect.poll(() => taker.of(session).length > length, soon('another take')).toBe(true);
      rested.resolve();
    });

    test('promise 5: what could not be taken is offered again, and the others meanwhile', async () => {
      const here = await place();
      const full = await here.session('full');
      const other = await here.session('other');
      // There is no room for it until the other one has had its take: who lets it wait in front waits for ever.
      let room = false;
      let offered = 0;
      const taker = new RecordingTaker((session, nth) => {
        if (session === other) room = true;
        else if (!room) offered = nth;
        return session === full && !room ? { kind: 'later', afterMs: 100 } : NOTHING;
      });
      const { dispatcher } = await started(here, taker);
      await dispatcher.wake({ session: full, reason: 'appended' });
      await expect.poll(() => offered >= 3, soon('the third take')).toBe(true);
      await dispatcher.wake({ session: other, reason: 'appended' });
      await expect.poll(() => taker.of(other).length > 0, soon('the other one, meanwhile')).toBe(true);
      await expect.poll(() => taker.of(full).length > offered, soon('once there is room')).toBe(true);
    });

    test('promise 6: a take that throws keeps nobody up, also not its own session', async () => {
      const here = await place();
      const bad = await here.session('bad');
      const taker = new RecordingTaker((session, nth) => {
        if (session === bad && nth === 1) throw new Error('this one cannot be read');
        return NOTHING;
      });
      const { dispatcher } = await started(here, taker);
      await dispatcher.wake({ session: bad, reason: 'appended' });
      await expect.poll(() => taker.of(bad).length > 0, soon('the take that throws')).toBe(true);
      const good = await here.session('good');
      await dispatcher.wake({ session: good, reason: 'appended' });
      await expect.poll(() => taker.of(good).length > 0, soon('another session')).toBe(true);
      await expect.poll(() => taker.under === 0, soon('it is answered')).toBe(true);
      const { length } = taker.of(bad);
      await dispatcher.wake({ session: bad, reason: 'swept' });
      await expect.poll(() => taker.of(bad).length > length, soon('the same session again')).toBe(true);
    });

    test('promise 7: with room for three never more than three are taken', async () => {
      const here = await place();
      const taker = new RecordingTaker(async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return NOTHING;
      }, 3);
      const { dispatcher } = await started(here, taker);
      const sessions = await Promise.all(Array.from({ length: 12 }, (_, i) => here.session(`s-${i}`)));
      for (const session of sessions) await dispatcher.wake({ session, reason: 'appended' });
      await expect
        .poll(() => new Set(taker.taken.map((one) => one.session)).size === 12, soon('all takes'))
        .toBe(true);
      expect(taker.most).toBeLessThanOrEqual(3);
    });

    test('promise 7: where there was no room, the wake is handed out once room came', async () => {
      const here = await place();
      const taker = new RecordingTaker();
      let room = 0;
      taker.room = () => room;
      const { dispatcher } = await started(here, taker);
      const session = await here.session('patient');
      await dispatcher.wake({ session, reason: 'appended' });
      room = 1;
      dispatcher.look();
      await expect.poll(() => taker.of(session).length > 0, soon('a take')).toBe(true);
    });

    test('promise 8: when stop() has resolved, takes under way have ended and none begins', async () => {
      const here = await place();
      const first = await here.session('first');
      const second = await here.session('second');
      const { open, passed } = gate();
      const taker = new RecordingTaker(() => passed.then(() => NOTHING));
      const { dispatcher } = await started(here, taker);
      await dispatcher.wake({ session: first, reason: 'appended' });
      await expect.poll(() => taker.of(first).length === 1, soon('the take')).toBe(true);
      let stopped = false;
      const stopping = dispatcher.stop().then(() => void (stopped = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect(stopped).toBe(false);
      open();
      await stopping;
      expect(taker.under).toBe(0);
      const { length } = taker.taken;
      await dispatcher.wake({ session: second, reason: 'appended' }).catch(() => undefined);
      dispatcher.look();
      await new Promise((resolve) => setImmediate(resolve));
      expect(taker.taken).toHaveLength(length);
    });

    test('promise 8: stop() before start(), and twice, is fine', async () => {
      const here = await place();
      const dispatcher = await here.open();
      await expect(dispatcher.stop()).resolves.toBeUndefined();
      await expect(dispatcher.stop()).resolves.toBeUndefined();
    });
  });

  if (!shared) return;

  describe(`${name}: several processes`, { timeout: TEST_MS_MAX }, () => {
    test('promise 2: of three that have started one gets each wake', async () => {
      const here = await place();
      const all = await Promise.all([1, 2, 3].map(() => started(here)));
      const sessions = await Promise.all(Array.from({ length: 30 }, (_, i) => here.session(`s-${i}`)));
      for (const [i, session] of sessions.entries())
        await all[i % 3]?.dispatcher.wake({ session, reason: 'appended' });
      const taken = (): readonly string[] =>
        all.flatMap(({ taker }) => taker.taken.map(({ session }) => session));
      await expect.poll(() => new Set(taken()).size === 30, soon('all takes')).toBe(true);
      // One a wake: a hint may be repeated, but not as a rule.
      expect(taken().length).toBeLessThan(36);
    });

    test('promise 1: a wake by a process that only appends reaches one that has started', async () => {
      const here = await place();
      const { taker } = await started(here);
      const door = await here.open();
      onTestFinished(() => door.stop());
      const session = await here.session('from the door');
      await door.wake({ session, reason: 'appended' });
      await expect.poll(() => taker.of(session).length > 0, soon('a take')).toBe(true);
    });

    test('promise 1: a wake that nobody was there for is there for the next one', async () => {
      const here = await place();
      const door = await here.open();
      onTestFinished(() => door.stop());
      const session = await here.session('early');
      await door.wake({ session, reason: 'appended' });
      const { taker } = await started(here);
      await expect.poll(() => taker.of(session).length > 0, soon('a take')).toBe(true);
    });

    test('promise 5: what one worker cannot take another one gets', async () => {
      const here = await place();
      const session = await here.session('moved');
      const full = await started(here, new RecordingTaker(() => ({ kind: 'later', afterMs: 50 })));
      await full.dispatcher.wake({ session, reason: 'appended' });
      await expect.poll(() => full.taker.of(session).length > 0, soon('it was offered')).toBe(true);
      await full.dispatcher.stop();
      const other = await started(here);
      await expect.poll(() => other.taker.of(session).length > 0, soon('the other one has it')).toBe(true);
    });

    test('promise 8: what a stopped one had not taken goes to the others', async () => {
      const here = await place();
      const narrow = new RecordingTaker();
      narrow.room = () => 0;
      const stopping = await started(here, narrow);
      const sessions = await Promise.all(Array.from({ length: 10 }, (_, i) => here.session(`s-${i}`)));
      for (const session of sessions) await stopping.dispatcher.wake({ session, reason: 'appended' });
      await stopping.dispatcher.stop();
      expect(narrow.taken).toEqual([]);
      const { taker } = await started(here);
      await expect
        .poll(() => new Set(taker.taken.map((one) => one.session)).size === 10, soon('all takes'))
        .toBe(true);
    });
  });
};
