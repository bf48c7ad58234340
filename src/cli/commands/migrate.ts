/** onrecord migrate: the tables of a PostgreSQL store, and the queue of its workers, made or brought up to date. */
import { badInput } from '../../errors.ts';
import { isPostgres, maskedStore } from '../../log/postgres-place.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { DISPATCHES, isDispatcher, type Dispatch } from '../config.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: 'Makes the tables of a PostgreSQL store, or brings them up to date.',
  arguments: [],
  options: [
    {
      flags: '--dispatch <name>',
      description: `also what workers share beside the log: ${DISPATCHES.join(', ')}; default what the configuration says`,
    },
  ],
  example: 'onrecord migrate --store postgres://onrecord@db/onrecord',
  exits: [EXIT.done, EXIT.usage, EXIT.tooNew, EXIT.store],
  async run(cli, input) {
    const store = await cli.storeNamed();
    const dispatch = await dispatchOf(cli, input);
    if (!isPostgres(store))
      throw badInput(
        'usage',
        `The store is the file ${store}, which is brought up to date whenever it is opened. Name a database with --store postgres://… or in the configuration.`,
        { store },
        'onrecord help migrate',
      );
    const { migratePostgres } = await import('../../log/postgres-schema.ts');
    const { from, to } = await migratePostgres(store);
    if (dispatch === 'pg-boss') await (await import('../../log/postgres-jobs.ts')).migrateJobs(store);
    const shown = maskedStore(store);
    if (cli.screen.jsonMode) cli.screen.json({ store: shown, from, to, dispatch });
    else if (from === to)
      cli.screen.out(line`${SIGN.ok} ${whole(shown)} has format ${to} already. Nothing was changed.`);
    else if (from === 0)
      cli.screen.out(line`${SIGN.ok} ${whole(shown)} has its tables now, in format ${to}.`);
    else cli.screen.out(line`${SIGN.ok} ${whole(shown)} went from format ${from} to format ${to}.`);
    if (dispatch === 'pg-boss' && !cli.screen.jsonMode)
      cli.screen.out(line`${SIGN.ok} The queue of its workers is there, kept by pg-boss.`);
    return EXIT.done;
  },
};

const dispatchOf = async (cli: Cli, input: Input): Promise<Dispatch> => {
  const named = givenOption(input, 'dispatch');
  if (named === undefined) {
    const { dispatch: configured = 'in-process' } = await cli.config();
    // An engine of its own keeps nothing in the database.
    return isDispatcher(configured) ? 'in-process' : configured;
  }
  const dispatch = DISPATCHES.find((one) => one === named);
  if (dispatch !== undefined) return dispatch;
  throw badInput('usage', `There is no dispatch "${named}". There are ${DISPATCHES.join(', ')}.`, {
    dispatch: named,
  });
};
