/**
 * Where a command finds its agents and its store: onrecord.config.ts (or .js, .mjs) in this folder or the next one
 * above, and agents/*.yaml beside it.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { badInput, isOnrecordError } from '../errors.ts';
import type { Provider } from '../model/provider/provider.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Agent } from '../worker/agent.ts';
import type { Dispatcher } from '../worker/dispatcher.ts';
import { isPostgres } from '../log/postgres-place.ts';
import { PINS_FILE } from '../tool/mcp/server.ts';
import { nearest } from '../view/nearest.ts';
import { workLimitsProblem, type WorkLimits } from '../worker/work-limits.ts';
import { notifyProblem, type NotifyTarget } from './notify.ts';
import type { AgentFilePlace } from './yaml-agent.ts';

export type Config = {
  readonly agents: readonly Agent[];
  /**
   * Path of the SQLite store, relative to the configuration file, or `postgres://user:password@host:port/database`.
   * Default ".onrecord/log.db".
   */
  readonly store?: string;
  /** Of a PostgreSQL store: `replicated` refuses to start where the server names no synchronous standby. */
  readonly durability?: 'primary' | 'replicated';
  /**
   * Who says which session is looked at next. `in-process` (default): each process looks by itself. `pg-boss`: a queue in
   * the database of a PostgreSQL store, so that one worker gets each; made by `onrecord migrate`. Or an engine of its own,
   * for example `new RestateDispatcher({ ... })` of `onrecord/restate`.
   */
  readonly dispatch?: Dispatch | Dispatcher;
  /** How much is worked on at once. */
  readonly work?: WorkLimits;
  /** Roles of people, by the name of their account: what rules mean by `role:NAME`. */
  readonly people?: Readonly<Record<string, Person>>;
  /** How people are told of questions and of calls in doubt. */
  readonly notify?: readonly NotifyTarget[];
  /** A YAML file of prices that go before those of the catalogue, relative to the configuration file. */
  readonly prices?: string;
  /** Providers of models beside the built-in ones, or in their place: for agents/*.yaml and `onrecord models`. */
  readonly providers?: readonly Provider[];
  /**
   * Traces and metrics, for example `otelTelemetry()` of `onrecord/otel`. Default: to the collector that the standard
   * OTEL_* environment names, if it names one.
   */
  readonly telemetry?: Telemetry;
};

export const DISPATCHES = ['in-process', 'pg-boss'] as const;
export type Dispatch = (typeof DISPATCHES)[number];

export type Person = { readonly roles?: readonly string[] };

export const defineConfig = (config: Config): Config => config;

export const STORE_PATH = '.onrecord/log.db';
const CONFIG_NAMES = ['onrecord.config.ts', 'onrecord.config.js', 'onrecord.config.mjs'];

export type Place = {
  /** The folder of the configuration file, or the current one where there is none. */
  readonly folder: string;
  readonly file: string | undefined;
};

export const findConfig = (from: string, named?: string): Place => {
  if (named !== undefined) {
    const file = resolve(from, named);
    if (!existsSync(file))
      throw badInput('config-not-found', `There is no configuration file ${named}.`, { file: named });
    return { folder: dirname(file), file };
  }
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const name = CONFIG_NAMES.find((candidate) => existsSync(join(folder, candidate)));
    if (name !== undefined) return { folder, file: join(folder, name) };
    if (dirname(folder) === folder) return { folder: resolve(from), file: undefined };
  }
};

/**
 * Loads the configuration's code and the agent files beside it. Throws `config-invalid`, `agent-file-invalid`,
 * and `agent-invalid` where two agents have one name.
 */
export const loadConfig = async (place: Place): Promise<Config> => {
  const config = place.file === undefined ? { agents: [] } : await configIn(place.file);
  // The parser, the schema and the tools are loaded only where there is a file to read.
  if (!existsSync(join(place.folder, 'agents'))) return config;
  const { agentFiles, readAgentFile } = await import('./yaml-agent.ts');
  const names = new Set(config.agents.map((agent) => agent.definition.name));
  const agents: Agent[] = [...config.agents];
  for (const where of agentFiles(place.folder)) {
    const agent = await readAgentFile(where, agentFilePlace(place, config));
    const { name } = agent.definition;
    if (names.has(name))
      throw badInput(
        'agent-invalid',
        `${where}: an agent called "${name}" is there already. Name it otherwise.`,
        {
          agent: name,
        },
      );
    names.add(name);
    agents.push(agent);
  }
  return { ...config, agents };
};

/** No tool of an agent may change what says what agents may do, nor the record of what they did. */
const agentFilePlace = ({ folder, file }: Place, { store, providers }: Config): AgentFilePlace => ({
  providers,
  folder,
  protect: [
    join(folder, store === undefined || isPostgres(store) ? STORE_PATH : store),
    join(folder, 'agents'),
    join(folder, PINS_FILE),
    ...(file === undefined ? [] : [file]),
  ],
  env: process.env,
});

const configIn = async (file: string): Promise<Config> => {
  const module = await importConfig(file);
  const config = (module as { default?: unknown }).default;
  if (isConfig(config)) {
    const problem =
      memberProblem(config) ??
      agentsProblem(config.agents) ??
      peopleProblem(config.people) ??
      notifyProblem(config.notify) ??
      durabilityProblem(config.durability) ??
      telemetryProblem(config.telemetry) ??
      dispatchProblem(config.dispatch) ??
      workLimitsProblem(config.work);
    if (problem === undefined) return config;
    throw badInput('config-invalid', `${file}: ${problem}${problem.endsWith('?') ? '' : '.'}`, { file });
  }
  throw badInput('config-invalid', `${file} has no default export made by defineConfig({ agents: [...] }).`, {
    file,
  });
};

const importConfig = async (file: string): Promise<unknown> => {
  try {
    return (await import(pathToFileURL(file).href)) as unknown;
  } catch (cause) {
    if (isOnrecordError(cause)) throw cause;
    const said = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
    const missing = /^Cannot find package '([^']+)'/.exec(said)?.[1];
    throw badInput(
      'config-invalid',
      `${placeOf(cause, file)} could not be loaded: ${said}.`,
      { file },
      missing === undefined ? undefined : `npm install ${missing}`,
    );
  }
};

/** The line of a mistake in the file itself, where the engine names one in front of its stack. */
const placeOf = (cause: unknown, file: string): string => {
  const [first = ''] = (cause instanceof Error ? (cause.stack ?? '') : '').split('\n', 1);
  return first.startsWith(pathToFileURL(file).href) || first.startsWith(file)
    ? `${file}${/:\d+$/.exec(first)?.[0] ?? ''}`
    : file;
};

const MEMBERS: Readonly<Record<keyof Config, true>> = {
  agents: true,
  store: true,
  durability: true,
  dispatch: true,
  work: true,
  people: true,
  notify: true,
  prices: true,
  providers: true,
  telemetry: true,
};

const agentsProblem = (agents: readonly unknown[]): string | undefined => {
  const at = agents.findIndex(
    (agent) => typeof agent !== 'object' || agent === null || !('definition' in agent) || !('tools' in agent),
  );
  return at < 0 ? undefined : `agents[${at}] is no agent: defineAgent() makes one`;
};

/** A misspelt member would do nothing, and nobody would know. */
const memberProblem = (config: Config): string | undefined => {
  const unknown = Object.keys(config).find((name) => !Object.hasOwn(MEMBERS, name));
  if (unknown === undefined) return undefined;
  const near = nearest(unknown, Object.keys(MEMBERS));
  const meant =
    near === undefined ? `there are ${Object.keys(MEMBERS).join(', ')}` : `did you mean "${near}"?`;
  return `there is no member "${unknown}": ${meant}`;
};

const isConfig = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && Array.isArray((value as { agents?: unknown }).agents);

const durabilityProblem = (durability: unknown): string | undefined =>
  durability === undefined || durability === 'primary' || durability === 'replicated'
    ? undefined
    : 'durability must be "primary" or "replicated"';

/** One of another copy of the package will do. */
const isTelemetry = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'observe' in value && typeof value.observe === 'function';

const telemetryProblem = (telemetry: unknown): string | undefined =>
  telemetry === undefined || isTelemetry(telemetry)
    ? undefined
    : 'telemetry must be made by otelTelemetry() or otlpTelemetry()';
export const isDispatcher = (value: unknown): value is Dispatcher =>
  typeof value === 'object' && value !== null && 'wake' in value && typeof value.wake === 'function';

const dispatchProblem = (dispatch: unknown): string | undefined =>
  dispatch === undefined || isDispatcher(dispatch) || DISPATCHES.some((one) => one === dispatch)
    ? undefined
    : `dispatch must be one of ${DISPATCHES.map((one) => `"${one}"`).join(', ')}, or a dispatcher`;

const peopleProblem = (people: unknown): string | undefined => {
  if (people === undefined) return undefined;
  if (typeof people !== 'object' || people === null || Array.isArray(people))
    return 'people must be an object: { ada: { roles: ["finance"] } }';
  for (const [name, person] of Object.entries(people as Record<string, unknown>)) {
    const { roles = [], ...rest } = (person ?? {}) as { readonly roles?: unknown };
    const [odd] = Object.keys(rest);
    if (odd !== undefined) return `people.${name} has "${odd}"; it takes roles`;
    if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string' && role !== ''))
      return `people.${name}.roles must be a list of names`;
  }
  return undefined;
};
