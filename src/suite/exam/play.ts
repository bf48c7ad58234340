/**
 * Plays one scenario: its own folder, store in memory, clock and network; its actions in order, its questions
 * answered as it says. A planned crash ends the simulated process, and the next one takes up the same log and desk.
 */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { badInput, isOnrecordError } from '../../errors.ts';
import { canonical, isSame } from '../../event/canonical.ts';
import type { Actor } from '../../event/content.ts';
import { open } from '../../event/envelope.ts';
import type { ApprovalDecision, LogEvent, Settlement } from '../../event/events.ts';
import type { JsonObject } from '../../event/json.ts';
import { MemoryLog } from '../../log/memory.ts';
import type { Model, ModelReply, ModelRequest } from '../../model/model.ts';
import type { CallState } from '../../session/state.ts';
import type { Tool, ToolContext } from '../../tool/tool.ts';
import type { Agent } from '../../worker/agent.ts';
import { openRuntime, type Runtime } from '../../worker/runtime.ts';
import { Boundaries, type Kill, type Seen } from '../crash/boundary.ts';
import { SimulatedLife } from '../crash/life.ts';
import type { Turnstile } from '../crash/turnstile.ts';
import { FaultPlan, type Fault } from '../fault-plan.ts';
import { Dice } from '../simulation/dice.ts';
import { change, changedFiles, deskDigests, furnish, layDesk } from './desk.ts';
import { openedHosts, outside, within, type Opened } from './network-guard.ts';
import { waitMs, type Action, type AnswerText, type ExamScenario } from './scenario.ts';
import { StagedClock } from './staged-clock.ts';

const SEED = 20_261_127;
/** Answers after one action; more means that a scenario asks without end. */
const ANSWERS_MAX = 100;
/** How often a command is said that fails for a passing fault. */
const SAID_MAX = 5;
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
  /** Boundaries that it came to, and those at which it was killed. */
  readonly seen: Seen;
  /** Hosts that were wanted and are closed. */
  readonly refused: readonly string[];
  /** Answers of the model that are on record: failures that a fault plan made are none. */
  readonly answers: number;
};

/** Where a run stands, over all its processes. */
type Progress = {
  session: string;
  action: number;
  readonly executed: Executed[];
  /** How the model itself answered, by turn, step and attempt. */
  readonly answered: Map<string, 'response' | 'failed'>;
  before: ReadonlyMap<string, string> | undefined;
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
    before: isLaid ? deskDigests(desk) : undefined,
  };
  let plan = new FaultPlan(faults, { clock: staged.clock });
  let seen: Seen | undefined;
  for (let lives = 0; lives < LIVES_MAX; lives++) {
    const life = new SimulatedLife(staged.clock);
    const die = (): Promise<never> => life.die();
    plan = new FaultPlan(faults, { clock: life.clock, die, state: plan.state });
    const boundaries = new Boundaries({ kill, plan, die, isDead: () => life.dead, seen });
    const living = new Living({ candidate, staged, life, boundaries, log, desk, laid, opened, progress });
    const work = within(opened, () => living.run());
    const ended = await staged.during(Promise.race([work, life.died]));
    life.end();
    ({ seen } = boundaries);
    if (ended === 'died') continue;
    const events = progress.session === '' ? [] : (await log.read(progress.session)).map(open);
    return {
      session: progress.session,
      events,
      log,
      agent: ended,
      desk,
      executed: progress.executed,
      changed: changedFiles(progress.before ?? new Map(), deskDigests(desk)),
      unfired: plan.unfired(),
      seen: boundaries.seen,
      refused: opened.refused,
      answers: answersIn(events, progress.answered),
    };
  }
  throw new Error(`the fault plan ends more than ${LIVES_MAX} processes`);
};

type LivingOptions = {
  readonly candidate: Candidate;
  readonly staged: StagedClock;
  readonly life: SimulatedLife;
  readonly boundaries: Boundaries;
  readonly log: MemoryLog;
  readonly desk: string;
  readonly laid: string | undefined;
  readonly opened: Opened;
  readonly progress: Progress;
};

/** One simulated process of a run. */
class Living {
  readonly #options: LivingOptions;
  readonly #person: Actor;

  constructor(options: LivingOptions) {
    this.#options = options;
    this.#person = { kind: 'person', ...options.candidate.scenario.person };
  }

  async run(): Promise<Agent> {
    const { candidate, staged, life, boundaries, log, desk, laid, progress } = this.#options;
    const { scenario, model } = candidate;
    const furnished = (): void => furnish(desk, scenario.desk, staged.clock.now());
    if (!progress.before && candidate.deskFirst) furnished();
    const made = await staged.busy(() => candidate.agent({ desk, ...(model && { model }) }));
    if (model && !isSame(made.model.definition, model.definition))
      throw badInput(
        'scenario-invalid',
        `The agent has the model ${made.model.definition.name} and not the one it was given: its function has to take { desk, model }.`,
      );
    if (!progress.before) {
      if (!candidate.deskFirst) furnished();
      progress.before = deskDigests(desk);
      if (laid !== undefined) cpSync(desk, laid, { recursive: true });
    }
    const runtime = await openRuntime({
      store: life.store(log),
      agents: [this.#watched(made)],
      clock: life.clock,
      random: new Dice(SEED),
      faults: boundaries,
      drive: false,
      isGone: () => true,
    });
    for (; progress.action < scenario.turns.length; progress.action++) {
      const action = scenario.turns[progress.action];
      if (action === undefined) break;
      await this.#act(runtime, made.definition.name, action);
      if (typeof action !== 'string' && 'rest' in action && !action.rest) continue;
      await this.#settle(runtime);
    }
    return made;
  }

  async #act(runtime: Runtime, agent: string, action: Action): Promise<void> {
    const { progress, staged, desk } = this.#options;
    const { session } = progress;
    const by = this.#person;
    if (typeof action === 'string' || 'say' in action) {
      const { say: message, labels, when } = typeof action === 'string' ? { say: action } : { ...action };
      const to = session === '' ? { agent } : { session };
      const key = `turn-${progress.action + 1}`;
      const more = { ...(labels && { labels }), ...(when && { when }) };
      ({ session: progress.session } = await insist(() =>
        runtime.send({ ...to, message, key, by, ...more }),
      ));
    } else if ('wait' in action) {
      staged.pass(waitMs(action.wait));
    } else if ('cancel' in action) {
      // Said again after a crash, there is nothing left to cancel.
      await unlessRefused(
        insist(() => runtime.cancel(session, { by, reason: action.cancel })),
        'nothing-to-cancel',
      );
    } else if ('mode' in action) {
      await insist(() => runtime.setMode(action.mode, { session, by }));
    } else if ('compact' in action) {
      await insist(() => runtime.compact(session, { by }));
    } else if ('settle' in action) {
      for (const call of (await runtime.rest(session)).inDoubt)
        await insist(() =>
          runtime.settle({
            session,
            call: call as CallState['id'],
            settlement: settlementOf(action.settle),
            by,
          }),
        );
    } else change(desk, action.change);
  }

  async #settle(runtime: Runtime): Promise<void> {
    const { progress, candidate } = this.#options;
    const { session } = progress;
    if (session === '') return;
    for (let answers = 0; answers < ANSWERS_MAX; answers++) {
      await runtime.rest(session);
      const { active } = await runtime.state(session);
      const call = active?.calls.find(
        (one) => one.phase === 'asking' && answerFor(candidate.scenario, one) !== 'leave',
      );
      if (call?.digest === undefined) return;
      const decision = decisionOf(answerFor(candidate.scenario, call), call);
      const { id, digest } = call;
      await insist(() => runtime.decide({ session, call: id, digest, decision, by: this.#person }));
    }
    throw new Error(`the scenario was asked more than ${ANSWERS_MAX} times after one action`);
  }

  /** The same agent, whose tools take turns, stop the clock, and note what they have done. */
  #watched(agent: Agent): Agent {
    const { boundaries, staged } = this.#options;
    const tools = [...agent.tools.values()].map((tool): [string, Tool] => [
      tool.name,
      inTurn(this.#noted(tool), boundaries.turnstile, staged),
    ]);
    return { ...agent, tools: new Map(tools), model: this.#hurried(agent.model) };
  }

  #noted(tool: Tool): Tool {
    const { progress } = this.#options;
    if (tool.effect === 'none') return tool;
    return {
      ...tool,
      execute: async (input, context) => {
        const result: unknown = await tool.execute(input, context);
        progress.executed.push({ tool: tool.name, call: context.call.split(' ')[1] ?? '' });
        return result;
      },
    };
  }

  /** A live model is asked outside of the closed network; a script's pauses are for people who watch. */
  #hurried(model: Model): Model {
    const { staged, candidate } = this.#options;
    if (candidate.live)
      return { ...model, send: (request) => staged.busy(() => outside(() => model.send(request))) };
    return { ...model, send: (request) => this.#scripted(model, request) };
  }

  /** A request that a fault plan made fail asked the script nothing: the next one gets the same step. */
  async #scripted(model: Model, request: ModelRequest): Promise<ModelReply> {
    const { progress, log } = this.#options;
    const events = (await log.read(progress.session)).map(open);
    const modelCall = answersIn(events, progress.answered) + 1;
    const reply = await model.send({ ...request, modelCall, sleep: async () => undefined });
    progress.answered.set(attemptName(request), reply.kind);
    return reply;
  }
}

type Attempt = { readonly turn: number; readonly step: number; readonly attempt: number };

const attemptName = ({ turn, step, attempt }: Attempt): string => `${turn}.${step}#${attempt}`;

/** Answers on record that are the model's own. */
const answersIn = (events: readonly LogEvent[], answered: Progress['answered']): number =>
  events.filter(
    ({ type, data }) =>
      (type === 'response.received' && answered.get(attemptName(data)) === 'response') ||
      (type === 'request.failed' && answered.get(attemptName(data)) === 'failed'),
  ).length;

type Callback<T> = (input: never, context: ToolContext) => T | Promise<T>;

const inTurn = (tool: Tool, turnstile: Turnstile, staged: StagedClock): Tool => {
  const turning =
    <T>(callback: Callback<T>): Callback<T> =>
    async (input, context) => {
      try {
        return await staged.busy(() => callback(input, context));
      } finally {
        await turnstile.end(context.call);
      }
    };
  const { preview, reconcile, execute } = tool;
  return {
    ...tool,
    execute: turning(execute),
    preview: preview && turning(preview),
    reconcile: reconcile && turning(reconcile),
  };
};

const answerFor = ({ answers }: ExamScenario, { id, tool }: CallState): AnswerText =>
  answers[id] ?? answers[tool] ?? answers['default'] ?? 'approve';

const decisionOf = (answer: AnswerText, call: CallState): ApprovalDecision => {
  if (typeof answer === 'string')
    return answer === 'reject' ? { do: 'reject', reason: 'The scenario says no.' } : { do: 'approve' };
  if ('reject' in answer) return { do: 'reject', reason: answer.reject };
  if ('respond' in answer) return { do: 'respond', content: [{ type: 'text', text: answer.respond }] };
  // What was changed once and is asked about again is as the person wanted it.
  if (call.edited) return { do: 'approve' };
  return { do: 'edit', args: canonical({ ...(JSON.parse(call.args) as JsonObject), ...answer.edit }) };
};

const settlementOf = (answer: Settlement['answer']): Settlement =>
  answer === 'happened' ? { answer, content: [{ type: 'text', text: 'It happened.' }] } : { answer };

/** Says a command again when it failed for a passing fault, as a client does that heard no answer. */
const insist = async <T>(say: () => Promise<T>): Promise<T> => {
  for (let said = 1; ; said++) {
    try {
      return await say();
    } catch (error) {
      if (said >= SAID_MAX || !isOnrecordError(error) || error.next !== 'retry') throw error;
    }
  }
};

const unlessRefused = async (command: Promise<unknown>, code: string): Promise<void> => {
  try {
    await command;
  } catch (error) {
    if (!isOnrecordError(error) || error.code !== code) throw error;
  }
};
