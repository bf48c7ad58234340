/**
 * The calendar's SQLite file: entries as jCal with a version, and the keys of calls with their first result.
 * Both are written in one transaction, so a call that is repeated after a crash returns what it returned.
 * A connection is opened for each operation and closed after it.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isJsonObject, type JsonObject } from '../../event/json.ts';
import { ToolError } from '../tool.ts';
import { type Entry, readEntry, type StoredJcal } from './entry.ts';
import { ComponentFault, refuse } from './fault.ts';
import { boundsOf } from './occurrence.ts';

/** How long one operation waits for another process that writes. */
const BUSY_MS = 10_000;
const SCHEMA_VERSION = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

const SCHEMA = `
CREATE TABLE calendar_entry (
  uid TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  jcal TEXT NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER
) STRICT;
CREATE INDEX calendar_entry_first ON calendar_entry (first_ms);
CREATE TABLE calendar_key (
  key TEXT PRIMARY KEY NOT NULL,
  call TEXT NOT NULL,
  result TEXT NOT NULL,
  written_ms INTEGER NOT NULL
) STRICT;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

export type StoredEntry = { readonly entry: Entry; readonly stored: StoredJcal };

export type Store = {
  /** Entries that may have an occurrence between two instants. */
  between(fromUtc: number, toUtc: number): StoredEntry[];
  find(uid: string): StoredEntry | undefined;
  all(): StoredEntry[];
  /** Writes an entry and counts its version up. Returns the new version. */
  put(uid: string, stored: StoredJcal): number;
};

/** One call that writes: its key, what it is, and its time. */
export type Keyed = { readonly key: string; readonly call: string; readonly nowMs: number };

type Row = { uid: string; version: number; jcal: string };

const rowEntry = ({ uid, version, jcal }: Row): StoredEntry => {
  const stored = JSON.parse(jcal) as StoredJcal;
  try {
    return { entry: readEntry(uid, version, stored), stored };
  } catch (fault) {
    if (!(fault instanceof ComponentFault)) throw fault;
    throw refuse(
      'calendar-unreadable',
      `The entry "${uid.slice(0, 200)}" of the calendar cannot be read: ${fault.message}. A person has to look at it.`,
    );
  }
};

const storeOf = (db: DatabaseSync): Store => {
  const find = (uid: string): Row | undefined =>
    db.prepare('SELECT uid, version, jcal FROM calendar_entry WHERE uid = ?').get(uid) as Row | undefined;
  return {
    between: (fromUtc, toUtc) =>
      (
        db
          .prepare(
            'SELECT uid, version, jcal FROM calendar_entry WHERE first_ms < ? AND (last_ms IS NULL OR last_ms > ?) ORDER BY uid',
          )
          .all(toUtc, fromUtc) as Row[]
      ).map(rowEntry),
    find: (uid) => {
      const row = find(uid);
      return row && rowEntry(row);
    },
    all: () =>
      (db.prepare('SELECT uid, version, jcal FROM calendar_entry ORDER BY first_ms, uid').all() as Row[]).map(
        rowEntry,
      ),
    put: (uid, stored) => {
      const version = (find(uid)?.version ?? 0) + 1;
      const { first, last } = boundsOf(readEntry(uid, version, stored));
      db.prepare(
        `INSERT INTO calendar_entry (uid, version, jcal, first_ms, last_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (uid) DO UPDATE SET version = excluded.version, jcal = excluded.jcal,
           first_ms = excluded.first_ms, last_ms = excluded.last_ms`,
      ).run(uid, version, JSON.stringify(stored), first, last ?? null);
      return version;
    },
  };
};

const sqliteCode = (cause: unknown): number | undefined => {
  const code = typeof cause === 'object' && cause !== null && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
};

/** A fault of SQLite as something a model can be told, without the path. */
const sqliteFault = (path: string, cause: unknown): unknown => {
  const code = sqliteCode(cause);
  if (code === undefined) return cause;
  if (code === SQLITE_BUSY || code === SQLITE_LOCKED)
    return new ToolError(
      `The calendar was busy for ${BUSY_MS / 1000} seconds. Nothing was written. Try again later.`,
      {
        code: 'calendar-busy',
        retryable: true,
        cause,
      },
    );
  return new ToolError(
    `The calendar file "${basename(path)}" cannot be used (SQLite error ${code}). A person has to look at it.`,
    {
      code: 'calendar-unreadable',
      cause,
    },
  );
};

const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare('PRAGMA user_version').get()?.['user_version']);

/** Ends a transaction that did not commit. SQLite has ended it by itself after some faults. */
const rollBack = (db: DatabaseSync): void => {
  if (db.isTransaction) db.exec('ROLLBACK');
};

const createTables = (db: DatabaseSync): void => {
  if (versionOf(db) === SCHEMA_VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been first.
    if (versionOf(db) === 0) db.exec(SCHEMA);
    db.exec('COMMIT');
  } finally {
    rollBack(db);
  }
};

const opened = <T>(path: string, target: string, work: (db: DatabaseSync) => T): T => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(target, { timeout: BUSY_MS });
    db.exec('PRAGMA synchronous = FULL');
    const version = versionOf(db);
    if (version > SCHEMA_VERSION)
      throw refuse(
        'calendar-too-new',
        `The calendar file "${basename(path)}" has version ${version}; this program reads up to ${SCHEMA_VERSION}. Use a newer program.`,
      );
    createTables(db);
    return work(db);
  } catch (cause) {
    throw sqliteFault(path, cause);
  } finally {
    db?.close();
  }
};

/** Reads. A calendar that does not exist yet is read as an empty one and is not created. */
export const reading = <T>(path: string, read: (store: Store) => T): T =>
  opened(path, existsSync(path) ? path : ':memory:', (db) => {
    db.exec('BEGIN');
    try {
      return read(storeOf(db));
    } finally {
      rollBack(db);
    }
  });

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Writes once for a key. The first call does the work and keeps its result beside the data in one
 * transaction; every later one, in whatever process, returns that result and writes nothing.
 * Throws `key-reused` where the key belongs to another call.
 */
export const writingOnce = (
  path: string,
  { key, call, nowMs }: Keyed,
  write: (store: Store) => JsonObject,
): JsonObject =>
  opened(path, path, (db) => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const known = db.prepare('SELECT call, result FROM calendar_key WHERE key = ?').get(key) as
        | { call: string; result: string }
        | undefined;
      if (known && known.call !== digest(call))
        throw refuse(
          'key-reused',
          'The idempotency key of this call was used for a call with other arguments. Nothing was written.',
        );
      const text = known?.result ?? JSON.stringify(write(storeOf(db)));
      if (!known)
        db.prepare('INSERT INTO calendar_key (key, call, result, written_ms) VALUES (?, ?, ?, ?)').run(
          key,
          digest(call),
          text,
          nowMs,
        );
      db.exec('COMMIT');
      const result: unknown = JSON.parse(text);
      return isJsonObject(result) ? result : {};
    } finally {
      rollBack(db);
    }
  });
