/**
 * How fast a session is replayed: events a second of one core, every decision compared byte for byte and every
 * request made again. The store's own reading and the parsing of events are measured beside it.
 */
import { join } from 'node:path';
import { MemoryLog, openRuntime, SqliteLog, type LogStore } from '../src/index.ts';
import { open, type StoredEvent } from '../src/event/envelope.ts';
import type { LogEvent } from '../src/event/events.ts';
import { pages } from '../src/log/pages.ts';
import { neutralEncoder } from '../src/model/neutral.ts';
import { Replay } from '../src/replay/replay.ts';
import { workAgent } from './agent.ts';
import { inFolder } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { cpuMs } from './probe.ts';
import { medianOf, spreadOf } from './sample.ts';
import { count, figure, spread, type Table } from './table.ts';
import { QUESTION } from './work.ts';

/** Events of the sessions that are replayed. */
const REPLAYED_EVENTS: readonly number[] = [1_000, 100_000];
/** request.built, response.received, call.proposed, call.started, call.result. */
const EVENTS_A_STEP = 5;
/** Events that are replayed at least in one round, so that a short session is measured, too. */
const ROUND_EVENTS = 100_000;

type Way = 'replay' | 'parse' | 'store';

const WORDS: Readonly<Record<Way, string>> = {
  replay: 'replay of events at hand',
  parse: 'parse and replay',
  store: 'read from SQLite, parse and replay',
};

const WAYS = Object.keys(WORDS) as Way[];

/** Events per second of CPU time, round by round. */
type Rates = Readonly<Record<Way, number[]>>;

export const measureReplay = async ({ rounds, scratch, progress }: Plan): Promise<Measured> => {
  const rows: string[][] = [];
  const data: object[] = [];
  for (const events of REPLAYED_EVENTS) {
    progress(`replay of ${count(events)} events`);
    const rates = await inFolder(scratch, (folder) => measure(folder, events, rounds));
    for (const way of WAYS)
      rows.push([
        `${count(events)} events: ${WORDS[way]}`,
        spread(spreadOf(rates[way])),
        figure(1_000_000 / medianOf(rates[way])),
      ]);
    data.push({ events, rates });
  }
  return { tables: [tableOf(rows)], data };
};

const measure = async (folder: string, events: number, rounds: number): Promise<Rates> => {
  const log = new SqliteLog(join(folder, 'log.db'), { durability: 'normal' });
  try {
    const session = await record(log, events);
    const stored = await log.read(session);
    const opened = stored.map(open);
    const again = Math.max(1, Math.round(ROUND_EVENTS / stored.length));
    const ways: Readonly<Record<Way, () => AsyncIterable<LogEvent[]> | Iterable<readonly LogEvent[]>>> = {
      replay: () => [opened],
      parse: () => [stored.map(open)],
      store: () => opening(log, session),
    };
    const rates: Rates = { replay: [], parse: [], store: [] };
    // One round more than is counted: the first one compiles.
    for (let round = 0; round <= rounds; round++)
      for (const way of WAYS) {
        const rate = await rateOf(session, again, ways[way]);
        if (round > 0) rates[way].push(rate);
      }
    return rates;
  } finally {
    await log.close();
  }
};

/** As onrecord replay does: page by page. */
async function* opening(log: LogStore, session: string): AsyncGenerator<LogEvent[]> {
  for await (const page of pages(log, session)) yield page.map(open);
}

const rateOf = async (
  session: string,
  times: number,
  eventsOf: () => AsyncIterable<LogEvent[]> | Iterable<readonly LogEvent[]>,
): Promise<number> => {
  let events = 0;
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) {
    const run = new Replay({ session, encoderOf: () => neutralEncoder, program: 'bench' });
    for await (const page of eventsOf()) for (const event of page) run.push(event);
    const found = run.end();
    if (found.difference) throw new Error(`Replay differs at event ${found.difference.seq}.`);
    events += found.events;
  }
  return (events / cpuMs(before)) * 1000;
};

/** A session of about so many events, made in memory and then put where it is to be read from. */
const record = async (log: LogStore, events: number): Promise<string> => {
  const memory = new MemoryLog();
  const steps = Math.ceil(events / EVENTS_A_STEP);
  const agent = workAgent({ steps: () => steps });
  const runtime = await openRuntime({ store: memory, agents: [agent], drive: false });
  const { session } = await runtime.send({ agent: agent.definition.name, message: QUESTION });
  await runtime.rest(session);
  const stored: readonly StoredEvent[] = await memory.read(session);
  const [row] = await memory.sessions();
  await log.append({ session, expected: 0, events: stored, ...(row && { summary: row.summary }) });
  await runtime.close();
  return session;
};

const tableOf = (rows: readonly string[][]): Table => ({
  title: 'Replay, one process, one core',
  columns: ['', 'events a second', 'µs an event'],
  rows,
  note:
    `Events per second of CPU time. A step has ${EVENTS_A_STEP} events: a request, a response, a call ` +
    'proposed, started and ended. Every decision is compared byte for byte, every request is made again.',
});
