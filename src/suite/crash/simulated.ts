/** Simulated kills: processes that share a memory. One dies by never going on, the next takes up the same log and desk. */
import { MemoryLog } from '../../log/memory.ts';
import { FaultPlan, type FaultPlanState } from '../fault-plan.ts';
import { Boundaries, type Seen } from './boundary.ts';
import { SimulatedLife } from './life.ts';
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
