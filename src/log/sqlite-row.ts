/** Rows of the SQLite store, and what they mean. Bodies and blobs that are long are stored compressed. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import type { Owner, SessionRow, StatusCounts } from './store.ts';

/** Bodies and blobs from this size on are stored compressed. */
export const COMPRESS_BYTES_MIN = 4096;

export type EventRow = { seq: number; hash: Uint8Array; body: string | Uint8Array };
export type ListedRow = {
  name: string;
  summary: string;
  head: number;
  parent: string | null;
  fork_seq: number | null;
  owner: string | null;
  lease_until: number | null;
};
export type CountRow = { status: SessionSummary['status']; sessions: number };
export type BlobRow = { size: number; body: Uint8Array };
export type FoundHead = { id: number; epoch: number; head: number | null };
export type LeaseRow = {
  id: number;
  epoch: number;
  owner: string | null;
  lease_until: number | null;
  agent: string | null;
  tenant: string | null;
  tries: number;
  tried_head: number | null;
  head: number;
};

export const hex = (bytes: Uint8Array): Digest =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex') as Digest;

/** Canonical JSON is well-formed text without NUL, so SQLite's text keeps it byte for byte. */
export const storedBody = (body: string): string | Uint8Array =>
  body.length >= COMPRESS_BYTES_MIN ? zstdCompressSync(body) : body;

/** A body as long as its size is stored plain; a packed one is always shorter. */
export const storedBlob = (bytes: Uint8Array): Uint8Array => {
  const packed = bytes.length >= COMPRESS_BYTES_MIN ? zstdCompressSync(bytes) : bytes;
  return packed.length < bytes.length ? packed : bytes;
};

/** In the order of the statement that sets it. */
export const summaryRow = (summary: SessionSummary): readonly (string | number | null)[] => {
  const { agent, tenant, status, canGoOn, wakeAt = null, untold, updatedAt } = summary;
  return [agent, tenant, status, Number(canGoOn), wakeAt, untold, updatedAt, JSON.stringify(summary)];
};

export const storedEvent = ({ seq, hash, body }: EventRow): StoredEvent => ({
  seq,
  hash: hex(hash),
  body: typeof body === 'string' ? body : zstdDecompressSync(body).toString('utf8'),
});

export const countsOf = (rows: readonly CountRow[]): StatusCounts =>
  Object.fromEntries(rows.map(({ status, sessions }) => [status, sessions]));

export const listed = (row: ListedRow): SessionRow => ({
  session: row.name,
  head: row.head,
  summary: JSON.parse(row.summary) as SessionSummary,
  ...(row.parent !== null && row.fork_seq !== null && { fork: { parent: row.parent, seq: row.fork_seq } }),
  ...(row.owner !== null &&
    row.lease_until !== null && { lease: { owner: JSON.parse(row.owner) as Owner, until: row.lease_until } }),
});
