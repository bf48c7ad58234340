/** The dispatcher that the configuration asks for. */
import { badInput } from '../errors.ts';
import { isPostgres } from '../log/postgres-place.ts';
import type { Logger } from '../tool/tool.ts';
import type { Dispatcher } from '../worker/dispatcher.ts';
import type { Cli } from './cli.ts';
import { isDispatcher } from './config.ts';

/** Undefined: the queue in this process. Throws `config-invalid` where the store cannot hold the queue. */
export const dispatcherOf = async (cli: Cli, log?: Logger): Promise<Dispatcher | undefined> => {
  const { dispatch = 'in-process' } = await cli.config();
  if (isDispatcher(dispatch)) return dispatch;
  if (dispatch === 'in-process') return undefined;
  const store = await cli.storeNamed();
  if (!isPostgres(store))
    throw badInput(
      'config-invalid',
      `dispatch "${dispatch}" keeps its queue in PostgreSQL, and the store is the file ${store}. Leave it out, or name a database as the store.`,
      { dispatch },
    );
  const { PgBossDispatcher } = await import('../worker/pg-boss-dispatcher.ts');
  return new PgBossDispatcher(store, { ...(log && { log }) });
};
