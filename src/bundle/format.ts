/**
 * THE HANDOVER: a session as one file. Lines of JSON, UTF-8, each ended by a line feed:
 *
 *   {"bundle":1,"definitions":[…],"session":"…"}          the manifest; "removed" where rules removed something
 *   {"event":BODY,"hash":"…"}                             each event in order, BODY byte for byte as it is stored
 *   {"data":"…","hash":"…","removed":BODY}                an event whose data was removed in part: its digest instead
 *   {"blob":"…","text":"…"} or {"blob":"…","base64":"…"}   each blob once, in the order in which events name them
 *   {"blob":"…","removed":true}                           a blob that was removed
 *   {"end":{"blobs":n,"events":n,"head":"…","sha256":"…"}}  the trailer: counts, and the digest of all lines before
 *
 * Nothing in it depends on when, where or by whom it was written: the same session is the same bytes.
 */
import { canonical, type Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { Blob } from '../log/store.ts';
import { isDigest } from '../replay/named-blobs.ts';

export const BUNDLE_VERSION = 1;
/** Bytes of a whole bundle; one is read into memory. */
export const BUNDLE_BYTES_MAX: number = 1024 * 1024 * 1024;
/** Bytes of one line: an event, or a blob in the longer of its two spellings. */
export const LINE_BYTES_MAX: number = 96 * 1024 * 1024;
/** Bytes of one event's body. */
export const EVENT_BYTES_MAX: number = 64 * 1024 * 1024;
/** Bytes of one blob. */
export const BLOB_BYTES_MAX: number = 64 * 1024 * 1024;
export const EVENTS_MAX = 10_000_000;
/** The first bytes of every bundle, of whatever version. */
export const BUNDLE_MAGIC = '{"bundle":';

/** An agent's definition as it stands in an event, for who reads only the first line. */
export type DefinitionEntry = { readonly agent: string; readonly digest: Digest; readonly seq: number };

export type Manifest = {
  readonly session: string;
  readonly definitions: readonly DefinitionEntry[];
  /** The rules by which something was removed. */
  readonly removed?: readonly string[];
};

export type Trailer = {
  readonly blobs: number;
  readonly events: number;
  readonly head: Digest;
  /** Over every byte before the trailer's line. */
  readonly sha256: Digest;
};

export type BundleLine =
  | { readonly kind: 'event'; readonly hash: Digest; readonly body: string }
  | { readonly kind: 'removed-event'; readonly hash: Digest; readonly body: string; readonly data: Digest }
  | { readonly kind: 'blob'; readonly digest: Digest; readonly bytes: Uint8Array }
  | { readonly kind: 'removed-blob'; readonly digest: Digest }
  | { readonly kind: 'end'; readonly trailer: Trailer };

export const manifestLine = ({ session, definitions, removed }: Manifest): string =>
  canonical({ bundle: BUNDLE_VERSION, definitions, session, ...(removed && { removed }) });

export const eventLine = ({ body, hash }: Pick<StoredEvent, 'body' | 'hash'>): string =>
  `${EVENT_OPENS}${body}${HASH_OPENS}${hash}${HASH_ENDS}`;

export const removedEventLine = (body: string, hash: Digest, data: Digest): string =>
  `{"data":"${data}"${HASH_OPENS}${hash}${REMOVED_OPENS}${body}}`;

export const removedBlobLine = (digest: Digest): string => `{"blob":"${digest}","removed":true}`;

export const trailerLine = ({ blobs, events, head, sha256 }: Trailer): string =>
  canonical({ end: { blobs, events, head, sha256 } });

/** Text where the bytes are UTF-8 that comes back as it went in, and it is the shorter spelling. */
export const blobLine = ({ digest, bytes }: Blob): string => {
  const base64 = Buffer.from(bytes).toString('base64');
  const text = textOf(bytes);
  const quoted = text === undefined ? undefined : JSON.stringify(text);
  if (quoted !== undefined && Buffer.byteLength(quoted) <= base64.length + 2)
    return `{"blob":"${digest}","text":${quoted}}`;
  return `{"base64":"${base64}","blob":"${digest}"}`;
};

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return UTF8.decode(bytes);
  } catch {
    // Not text: an answer, not a fault.
    return undefined;
  }
};

const EVENT_OPENS = '{"event":';
const HASH_OPENS = ',"hash":"';
const HASH_ENDS = '"}';
const REMOVED_OPENS = '","removed":';

const EVENT_TAIL = /,"hash":"([0-9a-f]{64})"\}$/;
const REMOVED_HEAD = /^\{"data":"([0-9a-f]{64})","hash":"([0-9a-f]{64})","removed":/;
/** How long the two can get: what lies between is sliced, never searched. */
const EVENT_TAIL_LENGTH = HASH_OPENS.length + 64 + HASH_ENDS.length;

/** Undefined for a line that is none of these. Whoever reads compares a line with its only spelling. */
export const parseLine = (line: string): BundleLine | undefined => {
  if (line.startsWith(EVENT_OPENS)) {
    const [, hash] = EVENT_TAIL.exec(line.slice(-EVENT_TAIL_LENGTH)) ?? [];
    const body = line.slice(EVENT_OPENS.length, -EVENT_TAIL_LENGTH);
    return isDigest(hash) ? { kind: 'event', hash, body } : undefined;
  }
  const removed = REMOVED_HEAD.exec(line);
  if (removed) {
    const [head, data, hash] = removed;
    if (!isDigest(data) || !isDigest(hash) || !line.endsWith('}')) return undefined;
    return { kind: 'removed-event', hash, data, body: line.slice(head.length, -1) };
  }
  return parseSmall(line);
};

const parseSmall = (line: string): BundleLine | undefined => {
  const value = parsed(line);
  if (value === undefined) return undefined;
  const { blob, text, base64, removed, end } = value;
  if (isDigest(blob)) {
    if (removed === true) return only(line, removedBlobLine(blob), { kind: 'removed-blob', digest: blob });
    const bytes =
      typeof text === 'string'
        ? Buffer.from(text)
        : typeof base64 === 'string'
          ? Buffer.from(base64, 'base64')
          : undefined;
    return bytes && only(line, blobLine({ digest: blob, bytes }), { kind: 'blob', digest: blob, bytes });
  }
  const { blobs, events, head, sha256 } = (end ?? {}) as Record<string, unknown>;
  if (typeof blobs !== 'number' || typeof events !== 'number' || !isDigest(head) || !isDigest(sha256))
    return undefined;
  const trailer = { blobs, events, head, sha256 };
  return only(line, trailerLine(trailer), { kind: 'end', trailer });
};

/** One meaning has one spelling: no byte of a line is free. */
const only = (line: string, spelling: string, meaning: BundleLine): BundleLine | undefined =>
  line === spelling ? meaning : undefined;

export const parsed = (line: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};
