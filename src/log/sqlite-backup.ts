/**
 * Copies of a store while it is in use, and putting one in its place.
 *
 * VACUUM INTO reads one moment of the store in one transaction and keeps no writer waiting; the copying by pages that
 * SQLite offers as well begins anew whenever another process has written, and would never end beside a busy one.
 */
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isOnrecordError, OnrecordError } from '../errors.ts';
import { openDatabase } from './sqlite-open.ts';
import { storageFault } from './sqlite-fault.ts';
import { StorageError } from './store.ts';

/** How long a copy waits for a lock of another process. */
const COPY_BUSY_MS = 30_000;
const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/** Writes all that is committed now to a new file. Throws storage faults, and `store-damaged`. */
export const copyStore = (from: string, to: string): void => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(from, { readOnly: true });
    db.exec(`PRAGMA busy_timeout = ${COPY_BUSY_MS}`);
    db.prepare('VACUUM INTO ?').run(to);
  } catch (error) {
    throw storageFault(error, from);
  } finally {
    db?.close();
  }
};

/**
 * Puts a new file where a store lies; the old one is kept under another name, in one step, so that there always is a
 * store. Answers whether there was one. Throws `store-in-use` while anybody has it open.
 */
export const replaceStore = (path: string, next: string, aside: string): boolean => {
  if (!existsSync(path)) {
    // A log without its store would be played into the new one.
    for (const more of SIDE_FILES) rmSync(`${path}${more}`, { force: true });
    renameSync(next, path);
    return false;
  }
  const old = lockedAlone(path);
  try {
    // What a damaged store could not take in stays with it.
    for (const more of SIDE_FILES)
      if (existsSync(`${path}${more}`)) renameSync(`${path}${more}`, `${aside}${more}`);
    linkSync(path, aside);
    renameSync(next, path);
  } finally {
    old?.close();
  }
  return true;
};

/** All in one file, and nobody else in it. Undefined for a store that is too damaged to be opened. */
const lockedAlone = (path: string): DatabaseSync | undefined => {
  let db: DatabaseSync | undefined;
  try {
    db = openDatabase(path, 'full');
    // Leaving WAL takes the only connection there is.
    const mode = db.prepare('PRAGMA journal_mode = DELETE').get();
    if (mode?.['journal_mode'] !== 'delete') throw inUse(path);
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db?.close();
    const fault = storageFault(error, path);
    if (isOnrecordError(fault) && fault.next === 'corrupt') return undefined;
    throw fault instanceof StorageError && fault.fault === 'busy' ? inUse(path, error) : fault;
  }
};

const inUse = (path: string, cause?: unknown): OnrecordError =>
  new OnrecordError(
    `The store ${path} is in use: another process has it open. Nothing was changed. Stop it first.`,
    {
      code: 'store-in-use',
      next: 'look-again',
      details: { path },
      cause,
    },
  );
