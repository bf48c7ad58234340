/**
 * One story for every adapter: two calls at once, a rate limit, a call with a number that no double holds and that a
 * person approves, a stream that breaks off, an answer, a second turn. A dialect says the steps as its API says them.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { Json } from '../../src/event/json.ts';
import type { Model } from '../../src/model/model.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { replay } from '../../src/replay/replay.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { seededRandom, until } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { keeper } from './keeper.ts';

export const RETRY_AFTER_MS = 30;
export const LARGE = '12345678901234567890';

const usage = (input: number, cacheRead: number): NonNullable<ScriptReply['usage']> => ({
  input,
  cacheRead,
  cacheWrite: 0,
  output: 7,
});

/** One item per attempt, in order. */
export const STEPS: readonly ScriptReply[] = [
  {
    reasoning: 'The stock first.',
    text: 'I look at both shelves: “A” and “B”.',
    calls: [
      { tool: 'stock.read', args: { shelf: 'A' }, id: 'call_1' },
      { tool: 'stock.read', args: { shelf: 'B' }, id: 'call_2' },
    ],
    usage: usage(90, 0),
  },
  { error: { kind: 'rate-limited', status: 429, retryAfterMs: RETRY_AFTER_MS } },
  {
    text: 'Now the ledger.',
    calls: [{ tool: 'ledger.add', argsRaw: `{"item":"bolts","count":${LARGE}}`, id: 'call_3' }],
    usage: usage(30, 80),
  },
  { error: { kind: 'interrupted', maybeBilled: true } },
  { text: 'Both are in the ledger. 完了', usage: usage(20, 120) },
  { text: 'You are welcome.', usage: usage(10, 140) },
];

export type Served = {
  /** Where the stand-in listens. */
  readonly url: string;
  /** The step of the next attempt, for a model that needs no server. */
  readonly next: () => ScriptReply;
};

export type Dialect = {
  readonly name: string;
  /** Whether requests go over a socket. */
  readonly wire: boolean;
  /** The credential that the model is given; it must turn up in request headers and nowhere else. */
  readonly key?: string;
  /** Writes a step as the API streams it. An `interrupted` one begins and breaks off without a word of text. */
  readonly serve: (step: ScriptReply, response: ServerResponse) => void | Promise<void>;
  readonly model: (served: Served) => Model;
};

export type Story = {
  /** The log without what a provider may say in its own way. */
  readonly log: readonly Json[];
  /** What differs when the log is replayed with the adapter's encoder; undefined for nothing. */
  readonly difference: unknown;
  /** Requests that replay made again, byte for byte. */
  readonly replayed: number;
  /** The tools' own record of what they were given. */
  readonly done: readonly string[];
  /** What every store, warning and delta held, for a look for secrets. */
  readonly everything: string;
  readonly requests: readonly { readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }[];
};

export const play = async ({ serve, model }: Dialect): Promise<Story> => {
  const left = [...STEPS];
  const next = (): ScriptReply => left.shift() ?? { text: 'The story is over.' };
  const requests: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
      void serve(next(), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const done: string[] = [];
  const said: unknown[] = [];
  const store = openSqlite(tempFile());
  const agent = keeper(model({ url: `http://127.0.0.1:${port}`, next }), done);
  const runtime = await openRuntime({
    store,
    agents: [agent],
    random: seededRandom(7),
    log: { info: (...words) => void said.push(words), warn: (...words) => void said.push(words) },
  });
  onTestFinished(() => runtime.close());
  const session = await converse(runtime, (delta) => said.push(delta));
  if (left.length > 0) throw new Error(`${left.length} steps of the story were not asked for.`);
  const stored = await store.read(session);
  const events = stored.map(open);
  const replayed = replay({ session, events, encoderOf: () => agent.model.encoder, program: PROGRAM });
  const blobs = await Promise.all(
    blobsIn(events).map(async (digest) =>
      Buffer.from((await store.blob(digest as never)) ?? []).toString('latin1'),
    ),
  );
  return {
    log: events.map(essence),
    difference: replayed.difference,
    replayed: replayed.requests,
    done,
    everything: JSON.stringify([events, blobs, said]),
    requests,
  };
};

export const converse = async (runtime: Runtime, onDelta: (delta: unknown) => void): Promise<string> => {
  const { session } = await runtime.send({ agent: 'keeper', message: 'Take stock of “bolts”.', key: 'one' });
  runtime.watch(session, onDelta);
  await until('the ledger call waits', async () => (await runtime.rest(session)).approvals.length > 0);
  const [call] = (await runtime.state(session)).active?.calls.filter(({ phase }) => phase === 'asking') ?? [];
  if (call?.digest === undefined) throw new Error('No call waits.');
  const by = { kind: 'person', name: 'Ada' } as const;
  await runtime.decide({ session, call: call.id, digest: call.digest, decision: { do: 'approve' }, by });
  await runtime.rest(session);
  await runtime.send({ session, message: 'Thank you.', key: 'two' });
  await runtime.rest(session);
  return session;
};

const blobsIn = (events: readonly LogEvent[]): readonly string[] => [
  ...new Set(
    [...JSON.stringify(events).matchAll(/"(?:digest|head|tail)":"([0-9a-f]{64})"/g)].map(
      ([, digest]) => digest ?? '',
    ),
  ),
];

/** Fields that are a provider's own, and times. */
const OWN: ReadonlySet<string> = new Set([
  'model',
  'opaque',
  'raw',
  'wire',
  'responseId',
  'firstTokenMs',
  'ms',
  'notBefore',
  'message',
  'partial',
  'parts',
  'chain',
  'frame',
  'bytes',
  'reuse',
  'cost',
]);

const without = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(without);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (OWN.has(key) ? [] : [[key, without(member)]])),
  );
};

const essence = ({ type, data, seq }: LogEvent): Json => {
  const { usage: counted, ...rest } = data as { usage?: Json };
  // What a broken stream had counted is known to some.
  const kept = type === 'response.received' && counted !== undefined ? { ...rest, usage: counted } : rest;
  return { seq, type, data: without(kept) };
};
