/** Simulated kills: processes that share a memory. One dies by never going on, the next takes up the same log and desk. */
import { systemClock, type Clock, type Timer } from '../../clock.ts';
import { MemoryLog } from '../../log/memory.ts';
import { Dice } from '../simulation/dice.ts';
import { faultyStore, NEVER, type Life } from '../simulation/faulty-store.ts';
import type { Fault } from '../fault-plan.ts';
import { FaultPlan } from '../fault-plan.ts';
import { Boundaries, type Kill, type Seen } from './boundary.ts';
import { play } from './play.ts';
import type { Played } from './real.ts';
import type { CrashScenario } from './scenario.ts';

export type SimulatedRun = {
  readonly scenario: CrashScenario;
  readonly folder: string;
  readonly kill: Kill;
  readonly faults: readonly Fault[];
};

export const playSimulated = async ({ scenario, folder, kill, faults }: SimulatedRun): Promise<Played> => {
  const log = new MemoryLog();
  let seen: Seen | undefined;
  let life = new SimulatedLife();
  // The plan outlives the processes: a fault that has come once does not come again.
  const plan = new FaultPlan(faults, { clock: life.clock, die: () => life.die() });
  for (;;) {
    const boundaries: Boundaries = new Boundaries({
      kill,
      plan,
      die: () => life.die(),
      ...(seen && { seen }),
    });
    const played = await Promise.race([
      play({
        scenario,
        folder,
        boundaries,
        store: life.store(log),
        clock: life.clock,
        isGone: () => true,
      }),
      life.died,
    ]);
    life.end();
    ({ seen } = boundaries);
    if (played !== 'died') return { ending: played, ...seen, unfired: plan.unfired() };
    life = new SimulatedLife();
    plan.goOn(life.clock);
  }
};

/** What dies with a process: its timers, and its hold on the store. */
class SimulatedLife {
  readonly #life: Life = { dead: false };
  readonly #timers = new Set<Timer>();
  readonly #died = Promise.withResolvers<'died'>();

  get died(): Promise<'died'> {
    return this.#died.promise;
  }

  readonly clock: Clock = {
    ...systemClock,
    after: (ms, callback, background) => {
      const timer = systemClock.after(
        ms,
        () => {
          this.#timers.delete(timer);
          callback();
        },
        background,
      );
      this.#timers.add(timer);
      return {
        cancel: () => {
          timer.cancel();
          this.#timers.delete(timer);
        },
      };
    },
  };

  store(log: MemoryLog): ReturnType<typeof faultyStore> {
    const faults = { slow: 0, fails: 0, unsure: 0 };
    return faultyStore(log, { life: this.#life, dice: new Dice(1), clock: this.clock, faults });
  }

  die(): Promise<never> {
    this.end();
    this.#died.resolve('died');
    return NEVER;
  }

  end(): void {
    this.#life.dead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
