/** One run of a scenario: what it is given, and what came of it. */
import type { Fault } from '../fault-plan.ts';
import type { Kill, Seen } from './boundary.ts';
import type { Ending } from './ending.ts';
import type { CrashScenario, ScenarioText } from './scenario.ts';

export type Run = {
  readonly scenario: CrashScenario;
  /** A folder of its own, with the desk in it. */
  readonly folder: string;
  readonly kill: Kill;
  readonly faults: readonly Fault[];
};

/** A run in processes of its own, each of which loads the scenario's code. */
export type RealRun = Omit<Run, 'scenario'> & { readonly text: ScenarioText; readonly home: string };

export type Played = {
  readonly ending: Ending;
  readonly seen: Seen;
  /** Faults of the plan that have not come. */
  readonly unfired: readonly Fault[];
};
