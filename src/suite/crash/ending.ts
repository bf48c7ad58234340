/** How a run ended: the session, the desk, and what was done, without anything that differs from run to run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sha256 } from '../../event/canonical.ts';
import type { EffectKind } from '../../event/effect-kind.ts';
import { open } from '../../event/envelope.ts';
import type { LogEvent } from '../../event/events.ts';
import type { Encoder } from '../../context/encoding.ts';
import type { LogStore } from '../../log/store.ts';
import { replay } from '../../replay/replay.ts';
import { verify } from '../../replay/verify.ts';
import { evolve, initial } from '../../session/evolve.ts';
import { knownCalls, toolOf, type CallState, type SessionState } from '../../session/state.ts';
import { PROGRAM } from '../../worker/program.ts';

/** A call of the run, as people name it. */
export type NamedCall = { readonly call: string; readonly tool: string; readonly effect: EffectKind };

export type Ending = {
  readonly inDoubt: readonly NamedCall[];
  /** Turns, how each call was closed, and the digest of every file on the desk. */
  readonly state: string;
  /** Executions of tools with an effect, by idempotency key. */
  readonly executions: readonly Execution[];
  /** Messages that the log holds. */
  readonly inputs: number;
  /** Why the log does not prove itself or replays otherwise; empty where it does. */
  readonly unproved: string;
};

/** One execution that came to its end. */
export type Execution = NamedCall & { readonly key: string };

/** Every execution of a tool with an effect, noted outside the log at the moment it is done. */
export const JOURNAL = 'executions.jsonl';
export const DESK = 'desk';

export type Ended = { readonly store: LogStore; readonly folder: string; readonly encoder: Encoder };

export const endingOf = async (session: string, { store, folder, encoder }: Ended): Promise<Ending> => {
  const events = (await store.read(session)).map(open);
  const calls = new Map<string, CallState>();
  let state: SessionState = initial(session);
  for (const event of events) {
    state = evolve(state, event);
    for (const call of knownCalls(state)) calls.set(call.id, call);
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
      .map(({ id, tool }) => ({
        call: id,
        tool,
        effect: toolOf(state.agent, tool)?.effect ?? 'once',
      })),
    state: [...turns, ...closings, ...deskDigests(join(folder, DESK))].join('\n'),
    executions: executionsOf(folder),
    inputs: events.filter(({ type }) => type === 'turn.accepted').length,
    unproved: await unproved(session, { store, encoder }, events),
  };
};

/** Whatever was killed where: the log is whole, and every decision and request in it comes out again byte for byte. */
const unproved = async (
  session: string,
  { store, encoder }: Omit<Ended, 'folder'>,
  events: readonly LogEvent[],
): Promise<string> => {
  const [finding] = (await verify(store, session)).findings;
  if (finding) return finding.message;
  const { difference } = replay({ session, events, encoderOf: () => encoder, program: PROGRAM });
  return difference ? `replay differs at event ${difference.seq}: ${difference.type} ${difference.path}` : '';
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
