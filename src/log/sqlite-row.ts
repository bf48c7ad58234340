/** Rows of the SQLite store, and what they mean. Bodies and blobs that are long are stored compressed. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Digest } from '../event/canonical.ts';
import { sealedParts, type BodyParts, type StoredEvent } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import type { Owner, SessionRow, StatusCounts } from './store.ts';

/** Bodies and blobs from this size on are stored compressed. */
export const COMPRESS_BYTES_MIN = 4096;

export type EventRow = {
  seq: number;
  hash: Uint8Array;
  body: string | Uint8Array;
  at: number | null;
  type: string | number | null;
};
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
const packed = (text: string): string | Uint8Array =>
  text.length >= COMPRESS_BYTES_MIN ? zstdCompressSync(text) : text;

type EventCells = readonly [body: string | Uint8Array, at: number | null, type: string | number | null];

/** Types that rows name by a number, their place here. Rows refer to it: names may be added, nothing else. */
const NUMBERED: readonly string[] = [
  'request.built',
  'response.received',
  'call.proposed',
  'call.started',
  'call.result',
];

const OPENING = '{"at":';
const DATA_OPENS = ',"data":';
const DATA_ENDS = ',"seq":';
const TYPE_OPENS = ',"type":"';
const VERSION = 1;
const ENDING = `","v":${VERSION}}`;
/** What begins like a number, SQLite would make one of. */
const LETTER = /^[a-z]/;

const around = (data: string, { seq, at, type }: { seq: number; at: number; type: string }): string =>
  `${OPENING}${at}${DATA_OPENS}${data}${DATA_ENDS}${seq}${TYPE_OPENS}${type}${ENDING}`;

/**
 * An event as its row holds it. What stands around the data of nearly every event (`{"at":…,"data":` and
 * `,"seq":…,"type":…,"v":1}`) follows from the row: it is left out where putting it back gives the very same body.
 */
export const eventCells = (event: StoredEvent): EventCells => {
  const sealed = sealedParts(event);
  if (sealed?.v === VERSION && Number.isSafeInteger(sealed.at)) return cellsOf(sealed);
  return cellsOfBody(event);
};

const cellsOf = ({ data, at, type }: Pick<BodyParts, 'data' | 'at' | 'type'>): EventCells => {
  const number = NUMBERED.indexOf(type);
  return [packed(data), at, number < 0 ? type : number];
};

const cellsOfBody = ({ seq, body }: StoredEvent): EventCells => {
  const from = body.indexOf(DATA_OPENS);
  const to = body.lastIndexOf(DATA_ENDS);
  const data = body.slice(from + DATA_OPENS.length, to);
  const at = Number(body.slice(OPENING.length, from));
  const type = body.slice(to + DATA_ENDS.length + String(seq).length + TYPE_OPENS.length, -ENDING.length);
  const isOrdinary =
    from > 0 &&
    to > from &&
    Number.isSafeInteger(at) &&
    LETTER.test(type) &&
    around(data, { seq, at, type }) === body;
  return isOrdinary ? cellsOf({ data, at, type }) : [packed(body), null, null];
};

/** A body as long as its size is stored plain; a packed one is always shorter. */
export const storedBlob = (bytes: Uint8Array): Uint8Array => {
  const short = bytes.length >= COMPRESS_BYTES_MIN ? zstdCompressSync(bytes) : bytes;
  return short.length < bytes.length ? short : bytes;
};

/** In the order of the statement that sets it. */
export const summaryRow = (summary: SessionSummary): readonly (string | number | null)[] => {
  const { agent, tenant, status, canGoOn, wakeAt = null, untold, updatedAt } = summary;
  return [agent, tenant, status, Number(canGoOn), wakeAt, untold, updatedAt, JSON.stringify(summary)];
};

export const storedEvent = ({ seq, hash, body, at, type }: EventRow): StoredEvent => {
  const text = typeof body === 'string' ? body : zstdDecompressSync(body).toString('utf8');
  if (at === null || type === null) return { seq, hash: hex(hash), body: text };
  const name = typeof type === 'number' ? (NUMBERED[type] ?? '') : type;
  return { seq, hash: hex(hash), body: around(text, { seq, at, type: name }) };
};

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
