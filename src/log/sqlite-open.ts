/** Opening a SQLite file: what is ours, what is too new, what has to be brought up to date, and how it is to be kept. */
import { DatabaseSync } from 'node:sqlite';
import { isOnrecordError, OnrecordError } from '../errors.ts';
import { APPLICATION_ID, MIGRATIONS, STORE_FORMAT } from './migrations.ts';
import { storageFault } from './sqlite-fault.ts';
import { StorageError } from './store.ts';

/** A step's rows take about 3 KB: pages of 4 KB would waste a quarter of each. */
const PAGE_BYTES = 8192;
/**
 * The write-ahead log is folded in and begun anew when it holds so many pages, 2 MB. As long as a file grows, each
 * sync of it costs about twice as much: it stops growing sooner than with SQLite's 1000 pages.
 */
const CHECKPOINT_PAGES = 256;

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
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.exec('PRAGMA busy_timeout = 0; PRAGMA foreign_keys = ON');
    return db;
  } catch (error) {
    db?.close();
    throw isOnrecordError(error) ? error : storageFault(error, path);
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
