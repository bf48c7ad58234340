/** Simulated kills: processes that share a memory. One dies by never going on, the next takes up the same log and desk. */
import { systemClock, type Clock, type Timer } from '../../clock.ts';
import { MemoryLog } from '../../log/memory.ts';
import type { LogStore } from '../../log/store.ts';
import { FaultPlan, type FaultPlanState } from '../fault-plan.ts';
import { Dice } from '../simulation/dice.ts';
import { faultyStore, never, type Life } from '../simulation/faulty-store.ts';
import { Boundaries, type Seen } from './boundary.ts';
import { play } from './play.ts';
import type { Played, Run } from './run.ts';

export const playSimulated = async ({ scenario, folder, kill, faults }: Run): Promise<Played> => {
  const log = new MemoryLog();
  let seen: Seen | undefined;
  let state: FaultPlanState | undefined;
  for (;;) {
    const life = new SimulatedLife();
    const die = (): Promise<never> => life.die();
    const plan = new FaultPlan(faults, { clock: life.clock, die, state });
    const boundaries = new Boundaries({ kill, plan, die, isDead: () => life.dead, seen });
    const store = life.store(log);
    const played = await Promise.race([
      play({ scenario, folder, boundaries, store, clock: life.clock, isGone: () => true }),
      life.died,
    ]);
    life.end();
    ({ seen } = boundaries);
    ({ state } = plan);
    if (played !== 'died') return { ending: played, seen, unfired: plan.unfired() };
  }
};

const NO_TIMER: Timer = { cancel: () => undefined };

/** What dies with a process: its timers, and its hold on the store. */
class SimulatedLife {
  readonly #life: Life = { dead: false };
  readonly #timers = new Set<Timer>();
  readonly #died = Promise.withResolvers<'died'>();

  get died(): Promise<'died'> {
    return this.#died.promise;
  }

  get dead(): boolean {
    return this.#life.dead;
  }

  readonly clock: Clock = {
    ...systemClock,
    after: (ms, callback, background) => {
      if (this.dead) return NO_TIMER;
      const done = (): void => {
        this.#timers.delete(timer);
        callback();
      };
      const timer = systemClock.after(ms, done, background);
      this.#timers.add(timer);
      return {
        cancel: () => {
          timer.cancel();
          this.#timers.delete(timer);
        },
      };
    },
  };

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
}
