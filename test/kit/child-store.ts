/** The store that a child process is told of: a SQLite file or a PostgreSQL URL. */
import { isPostgres } from '../../src/log/postgres-place.ts';
import { PostgresLog } from '../../src/log/postgres.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import type { LogStore } from '../../src/log/store.ts';

export const childStore = async (where: string): Promise<LogStore> =>
  isPostgres(where) ? PostgresLog.open(where) : new SqliteLog(where);
