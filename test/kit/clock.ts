/** A clock that moves only when it is told to, and a wait on conditions instead of time. */
import { setTimeout } from 'node:timers/promises';
import type { Clock, Random, Timer } from '../../src/clock.ts';

type Alarm = { readonly due: number; readonly order: number; readonly callback: () => void };

/** The moment at which every test begins: 2026-01-05T09:00:00Z, a Monday. */
export const START_MS: number = Date.UTC(2026, 0, 5, 9);

export class FakeClock implements Clock {
  #elapsed = 0;
  #skew = 0;
  #order = 0;
  readonly #alarms = new Set<Alarm>();

  now(): number {
    return START_MS + this.#skew + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): Timer {
    const alarm: Alarm = { due: this.#elapsed + Math.max(0, ms), order: this.#order++, callback };
    this.#alarms.add(alarm);
    return { cancel: () => void this.#alarms.delete(alarm) };
  }

  /** Timers that have not rung. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Milliseconds until the next timer rings; undefined without one. */
  get nextIn(): number | undefined {
    const first = this.#first();
    return first && first.due - this.#elapsed;
  }

  /** Lets `ms` pass; timers ring in order, each at its own moment. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    for (let alarm = this.#first(); alarm && alarm.due <= end; alarm = this.#first()) {
      this.#elapsed = alarm.due;
      this.#alarms.delete(alarm);
      alarm.callback();
    }
    this.#elapsed = end;
  }

  /** Somebody sets the wall clock; durations do not notice. */
  setWall(ms: number): void {
    this.#skew += ms;
  }

  #first(): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms)
      if (!first || alarm.due < first.due || (alarm.due === first.due && alarm.order < first.order))
        first = alarm;
    return first;
  }
}

/** Turns of the event loop in which whatever is in this process alone comes about: then one looks less often. */
const EAGER_TURNS = 1000;
/** How long is waited for what another process, a disk or a socket has to do first, on the real clock. */
const PATIENCE_MS = 15_000;

/** One turn of the event loop: all that is ready has run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until the condition holds, without letting a fake clock move. */
export const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const began = performance.now();
  for (let i = 0; !(await condition()); i++) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`This did not come about: ${what}.`);
    await (i < EAGER_TURNS ? turn() : setTimeout(1));
  }
};

/**
 * Lets time pass until the work has ended, so much of it in every second turn of the event loop. As long as it takes: what
 * the clock does not move, as a module that is loaded for the first time, may come at any turn.
 */
export const passTime = async <T>(clock: FakeClock, ms: number, work: Promise<T>): Promise<T> => {
  let ended = false;
  const end = (): void => void (ended = true);
  work.then(end, end);
  await until('work that needs time ends', async () => {
    await turn();
    if (!ended) clock.advance(ms);
    return ended;
  });
  return work;
};

/** Some turns of the event loop: enough for everything in memory to come to rest. */
export const calm = async (turns = 12): Promise<void> => {
  for (let i = 0; i < turns; i++) await turn();
};

/** Random bytes that are the same in every run (a linear congruential generator; not for secrets). */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return {
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let i = 0; i < count; i++) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        bytes[i] = state >>> 24;
      }
      return bytes;
    },
  };
};
