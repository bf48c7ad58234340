/** Sessions read from the store for a command: nothing is created, nothing is driven. */
import { badInput, isOnrecordError, OnrecordError } from '../errors.ts';
import { open, type StoredEvent } from '../event/envelope.ts';
import type { LogEvent } from '../event/events.ts';
import type { SessionStatus } from '../event/summary.ts';
import { pages } from '../log/pages.ts';
import type { LogStore, SessionRow } from '../log/store.ts';
import { approvals, byAge, type Approval } from '../view/approval.ts';
import { byDoubtAge, doubts, type Doubt } from '../view/doubt.ts';
import { recordOf, type SessionRecord } from '../view/record.ts';
import type { Cli } from './cli.ts';
import type { Input } from './command.ts';
import { line, SIGN } from './terminal/shown.ts';

/** Beyond any store: every session is meant. */
const SESSIONS_ALL: number = 2 ** 31 - 1;

/** The store, which has to be there: a command that reads makes none. Throws `store-not-found`. */
export const openRecord = async (cli: Cli): Promise<LogStore> => {
  if (await cli.storeIsThere()) return cli.store();
  const path = await cli.storePath();
  const { agents } = await cli.config();
  throw new OnrecordError(`There is no store at ${path}. Nothing has been recorded here yet.`, {
    code: 'store-not-found',
    next: 'fix-input',
    details: { path },
    hint: agents.length === 0 ? 'onrecord init my-agent' : 'onrecord run AGENT "message"',
  });
};

export type KnownEvents = {
  readonly events: readonly LogEvent[];
  /** Why it ends before the log does: the first event that this program does not know. */
  readonly tooNew: OnrecordError | undefined;
};

/** Events up to the first one that only a newer program knows. Throws `event-unreadable`. */
export const knownEvents = (stored: readonly StoredEvent[]): KnownEvents => {
  const events: LogEvent[] = [];
  for (const one of stored) {
    try {
      events.push(open(one));
    } catch (error) {
      if (!isOnrecordError(error) || error.code !== 'event-too-new') throw error;
      return { events, tooNew: error };
    }
  }
  return { events, tooNew: undefined };
};

/** The same read page by page, so that stored forms are not kept. Throws `session-not-found`. */
export const readKnown = async (store: LogStore, session: string, to?: number): Promise<KnownEvents> => {
  const events: LogEvent[] = [];
  for await (const page of pages(store, session, { to })) {
    const known = knownEvents(page);
    for (const event of known.events) events.push(event);
    if (known.tooNew) return { events, tooNew: known.tooNew };
  }
  return { events, tooNew: undefined };
};

/** A session that is damaged, or was written by a newer program: the others can be read all the same. */
export const isUnreadable = (error: unknown): error is OnrecordError =>
  isOnrecordError(error) && (error.next === 'corrupt' || error.code === 'event-too-new');

/** Throws `session-not-found`, and `event-unreadable` or `record-damaged` where the store is damaged. */
export const readRecord = async (store: LogStore, session: string, to?: number): Promise<SessionRecord> => {
  const events = (await store.read(session, 1, to)).map(open);
  try {
    return recordOf(session, events);
  } catch (cause) {
    throw new OnrecordError(`Session ${session} has an event that is not what its type promises.`, {
      code: 'record-damaged',
      next: 'corrupt',
      details: { session, cause: String(cause) },
      hint: `onrecord verify ${session}`,
      cause,
    });
  }
};

/** The session that a command line names. Throws `usage` where it names none. */
export const namedSession = (input: Input, command: string): string => {
  const [session] = input.args;
  if (session !== undefined && session !== '') return session;
  throw badInput('usage', 'No session was named.', {}, `onrecord help ${command}`);
};

/** Throws `store-damaged` where the list itself cannot be read. */
export const allSessions = async (
  store: LogStore,
  status?: readonly SessionStatus[],
): Promise<readonly SessionRow[]> => {
  try {
    return await store.sessions({ limit: SESSIONS_ALL, ...(status && { status }) });
  } catch (cause) {
    // A row that is no JSON any more; any other fault is none of the store's.
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new OnrecordError(`The list of sessions cannot be read: ${cause.message}.`, {
      code: 'store-damaged',
      next: 'corrupt',
      cause,
    });
  }
};

/** A session in doubt may wait for decisions, too. */
const WAITING: readonly SessionStatus[] = ['waiting', 'in-doubt'];

/** Told of sessions that cannot be read: they do not keep the others from being shown. */
export type Damage = (session: string, error: OnrecordError) => void;

export type Where = {
  /** One session; default all. */
  readonly session?: string | undefined;
  readonly damage?: Damage;
};

/** What waits for a decision, oldest first. */
export const waitingApprovals = async (store: LogStore, where: Where): Promise<readonly Approval[]> => {
  if (where.session !== undefined) return approvals(await readRecord(store, where.session));
  const rows = (await allSessions(store, WAITING)).filter(({ summary }) => summary.waiting > 0);
  return (await collect(store, rows, { read: approvals, ...where })).toSorted(byAge);
};

/** What is in doubt, oldest first. */
export const openDoubts = async (store: LogStore, where: Where): Promise<readonly Doubt[]> => {
  if (where.session !== undefined) return doubts(await readRecord(store, where.session));
  const rows = await allSessions(store, ['in-doubt']);
  return (await collect(store, rows, { read: doubts, ...where })).toSorted(byDoubtAge);
};

const collect = async <T>(
  store: LogStore,
  rows: readonly SessionRow[],
  { read, damage }: { readonly read: (record: SessionRecord) => readonly T[]; readonly damage?: Damage },
): Promise<readonly T[]> => {
  const found: T[] = [];
  for (const { session } of rows) {
    try {
      found.push(...read(await readRecord(store, session)));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      damage?.(session, error);
    }
  }
  return found;
};

/** Says of a damaged session that it is left out. */
export const noteDamage =
  ({ screen }: Cli): Damage =>
  (session, error) =>
    screen.note(line`${SIGN.fail} ${session} cannot be read and is left out: ${error.message}`);
