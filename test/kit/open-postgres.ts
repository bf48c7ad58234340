import { onTestFinished } from 'vitest';
import { PostgresLog, type PostgresOptions } from '../../src/log/postgres.ts';

/** Opens a store and closes it when the test is over. */
export const openPostgres = async (url: string, options?: PostgresOptions): Promise<PostgresLog> => {
  const store = await PostgresLog.open(url, options);
  onTestFinished(() => store.close());
  return store;
};
