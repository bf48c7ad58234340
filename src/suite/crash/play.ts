/**
 * Plays a scenario to its end on a store and a desk, from wherever an earlier process left it. Each message has a
 * key, so saying it again is the same turn; questions are answered as the scenario says.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock, type Clock } from '../../clock.ts';
import { sha256 } from '../../event/canonical.ts';
import { open } from '../../event/envelope.ts';
import type { LogStore, Owner } from '../../log/store.ts';
import { evolve, initial } from '../../session/evolve.ts';
import type { Model } from '../../model/model.ts';
import type { CallState, SessionState } from '../../session/state.ts';
import { tool as defineTool, type Tool } from '../../tool/tool.ts';
import type { Agent } from '../../worker/agent.ts';
import type { Faults } from '../../worker/fault-point.ts';
import { openRuntime, type Runtime } from '../../worker/runtime.ts';
import { Dice } from '../simulation/dice.ts';
import type { CrashScenario } from './scenario.ts';

/** 27 November 2026, 14:00 UTC: what a process writes must not depend on when it was killed. */
const NOW_MS = 1_795_788_000_000;
const SEED = 20_261_127;
/** Answers in one turn; more means that a scenario asks without end. */
const ANSWERS_MAX = 100;

export type Stage = {
  readonly scenario: CrashScenario;
  readonly store: LogStore;
  /** Holds the desk and the journal of effects. */
  readonly folder: string;
  readonly faults: Faults;
  readonly isGone?: (owner: Owner) => boolean;
};

/** How a scenario ended, without anything that differs from run to run. */
export type Ending = {
  readonly inDoubt: readonly string[];
  /** Turns, how each call was closed, and the digest of every file on the desk. */
  readonly state: string;
  /** Executions of tools with an effect, by idempotency key. */
  readonly executions: readonly Execution[];
  /** Messages that the log holds. */
  readonly inputs: number;
};

export type Execution = { readonly key: string; readonly tool: string; readonly effect: string };

const clock: Clock = { ...systemClock, now: () => NOW_MS };

export const play = async (stage: Stage): Promise<Ending> => {
  const { scenario, store, folder, faults, isGone } = stage;
  const agent = watched(await scenario.agent({ desk: join(folder, 'desk') }), folder);
  const runtime = await openRuntime({
    store,
    agents: [agent],
    clock,
    random: new Dice(SEED),
    faults,
    drive: false,
    ...(isGone && { isGone }),
  });
  const [row] = await store.sessions({ limit: 1 });
  let session = row?.session;
  for (const [i, message] of scenario.turns.entries()) {
    const to = session === undefined ? { agent: agent.definition.name } : { session };
    ({ session } = await runtime.send({ ...to, message, key: `turn-${i + 1}` }));
    if ((await settleTurn(runtime, session, scenario)) === 'in-doubt') break;
  }
  return ending(store, session ?? '', folder);
};

const settleTurn = async (runtime: Runtime, session: string, scenario: CrashScenario): Promise<string> => {
  for (let answers = 0; answers < ANSWERS_MAX; answers++) {
    const rest = await runtime.rest(session);
    if (rest.approvals.length === 0) return rest.status;
    const { active } = await runtime.state(session);
    const call = active?.calls.find(({ phase }) => phase === 'asking');
    if (call?.digest === undefined) return rest.status;
    await runtime.decide({
      session,
      call: call.id,
      digest: call.digest,
      decision: scenario.answer(call.tool),
    });
  }
  return 'asks without end';
};

const JOURNAL = 'executions.jsonl';

/** Every execution of a tool with an effect, noted outside the log at the moment it is done. */
const watched = (agent: Agent, folder: string): Agent => {
  const tools = [...agent.tools.values()].map((tool): [string, Tool] => [
    tool.name,
    tool.effect === 'none' ? tool : noted(tool, folder),
  ]);
  return { ...agent, tools: new Map(tools), model: hurried(agent.model) };
};

/** A scripted model's pauses are for people who watch; nobody does here. */
const hurried = (model: Model): Model => ({
  ...model,
  send: (request) => model.send({ ...request, sleep: async () => undefined }),
});

const noted = (tool: Tool, folder: string): Tool => {
  const { name, effect } = tool;
  return {
    ...defineTool({ ...tool, description: tool.description } as Parameters<typeof defineTool>[0]),
    execute: async (input, context) => {
      const result: unknown = await tool.execute(input, context);
      const execution: Execution = { key: context.idempotencyKey, tool: name, effect };
      appendFileSync(join(folder, JOURNAL), `${JSON.stringify(execution)}\n`);
      return result;
    },
  };
};

const ending = async (store: LogStore, session: string, folder: string): Promise<Ending> => {
  const events = (await store.read(session)).map(open);
  const calls = new Map<string, CallState>();
  let state: SessionState = initial(session);
  for (const event of events) {
    state = evolve(state, event);
    for (const call of [...(state.active?.calls ?? []), ...state.leftOpen]) calls.set(call.id, call);
  }
  const closings = [...calls.values()].map(
    (call) => `${call.id} ${call.tool} ${call.args} ${closingOf(call)}`,
  );
  const turns = state.turns.map(
    ({ turn, outcome, reason }) => `${turn} ${outcome ?? 'open'} ${reason ?? ''}`,
  );
  return {
    inDoubt: [...calls.values()]
      .filter(({ phase }) => phase === 'in-doubt')
      .map((call) => `${call.id} ${call.tool}`),
    state: [...turns, ...closings, ...deskDigests(join(folder, 'desk'))].join('\n'),
    executions: executionsOf(folder),
    inputs: events.filter(({ type }) => type === 'turn.accepted').length,
  };
};

/** A result that was reconciled says the same as one that was heard. */
const closingOf = ({ closing, phase }: CallState): string => {
  if (!closing) return phase;
  return closing.kind === 'ok' ? 'ok' : JSON.stringify(closing);
};

const deskDigests = (desk: string): readonly string[] => {
  if (!existsSync(desk)) return [];
  return readdirSync(desk, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.db-(wal|shm|journal)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map(
      (path) =>
        `${path.slice(desk.length)} ${path.endsWith('.db') ? databaseDigest(path) : sha256(readFileSync(path))}`,
    );
};

/** What a SQLite file says, whatever its pages look like: all rows of all tables. */
const databaseDigest = (path: string): string => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    const rows = tables.map(({ name }) => db.prepare(`SELECT * FROM "${String(name)}" ORDER BY 1, 2`).all());
    return sha256(
      JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    );
  } finally {
    db.close();
  }
};

const executionsOf = (folder: string): readonly Execution[] => {
  const path = join(folder, JOURNAL);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Execution);
};
