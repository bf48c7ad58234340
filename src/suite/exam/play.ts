/**
 * Plays one scenario: its own folder, store in memory, clock and network; its actions in order, its questions
 * answered as it says. A planned crash ends the simulated process, and the next one takes up the same log and desk.
 */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../event/envelope.ts';
import type { LogEvent } from '../../event/events.ts';
import { MemoryLog } from '../../log/memory.ts';
import type { Model } from '../../model/model.ts';
import type { Agent } from '../../worker/agent.ts';
import { Boundaries, type Kill, type Seen } from '../crash/boundary.ts';
import { SimulatedLife } from '../crash/life.ts';
import { FaultPlan, type Fault, type FaultCount } from '../fault-plan.ts';
import type { Check } from './coded.ts';
import { changedFiles, deskDigests, layDesk } from './desk.ts';
import { answersIn, Living, type Progress } from './living.ts';
import { ServedResults, type Recording } from './recorded.ts';
import { openedHosts, within } from './network-guard.ts';
import type { ExamScenario } from './scenario.ts';
import { StagedClock } from './staged-clock.ts';

const LIVES_MAX = 100;

/** An agent for a desk, with the model that answers; without one it has its own. */
export type AgentMaker = (place: { readonly desk: string; readonly model?: Model }) => Agent | Promise<Agent>;

export type Candidate = {
  readonly scenario: ExamScenario;
  /** The folder that the scenario's paths start from. */
  readonly home: string;
  readonly agent: AgentMaker;
  readonly model: Model | undefined;
  /** Asked for real: its answers, and the time they take, are not the same each time. */
  readonly live: boolean;
  /** What tools answer where the scenario has a recording. */
  readonly recording?: Recording;
  /** Of a scenario that code has made. */
  readonly check?: Check;
  /** The desk is furnished before the agent is made: its tools want their folders. */
  readonly deskFirst: boolean;
};

export type Executed = { readonly tool: string; readonly call: string };

export type Playing = {
  readonly session: string;
  readonly events: readonly LogEvent[];
  readonly log: MemoryLog;
  readonly agent: Agent;
  readonly desk: string;
  /** Tools with an effect that came to their end, in order, as noted outside the log. */
  readonly executed: readonly Executed[];
  readonly changed: readonly string[];
  readonly unfired: readonly Fault[];
  /** What came by chance. */
  readonly chance: readonly FaultCount[];
  /** Steps ("1.2") whose reply the plan made unreadable: their calls are none that the model wanted. */
  readonly distorted: ReadonlySet<string>;
  /** Calls that the scenario's recording does not have. */
  readonly missed: readonly string[];
  /** Boundaries that it came to, and those at which it was killed. */
  readonly seen: Seen;
  /** Hosts that were wanted and are closed. */
  readonly refused: readonly string[];
  /** Answers of the model that are on record: failures that a fault plan made are none. */
  readonly answers: number;
};

export type PlayPlace = {
  readonly folder: string;
  readonly faults: readonly Fault[];
  /** The boundaries at which its process is killed. */
  readonly kill?: Kill;
  /** The desk as it was laid for an earlier run, for many runs of one scenario: made by the first, copied after it. */
  readonly laid?: string;
};

/** `folder` is empty and the run's own. */
export const playScenario = async (
  candidate: Candidate,
  { folder, faults, kill = [], laid }: PlayPlace,
): Promise<Playing> => {
  const { scenario, home } = candidate;
  const staged = new StagedClock(Date.parse(scenario.clock), candidate.live);
  const opened = await openedHosts(scenario.network);
  const log = new MemoryLog();
  const desk = join(folder, 'desk');
  const isLaid = laid !== undefined && existsSync(laid);
  if (isLaid) cpSync(laid, desk, { recursive: true });
  else layDesk(desk, scenario.desk, home);
  const progress: Progress = {
    session: '',
    action: 0,
    executed: [],
    answered: new Map(),
    distorted: new Set(),
    served: candidate.recording && new ServedResults(candidate.recording),
    before: isLaid ? deskDigests(desk) : undefined,
  };
  const jump = (ms: number): void => staged.clock.jump(ms);
  let plan = new FaultPlan(faults, { clock: staged.clock, jump });
  let seen: Seen | undefined;
  for (let lives = 0; lives < LIVES_MAX; lives++) {
    const life = new SimulatedLife(staged.clock);
    const die = (): Promise<never> => life.die();
    plan = new FaultPlan(faults, { clock: life.clock, die, jump, state: plan.state });
    const boundaries = new Boundaries({ kill, plan, die, isDead: () => life.dead, seen });
    const living = new Living({
      candidate,
      staged,
      life,
      plan,
      boundaries,
      log,
      desk,
      laid,
      opened,
      progress,
    });
    const work = within(opened, () => living.run());
    const ended = await staged.during(Promise.race([work, life.died]));
    life.end();
    ({ seen } = boundaries);
    if (ended === 'died') continue;
    return played({ agent: ended, log, desk, plan, seen, refused: opened.refused, progress });
  }
  throw new Error(`the fault plan ends more than ${LIVES_MAX} processes`);
};

type Ended = Pick<Playing, 'agent' | 'log' | 'desk' | 'seen' | 'refused'> & {
  readonly plan: FaultPlan;
  readonly progress: Progress;
};

const played = async ({ plan, progress, ...ended }: Ended): Promise<Playing> => {
  const { session, executed, distorted, answered, before, served } = progress;
  const events = session === '' ? [] : (await ended.log.read(session)).map(open);
  return {
    ...ended,
    session,
    events,
    executed,
    changed: changedFiles(before ?? new Map(), deskDigests(ended.desk)),
    unfired: plan.unfired(),
    chance: plan.counts(),
    distorted,
    missed: served?.missed ?? [],
    answers: answersIn(events, answered),
  };
};
