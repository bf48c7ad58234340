/**
 * What a SQLite store says about itself beyond its sessions: whether the file holds together, whether its tables are
 * those that this program makes, and whether a row stands where no session reaches it. Reads, and changes nothing.
 */
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { sha256 } from '../event/canonical.ts';
import { APPLICATION_ID, MIGRATIONS, STORE_FORMAT } from './migrations.ts';
import * as sql from './sqlite-sql.ts';

/** Flaws of one kind that are named; a damaged file may have one for each row. */
const FLAWS_NAMED_MAX = 20;

export type StoreFlaw = {
  readonly kind: 'file' | 'schema' | 'row' | 'blob' | 'lease';
  readonly message: string;
};

/** A session as the store lists it, with the head that it had at that moment. */
export type ListedSession = {
  readonly session: string;
  readonly head: number;
  readonly summary: string | null;
  readonly agent: string | null;
  readonly status: string | null;
  readonly canGoOn: number | null;
  readonly updatedAt: number | null;
};

export type Examination = {
  readonly flaws: readonly StoreFlaw[];
  readonly sessions: readonly ListedSession[];
};

/** Never throws for damage: what cannot be read is a flaw. `blobs`: whether every blob is read, too. */
export const examineDatabase = (path: string): Examination => {
  const flaws: StoreFlaw[] = [];
  const sessions: ListedSession[] = [];
  const look = (kind: StoreFlaw['kind'], work: () => Iterable<string>): void => {
    try {
      for (const message of work()) flaws.push({ kind, message });
    } catch (error) {
      flaws.push({
        kind,
        message: `It cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      });
    }
  };
  let db: DatabaseSync | undefined;
  look('file', () => {
    db = new DatabaseSync(path, { readOnly: true });
    return [];
  });
  if (!db) return { flaws, sessions };
  const open = db;
  try {
    // One moment for all of it, while others go on writing.
    look('file', () => (open.exec('BEGIN'), []));
    look('file', () => fileFlaws(open));
    look('schema', () => schemaFlaws(open));
    look('row', () => rowFlaws(open));
    look('blob', () => blobFlaws(open));
    look('lease', () => leaseFlaws(open));
    look('row', () => (sessions.push(...listedSessions(open)), []));
  } finally {
    open.close();
  }
  return { flaws, sessions };
};

/** The sessions alone, for a look at one of them. Throws what SQLite throws. */
export const listedIn = (path: string): readonly ListedSession[] => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return listedSessions(db);
  } finally {
    db.close();
  }
};

type Row = Readonly<Record<string, unknown>>;

const rows = (db: DatabaseSync, text: string): readonly Row[] => db.prepare(text).all();

function* fileFlaws(db: DatabaseSync): Generator<string> {
  for (const row of rows(db, `PRAGMA integrity_check(${FLAWS_NAMED_MAX})`)) {
    const said = String(Object.values(row)[0]);
    if (said !== 'ok') yield `SQLite says: ${said}.`;
  }
  for (const [name, wanted] of [
    ['application_id', APPLICATION_ID],
    ['user_version', STORE_FORMAT],
  ] as const) {
    const found = Number(Object.values(rows(db, `PRAGMA ${name}`)[0] ?? {})[0]);
    if (found !== wanted) yield `${name} is ${found}; this program wrote ${wanted}.`;
  }
}

const SCHEMA = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name';

const schemaFlaws = (db: DatabaseSync): readonly string[] => {
  const fresh = new DatabaseSync(':memory:');
  try {
    for (const step of MIGRATIONS) fresh.exec(step);
    const [found, wanted] = [db, fresh].map((one) => JSON.stringify(rows(one, SCHEMA)));
    return found === wanted ? [] : ['The tables and indexes are not those that this program makes.'];
  } finally {
    fresh.close();
  }
};

function* rowFlaws(db: DatabaseSync): Generator<string> {
  for (const { rowid, session, seq } of rows(db, `${sql.EVENTS_OUT_OF_PLACE} LIMIT ${FLAWS_NAMED_MAX}`))
    yield `Row ${String(rowid)} of the events (session ${String(session)}, seq ${String(seq)}) belongs to no session, or is no event.`;
  for (const { name } of rows(db, `${sql.SESSIONS_WITHOUT_EVENTS} LIMIT ${FLAWS_NAMED_MAX}`))
    yield `Session ${String(name)} has no event.`;
}

function* blobFlaws(db: DatabaseSync): Generator<string> {
  for (const { rowid, digest, size, body } of db.prepare(sql.ALL_BLOBS).iterate() as Iterable<Row>) {
    const problem = blobProblem(digest, size, body);
    if (problem !== undefined) yield `Blob in row ${String(rowid)} ${problem}.`;
  }
}

const blobProblem = (digest: unknown, size: unknown, body: unknown): string | undefined => {
  if (!(digest instanceof Uint8Array) || !(body instanceof Uint8Array)) return 'is not made of bytes';
  let bytes: Uint8Array;
  try {
    bytes = body.length === size ? body : zstdDecompressSync(body);
  } catch (error) {
    return `cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`;
  }
  const name = Buffer.from(digest).toString('hex');
  if (bytes.length !== size) return `has ${bytes.length} bytes; its size is said to be ${String(size)}`;
  return sha256(bytes) === name ? undefined : `has other bytes than its digest ${name} says`;
};

function* leaseFlaws(db: DatabaseSync): Generator<string> {
  for (const { name, epoch, owner, lease_until: until } of rows(db, sql.ALL_LEASES)) {
    const held = owner !== null;
    const sound =
      Number.isSafeInteger(epoch) &&
      Number(epoch) >= 0 &&
      held === (until !== null) &&
      (!held || (isOwner(owner) && Number.isSafeInteger(until)));
    if (!sound) yield `The lease of session ${String(name)} cannot be read.`;
  }
}

const isOwner = (text: unknown): boolean => {
  try {
    const { id, host, boot, pid, started } = JSON.parse(String(text)) as Record<string, unknown>;
    return [id, host, boot, started].every((one) => typeof one === 'string') && typeof pid === 'number';
  } catch {
    return false;
  }
};

const listedSessions = (db: DatabaseSync): readonly ListedSession[] =>
  rows(db, sql.ALL_SESSIONS).map((row) => ({
    session: String(row['name']),
    head: Number(row['head'] ?? 0),
    summary: textOf(row['summary']),
    agent: textOf(row['agent']),
    status: textOf(row['status']),
    canGoOn: row['can_go_on'] === null ? null : Number(row['can_go_on']),
    updatedAt: row['updated_at'] === null ? null : Number(row['updated_at']),
  }));

/** A cell that holds bytes where text should stand is shown as what it is not. */
const textOf = (value: unknown): string | null =>
  value === null ? null : typeof value === 'string' ? value : typeof value;
