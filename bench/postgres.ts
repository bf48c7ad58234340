/**
 * The product over PostgreSQL, beside one raw connection to the same server: steps of one session and of many, and
 * appends. A cluster of its own with fsync on.
 */
import { Client } from 'pg';
import { openRuntime, type LogStore } from '../src/index.ts';
import { genesis } from '../src/event/envelope.ts';
import { PostgresLog } from '../src/log/postgres.ts';
import { sealed } from '../test/kit/chain.ts';
import { noPostgres, PostgresServer } from '../test/kit/postgres-server.ts';
import { workAgent } from './agent.ts';
import type { Measured, Plan } from './part.ts';
import { alternate, medianOf, pairedRatios, spreadOf } from './sample.ts';
import { count, figure, spread, type Table } from './table.ts';
import { QUESTION, resultAt, turnAt } from './work.ts';

const STEPS = 200;
const MANY = { sessions: 64, steps: 10 } as const;
const WARM_STEPS = 30;
const MEASURE_MS = 1500;
const BODY_CHARACTERS = 900;
const APPENDING: readonly number[] = [1, 16, 64];

export const measurePostgres = async (plan: Plan): Promise<Measured> => {
  const reason = noPostgres();
  if (reason !== undefined) throw new Error(`PostgreSQL cannot be measured: ${reason}.`);
  plan.progress('PostgreSQL');
  const server = await PostgresServer.start();
  try {
    const steps = await measureSteps(server, plan.rounds);
    const rates = await measureRates(server);
    return { tables: [stepsTable(steps), ratesTable(rates)], data: { steps, rates } };
  } finally {
    await server.stop();
  }
};

/** Milliseconds of a step. */
type Compared = {
  readonly what: string;
  readonly raw: readonly number[];
  readonly product: readonly number[];
};

const measureSteps = async (server: PostgresServer, rounds: number): Promise<readonly Compared[]> => {
  const raw = await rawConnection(server);
  const log = await PostgresLog.open(await server.store());
  let target = WARM_STEPS;
  const agent = workAgent({ steps: () => target });
  const runtime = await openRuntime({ store: log, agents: [agent] });
  const session = async (): Promise<void> => {
    const { session: id } = await runtime.send({ agent: agent.definition.name, message: QUESTION });
    const { status } = await runtime.rest(id);
    if (status !== 'done') throw new Error(`The session ended as ${status}.`);
  };
  try {
    await raw.run(WARM_STEPS);
    await session();
    target = STEPS;
    const one = await alternate(
      rounds,
      () => perStep(STEPS, () => raw.run(STEPS)),
      () => perStep(STEPS, session),
    );
    target = MANY.steps;
    const all = MANY.sessions * MANY.steps;
    const many = await alternate(
      rounds,
      () => perStep(STEPS, () => raw.run(STEPS)),
      () => perStep(all, () => Promise.all(Array.from({ length: MANY.sessions }, session))),
    );
    return [
      { what: `one session of ${STEPS} steps`, raw: one.a, product: one.b },
      { what: `${MANY.sessions} sessions of ${MANY.steps} steps at once`, raw: many.a, product: many.b },
    ];
  } finally {
    await runtime.close();
    await raw.end();
  }
};

const perStep = async (steps: number, work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / steps;
};

type Raw = { run(steps: number): Promise<void>; end(): Promise<void> };

/** Two rows a step, each in a commit of its own. */
const rawConnection = async (server: PostgresServer): Promise<Raw> => {
  const client = new Client(server.url);
  await client.connect();
  await client.query('CREATE TABLE event (run int, seq int, kind text, body text, PRIMARY KEY (run, seq))');
  const text = 'INSERT INTO event (run, seq, kind, body) VALUES ($1, $2, $3, $4)';
  const put = (...values: readonly (string | number)[]): Promise<unknown> =>
    client.query({ name: 'put', text, values: [...values] });
  let runs = 0;
  return {
    run: async (steps) => {
      const run = runs++;
      for (let step = 0; step < steps; step++) {
        await put(run, 2 * step, 'turn', JSON.stringify(turnAt(step)));
        await put(run, 2 * step + 1, 'result', JSON.stringify(resultAt(step)));
      }
    },
    end: () => client.end(),
  };
};

type Rate = { readonly what: string; readonly perSecond: number; readonly p50: number; readonly p99: number };

const measureRates = async (server: PostgresServer): Promise<readonly Rate[]> => {
  const rates: Rate[] = [await rawRate(server)];
  for (const sessions of APPENDING)
    rates.push(await appendRate(await PostgresLog.open(await server.store()), sessions));
  return rates;
};

const rawRate = async (server: PostgresServer): Promise<Rate> => {
  const client = new Client(server.url);
  await client.connect();
  await client.query('CREATE TABLE raw (id bigserial PRIMARY KEY, body bytea)');
  const body = Buffer.alloc(BODY_CHARACTERS, 7);
  const put = { name: 'raw', text: 'INSERT INTO raw (body) VALUES ($1)', values: [body] };
  const rate = await rateOf('raw: one row a commit, one connection', [
    async () => void (await client.query(put)),
  ]);
  await client.end();
  return rate;
};

const appendRate = async (store: PostgresLog, sessions: number): Promise<Rate> => {
  // As a worker does: it listens, and tells what it commits.
  store.changes(() => undefined);
  const lanes = Array.from({ length: sessions }, (_, i) => lane(store, `session ${i}`));
  const rate = await rateOf(`appends of one event, ${count(sessions)} sessions`, lanes);
  await store.close();
  return rate;
};

const lane = (store: LogStore, session: string): (() => Promise<void>) => {
  let expected = 0;
  let prev = genesis(session);
  return async () => {
    const events = sealed(session, ['x'.repeat(BODY_CHARACTERS)], { from: expected + 1, prev });
    await store.append({ session, expected, events });
    prev = events[0]?.hash ?? prev;
    expected++;
  };
};

/** Runs lanes side by side, each one step after the other, for a while. */
const rateOf = async (what: string, lanes: readonly (() => Promise<void>)[]): Promise<Rate> => {
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
  return { what, perSecond: took.length / seconds, p50: at(0.5), p99: at(0.99) };
};

const stepsTable = (compared: readonly Compared[]): Table => ({
  title: 'Steps over PostgreSQL, beside one raw connection',
  columns: ['', 'raw ms a step', 'product ms a step', '× raw', 'product steps per second'],
  rows: compared.map(({ what, raw, product }) => [
    what,
    spread(spreadOf(raw)),
    spread(spreadOf(product)),
    spread(spreadOf(pairedRatios(raw, product))),
    figure(1000 / medianOf(product)),
  ]),
  note:
    'Raw: one connection, one row in a commit of its own for the turn of the model and one for the result of the tool. ' +
    'One process; the server runs beside it on the same processors and disk, fsync on.',
});

const ratesTable = (rates: readonly Rate[]): Table => ({
  title: 'Appends over PostgreSQL',
  columns: ['', 'per second', 'p50 ms', 'p99 ms'],
  rows: rates.map(({ what, perSecond, p50, p99 }) => [what, figure(perSecond), figure(p50), figure(p99)]),
  note: 'Events of about 1 KB. Appends of many sessions that come meanwhile go together in one call.',
});
