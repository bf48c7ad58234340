/**
 * node bench/postgres.ts: appends per second over PostgreSQL beside the rate at which the same server commits one row of
 * the same size, on a cluster of its own with fsync on. Appends hold one event of about 1 KB.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { genesis } from '../src/event/envelope.ts';
import { PostgresLog } from '../src/log/postgres.ts';
import { sealed } from '../test/kit/chain.ts';
import { noPostgres, PostgresServer } from '../test/kit/postgres-server.ts';

const MEASURE_MS = 4000;
const BODY_CHARACTERS = 900;

type Rate = { readonly perSecond: number; readonly p50: number; readonly p99: number };

/** Runs lanes one step after the other for a while. */
const measure = async (lanes: readonly (() => Promise<void>)[]): Promise<Rate> => {
  const took: number[] = [];
  const began = performance.now();
  await Promise.all(
    lanes.map(async (step) => {
      while (performance.now() - began < MEASURE_MS) {
        const at = performance.now();
        await step();
        took.push(performance.now() - at);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { perSecond: took.length / seconds, p50: at(0.5), p99: at(0.99) };
};

const say = (what: string, { perSecond, p50, p99 }: Rate): void =>
  void process.stdout.write(
    `${what.padEnd(46)} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms\n`,
  );

const rawCommits = async (server: PostgresServer, connections: number): Promise<Rate> => {
  const clients = await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new Client(server.url);
      await client.connect();
      return client;
    }),
  );
  await clients[0]?.query('CREATE TABLE IF NOT EXISTS raw (id bigserial PRIMARY KEY, body bytea)');
  const body = Buffer.alloc(BODY_CHARACTERS, 7);
  const rate = await measure(
    clients.map((client) => async () => {
      await client.query({ name: 'raw', text: 'INSERT INTO raw (body) VALUES ($1)', values: [body] });
    }),
  );
  await Promise.all(clients.map((client) => client.end()));
  return rate;
};

const lane = (store: PostgresLog, session: string): (() => Promise<void>) => {
  let expected = 0;
  let prev = genesis(session);
  return async () => {
    const events = sealed(session, ['x'.repeat(BODY_CHARACTERS)], { from: expected + 1, prev });
    await store.append({ session, expected, events });
    prev = events[0]?.hash ?? prev;
    expected++;
  };
};

const appends = async (url: string, sessions: number, name: string): Promise<Rate> => {
  const store = await PostgresLog.open(url);
  // As a worker does: it listens, and tells what it commits.
  store.changes(() => undefined);
  const rate = await measure(Array.from({ length: sessions }, (_, i) => lane(store, `${name} ${i}`)));
  await store.close();
  return rate;
};

const processes = async (url: string, count: number, sessions: number): Promise<Rate> => {
  const rates = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const child = spawn(process.execPath, [import.meta.filename, url, String(sessions), `p${i}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as Rate;
      throw new Error('the process said nothing');
    }),
  );
  return {
    perSecond: rates.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50: Math.max(...rates.map(({ p50 }) => p50)),
    p99: Math.max(...rates.map(({ p99 }) => p99)),
  };
};

const main = async (): Promise<void> => {
  const reason = noPostgres();
  if (reason !== undefined) throw new Error(reason);
  const server = await PostgresServer.start();
  try {
    for (const connections of [1, 16, 32])
      say(`raw: one row a commit, ${connections} connections`, await rawCommits(server, connections));
    for (const sessions of [1, 16, 64, 256])
      say(`appends: 1 process, ${sessions} sessions`, await appends(await server.store(), sessions, 's'));
    for (const count of [2, 4])
      say(
        `appends: ${count} processes, ${64 / count} sessions each`,
        await processes(await server.store(), count, 64 / count),
      );
  } finally {
    await server.stop();
  }
};

const [url, sessions, name] = process.argv.slice(2);
if (url !== undefined)
  process.stdout.write(`${JSON.stringify(await appends(url, Number(sessions), name ?? ''))}\n`);
else await main();
