/**
 * Plays a scenario to its end on a store and a desk, from wherever an earlier process left it. Each message has a
 * key, so saying it again is the same turn; questions are answered as the scenario says.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { isOnrecordError } from '../../errors.ts';
import type { LogStore, Owner } from '../../log/store.ts';
import { knownCalls } from '../../session/state.ts';
import type { Model } from '../../model/model.ts';
import type { Tool, ToolContext } from '../../tool/tool.ts';
import type { Agent } from '../../worker/agent.ts';
import { openRuntime, type Runtime } from '../../worker/runtime.ts';
import { Dice } from '../simulation/dice.ts';
import type { Boundaries } from './boundary.ts';
import { DESK, endingOf, JOURNAL, type Ending, type Execution } from './ending.ts';
import type { CrashScenario } from './scenario.ts';
import type { Turnstile } from './turnstile.ts';

/** 27 November 2026, 14:00 UTC: what a process writes must not depend on when it was killed. */
const NOW_MS = 1_795_788_000_000;
export const SEED = 20_261_127;
/** Answers in one turn; more means that a scenario asks without end. */
const ANSWERS_MAX = 100;
/** How often a command is said that fails for a passing fault. */
const SAID_MAX = 5;

export type Stage = {
  readonly scenario: CrashScenario;
  readonly store: LogStore;
  /** Holds the desk and the journal of effects. */
  readonly folder: string;
  readonly boundaries: Boundaries;
  /** Its wall clock is not looked at. */
  readonly clock: Clock;
  readonly isGone?: (owner: Owner) => boolean;
};

export const play = async (stage: Stage): Promise<Ending> => {
  const { scenario, store, folder, boundaries, clock, isGone } = stage;
  const agent = watched(await scenario.agent({ desk: join(folder, DESK) }), folder, boundaries.turnstile);
  const runtime = await openRuntime({
    store,
    agents: [agent],
    clock: { ...clock, now: () => NOW_MS },
    random: new Dice(SEED),
    faults: boundaries,
    drive: false,
    ...(isGone && { isGone }),
  });
  let session: string | undefined;
  for (const [i, message] of scenario.turns.entries()) {
    const to = session === undefined ? { agent: agent.definition.name } : { session };
    ({ session } = await insist(() => runtime.send({ ...to, message, key: `turn-${i + 1}` })));
    if ((await settleTurn(runtime, session, scenario)) === 'in-doubt') break;
  }
  return endingOf(session ?? '', { store, folder, encoder: agent.model.encoder });
};

const settleTurn = async (runtime: Runtime, session: string, scenario: CrashScenario): Promise<string> => {
  for (let answers = 0; answers < ANSWERS_MAX; answers++) {
    const rest = await runtime.rest(session);
    if (rest.approvals.length === 0) return rest.status;
    const call = knownCalls(await runtime.state(session)).find(({ phase }) => phase === 'asking');
    if (call?.digest === undefined) return rest.status;
    const { id, digest } = call;
    const decision = scenario.answer(call.tool);
    await insist(() => runtime.decide({ session, call: id, digest, decision }));
  }
  return 'asks without end';
};

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

/** The same agent, whose tools take turns and note in a journal what they have done. */
const watched = (agent: Agent, folder: string, turnstile: Turnstile): Agent => {
  const tools = [...agent.tools.values()].map((tool): [string, Tool] => [
    tool.name,
    inTurn(tool.effect === 'none' ? tool : noted(tool, folder), turnstile),
  ]);
  return { ...agent, tools: new Map(tools), model: hurried(agent.model) };
};

/** A scripted model's pauses are for people who watch; nobody does here. */
const hurried = (model: Model): Model => ({
  ...model,
  send: (request) => model.send({ ...request, sleep: async () => undefined }),
});

const noted = (tool: Tool, folder: string): Tool => ({
  ...tool,
  execute: async (input, context) => {
    const result: unknown = await tool.execute(input, context);
    const execution: Execution = {
      key: context.idempotencyKey,
      call: context.call.split(' ')[1] ?? '',
      tool: tool.name,
      effect: tool.effect,
    };
    appendFileSync(join(folder, JOURNAL), `${JSON.stringify(execution)}\n`);
    return result;
  },
});

type Callback<T> = (input: never, context: ToolContext) => T | Promise<T>;

const inTurn = (tool: Tool, turnstile: Turnstile): Tool => {
  const turning =
    <T>(callback: Callback<T>): Callback<T> =>
    async (input, context) => {
      try {
        return await callback(input, context);
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
