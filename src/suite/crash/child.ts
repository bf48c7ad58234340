/**
 * One process of a real crash run: child.ts RUN, where RUN is the run as JSON. Boundaries are counted over all
 * processes of the run, in a file that is written before the kill.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { SqliteLog } from '../../log/sqlite.ts';
import { FaultPlan, type FaultPlanState } from '../fault-plan.ts';
import { Boundaries, type Seen } from './boundary.ts';
import { play } from './play.ts';
import type { Played, RealRun } from './run.ts';
import { loadScenario } from './scenario.ts';

type Left = { readonly seen: Seen; readonly state: FaultPlanState };

const { text, home, folder, kill, faults } = JSON.parse(process.argv[2] ?? '{}') as RealRun;
const file = join(folder, 'boundaries.json');
const left = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Left) : undefined;

const die = (): Promise<never> => {
  writeFileSync(file, JSON.stringify({ seen: boundaries.seen, state: plan.state } satisfies Left));
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before anything that follows.
  return new Promise<never>(() => undefined);
};
const plan = new FaultPlan(faults, { clock: systemClock, die, state: left?.state });
const boundaries: Boundaries = new Boundaries({ kill, plan, die, seen: left?.seen });

const ending = await play({
  scenario: await loadScenario(text, home),
  store: new SqliteLog(join(folder, 'log.db')),
  folder,
  boundaries,
  clock: systemClock,
});
const played: Played = { ending, seen: boundaries.seen, unfired: plan.unfired() };
process.stdout.write(JSON.stringify(played), () => process.exit(0));
