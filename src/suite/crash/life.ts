/** A simulated process: it dies by never going on, and what dies with it is its timers and its hold on the store. */
import { systemClock, type Clock, type Timer } from '../../clock.ts';
import type { MemoryLog } from '../../log/memory.ts';
import type { LogStore } from '../../log/store.ts';
import { Dice } from '../simulation/dice.ts';
import { faultyStore, never, type Life } from '../simulation/faulty-store.ts';

const NO_TIMER: Timer = { cancel: () => undefined };

export class SimulatedLife {
  readonly clock: Clock;
  readonly #life: Life = { dead: false };
  readonly #timers = new Set<Timer>();
  readonly #died = Promise.withResolvers<'died'>();

  constructor(base: Clock = systemClock) {
    this.clock = {
      now: () => base.now(),
      monotonic: () => base.monotonic(),
      after: (ms, callback, background) => this.#after(base, { ms, callback, background }),
    };
  }

  get died(): Promise<'died'> {
    return this.#died.promise;
  }

  get dead(): boolean {
    return this.#life.dead;
  }

  store(log: MemoryLog): LogStore {
    const faults = { slow: 0, fails: 0, unsure: 0, deaf: 0 };
    return faultyStore(log, { life: this.#life, dice: new Dice(1), clock: this.clock, faults });
  }

  die(): Promise<never> {
    this.end();
    this.#died.resolve('died');
    return never();
  }

  end(): void {
    this.#life.dead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #after(base: Clock, planned: Planned): Timer {
    if (this.dead) return NO_TIMER;
    const done = (): void => {
      this.#timers.delete(timer);
      planned.callback();
    };
    const timer = base.after(planned.ms, done, planned.background);
    this.#timers.add(timer);
    return {
      cancel: () => {
        timer.cancel();
        this.#timers.delete(timer);
      },
    };
  }
}

type Planned = {
  readonly ms: number;
  readonly callback: () => void;
  readonly background: boolean | undefined;
};
