/** Rows of the SQLite store, and what they mean. Bodies and blobs that are long are stored compressed. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import type { SessionRow } from './store.ts';

/** Bodies and blobs from this size on are stored compressed. */
export const COMPRESS_BYTES_MIN = 4096;

export type EventRow = { seq: number; hash: Uint8Array; body: string | Uint8Array };
export type ListedRow = {
  name: string;
  summary: string;
  head: number;
  parent: string | null;
  fork_seq: number | null;
};
export type BlobRow = { size: number; body: Uint8Array };
export type LeaseRow = { id: number; epoch: number; owner: string | null; lease_until: number | null };

export const hex = (bytes: Uint8Array): Digest =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex') as Digest;

/** Canonical JSON is well-formed text without NUL, so SQLite's text keeps it byte for byte. */
export const storedBody = (body: string): string | Uint8Array =>
  body.length >= COMPRESS_BYTES_MIN ? zstdCompressSync(body) : body;

export const storedEvent = ({ seq, hash, body }: EventRow): StoredEvent => ({
  seq,
  hash: hex(hash),
  body: typeof body === 'string' ? body : zstdDecompressSync(body).toString('utf8'),
});

export const listed = ({ name, head, summary, parent, fork_seq: seq }: ListedRow): SessionRow => ({
  session: name,
  head,
  summary: JSON.parse(summary) as SessionSummary,
  ...(parent !== null && seq !== null && { fork: { parent, seq } }),
});
