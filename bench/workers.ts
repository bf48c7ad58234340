/**
 * Workers beside each other on one database: turns and steps a second with 1, 2 and 4 of them, next to the raw rate of
 * commits, and what sessions cost that wait. A cluster of its own with fsync on; pg-boss says who drives what.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { migrateJobs } from '../src/log/postgres-jobs.ts';
import { PostgresLog } from '../src/log/postgres.ts';
import { openRuntime } from '../src/worker/runtime.ts';
import { noPostgres, PostgresServer } from '../test/kit/postgres-server.ts';
import { workAgent } from './agent.ts';
import type { Measured, Plan } from './part.ts';
import { medianOf } from './sample.ts';
import { count, figure, type Table } from './table.ts';
import type { Idle } from './worker-process.ts';

const WORKERS: readonly number[] = [1, 2, 4];
const SESSIONS = 300;
const STEPS = 5;
const RAW_CONNECTIONS = 16;
const RAW_MS = 3000;
const WAITING: readonly number[] = [0, 200_000];
const LOOK_MS = 50;
/** Longer than any machine here needs; then something is wrong. */
const DEADLINE_MS = 180_000;

const PROGRAM = join(import.meta.dirname, 'worker-process.ts');

type Load = {
  readonly workers: number;
  readonly turns: number;
  readonly steps: number;
  readonly raw: number;
};
type Waiting = {
  readonly sessions: number;
  readonly rowBytes: number;
  readonly jobs: number;
  readonly leases: number;
  readonly idle: Idle;
};

export const measureWorkers = async ({ progress }: Plan): Promise<Measured> => {
  const reason = noPostgres();
  if (reason !== undefined) throw new Error(`Workers cannot be measured: ${reason}.`);
  const server = await PostgresServer.start();
  try {
    const loads: Load[] = [];
    for (const workers of WORKERS) {
      progress(`${workers} workers`);
      loads.push(await measureLoad(server, workers));
    }
    const waiting: Waiting[] = [];
    for (const sessions of WAITING) {
      progress(`${count(sessions)} waiting sessions`);
      waiting.push(await measureWaiting(server, sessions));
    }
    return { tables: [loadTable(loads), waitingTable(waiting)], data: { loads, waiting } };
  } finally {
    await server.stop();
  }
};

const storeWithJobs = async (server: PostgresServer): Promise<string> => {
  const url = await server.store();
  await migrateJobs(url);
  return url;
};

const started = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (!child.stdout) throw new Error('the worker has an output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the worker ended before it said a word');
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return;
  const closed = once(child, 'close');
  child.stdin?.end();
  await closed;
};

/** All messages are taken in first, with nobody there to drive; the clock runs from the first worker's start to the last end. */
const measureLoad = async (server: PostgresServer, workers: number): Promise<Load> => {
  const raw = await rawRate(server);
  const url = await storeWithJobs(server);
  const store = await PostgresLog.open(url);
  const runtime = await openRuntime({ store, agents: [workAgent({ steps: () => STEPS })], drive: false });
  const warm = Array.from({ length: workers }, () => started(url, String(STEPS)));
  await Promise.all(warm.map(firstLine));
  const began = performance.now();
  await Promise.all(
    Array.from({ length: SESSIONS }, (_, n) =>
      runtime.send({ agent: 'harbour', message: 'Which berths are free?', key: `key-${n}` }),
    ),
  );
  while (((await store.counts()).done ?? 0) < SESSIONS) {
    if (performance.now() - began > DEADLINE_MS) throw new Error(`${workers} workers were not done in time.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const seconds = (performance.now() - began) / 1000;
  await Promise.all(warm.map(ended));
  await runtime.close();
  return { workers, turns: SESSIONS / seconds, steps: (SESSIONS * (STEPS + 1)) / seconds, raw };
};

/** One row of 1 KB a commit, over as many connections as the server groups commits of. */
const rawRate = async (server: PostgresServer): Promise<number> => {
  const clients = await Promise.all(
    Array.from({ length: RAW_CONNECTIONS }, async () => {
      const client = new Client(server.url);
      await client.connect();
      return client;
    }),
  );
  await clients[0]?.query('CREATE TABLE IF NOT EXISTS raw_commit (id bigserial PRIMARY KEY, body bytea)');
  const put = {
    name: 'raw',
    text: 'INSERT INTO raw_commit (body) VALUES ($1)',
    values: [Buffer.alloc(1000, 7)],
  };
  let commits = 0;
  const began = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - began < RAW_MS) {
        await client.query(put);
        commits++;
      }
    }),
  );
  const rate = (commits / (performance.now() - began)) * 1000;
  await Promise.all(clients.map((client) => client.end()));
  return rate;
};

/** One session that waits for a person, and its row again and again under other names. */
const measureWaiting = async (server: PostgresServer, sessions: number): Promise<Waiting> => {
  const url = await storeWithJobs(server);
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const store = await PostgresLog.open(url);
  const runtime = await openRuntime({ store, agents: [workAgent({ steps: () => 1 })], drive: false });
  await runtime.send({ agent: 'harbour', message: 'Which berths are free?', key: 'key', mode: 'frozen' });
  await runtime.close();
  const client = new Client(server.url);
  await client.connect();
  await client.query(
    `INSERT INTO ${schema}.session (bucket, name, head, hash, agent, tenant, status, can_go_on, untold, updated_at, summary)
      SELECT ${schema}.bucket_of(s.name || n), s.name || n, head, hash, agent, tenant, 'waiting', false, 0, updated_at + n, summary
      FROM ${schema}.session AS s, generate_series(1, ${sessions}) AS n WHERE s.summary IS NOT NULL`,
  );
  await client.query(`VACUUM ANALYZE ${schema}.session`);
  const child = started(url, '1', 'idle');
  const idle = JSON.parse(await firstLine(child)) as Idle;
  await ended(child);
  type Row = { bytes: string; jobs: string; leases: string };
  const { rows } = await client.query<Row>(
    `SELECT pg_total_relation_size('${schema}.session') AS bytes, (SELECT count(*) FROM ${schema}_jobs.job) AS jobs,
      (SELECT count(*) FROM ${schema}.session WHERE owner_id IS NOT NULL) AS leases`,
  );
  await client.end();
  const [row] = rows;
  if (!row) throw new Error('a count has a row');
  const { bytes, jobs, leases } = row;
  return { sessions, rowBytes: Number(bytes), jobs: Number(jobs), leases: Number(leases), idle };
};

const loadTable = (loads: readonly Load[]): Table => ({
  title: 'Workers on one database',
  columns: ['workers', 'turns a second', 'steps a second', 'raw commits a second', 'steps × raw'],
  rows: loads.map(({ workers, turns, steps, raw }) => [
    String(workers),
    figure(turns),
    figure(steps),
    figure(raw),
    figure(steps / raw),
  ]),
  note:
    `${count(SESSIONS)} sessions at once, each a turn of ${STEPS + 1} model requests and ${STEPS} calls; model and tool answer at once. ` +
    `From the first message to the last end. Raw: rows of 1 KB, one a commit, over ${RAW_CONNECTIONS} connections, measured before each row. ` +
    'Server, workers and the door share the processors.',
});

const waitingTable = (all: readonly Waiting[]): Table => ({
  title: 'Sessions that wait, and a worker beside them',
  columns: [
    'waiting',
    'bytes a session',
    'jobs',
    'leases',
    'open ms',
    'RSS MB',
    'sweep ms',
    'CPU ms per idle s',
  ],
  rows: all.map(({ sessions, rowBytes, jobs, leases, idle }) => [
    count(sessions),
    sessions === 0 ? '' : figure(rowBytes / sessions),
    count(jobs),
    count(leases),
    figure(idle.openMs),
    figure(idle.rssMb),
    figure(medianOf(idle.sweepMs)),
    figure((idle.idleCpuMs / idle.idleMs) * 1000),
  ]),
  note: 'Bytes: the rows of the list of sessions with all their indexes; their events come on top, as anybody’s do. Sweep: the median of 10.',
});
