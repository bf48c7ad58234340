/** What onrecord doctor looks at, one finding a line. Nothing is changed and nothing is created. */
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join, relative } from 'node:path';
import { systemClock } from '../clock.ts';
import { isOnrecordError } from '../errors.ts';
import { chainHash, genesis, open } from '../event/envelope.ts';
import { isGone } from '../log/owner.ts';
import { STORE_FORMAT } from '../log/migrations.ts';
import { POSTGRES_FORMAT } from '../log/postgres-migrations.ts';
import { isPostgres } from '../log/postgres-place.ts';
import type { LogStore, Owner, SessionRow } from '../log/store.ts';
import { readPins } from '../tool/mcp/pins.ts';
import { PINS_FILE } from '../tool/mcp/server.ts';
import { canGoOn } from '../session/summary.ts';
import { clockIn } from '../view/changing-text.ts';
import { countOf, formatBytes } from '../view/format.ts';
import { MODE_WORDS } from '../view/terms.ts';
import { definitionDigest, type Agent } from '../worker/agent.ts';
import { VERSION } from '../worker/program.ts';
import type { Cli } from './cli.ts';
import { isHeld, storeMode, type StandingMode } from './gate.ts';
import { missingSecrets } from './notify.ts';
import { leftText, parkedFindings } from './standing-still.ts';
import { allSessions } from './record.ts';
import { configuredServers } from './tool-servers.ts';
import { agentFiles } from './yaml-agent.ts';
import { readKnown } from './record.ts';
import { recordOf, type SessionRecord } from '../view/record.ts';

export type Finding = {
  readonly level: 'ok' | 'note' | 'problem';
  readonly name: string;
  readonly text: string;
  /** What to do, ready to paste. */
  readonly hint?: string;
  /** Those that a repair can help. */
  readonly sessions?: readonly string[];
};

/** Sessions that are compared with today's agents event by event. */
const SESSIONS_COMPARED_MAX = 500;
const NAMES_SHOWN_MAX = 3;

export const examine = async (cli: Cli): Promise<readonly Finding[]> => {
  const { agents, findings } = await agentsOf(cli);
  const channels = agents === undefined ? [] : await notices(cli);
  const store = await storeOf(cli);
  const about = store.log ? await sessionFindings(store.log, agents, await cli.storeNamed()) : [];
  return [
    program(),
    store.finding,
    ...findings,
    ...(agents ?? []).flatMap(clockFindings),
    ...toolServers(cli),
    ...channels,
    ...about,
  ];
};

/** What stands before everything else in a request and changes with every start makes each request new. */
const clockFindings = ({ definition: { name, instructions } }: Agent): readonly Finding[] => {
  const clock = clockIn(instructions);
  if (!clock) return [];
  const text =
    `line ${clock.line} of the instructions of ${name} holds the time "${clock.text}": whatever stands behind it ` +
    'is paid for in full after each change';
  return [{ level: 'note', name: 'agents', text, hint: 'say the time in the message' }];
};

/** What was approved, and what is missing for it. No server is started. */
const toolServers = ({ place: { folder } }: Cli): readonly Finding[] => {
  try {
    const pins = readPins(join(folder, PINS_FILE));
    return configuredServers(agentFiles(folder), { folder, env: process.env }).map(
      ({ name, unset }): Finding => {
        const finding = {
          name: 'tools',
          text: `tool server ${name}: ${countOf(pins.get(name)?.tools.length ?? 0, 'tool')} approved`,
        };
        if (!pins.has(name))
          return {
            level: 'problem',
            name: 'tools',
            text: `tool server ${name} is not approved`,
            hint: `onrecord mcp approve ${name}`,
          };
        if (unset.length === 0) return { level: 'ok', ...finding };
        return { level: 'problem', ...finding, text: `tool server ${name}: ${listed(unset)} is not set` };
      },
    );
  } catch (error) {
    // An agent file that cannot be read is named at the agents.
    return isOnrecordError(error) && error.code === 'agent-file-invalid' ? [] : [problem('tools', error)];
  }
};

const program = (): Finding => {
  const { node, sqlite = 'unknown' } = process.versions;
  return { level: 'ok', name: 'program', text: `${VERSION}, Node ${node}, SQLite ${sqlite}` };
};

const problem = (name: string, error: unknown): Finding => ({
  level: 'problem',
  name,
  text: error instanceof Error ? error.message : String(error),
  ...(isOnrecordError(error) && error.hint !== undefined && { hint: error.hint }),
});

const agentsOf = async (
  cli: Cli,
): Promise<{ readonly agents: readonly Agent[] | undefined; readonly findings: readonly Finding[] }> => {
  try {
    const { agents } = await cli.config();
    if (agents.length > 0) return { agents, findings: [] };
    const text = 'none found: an agent stands in onrecord.config.ts or in agents/*.yaml';
    return { agents, findings: [{ level: 'note', name: 'agents', text }] };
  } catch (error) {
    return { agents: undefined, findings: [problem('agents', error)] };
  }
};

/** Whether those who are to be told can be. */
const notices = async (cli: Cli): Promise<readonly Finding[]> => {
  const { notify = [] } = await cli.config();
  if (notify.length === 0) return [];
  try {
    const names = (await cli.channels()).map(({ name }) => name);
    const unset = missingSecrets(notify, process.env);
    if (unset.length === 0) return [{ level: 'ok', name: 'notices', text: `told by ${listed(names)}` }];
    const text = `${listed(unset)} is not set, so nobody is told by the webhook that is signed with it`;
    return [{ level: 'problem', name: 'notices', text }];
  } catch (error) {
    return [problem('notices', error)];
  }
};

const storeOf = async (cli: Cli): Promise<{ readonly finding: Finding; readonly log?: LogStore }> => {
  try {
    const path = await cli.storeNamed();
    if (isPostgres(path)) {
      const log = await cli.store();
      const text = `${log.name}, format ${POSTGRES_FORMAT}, on a primary`;
      return { finding: { level: 'ok', name: 'store', text }, log };
    }
    const shown = relative(process.cwd(), path) || path;
    if (!existsSync(path))
      return {
        finding: { level: 'note', name: 'store', text: `${shown} is not there yet: the first run makes it` },
      };
    const log = await cli.store();
    const size = formatBytes(statSync(path).size);
    const text = `${shown}, ${size}, format ${STORE_FORMAT}, writable, on a local disk`;
    return { finding: { level: 'ok', name: 'store', text }, log };
  } catch (error) {
    // A configuration that cannot be read is named at the agents.
    if (isOnrecordError(error) && !error.code.startsWith('store-'))
      return {
        finding: { level: 'note', name: 'store', text: 'not looked for: the configuration cannot be read' },
      };
    return { finding: problem('store', error) };
  }
};

const sessionFindings = async (
  log: LogStore,
  agents: readonly Agent[] | undefined,
  path: string,
): Promise<readonly Finding[]> => {
  const rows = await allSessions(log);
  const gate = await storeMode(log);
  if (rows.length === 0) return [{ level: 'ok', name: 'sessions', text: 'none yet' }, ...held(gate, rows)];
  return [
    await heads(log, rows),
    ...held(gate, rows),
    ...(agents ? [await definitions(log, rows, agents)] : []),
    ...inDoubt(rows),
    ...parkedFindings(rows),
    ...(gate.mode === 'frozen' ? [] : await undriven(log, rows, path)),
  ];
};

/** Whether each log's last event is the one that the chain ends in. */
const heads = async (log: LogStore, rows: readonly SessionRow[]): Promise<Finding> => {
  const broken: string[] = [];
  for (const { session, head } of rows) if (!(await holds(log, session, head))) broken.push(session);
  if (broken.length > 0)
    return {
      level: 'problem',
      name: 'integrity',
      text: `the end of ${countOf(broken.length, 'log')} does not match its chain: ${listed(broken)}`,
      hint: `onrecord verify ${broken[0] ?? ''}`,
    };
  const text = `${countOf(rows.length, 'session')}, heads match (whole check: onrecord verify --all)`;
  return { level: 'ok', name: 'integrity', text };
};

const holds = async (log: LogStore, session: string, head: number): Promise<boolean> => {
  try {
    const last = await log.read(session, Math.max(1, head - 1), head);
    const [one, other] = last;
    const before = head === 1 ? genesis(session) : one?.hash;
    const end = head === 1 ? one : other;
    if (!end || before === undefined || end.seq !== head) return false;
    open(end);
    return chainHash(before, end.body) === end.hash;
  } catch {
    return false;
  }
};

const UNFINISHED: ReadonlySet<string> = new Set(['in-doubt', 'waiting', 'running']);

/** A session whose agent is not here can be read, and not driven. */
const definitions = async (
  log: LogStore,
  rows: readonly SessionRow[],
  agents: readonly Agent[],
): Promise<Finding> => {
  const here = new Map(agents.map((agent) => [agent.definition.name, agent]));
  const missing = new Set<string>();
  const changed = new Set<string>();
  const unfinished = rows.filter(({ summary }) => UNFINISHED.has(summary.status));
  for (const { session, summary } of unfinished.slice(0, SESSIONS_COMPARED_MAX)) {
    const agent = here.get(summary.agent);
    if (!agent) missing.add(summary.agent);
    else if (definitionDigest((await known(log, session)).state.agent) !== agent.digest)
      changed.add(summary.agent);
  }
  const found = `${agents.length} found`;
  if (missing.size > 0)
    return {
      level: 'problem',
      name: 'agents',
      text: `${found}; sessions that are not over need ${listed([...missing])}, which is not here`,
    };
  if (changed.size > 0)
    return {
      level: 'note',
      name: 'agents',
      text: `${found}; ${listed([...changed])} changed since sessions that are not over began: their next step takes the new definition`,
    };
  return { level: 'ok', name: 'agents', text: `${found}, those in use match the sessions that are not over` };
};

/** What a mode keeps from starting: it waits for whoever lifts it. */
const held = ({ mode, set }: StandingMode, rows: readonly SessionRow[]): readonly Finding[] => {
  const frozen = rows.filter(({ summary }) => isHeld(summary)).map(({ session }) => session);
  const why = set?.reason === undefined ? '' : `, because “${set.reason}”`;
  const who = set === undefined ? '' : `, set by ${set.by.name}${why}`;
  return [
    ...(mode === 'normal'
      ? []
      : [
          {
            level: 'note' as const,
            name: 'mode',
            text: `the whole store is ${mode} (${MODE_WORDS[mode]})${who}`,
            hint: 'onrecord mode normal',
          },
        ]),
    ...(frozen.length === 0
      ? []
      : [
          {
            level: 'note' as const,
            name: 'frozen',
            text: `${countOf(frozen.length, 'session')} held by a mode of ${frozen.length === 1 ? 'its' : 'their'} own: ${listed(frozen)}`,
            hint: `onrecord mode normal ${frozen[0] ?? ''}`,
          },
        ]),
  ];
};

const inDoubt = (rows: readonly SessionRow[]): readonly Finding[] => {
  const calls = rows.reduce((sum, { summary }) => sum + summary.inDoubt, 0);
  if (calls === 0) return [];
  const words = `${countOf(calls, 'call')} ${calls === 1 ? 'waits' : 'wait'} for a person`;
  return [{ level: 'note', name: 'in doubt', text: words, hint: 'onrecord settle' }];
};

/** As far as this program knows its events. */
const known = async (
  log: LogStore,
  session: string,
): Promise<SessionRecord & { readonly whole: boolean }> => {
  const { events, tooNew } = await readKnown(log, session);
  return { ...recordOf(session, events), whole: tooNew === undefined };
};

const canBeDriven = async (log: LogStore, session: string): Promise<boolean> => {
  const { state, whole } = await known(log, session);
  return whole && canGoOn(state);
};

/** Sessions with work to do that nobody drives. */
const undriven = async (
  log: LogStore,
  rows: readonly SessionRow[],
  path: string,
): Promise<readonly Finding[]> => {
  const candidates = rows.filter(({ summary }) => UNFINISHED.has(summary.status));
  if (candidates.length === 0) return [];
  const driven = isPostgres(path) ? leasesOf(candidates) : leasesIn(path);
  const left: SessionRow[] = [];
  for (const row of candidates.slice(0, SESSIONS_COMPARED_MAX))
    if (!driven.has(row.session) && (await canBeDriven(log, row.session))) left.push(row);
  if (left.length === 0) return [];
  return [
    {
      level: 'note',
      name: 'left',
      text: leftText(left, rows),
      hint: 'onrecord doctor --repair, or onrecord resume --all',
      sessions: left.map(({ session }) => session),
    },
  ];
};

/** The same where the list itself says who drives. */
const leasesOf = (rows: readonly SessionRow[]): ReadonlySet<string> => {
  const now = systemClock.now();
  const driven = rows.filter(({ lease }) => lease && lease.until > now && !isGone(lease.owner));
  return new Set(driven.map(({ session }) => session));
};

/**
 * Sessions with a lease whose owner is alive. Leases are no part of the log and of its port, so they are read
 * from the file, without taking one.
 */
const leasesIn = (path: string): ReadonlySet<string> => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db
      .prepare(
        'SELECT name, owner, lease_until FROM session WHERE owner IS NOT NULL AND lease_until IS NOT NULL',
      )
      .all() as { name: string; owner: string; lease_until: number }[];
    const now = systemClock.now();
    return new Set(
      rows
        .filter(({ owner, lease_until: until }) => until > now && !isGone(JSON.parse(owner) as Owner))
        .map(({ name }) => name),
    );
  } finally {
    db.close();
  }
};

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  const more = names.length - NAMES_SHOWN_MAX;
  return more > 0 ? `${shown} and ${more} more` : shown;
};
