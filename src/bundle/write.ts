/** A session of a store as the lines of a bundle, one after the other: memory holds one event or blob at a time. */
import { createHash } from 'node:crypto';
import { badInput, OnrecordError } from '../errors.ts';
import { digestOf, sha256, type Digest } from '../event/canonical.ts';
import { open, partBody, type StoredEvent } from '../event/envelope.ts';
import { isJsonObject, type Json } from '../event/json.ts';
import { pages } from '../log/pages.ts';
import { sessionNotFound, type LogStore } from '../log/store.ts';
import { blobsNamed } from '../replay/named-blobs.ts';
import {
  BLOB_BYTES_MAX,
  blobLine,
  EVENT_BYTES_MAX,
  eventLine,
  EVENTS_MAX,
  manifestLine,
  removedBlobLine,
  removedEventLine,
  trailerLine,
  type DefinitionEntry,
} from './format.ts';

/** What is left of a session after rules removed something from it. */
export type Redacted = {
  readonly rules: readonly string[];
  /** The body to show instead, for events that lost something. */
  readonly bodies: ReadonlyMap<number, string>;
  readonly blobs: ReadonlySet<Digest>;
};

/**
 * The lines of a bundle with their line feeds, up to the head that stands when it begins. Throws
 * `session-not-found`, `bundle-limit`, and `record-damaged` where a blob is missing.
 */
export async function* bundleLines(
  store: LogStore,
  session: string,
  redacted?: Redacted,
): AsyncGenerator<string> {
  const head = await store.head(session);
  if (!head) throw sessionNotFound(session);
  if (head.seq > EVENTS_MAX) throw overLimit(`${head.seq} events`, `${EVENTS_MAX}`);
  const hash = createHash('sha256');
  const out = (line: string): string => {
    const text = `${line}\n`;
    hash.update(text);
    return text;
  };
  const manifest = await definitionsOf(store, session, head.seq);
  yield out(manifestLine({ session, ...manifest, ...(redacted && { removed: redacted.rules }) }));
  const named = new Set<Digest>();
  for await (const page of pages(store, session, { to: head.seq }))
    for (const stored of page) {
      for (const digest of blobsNamed(open(stored).data)) named.add(digest);
      yield out(lineOf(stored, redacted));
    }
  for (const digest of named)
    yield out(redacted?.blobs.has(digest) ? removedBlobLine(digest) : await blobOf(store, session, digest));
  const trailer = { blobs: named.size, events: head.seq, head: head.hash };
  yield `${trailerLine({ ...trailer, sha256: hash.digest('hex') as Digest })}\n`;
}

const overLimit = (what: string, limit: string): OnrecordError =>
  badInput('bundle-limit', `A bundle cannot hold ${what}. Its limit is ${limit}.`, { what, limit });

const lineOf = (stored: StoredEvent, redacted: Redacted | undefined): string => {
  const size = Buffer.byteLength(stored.body);
  if (size > EVENT_BYTES_MAX)
    throw overLimit(`event ${stored.seq} of ${size} bytes`, `${EVENT_BYTES_MAX} bytes`);
  const shown = redacted?.bodies.get(stored.seq);
  if (shown === undefined) return eventLine(stored);
  return removedEventLine(shown, stored.hash, sha256(partBody(stored.body)?.data ?? ''));
};

const blobOf = async (store: LogStore, session: string, digest: Digest): Promise<string> => {
  const bytes = await store.blob(digest);
  if (!bytes)
    throw new OnrecordError(`Blob ${digest} of session ${session} is not in the store.`, {
      code: 'record-damaged',
      next: 'corrupt',
      details: { session, digest },
      hint: `onrecord verify ${session}`,
    });
  if (bytes.length > BLOB_BYTES_MAX)
    throw overLimit(`blob ${digest} of ${bytes.length} bytes`, `${BLOB_BYTES_MAX} bytes`);
  return blobLine({ digest, bytes });
};

const definitionsOf = async (
  store: LogStore,
  session: string,
  to: number,
): Promise<{ readonly definitions: readonly DefinitionEntry[] }> => {
  const definitions: DefinitionEntry[] = [];
  for await (const page of pages(store, session, { to }))
    for (const stored of page) {
      const entry = definitionOf(stored);
      if (entry) definitions.push(entry);
    }
  return { definitions };
};

/** The definition that an event brings, if it brings one. */
export const definitionOf = (stored: StoredEvent): DefinitionEntry | undefined => {
  if (!stored.body.includes('"agent":{')) return undefined;
  const event = open(stored);
  if (event.type !== 'session.created' && event.type !== 'agent.updated') return undefined;
  // A forged event may hold anything; verify says so.
  const { agent } = event.data as { readonly agent?: Json };
  const name = isJsonObject(agent) ? agent['name'] : undefined;
  if (agent === undefined || typeof name !== 'string') return undefined;
  return { agent: name, digest: digestOf(agent), seq: event.seq };
};
