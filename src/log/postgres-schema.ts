/** Making and checking the tables of a PostgreSQL store: what is ours, what is too new, what has to be brought up to date. */
import { OnrecordError } from '../errors.ts';
import { systemClock, type Clock } from '../clock.ts';
import { Connection, type Ask } from './postgres-connection.ts';
import { notMigrated } from './postgres-fault.ts';
import { migrationsFrom, POSTGRES_FORMAT } from './postgres-migrations.ts';
import { postgresPlace, type PostgresPlace } from './postgres-place.ts';
import { StorageError } from './store.ts';

/** How long one migration may take, and how long a second one waits for it. */
export const MIGRATE_MS: number = 10 * 60_000;

export type Migrated = { readonly from: number; readonly to: number };

/** The format of the tables; 0 where there are none. Throws `store-not-ours`. */
const formatOf = async (ask: Ask, { schema, shown }: PostgresPlace): Promise<number> => {
  const { rows } = await ask<{ ours: boolean; others: string }>(
    `SELECT to_regclass('${schema}.onrecord_format') IS NOT NULL AS ours,
      (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('${schema}')) AS others`,
  );
  if (rows[0]?.ours) {
    const { rows: found } = await ask<{ format: number }>(`SELECT format FROM ${schema}.onrecord_format`);
    return found[0]?.format ?? 0;
  }
  if (Number(rows[0]?.others ?? 0) === 0) return 0;
  throw new OnrecordError(
    `The schema "${schema}" of ${shown} belongs to another program. Nothing was changed. Name another one with ?schema=NAME.`,
    { code: 'store-not-ours', next: 'fix-input', details: { schema } },
  );
};

const refuseNewer = (format: number, { shown }: PostgresPlace): void => {
  if (format <= POSTGRES_FORMAT) return;
  throw new OnrecordError(
    `This store was written by a newer Onrecord. ${shown} has format ${format}; this program works with ${POSTGRES_FORMAT}. ` +
      'Nothing was changed. Update the program.',
    { code: 'store-too-new', next: 'ask-a-person', details: { format, reads: POSTGRES_FORMAT } },
  );
};

/** Throws `store-not-migrated`, `store-too-old`, `store-too-new`, `store-not-ours`. */
export const checkFormat = async (ask: Ask, place: PostgresPlace): Promise<void> => {
  const format = await formatOf(ask, place);
  refuseNewer(format, place);
  if (format === 0) throw notMigrated(place.shown);
  if (format < POSTGRES_FORMAT)
    throw new OnrecordError(
      `The tables of ${place.shown} have format ${format}; this program works with ${POSTGRES_FORMAT}. They have to be brought up to date.`,
      {
        code: 'store-too-old',
        next: 'ask-a-person',
        details: { format, reads: POSTGRES_FORMAT },
        hint: 'onrecord migrate',
      },
    );
};

/** Throws `store-not-replicated` where a commit is acknowledged before a second server has it. */
export const checkReplicated = async (ask: Ask, { shown }: PostgresPlace): Promise<void> => {
  const { rows } = await ask<{ standbys: string }>(
    `SELECT current_setting('synchronous_standby_names') AS standbys`,
  );
  if ((rows[0]?.standbys ?? '').trim() !== '') return;
  throw new OnrecordError(
    `Durability "replicated" was asked for, but ${shown} names no synchronous standby: what it acknowledges may be ` +
      'lost with it. Set synchronous_standby_names on the server, or ask for durability "primary".',
    { code: 'store-not-replicated', next: 'ask-a-person', hint: 'SHOW synchronous_standby_names' },
  );
};

/** How long a synchronous standby may take to confirm. */
export const STANDBY_MS = 10_000;

/**
 * A commit that a synchronous standby confirms, and with it all that was written before: also what this server shows
 * because it came back after a crash with commits that nobody had confirmed. Done first on each connection, so that
 * nothing is read, and nothing that was unclear is acknowledged, before a second server has it. The message is in no
 * table and nobody reads it. Throws a StorageError where no standby confirms in time.
 */
export const awaitStandby = async (ask: Ask, { shown }: PostgresPlace, clock: Clock): Promise<void> => {
  const late = Promise.withResolvers<never>();
  const timer = clock.after(STANDBY_MS, () =>
    late.reject(
      new StorageError(
        'unavailable',
        `${shown} names a synchronous standby, and none has confirmed a commit for ${STANDBY_MS / 1000} s. Work waits for one.`,
      ),
    ),
  );
  try {
    await Promise.race([ask("SELECT pg_logical_emit_message(true, 'onrecord', '')"), late.promise]);
  } finally {
    timer.cancel();
  }
};

/**
 * Makes the tables or brings them up to date, all or nothing. Of two at once one waits for the other and finds it done.
 * Throws `store-too-new`, `store-not-ours`, and what keeps the database from being reached.
 */
export const migratePostgres = async (store: string): Promise<Migrated> => {
  const place = postgresPlace(store);
  const { schema } = place;
  const connection = new Connection({ place, clock: systemClock, purpose: 'migrate', answerMs: MIGRATE_MS });
  const { ask } = connection;
  try {
    await ask(`SET statement_timeout = ${MIGRATE_MS}; SET lock_timeout = ${MIGRATE_MS}`);
    await ask('BEGIN');
    await ask({ name: 'lock', text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))' }, [
      `${schema} migrate`,
    ]);
    const from = await formatOf(ask, place);
    refuseNewer(from, place);
    await ask(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    if (from === 0)
      await ask(
        `CREATE TABLE ${schema}.onrecord_format (format integer NOT NULL); INSERT INTO ${schema}.onrecord_format VALUES (0)`,
      );
    for (const step of migrationsFrom(from, schema)) await ask(step);
    if (from < POSTGRES_FORMAT) await ask(`UPDATE ${schema}.onrecord_format SET format = ${POSTGRES_FORMAT}`);
    await ask('COMMIT');
    return { from, to: POSTGRES_FORMAT };
  } finally {
    // Whatever was begun and not committed ends with the connection.
    await connection.close();
  }
};
