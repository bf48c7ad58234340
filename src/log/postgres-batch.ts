/** Appends as one call of the server's `append`: what stands where in its two arguments, and what came of each. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { bug, type OnrecordError } from '../errors.ts';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import { BUCKETS } from './postgres-migrations.ts';
import {
  ConflictError,
  FencedError,
  FORKS_DEEP_MAX,
  forkPlaceMissing,
  forkTooDeep,
  sessionNotFound,
  type Append,
  type Owner,
  type SessionRow,
} from './store.ts';

/** Bodies and blobs from this size on are sent and stored compressed. */
const COMPRESS_BYTES_MIN = 4096;

/** The same as bucket_of() in the schema. */
export const bucketOf = (name: string): number =>
  (createHash('sha256').update(name, 'utf8').digest()[0] ?? 0) % BUCKETS;
export const bucketOfDigest = (digest: Digest): number => Number.parseInt(digest.slice(0, 2), 16) % BUCKETS;

const packed = (bytes: Uint8Array): Uint8Array => {
  if (bytes.length < COMPRESS_BYTES_MIN) return bytes;
  const short = zstdCompressSync(bytes);
  return short.length < bytes.length ? short : bytes;
};

/** What was stored packed is shorter than its size says. */
export const unpacked = (body: Uint8Array, size: number): Uint8Array =>
  body.length === size ? body : zstdDecompressSync(body);

/** An append with its bytes, made once however often it is sent. */
export type Packed = {
  readonly append: Append;
  /** Each with its hash before it. */
  readonly events: readonly Piece[];
  readonly blobs: readonly Piece[];
  readonly summary: Uint8Array | undefined;
  readonly bytes: number;
};

type Piece = { readonly hash: Buffer; readonly body: Uint8Array; readonly size: number };

const piece = (hash: Digest, bytes: Uint8Array): Piece => ({
  hash: Buffer.from(hash, 'hex'),
  body: packed(bytes),
  size: bytes.length,
});

export const pack = (append: Append): Packed => {
  const events = append.events.map(({ hash, body }) => piece(hash, Buffer.from(body, 'utf8')));
  // A copy: the caller may change its bytes while the append waits.
  const blobs = (append.blobs ?? []).map(({ digest, bytes }) => piece(digest, Buffer.from(bytes)));
  const summary = append.summary && Buffer.from(JSON.stringify(append.summary), 'utf8');
  const bytes = [...events, ...blobs].reduce((sum, { body }) => sum + 32 + body.length, summary?.length ?? 0);
  return { append, events, blobs, summary, bytes };
};

export type Call = readonly [appends: string, payload: Buffer];

/** Places in the payload count from 1, as SQL's substring does. */
export const callOf = (batch: readonly Packed[]): Call => {
  const pieces: Uint8Array[] = [];
  let at = 1;
  const put = (bytes: Uint8Array): number => {
    pieces.push(bytes);
    at += bytes.length;
    return at - bytes.length;
  };
  const placed = ({ hash, body, size }: Piece): readonly number[] => {
    const where = put(hash);
    put(body);
    return [where, body.length, size];
  };
  const appends = batch.map(({ append, events, blobs, summary }) => ({
    session: append.session,
    expected: append.expected,
    epoch: append.epoch,
    given: append.given?.session,
    givenHead: append.given?.head,
    parent: append.fork?.parent,
    forkSeq: append.fork?.seq,
    deepMax: FORKS_DEEP_MAX,
    again: append.again ?? false,
    events: events.map(placed),
    blobs: blobs.map(placed),
    summary: summary && append.summary && columnsOf(append.summary, put(summary), summary.length),
  }));
  return [JSON.stringify(appends), Buffer.concat(pieces)];
};

const columnsOf = (
  { agent, tenant, status, canGoOn, wakeAt, untold, updatedAt }: SessionSummary,
  at: number,
  bytes: number,
): Readonly<Record<string, unknown>> => ({
  agent,
  tenant,
  status,
  canGoOn,
  wakeAt,
  untold,
  updatedAt,
  at,
  bytes,
});

export type OutcomeRow = { readonly place: number; readonly outcome: string; readonly ends: string | null };

/** Undefined where it was written, or stands there from an earlier try. */
export const refusalOf = (
  { session, expected, epoch, given, fork }: Append,
  { outcome, ends }: OutcomeRow,
): OnrecordError | undefined => {
  const head = Number(ends ?? 0);
  switch (outcome) {
    case 'written':
    case 'there':
      return undefined;
    case 'fenced':
      return new FencedError(session, epoch ?? 0, head);
    case 'conflict':
      return new ConflictError(session, expected, head);
    case 'given':
      return new ConflictError(given?.session ?? '', given?.head ?? 0, head);
  }
  if (fork)
    switch (outcome) {
      case 'no-parent':
        return sessionNotFound(fork.parent);
      case 'no-place':
        return forkPlaceMissing(fork, head);
      case 'too-deep':
        return forkTooDeep(fork.parent);
    }
  throw bug('the outcomes of append() are known', { outcome });
};

export type EventRow = {
  readonly seq: string;
  readonly size: number;
  readonly hash: Buffer;
  readonly body: Buffer;
};

export const storedEvent = ({ seq, size, hash, body }: EventRow): StoredEvent => ({
  seq: Number(seq),
  hash: hash.toString('hex') as Digest,
  body: Buffer.from(unpacked(body, size)).toString('utf8'),
});

export type ListedRow = {
  readonly name: string;
  readonly head: string;
  readonly summary: Buffer;
  readonly parent: string | null;
  readonly fork_seq: string | null;
  readonly owner: string | null;
  readonly lease_until: string | null;
};

export const listed = (row: ListedRow): SessionRow => ({
  session: row.name,
  head: Number(row.head),
  summary: JSON.parse(row.summary.toString('utf8')) as SessionSummary,
  ...(row.parent !== null && { fork: { parent: row.parent, seq: Number(row.fork_seq) } }),
  ...(row.owner !== null && {
    lease: { owner: JSON.parse(row.owner) as Owner, until: Number(row.lease_until) },
  }),
});
