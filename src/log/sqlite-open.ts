/** Opening a SQLite file: what is ours, what is too new, what has to be brought up to date, and how it is to be kept. */
import { statfsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isOnrecordError, OnrecordError } from '../errors.ts';
import { APPLICATION_ID, MIGRATIONS, STORE_FORMAT } from './migrations.ts';
import { storageFault } from './sqlite-fault.ts';
import { StorageError } from './store.ts';

/** SQLite's own. Each commit writes whole pages: larger ones hold a few bytes more and take longer. */
const PAGE_BYTES = 4096;
/** The write-ahead log is folded in and begun anew when it holds so much. */
export const LOG_BYTES: number = 4 * 1024 * 1024;
/** Pages kept in memory while the write-ahead log is let grow: whatever is more goes into it at once. */
const GROWING_CACHE_PAGES = 10;
/** Where the disk has not so many times its length left, the log grows no sooner than it has to. */
const ROOM_FACTOR = 16;

/** How long opening waits for a neighbour that has the lock. */
const OPEN_BUSY_MS = 5000;
const OPEN_RETRY_MS = 5;

/** `full` syncs at each commit, `normal` when the write-ahead log is folded in. */
export type Durability = 'full' | 'normal';

export const synchronous = (durability: Durability): string =>
  `PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`;

/** Throws `store-too-new`, `store-not-ours`, `store-damaged` and storage faults. */
export const openDatabase = (path: string, durability: Durability): DatabaseSync => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec(`PRAGMA busy_timeout = ${OPEN_BUSY_MS}`);
    refuseForeign(db, path);
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
    useWal(db, path);
    db.exec(synchronous(durability));
    migrate(db);
    db.exec(`PRAGMA wal_autocheckpoint = ${LOG_BYTES / pragma(db, 'page_size')}`);
    db.exec('PRAGMA busy_timeout = 0; PRAGMA foreign_keys = ON');
    return db;
  } catch (error) {
    db?.close();
    throw isOnrecordError(error) ? error : storageFault(error, path);
  }
};

/**
 * As long as the write-ahead log grows, each sync of it costs about twice as much, because its new length has to be
 * brought to the disk, too. This lets it grow at once: a transaction that is larger than the cache is written into the
 * log before it is committed, and this one is rolled back. What it wrote lies behind the end of the log, means nothing
 * there, and is written over (https://sqlite.org/walformat.html).
 */
export const growLog = (db: DatabaseSync, path: string): void => {
  try {
    const { bavail, bsize } = statfsSync(path);
    if (bavail * bsize < LOG_BYTES * ROOM_FACTOR || statSync(`${path}-wal`).size >= LOG_BYTES) return;
    const cache = pragma(db, 'cache_size');
    try {
      db.exec(`PRAGMA cache_size = ${GROWING_CACHE_PAGES}; BEGIN IMMEDIATE`);
      db.prepare('INSERT INTO blob (digest, size, body) VALUES (zeroblob(32), 0, zeroblob(?))').run(
        LOG_BYTES,
      );
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
      db.exec(`PRAGMA cache_size = ${cache}`);
    }
  } catch {
    // A lock, a fault of the disk: this is only about time, and whoever writes next is told what is wrong.
  }
};

const pragma = (db: DatabaseSync, name: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);

/**
 * Where two make the same new file at once, SQLite refuses one of them the change of mode at once, whatever its
 * busy_timeout, because both hold what the other one waits for (https://sqlite.org/rescode.html#busy). The other one
 * is done in a moment.
 */
const useWal = (db: DatabaseSync, path: string): void => {
  const until = performance.now() + OPEN_BUSY_MS;
  for (;;)
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      const fault = storageFault(error, path);
      if (!(fault instanceof StorageError && fault.fault === 'busy') || performance.now() > until)
        throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_RETRY_MS);
    }
};

const refuseForeign = (db: DatabaseSync, path: string): void => {
  // As of one moment: a neighbour may be making the same new file.
  db.exec('BEGIN');
  const application = pragma(db, 'application_id');
  const format = pragma(db, 'user_version');
  const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number };
  db.exec('COMMIT');
  if (application === APPLICATION_ID && format <= STORE_FORMAT) return;
  if (application === APPLICATION_ID)
    throw new OnrecordError(
      `This store was written by a newer Onrecord. ${path} has format ${format}; this program reads up to ${STORE_FORMAT}. ` +
        'Nothing was changed. Update the program.',
      { code: 'store-too-new', next: 'ask-a-person', details: { path, format, reads: STORE_FORMAT } },
    );
  if (application !== 0 || tables.n > 0)
    throw new OnrecordError(
      `${path} is a database of another program. Nothing was changed. Name another file.`,
      {
        code: 'store-not-ours',
        next: 'fix-input',
        details: { path },
      },
    );
};

const migrate = (db: DatabaseSync): void => {
  if (pragma(db, 'user_version') === STORE_FORMAT) return;
  db.exec('BEGIN IMMEDIATE');
  // Read again under the lock: a neighbour may have migrated in between.
  for (const step of MIGRATIONS.slice(pragma(db, 'user_version'))) db.exec(step);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STORE_FORMAT}; COMMIT`);
};
