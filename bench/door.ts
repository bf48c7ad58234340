/** The HTTP door under load on loopback, beside a bare HTTP server of Node: accepting turns, and holding streams open. */
import autocannon from 'autocannon';
import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Memory, Told } from './door-process.ts';
import { inFolder } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { medianOf, spreadOf } from './sample.ts';
import { count, figure, spread, type Table } from './table.ts';

const PROGRAM = join(import.meta.dirname, 'door-process.ts');
const CONNECTIONS = 32;
const SECONDS = 5;
const STREAMS = 1000;
/** Events that every stream is sent, in all, when its memory is looked at. */
const EVENTS: readonly number[] = [100, 300, 500];

type Kind = 'floor' | 'serve' | 'drive';
type Load = { readonly perSecond: number; readonly p50: number; readonly p99: number };
type Held = Memory & { readonly when: string };

export const measureDoor = async (plan: Plan): Promise<Measured> => {
  const loads: Record<Kind, Load[]> = { floor: [], serve: [], drive: [] };
  for (let round = 0; round < plan.rounds; round++)
    for (const kind of ['floor', 'serve', 'drive'] as const) {
      plan.progress(`the door, ${kind}, round ${round + 1}`);
      loads[kind].push(await withServer(plan, kind, accepting));
    }
  plan.progress(`${count(STREAMS)} streams`);
  const held = await withServer(plan, 'serve', holding);
  return { tables: [loadTable(loads), streamTable(held)], data: { loads, held } };
};

type Server = Told & { readonly memory: () => Promise<Memory> };

const withServer = <T>(plan: Plan, kind: Kind, work: (server: Server) => Promise<T>): Promise<T> =>
  inFolder(plan.scratch, async (folder) => {
    const child = fork(PROGRAM, [kind, join(folder, 'log.db')], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    try {
      const told = (await heard(child)) as Told;
      const memory = async (): Promise<Memory> => {
        child.send('memory');
        return (await heard(child)) as Memory;
      };
      return await work({ ...told, memory });
    } finally {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });

const heard = async (child: ChildProcess): Promise<unknown> => {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('a measured server has ended'))),
  ])) as readonly unknown[];
  return message;
};

/** New sessions, each with a key of its own, over connections that are kept. */
const accepting = async ({ url, token }: Server): Promise<Load> => {
  const times: number[] = [];
  const ended = Promise.withResolvers<autocannon.Result>();
  const options: autocannon.Options = {
    url: `${url}/sessions`,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: [
      {
        method: 'POST',
        setupRequest: (request) => ({
          ...request,
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${token}`,
            'idempotency-key': randomUUID(),
          },
          body: JSON.stringify({ agent: 'clerk', message: 'Answer the mail from Ada.' }),
        }),
      },
    ],
  };
  const run = autocannon(options, (error: unknown, result) => {
    if (error instanceof Error) ended.reject(error);
    else ended.resolve(result);
  });
  run.on('response', (_, status, __, ms) => {
    if (status === 202) times.push(ms);
  });
  const { errors, non2xx, duration } = await ended.promise;
  if (errors + non2xx > 0) throw new Error(`${errors} errors and ${non2xx} refusals under load`);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { perSecond: times.length / duration, p50: at(0.5), p99: at(0.99) };
};

const holding = async (server: Server): Promise<readonly Held[]> => {
  const { url, token, memory } = server;
  const post = async (path: string): Promise<{ readonly session: string }> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(path === '/sessions' ? { agent: 'clerk', message: 'Go.' } : { message: 'More.' }),
    });
    if (response.status !== 202) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as { session: string };
  };
  const { session } = await post('/sessions');
  const held: Held[] = [];
  const look = async (when: string): Promise<void> => void held.push({ when, ...(await memory()) });
  await look('before');
  const agent = new Agent({ maxSockets: STREAMS });
  const readers = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      openStream(`${url}/sessions/${session}/stream?types=turn.accepted&after=2`, token, agent),
    ),
  );
  await look(`${count(STREAMS)} open`);
  let sent = 0;
  for (const events of EVENTS) {
    for (; sent < events; sent++) await post(`/sessions/${session}/turns`);
    await Promise.all(readers.map((reader) => reader.reaches(events)));
    await look(`${events} events to each`);
  }
  for (const { response } of readers) response.destroy();
  agent.destroy();
  await look('all closed');
  return held;
};

type Reader = { readonly response: IncomingMessage; reaches(events: number): Promise<void> };

const LINE_FEED = 10;

/** A frame ends with an empty line: two line feeds. */
const openStream = async (url: string, token: string, agent: Agent): Promise<Reader> => {
  const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream answered ${response.statusCode ?? 0}`);
  let [frames, last] = [0, 0];
  let wanted: { readonly events: number; readonly resolve: () => void } | undefined;
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    for (const byte of chunk) {
      if (byte === LINE_FEED && last === LINE_FEED) frames++;
      last = byte;
    }
    if (wanted && frames >= wanted.events) wanted.resolve();
  });
  const reaches = (events: number): Promise<void> =>
    new Promise((resolve) => {
      wanted = { events, resolve };
      if (frames >= events) resolve();
    });
  return { response, reaches };
};

const NAMES: Readonly<Record<Kind, string>> = {
  floor: 'floor, bare HTTP server',
  serve: 'door, only serving',
  drive: 'door, driving, too',
};

const loadTable = (loads: Readonly<Record<Kind, readonly Load[]>>): Table => ({
  title: `Accepting turns over ${CONNECTIONS} connections`,
  columns: ['', 'turns per second', 'p50 ms', 'p99 ms'],
  rows: (['floor', 'serve', 'drive'] as const).map((kind) => [
    NAMES[kind],
    spread(spreadOf(loads[kind].map(({ perSecond }) => perSecond))),
    figure(medianOf(loads[kind].map(({ p50 }) => p50))),
    figure(medianOf(loads[kind].map(({ p99 }) => p99))),
  ]),
  note:
    `autocannon for ${SECONDS} s a run against a process of its own, each request a new session under its own key. An ` +
    'answer means that the turn is on the disk; turns that come in together share a commit. The floor reads and ' +
    'parses the same body, answers as much, and keeps nothing. Driving: the same process also runs every turn that ' +
    'it accepts.',
});

const streamTable = (held: readonly Held[]): Table => ({
  title: `${count(STREAMS)} open streams of one session`,
  columns: ['', 'RSS MB', 'heap MB'],
  rows: held.map(({ when, rssMb, heapMb }) => [when, figure(rssMb), figure(heapMb)]),
  note: 'Memory of the server after a garbage collection. Every stream was sent every event before the next look.',
});
