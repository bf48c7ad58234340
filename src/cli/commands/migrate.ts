/** onrecord migrate: the tables of a PostgreSQL store, made or brought up to date. */
import { badInput } from '../../errors.ts';
import { isPostgres, maskedStore } from '../../log/postgres-place.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: 'Makes the tables of a PostgreSQL store, or brings them up to date.',
  arguments: [],
  options: [],
  example: 'onrecord migrate --store postgres://onrecord@db/onrecord',
  exits: [EXIT.done, EXIT.usage, EXIT.tooNew, EXIT.store],
  async run(cli) {
    const store = await cli.storeNamed();
    if (!isPostgres(store))
      throw badInput(
        'usage',
        `The store is the file ${store}, which is brought up to date whenever it is opened. Name a database with --store postgres://… or in the configuration.`,
        { store },
        'onrecord help migrate',
      );
    const { migratePostgres } = await import('../../log/postgres-schema.ts');
    const { from, to } = await migratePostgres(store);
    const shown = maskedStore(store);
    if (cli.screen.jsonMode) cli.screen.json({ store: shown, from, to });
    else if (from === to)
      cli.screen.out(line`${SIGN.ok} ${whole(shown)} has format ${to} already. Nothing was changed.`);
    else if (from === 0)
      cli.screen.out(line`${SIGN.ok} ${whole(shown)} has its tables now, in format ${to}.`);
    else cli.screen.out(line`${SIGN.ok} ${whole(shown)} went from format ${from} to format ${to}.`);
    return EXIT.done;
  },
};
