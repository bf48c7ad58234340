/** Folders and stores that are gone when the test is over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SqliteLog, type SqliteOptions } from '../../src/log/sqlite.ts';

export const tempFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-core-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const tempFile = (): string => join(tempFolder(), 'log.db');

/** Opens a SQLite store and closes it when the test is over. */
export const openSqlite = (path: string, options?: SqliteOptions): SqliteLog => {
  const store = new SqliteLog(path, options);
  onTestFinished(() => store.close());
  return store;
};
