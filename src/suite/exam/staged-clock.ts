/**
 * The clock of one scenario. Time stands still while a tool or a model works, and when nothing is under way it
 * goes at once to the next moment that somebody waits for: a wait of an hour costs nothing, and no timeout strikes
 * because the machine is slow. With a live model time also passes as it does for everybody.
 */
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';

/** Turns of the event loop in which nothing began, before time goes on. */
const QUIET_TURNS = 6;
const STEP_MS: number = 60 * 60 * 1000;
/** Time on the stage that work may take before it is given up. */
const WORK_MS_MAX: number = 7 * 24 * 60 * 60 * 1000;

export class StagedClock {
  readonly clock: VirtualClock;
  readonly #live: boolean;
  #busy = 0;
  #idle = Promise.withResolvers<void>();

  constructor(startMs: number, live: boolean = false) {
    this.clock = new VirtualClock(startMs);
    this.#live = live;
  }

  /** While it is under way time stands still. */
  async busy<T>(work: () => Promise<T> | T): Promise<T> {
    const began = systemClock.monotonic();
    if (this.#busy++ === 0) this.#idle = Promise.withResolvers();
    try {
      return await work();
    } finally {
      if (this.#live) this.pass(systemClock.monotonic() - began);
      if (--this.#busy === 0) this.#idle.resolve();
    }
  }

  /** So much time passes, and whatever is due meanwhile is called. */
  pass(ms: number): void {
    const until = this.clock.monotonic() + ms;
    while (this.clock.monotonic() < until) this.clock.advance(until - this.clock.monotonic());
  }

  /** Lets time pass as it is needed until the work has settled. Throws `scenario-stuck`. */
  async during<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const watched = work.finally(() => (settled = true));
    watched.catch(() => undefined);
    const until = this.clock.monotonic() + WORK_MS_MAX;
    for (let quiet = 0; !settled;) {
      await new Promise<void>((turn) => setImmediate(turn));
      if (this.#busy > 0) {
        quiet = 0;
        await Promise.race([this.#idle.promise, watched.catch(() => undefined)]);
      } else if (++quiet > QUIET_TURNS) {
        quiet = 0;
        if (this.clock.isAwaited) this.clock.advance(STEP_MS);
        if (this.clock.monotonic() > until)
          throw badInput(
            'scenario-stuck',
            'The session does not come to rest: a week has passed on the stage.',
          );
      }
    }
    return watched;
  }
}
