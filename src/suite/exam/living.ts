/** One simulated process of a run: says what the scenario says, answers what is asked, and hands the agent its stage. */
import { cpSync } from 'node:fs';
import { badInput, isOnrecordError } from '../../errors.ts';
import { canonical, isSame } from '../../event/canonical.ts';
import type { Actor } from '../../event/content.ts';
import { open } from '../../event/envelope.ts';
import type { ApprovalDecision, LogEvent, Settlement } from '../../event/events.ts';
import type { JsonObject } from '../../event/json.ts';
import type { MemoryLog } from '../../log/memory.ts';
import type { Model, ModelReply, ModelRequest } from '../../model/model.ts';
import { knownCalls, type CallState } from '../../session/state.ts';
import type { Tool, ToolContext } from '../../tool/tool.ts';
import type { Agent } from '../../worker/agent.ts';
import { openRuntime, type Runtime } from '../../worker/runtime.ts';
import type { Boundaries } from '../crash/boundary.ts';
import type { SimulatedLife } from '../crash/life.ts';
import type { Turnstile } from '../crash/turnstile.ts';
import type { FaultPlan } from '../fault-plan.ts';
import { Dice } from '../simulation/dice.ts';
import { change, deskDigests, furnish } from './desk.ts';
import { callsOf } from './judge.ts';
import { checkRecording, type ServedResults } from './recorded.ts';
import { traceOf } from '../../rehearse/trace.ts';
import { distortedReply, type Send } from './distorted-reply.ts';
import { outside, type Opened } from './network-guard.ts';
import type { Candidate, Executed } from './play.ts';
import { waitMs, type Action, type AnswerText, type ExamScenario } from './scenario.ts';
import type { StagedClock } from './staged-clock.ts';

const SEED = 20_261_127;
/** Answers after one action; more means that a scenario asks without end. */
const ANSWERS_MAX = 100;
/** How often a command is said that fails for a passing fault. */
const SAID_MAX = 5;

/** Where a run stands, over all its processes. */
export type Progress = {
  session: string;
  action: number;
  readonly executed: Executed[];
  /** How the model itself answered, by turn, step and attempt. */
  readonly answered: Map<string, 'response' | 'failed'>;
  readonly distorted: Set<string>;
  readonly served: ServedResults | undefined;
  before: ReadonlyMap<string, string> | undefined;
};

type LivingOptions = {
  readonly candidate: Candidate;
  readonly staged: StagedClock;
  readonly life: SimulatedLife;
  readonly plan: FaultPlan;
  readonly boundaries: Boundaries;
  readonly log: MemoryLog;
  readonly desk: string;
  readonly laid: string | undefined;
  readonly opened: Opened;
  readonly progress: Progress;
};

export class Living {
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
    if (candidate.recording) checkRecording(candidate.recording, made.definition, messagesIn(scenario));
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
      const call = knownCalls(await runtime.state(session)).find(
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
      inTurn(this.#noted(this.#served(tool)), boundaries.turnstile, staged),
    ]);
    return { ...agent, tools: new Map(tools), model: this.#hurried(agent.model) };
  }

  #served(tool: Tool): Tool {
    const { progress, log } = this.#options;
    if (!progress.served) return tool;
    return progress.served.tool(tool, async (id) => {
      const events = (await log.read(progress.session)).map(open);
      return callsOf(traceOf(progress.session, events)).find((call) => call.id === id)?.args ?? '';
    });
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
    const send: Send = candidate.live
      ? (request) => staged.busy(() => outside(() => model.send(request)))
      : (request) => this.#scripted(model, request);
    return { ...model, send: (request) => this.#sent(request, send) };
  }

  /** What the plan makes of a reply is no answer of the model: a script gives the same step again. */
  async #sent(request: ModelRequest, send: Send): Promise<ModelReply> {
    const { plan, progress } = this.#options;
    const { turn, step, attempt } = request;
    const place = { session: progress.session, attempt, what: `request ${turn}.${step}` };
    const fault = plan.distortion(place);
    if (!fault) return send(request);
    const reply = await distortedReply(fault, request, send);
    if (fault.do === 'slow') return reply;
    progress.answered.delete(attemptName(request));
    if (reply.kind === 'response') progress.distorted.add(`${turn}.${step}`);
    return reply;
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

const messagesIn = ({ turns }: ExamScenario): readonly string[] =>
  turns.flatMap((action) => (typeof action === 'string' ? [action] : 'say' in action ? [action.say] : []));

type Attempt = { readonly turn: number; readonly step: number; readonly attempt: number };

const attemptName = ({ turn, step, attempt }: Attempt): string => `${turn}.${step}#${attempt}`;

/** Answers on record that are the model's own. */
export const answersIn = (events: readonly LogEvent[], answered: Progress['answered']): number =>
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
