/**
 * A door that is sent what nobody would send. No answer is a 500, nothing crashes, and what was refused, or only
 * read, leaves every head in the store as it was.
 */
import * as fc from 'fast-check';
import { open } from '../../src/event/envelope.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import { blobsNamed } from '../../src/replay/named-blobs.ts';
import { createApp, type App } from '../../src/server/app.ts';
import { PROBLEM_TYPE, PROBLEMS } from '../../src/server/problem.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { sent, type Known, type Sent } from './fuzz-request.ts';

const HOST = '127.0.0.1:4280';
/** Cases after which a new house is built: sessions that were begun must not slow the look at all heads. */
const HOUSE_CASES = 500;
const LIMITS = {
  requestsPerSecond: 1e9,
  requestBurst: 1e9,
  loginsPerMinute: 1e9,
  waitMs: 1,
  bodyBytes: 64 * 1024,
} as const;

type Door = {
  readonly app: App;
  readonly store: MemoryLog;
  readonly runtime: Runtime;
  readonly warnings: string[];
  readonly known: Known;
};

const agent = (name: string): ReturnType<typeof defineAgent> =>
  defineAgent({
    name,
    instructions: 'Be exact.',
    model: scriptedModel({
      name: 'fuzz',
      steps: [{ calls: [{ tool: 'once', args: { n: 1 } }] }, { text: 'Done.' }],
    }),
    tools: [
      tool({ name: 'once', description: 'Acts.', inputSchema: { type: 'object' }, execute: () => 'done' }),
    ],
    policy: { rules: name === 'clerk' ? [{ id: 'all', do: 'allow' }] : [] },
  });

/** One session at rest, one that waits for a person; from then on nothing is driven, so that only requests change it. */
const build = async (): Promise<Door> => {
  const store = new MemoryLog();
  const agents = [agent('clerk'), agent('asker')];
  const first = await openRuntime({ store, agents });
  const begun = await Promise.all(
    ['clerk', 'asker'].map((name) => first.send({ agent: name, message: 'Do it.', key: `fuzz-${name}` })),
  );
  for (const { session } of begun) await first.rest(session);
  const [{ session } = { session: '' }, { session: waiting } = { session: '' }] = begun;
  const [call] = (await first.state(waiting)).active?.calls ?? [];
  const blobs = (await store.read(session)).flatMap((stored) => blobsNamed(open(stored).data));
  await first.close({ drainMs: 0 });
  const runtime = await openRuntime({ store, agents, drive: false });
  const warnings: string[] = [];
  const app = createApp({
    runtime,
    hosts: () => [HOST],
    limits: LIMITS,
    log: { info: () => undefined, warn: (message) => void warnings.push(message) },
  });
  const by = { kind: 'person', name: 'fuzz' } as const;
  const roles = ['submit', 'read', 'approve', 'operate'];
  const tokens: string[] = [];
  for (const made of [
    { name: 'all', roles },
    { name: 'blue', roles, tenant: 'blue' },
    { name: 'reads', roles: ['read'] },
  ])
    tokens.push((await app.tokens.add(made, by)).token);
  const gone = await app.tokens.add({ name: 'gone', roles }, by);
  await app.tokens.revoke(gone.id, by);
  const [all = ''] = tokens;
  const known: Known = {
    session,
    waiting,
    digest: call?.digest ?? '',
    blob: blobs[0] ?? '',
    // The one that may do all is sent most often, so that requests get far.
    tokens: [all, all, all, all, ...tokens, gone.token],
    routes: app.routes,
    host: HOST,
  };
  return { app, store, runtime, warnings, known };
};

const LOGS = ['tokens', 'control'];

/** Every head of the store: sessions, and the store's own logs. */
const heads = async (store: MemoryLog): Promise<string> => {
  const names = [...LOGS, ...(await store.sessions({ limit: 1e9 })).map(({ session }) => session).sort()];
  const all = await Promise.all(names.map(async (name) => `${name} ${(await store.head(name))?.hash ?? ''}`));
  return all.join('\n');
};

const requestOf = ({ method, path, headers, body }: Sent): Request | undefined => {
  try {
    const all = new Headers([['host', HOST]]);
    for (const [name, value] of headers) all.set(name, value);
    return new Request(`http://${HOST}${path}`, {
      method,
      headers: all,
      ...(body && { body: Uint8Array.from(body) }),
    });
  } catch {
    // No client can send this; there is nothing to ask the door.
    return undefined;
  }
};

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What is wrong with an answer; undefined where nothing is. */
const flaw = async (request: Request, response: Response, door: Door): Promise<string | undefined> => {
  const { status, headers } = response;
  if (door.warnings.length > 0) return `the operator was warned: ${door.warnings.join(' | ')}`;
  if (status >= 500) return `it answered ${status}: ${await response.text()}`;
  if (headers.get('x-content-type-options') !== 'nosniff') return 'an answer without its headers';
  if (status < 400 || request.method === 'HEAD') {
    await response.body?.cancel();
    return undefined;
  }
  const text = await response.text();
  if (new URL(request.url).pathname.startsWith('/v1/')) return foreignFlaw(text, door);
  if (headers.get('content-type') !== PROBLEM_TYPE) return `no problem: ${status} ${text}`;
  const { code, status: said } = JSON.parse(text) as { code: string; status: number };
  if (!Object.hasOwn(PROBLEMS, code) || said !== status) return `an unknown problem: ${text}`;
  return tokenShown(text, door);
};

const tokenShown = (text: string, { known }: Door): string | undefined =>
  known.tokens.some((token) => text.includes(token)) ? `it shows a token: ${text}` : undefined;

/** Where the front end is a client of OpenAI's, refusals have the shape that it reads, with the same codes. */
const foreignFlaw = (text: string, door: Door): string | undefined => {
  const { error } = JSON.parse(text) as { error?: { code?: string } };
  if (!Object.hasOwn(PROBLEMS, error?.code ?? '')) return `an unknown error: ${text}`;
  return tokenShown(text, door);
};

export type Fuzzed = {
  readonly cases: number;
  readonly accepted: number;
  readonly refused: number;
  /** Requests that no client can make. */
  readonly impossible: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly failure: string | undefined;
};

export type FuzzOptions = {
  readonly cases: number;
  readonly seed: number;
  /** Stands between, to plant a fault. */
  readonly between?: (
    request: Request,
    door: { readonly app: App; readonly runtime: Runtime },
  ) => Promise<Response>;
  readonly progress?: (cases: number) => void;
};

export const fuzz = async ({ cases, seed, between, progress }: FuzzOptions): Promise<Fuzzed> => {
  const counts = { cases: 0, accepted: 0, refused: 0, impossible: 0 };
  const statuses: Record<string, number> = {};
  const fetch = between ?? ((request, { app }) => app.fetch(request));
  for (let from = 0; from < cases; from += HOUSE_CASES) {
    const door = await build();
    const one = async (asked: Sent): Promise<void> => {
      counts.cases++;
      const request = requestOf(asked);
      if (!request) return void counts.impossible++;
      const before = await heads(door.store);
      const response = await fetch(request, door);
      const wrong = await flaw(request, response, door);
      if (wrong !== undefined) throw new Error(wrong);
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      const refused = response.status >= 400;
      counts[refused ? 'refused' : 'accepted']++;
      if ((refused || READS.has(request.method)) && (await heads(door.store)) !== before)
        throw new Error(`it answered ${response.status} and the store has changed`);
    };
    const run = await fc.check(fc.asyncProperty(sent(door.known), one), {
      numRuns: Math.min(HOUSE_CASES, cases - from),
      seed: seed + from,
      endOnFailure: true,
    });
    await door.runtime.close({ drainMs: 0 });
    progress?.(counts.cases);
    if (run.failed) return { ...counts, statuses, failure: failureText(run, seed + from) };
  }
  return { ...counts, statuses, failure: undefined };
};

const failureText = (
  {
    counterexample,
    errorInstance,
  }: { readonly counterexample: [Sent] | null; readonly errorInstance?: unknown },
  seed: number,
): string => {
  const [asked] = counterexample ?? [];
  const body = asked?.body ? Buffer.from(asked.body).toString('utf8') : '';
  return `seed ${seed}: ${String(errorInstance)}\n${asked?.method ?? ''} ${asked?.path ?? ''}\n${JSON.stringify(asked?.headers)}\n${body.slice(0, 2000)}`;
};
