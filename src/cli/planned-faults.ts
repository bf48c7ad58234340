/** --faults of a command that works on a session: what goes wrong on purpose, and that all of it did. */
import { systemClock } from '../clock.ts';
import {
  FAULT_SEED,
  faultNotReached,
  FaultPlan,
  killThisProcess,
  withSeed,
  type Fault,
} from '../suite/fault-plan.ts';
import type { FaultPlace } from '../worker/fault-point.ts';
import { countOf, formatCount } from '../view/format.ts';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { mostUrgent } from './outcome.ts';
import { readFaultPlanFile } from './suite-file.ts';
import { command } from './terminal/command.ts';
import { EMPTY, line, SIGN, whole } from './terminal/shown.ts';

export type PlannedFaults = {
  readonly plan: FaultPlan;
  /** The exit code of the work and of the plan together. */
  exitOf(code: ExitCode): ExitCode;
};

/** Throws `fault-plan-not-found`, `fault-plan-invalid`. */
export const plannedFaults = (cli: Cli, path: string): PlannedFaults => {
  const die = (fault: Fault, place: FaultPlace): Promise<never> => {
    sayDeath(cli, fault, place);
    return killThisProcess();
  };
  const faults = withSeed(readFaultPlanFile(path, cli.cwd), FAULT_SEED);
  const plan = new FaultPlan(faults, { clock: systemClock, die });
  return { plan, exitOf: (code) => judged(cli, plan, code) };
};

const sayDeath = ({ screen }: Cli, { at }: Fault, { session, what, call }: FaultPlace): void => {
  const where = [at, what, ...(call === undefined ? [] : [call])].join(' ');
  screen.note(EMPTY, line`${SIGN.fail} The fault plan kills this process at ${whole(where)}.`);
  // What was not recorded yet cannot be resumed: it is said again.
  if (at !== 'command.before' && !what.includes('session.created'))
    screen.next({ command: command('resume', session) });
};

/** A fault that was not reached has tested nothing, however well the work has ended. */
const judged = (cli: Cli, plan: FaultPlan, code: ExitCode): ExitCode => {
  for (const { fault, came, of } of plan.counts())
    cli.screen.note(line`${fault}   came ${formatCount(came)} of ${countOf(of, 'time')}`);
  const unfired = plan.unfired();
  if (unfired.length === 0 || code === EXIT.interrupted) return code;
  cli.screen.error(faultNotReached(unfired));
  return mostUrgent([code, EXIT.notJudged]);
};
