/**
 * The queue of pg-boss in the log's own database: wakes lie in it until a worker takes them. A trigger sends one in the
 * transaction that makes a session free to be driven, whoever does that: an append from outside, a worker that gives it
 * back, the end of a lease whose owner is gone. It writes what pg-boss itself would write: its own statement, taken
 * from it when the tables are made.
 *
 * A wake is a hint. Where it cannot be written, the server's log says so, the append stands, and a sweep finds the session.
 */
import { systemClock } from '../clock.ts';
import { badInput, bug, OnrecordError } from '../errors.ts';
import { Connection, type Ask } from './postgres-connection.ts';
import { MIGRATE_MS } from './postgres-schema.ts';
import { postgresPlace, type PostgresPlace } from './postgres-place.ts';

/**
 * What is used of pg-boss. Its own types stay out of the declarations: whoever does not dispatch by it has not
 * installed it.
 */
export type Boss = {
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<unknown>;
  createQueue(
    name: string,
    options: {
      readonly policy: 'short';
      readonly expireInSeconds: number;
      readonly retentionSeconds: number;
      readonly retryLimit: number;
      readonly retryDelay: number;
    },
  ): Promise<unknown>;
  insert(
    name: string,
    jobs: { data: object; singletonKey?: string; startAfter?: string; priority?: number }[],
    options: {
      readonly returnId: false;
      readonly db?: { executeSql(text: string): Promise<{ rows: unknown[] }> };
    },
  ): Promise<unknown>;
  fetch(name: string, options: { readonly batchSize: number }): Promise<unknown>;
  deleteJob(name: string, ids: string[]): Promise<unknown>;
};

export const JOBS_QUEUE = 'session';
/** pg-boss takes names of 50 bytes. */
const JOBS_SCHEMA_LENGTH_MAX = 50;
/** A job is deleted as soon as it is fetched; one that was not for so long is fetched again. */
const TAKE_SECONDS = 15;
/** A wake that nobody took for so long is dropped; by then sweeps have found the session many times. */
const KEPT_SECONDS = 86_400;
const RETRIES_MAX = 1000;
/** How long an append waits for somebody's lock on the queue. */
const WAKE_LOCK_MS = 200;
/** Sessions of a tenant that stand before one of its own and behind everybody else's. */
const TURNS_MAX = 1000;

/** Throws `store-url-invalid` where the schema's name leaves no room for that of the jobs. */
export const jobsSchema = ({ schema }: PostgresPlace): string => {
  const name = `${schema}_jobs`;
  if (name.length <= JOBS_SCHEMA_LENGTH_MAX) return name;
  throw badInput(
    'store-url-invalid',
    `"${schema}" is too long for a store with dispatch "pg-boss": its jobs are kept in "${name}", and pg-boss takes ${JOBS_SCHEMA_LENGTH_MAX} characters.`,
    { schema },
  );
};

/** Loaded only where it is used. Throws `pg-boss-missing`. */
const loadBoss = async () => {
  try {
    return (await import('pg-boss')).PgBoss;
  } catch (cause) {
    throw new OnrecordError('Dispatch "pg-boss" needs the package pg-boss, which is not installed.', {
      code: 'pg-boss-missing',
      next: 'ask-a-person',
      hint: 'npm install pg-boss@12.38.0',
      cause,
    });
  }
};

export type BossOptions = {
  readonly ask: Ask;
  /** Whether its tables may be made or changed. */
  readonly migrate: boolean;
  readonly onError: (error: unknown) => void;
};

/** A pg-boss that works over this connection and starts nothing by itself. */
export const bossOver = async (
  place: PostgresPlace,
  { ask, migrate, onError }: BossOptions,
): Promise<Boss> => {
  const PgBoss = await loadBoss();
  const boss = new PgBoss({
    schema: jobsSchema(place),
    db: { executeSql: (text, values) => ask(text, values ?? []) },
    migrate,
    createSchema: migrate,
    supervise: false,
    schedule: false,
    registerInstance: false,
    reindex: false,
    monitorVacuum: false,
  });
  boss.on('error', onError);
  return boss;
};

/** Makes the queue and its trigger, or brings them up to date. Safe to run again, and by two at once. */
export const migrateJobs = async (store: string): Promise<void> => {
  const place = postgresPlace(store);
  const connection = new Connection({ place, clock: systemClock, purpose: 'migrate', answerMs: MIGRATE_MS });
  try {
    const { ask } = connection;
    // Held until the connection is closed: of two at once one waits and finds it done.
    await ask({ name: 'lock', text: 'SELECT pg_advisory_lock(hashtextextended($1, 0))' }, [
      `${place.schema} migrate jobs`,
    ]);
    const boss = await bossOver(place, { ask, migrate: true, onError: () => undefined });
    await boss.start();
    await boss.createQueue(JOBS_QUEUE, {
      // One job waits for each session; one that is being taken, by a worker that stands still, blocks no other.
      policy: 'short',
      expireInSeconds: TAKE_SECONDS,
      retentionSeconds: KEPT_SECONDS,
      retryLimit: RETRIES_MAX,
      retryDelay: 0,
    });
    const insert = await insertOf(boss);
    await boss.stop({ graceful: false });
    for (const step of triggerSteps(place, insert)) await ask(step);
  } finally {
    await connection.close();
  }
};

/** The statement by which this pg-boss puts jobs into the queue; takes them as JSON in $1. */
const insertOf = async (boss: Boss): Promise<string> => {
  let insert: string | undefined;
  const db = {
    executeSql: async (text: string): Promise<{ rows: unknown[] }> => {
      insert = text;
      return { rows: [] };
    },
  };
  await boss.insert(JOBS_QUEUE, [{ data: {} }], { db, returnId: false });
  if (insert === undefined) throw bug('pg-boss inserts by a statement');
  return insert;
};

const triggerSteps = ({ schema }: PostgresPlace, insert: string): readonly string[] => [
  'BEGIN',
  `CREATE OR REPLACE FUNCTION ${schema}.enqueue(jobs text) RETURNS void LANGUAGE sql AS $enqueue$${insert}$enqueue$`,
  // A tenant's nth waiting session stands behind everybody's first n: nobody's many keep another one's few waiting.
  `CREATE OR REPLACE FUNCTION ${schema}.wake_free_session() RETURNS trigger
    LANGUAGE plpgsql SET lock_timeout = ${WAKE_LOCK_MS} AS $wake$
  DECLARE
    before integer;
  BEGIN
    SELECT count(*) INTO before FROM (
      SELECT 1 FROM ${schema}.session AS s
      WHERE s.tenant = NEW.tenant AND s.can_go_on AND s.owner_id IS NULL AND s.name <> NEW.name LIMIT ${TURNS_MAX}) AS waiting;
    PERFORM ${schema}.enqueue(json_build_array(json_build_object(
      'data', json_build_object('session', NEW.name), 'singletonKey', NEW.name, 'priority', -before))::text);
    RETURN NULL;
  EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'onrecord: no wake for session %: %', NEW.name, SQLERRM;
    RETURN NULL;
  END $wake$`,
  `DROP TRIGGER IF EXISTS wake_free_session ON ${schema}.session`,
  `CREATE TRIGGER wake_free_session AFTER UPDATE OF head, can_go_on, owner_id ON ${schema}.session
    FOR EACH ROW WHEN (NEW.can_go_on AND NEW.owner_id IS NULL AND
      (OLD.owner_id IS NOT NULL OR OLD.can_go_on IS DISTINCT FROM true OR NEW.head <> OLD.head))
    EXECUTE FUNCTION ${schema}.wake_free_session()`,
  'COMMIT',
];
