/** Field cases on PostgreSQL: one server for the whole file, and stores of their own for each case. */
import type { LogStore } from '../../src/log/store.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';

/** Why no case is tried on PostgreSQL; undefined where each is that this matters for. */
export const NO_POSTGRES: string | undefined = noPostgres();

let server: Promise<PostgresServer> | undefined;

/** Started by the first case that needs it. */
export const postgres = (): Promise<PostgresServer> => (server ??= PostgresServer.start());

export const stopPostgres = async (): Promise<void> => (await server)?.stop();

/** Where a case is tried; each runtime of its own takes a new store. */
export type On = { next(): LogStore };

export const onPostgres = async (stores: number): Promise<On> => {
  const running = await postgres();
  const urls = await Promise.all(Array.from({ length: stores }, () => running.store()));
  const open = await Promise.all(urls.map((url) => openPostgres(url)));
  return {
    next() {
      const store = open.shift();
      if (!store) throw new Error(`the case takes more than ${stores} stores`);
      return store;
    },
  };
};

/** Cases in which it matters what a store does, with the number of stores that each takes. */
export const ON_POSTGRES: Readonly<Record<string, number>> = {
  'FC-15': 1,
  'FC-41': 1,
  'FC-46': 2,
  'FC-47': 2,
  'FC-48': 1,
  'FC-49': 1,
  'FC-52': 1,
  'FC-54': 1,
  'FC-55': 2,
  'FC-57': 1,
  'FC-75': 1,
  'FC-76': 1,
  'FC-77': 1,
  'FC-81': 1,
  'FC-83': 1,
  'FC-85': 1,
  'FC-97': 1,
  'FC-101': 1,
};
