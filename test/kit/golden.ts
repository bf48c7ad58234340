/**
 * Golden logs: sessions as a released version recorded them, kept for ever and held against every later version.
 * A file is JSON lines: what it is; each event as `{"body":...,"hash":...}` with the body in the very bytes that are
 * stored; then each blob by its digest, as text or base64.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonical, type Digest } from '../../src/event/canonical.ts';
import { open, type StoredEvent } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { Json } from '../../src/event/json.ts';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Blob, LogStore } from '../../src/log/store.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { evolve, initial } from '../../src/session/evolve.ts';
import { summaryOf } from '../../src/session/summary.ts';
import { PROGRAM } from '../../src/worker/program.ts';

export const GOLDEN: string = join(import.meta.dirname, '../golden');

export type Golden = {
  readonly name: string;
  readonly session: string;
  /** The version that recorded it. */
  readonly program: string;
  /** What is in it, in words. */
  readonly shape: string;
  readonly stored: readonly StoredEvent[];
  readonly blobs: readonly Blob[];
};

/** Digests that stand in an event, blobs or not: the store knows which it has. */
const DIGEST = /[0-9a-f]{64}/g;

export const goldenText = async (
  store: LogStore,
  session: string,
  what: { readonly program: string; readonly shape: string },
): Promise<string> => {
  const stored = await store.read(session);
  const lines = [canonical({ golden: 1, session, ...what })];
  for (const { body, hash } of stored) lines.push(`{"body":${body},"hash":"${hash}"}`);
  const digests = new Set(stored.flatMap(({ body }) => body.match(DIGEST) ?? []) as Digest[]);
  for (const digest of [...digests].sort()) {
    const bytes = await store.blob(digest);
    if (!bytes) continue;
    const text = Buffer.from(bytes).toString('utf8');
    const isText = Buffer.from(text).equals(bytes);
    lines.push(
      canonical({ blob: digest, ...(isText ? { text } : { base64: Buffer.from(bytes).toString('base64') }) }),
    );
  }
  return `${lines.join('\n')}\n`;
};

type Line = {
  readonly session?: string;
  readonly program?: string;
  readonly shape?: string;
  readonly body?: Json & { readonly seq: number };
  readonly hash?: Digest;
  readonly blob?: Digest;
  readonly text?: string;
  readonly base64?: string;
};

const parse = (name: string, text: string): Golden => {
  const [head = {}, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const { session = '', program = '', shape = '' } = head;
  const stored = lines.flatMap(({ body, hash }) =>
    body === undefined || hash === undefined ? [] : [{ seq: body.seq, hash, body: canonical(body) }],
  );
  const blobs = lines.flatMap(({ blob, text: plain, base64 = '' }) =>
    blob === undefined
      ? []
      : [{ digest: blob, bytes: plain === undefined ? Buffer.from(base64, 'base64') : Buffer.from(plain) }],
  );
  return { name, session, program, shape, stored, blobs };
};

/** Every log of every version, by "version/shape". */
export const goldens = (): readonly Golden[] =>
  readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.jsonl'))
    .sort()
    .map((path) => parse(path.replace(/\.jsonl$/, ''), readFileSync(join(GOLDEN, path), 'utf8')));

export const put = async (
  store: LogStore,
  { session, stored, blobs }: Golden,
): Promise<readonly LogEvent[]> => {
  const events = stored.map((one) => open(one));
  const state = events.reduce(evolve, initial(session));
  await store.append({ session, expected: 0, events: stored, blobs, summary: summaryOf(state) });
  return events;
};

/** What does not hold any more of a log that an earlier version recorded; nothing where all does. */
export const problems = async (golden: Golden): Promise<readonly string[]> => {
  const store = new MemoryLog();
  const { session } = golden;
  const events = await put(store, golden);
  const found = (await verify(store, session)).findings.map(({ message }) => message);
  const { difference, requestsUnknown } = replay({
    session,
    events,
    encoderOf: () => neutralEncoder,
    program: PROGRAM,
  });
  if (difference)
    found.push(`Event ${difference.seq} ${difference.type} ${difference.path}: ${difference.cause}`);
  if (requestsUnknown > 0) found.push(`${requestsUnknown} requests were not compared.`);
  const source = { eventAt: (seq: number) => events[seq - 1], blob: (digest: Digest) => store.blob(digest) };
  for (const { type, seq } of events) if (type === 'request.built') await rebuildRequest(source, seq);
  return found;
};
