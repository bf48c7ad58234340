/** The contract of a dispatcher over pg-boss, on a real server; and that a wake is in the transaction that appends. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Client } from 'pg';
import { migrateJobs } from '../../src/log/postgres-jobs.ts';
import type { LogStore } from '../../src/log/store.ts';
import type { SessionSummary } from '../../src/event/summary.ts';
import type { Taken } from '../../src/worker/dispatcher.ts';
import { PgBossDispatcher } from '../../src/worker/pg-boss-dispatcher.ts';
import { OWNER_A, sealed } from '../kit/chain.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { describeDispatcher } from './dispatcher.ts';

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let server: PostgresServer;
/** Emptied for each test of the contract. */
let shared: string;

beforeAll(async () => {
  if (reason !== undefined) return;
  server = await PostgresServer.start();
  shared = await withJobs();
});
afterAll(() => server?.stop());

const NOTHING: Taken = { kind: 'nothing' };
const PATIENCE = { timeout: 15_000, interval: 10 };

const withJobs = async (): Promise<string> => {
  const url = await server.store();
  await migrateJobs(url);
  return url;
};

const schemaOf = (url: string): string => new URL(url).searchParams.get('schema') ?? '';

const ask = async (text: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
};

const SUMMARY: SessionSummary = {
  agent: 'clerk',
  tenant: '',
  title: '',
  status: 'running',
  canGoOn: true,
  turns: 1,
  waiting: 0,
  inDoubt: 0,
  untold: 0,
  cost: 0,
  createdAt: 0,
  updatedAt: 0,
};

type Scene = {
  readonly store: LogStore;
  readonly jobs: () => Promise<readonly string[]>;
  readonly sql: (text: string) => Promise<void>;
};

const scene = async (): Promise<Scene> => {
  const url = await withJobs();
  const store = await openPostgres(url);
  const client = new Client({ connectionString: server.url });
  await client.connect();
  onTestFinished(() => client.end());
  const schema = schemaOf(url);
  return {
    store,
    sql: async (text) => void (await client.query(text.replaceAll('{schema}', schema))),
    jobs: async () => {
      const { rows } = await client.query<{ session: string }>(
        `SELECT data ->> 'session' AS session FROM ${schema}_jobs.job ORDER BY priority DESC, created_on`,
      );
      return rows.map(({ session }) => session);
    },
  };
};

const append = (store: LogStore, session: string, summary: Partial<SessionSummary> = {}): Promise<void> =>
  store.append({
    session,
    expected: 0,
    events: sealed(session, ['a']),
    summary: { ...SUMMARY, ...summary },
  });

describe.skipIf(reason !== undefined)(`on a real server${skipped}`, () => {
  describeDispatcher('PgBossDispatcher', {
    place: async () => {
      await ask(`DELETE FROM ${schemaOf(shared)}_jobs.job`);
      return { open: async () => new PgBossDispatcher(shared), session: async (name) => name };
    },
    shared: true,
  });

  describe('PgBossDispatcher: wakes of the log', () => {
    test('an append that lets a session go on has its wake with it; a refused one, and one that waits, have none', async () => {
      const { store, jobs } = await scene();
      await append(store, 'free');
      await append(store, 'waits', { canGoOn: false, status: 'waiting' });
      await expect(append(store, 'free')).rejects.toMatchObject({ code: 'append-conflict' });
      expect(await jobs()).toEqual(['free']);
    });

    test('a session that is driven has none; given back with work left, or freed of an owner that is gone, it has one', async () => {
      const { store, jobs, sql } = await scene();
      await append(store, 's');
      await sql('DELETE FROM {schema}_jobs.job');
      const claim = await store.claim({
        session: 's',
        owner: OWNER_A,
        now: 0,
        leaseMs: 1e6,
        isGone: () => false,
      });
      if (!claim.won) throw new Error('nobody else is there');
      const head = await store.head('s');
      if (!head) throw new Error('it was just appended to');
      await store.append({
        session: 's',
        expected: 1,
        epoch: claim.epoch,
        events: sealed('s', ['b'], { from: 2, prev: head.hash }),
        summary: SUMMARY,
      });
      expect(await jobs()).toEqual([]);
      await store.release('s', claim.epoch);
      expect(await jobs()).toEqual(['s']);
    });

    test('a tenant with many waiting stands behind one with few, from its second on', async () => {
      const { store, jobs } = await scene();
      for (const name of ['a1', 'a2', 'a3']) await append(store, name, { tenant: 'a' });
      await append(store, 'b1', { tenant: 'b' });
      expect(await jobs()).toEqual(['a1', 'b1', 'a2', 'a3']);
    });

    test('a queue that is locked, or gone, keeps no append from being written', async () => {
      const { store, jobs, sql } = await scene();
      await sql('BEGIN; LOCK TABLE {schema}_jobs.job');
      await append(store, 'one');
      await sql('ROLLBACK');
      expect(await jobs()).toEqual([]);
      await sql('DROP SCHEMA {schema}_jobs CASCADE');
      await append(store, 'two');
      expect((await store.head('two'))?.seq).toBe(1);
    });

    test('a worker takes what was appended, and leaves no job behind', async () => {
      const url = await withJobs();
      const store = await openPostgres(url);
      const dispatcher = new PgBossDispatcher(url);
      onTestFinished(() => dispatcher.stop());
      const taken: string[] = [];
      await dispatcher.start({
        take: async (session) => {
          taken.push(session);
          return NOTHING;
        },
        room: () => 10,
      });
      await append(store, 's');
      await expect.poll(() => taken, PATIENCE).toEqual(['s']);
      await dispatcher.stop();
      expect(await ask(`SELECT 1 FROM ${schemaOf(url)}_jobs.job`)).toEqual([]);
    });
  });

  test('without its tables it says what makes them', async () => {
    const dispatcher = new PgBossDispatcher(await server.store());
    onTestFinished(() => dispatcher.stop());
    await expect(dispatcher.start({ take: async () => NOTHING, room: () => 1 })).rejects.toMatchObject({
      code: 'jobs-not-migrated',
    });
  });

  test('its tables can be made again, and by two at once', async () => {
    const url = await server.store();
    await Promise.all([migrateJobs(url), migrateJobs(url)]);
    await expect(migrateJobs(url)).resolves.toBeUndefined();
  });
});
