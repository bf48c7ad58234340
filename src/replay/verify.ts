/**
 * Whether a session's record proves itself: the hash chain, every blob that it names, every request's prefix
 * chain, and that each event can be read. Needs nothing but the store.
 */
import { isOnrecordError } from '../errors.ts';
import { sha256, DIGEST_LENGTH, type Digest } from '../event/canonical.ts';
import { chainHash, genesis, open, type StoredEvent } from '../event/envelope.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { CHAIN_START, chainNode } from '../context/prefix-chain.ts';
import { expandTemplate } from '../context/template.ts';
import { PAGE_EVENTS } from '../log/pages.ts';
import { sessionNotFound, type LogStore } from '../log/store.ts';

export type Finding = {
  readonly seq: number;
  readonly kind:
    | 'order'
    | 'hash'
    | 'unreadable'
    | 'blob-missing'
    | 'blob-damaged'
    | 'request'
    | 'head'
    | 'lineage'
    | 'too-new';
  readonly message: string;
};

export type Verified = {
  readonly session: string;
  readonly events: number;
  readonly blobs: number;
  readonly requests: number;
  /** The last event's hash: what an anchor outside the store can hold on to. */
  readonly head: Digest;
  readonly findings: readonly Finding[];
};

export const verify = async (store: LogStore, session: string): Promise<Verified> => {
  const check = new Check(session);
  for await (const stored of readable(store, session, check)) check.event(stored);
  const blobs = await check.blobs(store);
  const head = await store.head(session);
  check.ends(head);
  return {
    session,
    events: check.events,
    blobs,
    requests: check.requests,
    head: check.hash,
    findings: check.findings,
  };
};

/** Event by event, so that a row the store itself cannot unpack is a finding like any other. */
async function* readable(store: LogStore, session: string, check: Check): AsyncGenerator<StoredEvent> {
  const { seq: head } = (await store.head(session)) ?? { seq: 0 };
  if (head === 0) throw sessionNotFound(session);
  for (let at = 1; at <= head; at += PAGE_EVENTS) {
    const to = Math.min(head, at + PAGE_EVENTS - 1);
    const page = await store.read(session, at, to).catch(() => undefined);
    if (page) yield* page;
    else for (let seq = at; seq <= to; seq++) yield* await one(store, session, seq, check);
  }
}

const one = async (
  store: LogStore,
  session: string,
  seq: number,
  check: Check,
): Promise<readonly StoredEvent[]> => {
  try {
    return await store.read(session, seq, seq);
  } catch (error) {
    check.unreadable(seq, String(error));
    return [];
  }
};

class Check {
  readonly findings: Finding[] = [];
  requests = 0;
  events = 0;
  hash: Digest;
  #seq = 0;
  /** The event before could not be read, so its hash is not known. */
  #broken = false;
  readonly #events = new Map<number, LogEvent>();
  readonly #digests = new Map<Digest, number>();
  /** Nodes and byte counts of the last request, part by part. */
  #nodes: Digest[] = [];
  #lastRequest: number | undefined;

  readonly #session: string;
  /** Whose log it is so far, as it says itself: a fork's begins as its parent's. */
  #origin: string;

  constructor(session: string) {
    this.#session = session;
    this.#origin = session;
    this.hash = genesis(session);
  }

  event(stored: StoredEvent): void {
    const { seq, hash, body } = stored;
    const event = this.#open(stored);
    if (event) this.#lineage(event);
    if (seq !== this.#seq + 1) this.#find(seq, 'order', `Event ${seq} follows event ${this.#seq}.`);
    const computed = chainHash(this.hash, body);
    if (computed !== hash && !this.#broken) this.#find(seq, 'hash', `Event ${seq} does not match its hash.`);
    this.#broken = false;
    this.#seq = seq;
    this.events++;
    // The chain goes on from what is stored, so that one damaged event is named once.
    this.hash = hash;
    if (!event) return;
    this.#events.set(seq, event);
    for (const digest of blobDigests(event.data))
      if (!this.#digests.has(digest)) this.#digests.set(digest, seq);
    if (event.type === 'request.built') this.#request(seq, event.data);
  }

  /** A row that cannot be read: the chain goes on behind it, and the gap is named with it. */
  unreadable(seq: number, why: string): void {
    this.#find(seq, 'unreadable', `Event ${seq} cannot be read: ${why}.`);
    this.#seq = seq;
    this.#broken = true;
  }

  async blobs(store: LogStore): Promise<number> {
    for (const [digest, seq] of this.#digests) {
      const bytes = await this.#read(store, digest, seq);
      if (bytes === 'damaged') continue;
      if (!bytes) this.#find(seq, 'blob-missing', `Blob ${digest}, named by event ${seq}, is not there.`);
      else if (sha256(bytes) !== digest)
        this.#find(seq, 'blob-damaged', `Blob ${digest}, named by event ${seq}, has other bytes.`);
    }
    return this.#digests.size;
  }

  ends(head: { readonly seq: number; readonly hash: Digest } | undefined): void {
    if (head?.seq !== this.#seq || head.hash !== this.hash)
      this.#find(
        this.#seq,
        'head',
        `The store's head is event ${head?.seq ?? 0}, the log ends at ${this.#seq}.`,
      );
    if (this.#origin !== this.#session)
      this.#find(
        this.#seq,
        'lineage',
        `The log says that it is that of ${this.#origin}, not of ${this.#session}.`,
      );
  }

  /** The log names the sessions that it is made of; the first one's name begins the chain. */
  #lineage(event: LogEvent): void {
    if (event.type === 'session.created' && event.data.session !== undefined && event.seq === 1) {
      this.#origin = event.data.session;
      this.hash = genesis(this.#origin);
    }
    if (event.type !== 'session.forked') return;
    const { parent, session } = event.data;
    const fits = parent.seq === this.#seq && parent.hash === this.hash && parent.session === this.#origin;
    if (!fits)
      this.#find(
        event.seq,
        'lineage',
        `Event ${event.seq} says that the log branches off from ${parent.session} behind event ${parent.seq}; that is not what stands before it.`,
      );
    this.#origin = session;
  }

  /** A damaged compressed blob cannot even be unpacked. */
  async #read(store: LogStore, digest: Digest, seq: number): Promise<Uint8Array | undefined | 'damaged'> {
    try {
      return await store.blob(digest);
    } catch (error) {
      this.#find(
        seq,
        'blob-damaged',
        `Blob ${digest}, named by event ${seq}, cannot be read: ${String(error)}.`,
      );
      return 'damaged';
    }
  }

  #open(stored: StoredEvent): LogEvent | undefined {
    try {
      return open(stored);
    } catch (error) {
      if (!isOnrecordError(error)) throw error;
      this.#find(stored.seq, error.code === 'event-too-new' ? 'too-new' : 'unreadable', error.message);
      return undefined;
    }
  }

  #request(seq: number, data: EventData['request.built']): void {
    this.requests++;
    const kept = data.reuse?.parts ?? 0;
    if ((data.reuse && data.reuse.request !== this.#lastRequest) || kept > this.#nodes.length)
      this.#find(
        seq,
        'request',
        `Request ${seq} builds on ${data.reuse?.request}, which is not the request before it.`,
      );
    this.#nodes.length = Math.min(kept, this.#nodes.length);
    try {
      for (const { pieces } of data.parts)
        this.#nodes.push(
          chainNode(
            this.#nodes.at(-1) ?? CHAIN_START,
            expandTemplate(pieces, (at) => this.#events.get(at)),
          ),
        );
    } catch (error) {
      if (!isOnrecordError(error)) throw error;
      this.#find(seq, 'request', `Request ${seq} cannot be rebuilt: ${error.message}`);
      return;
    }
    if ((this.#nodes.at(-1) ?? CHAIN_START) !== data.chain)
      this.#find(seq, 'request', `Request ${seq} rebuilt from the record has another prefix chain.`);
    this.#lastRequest = seq;
  }

  #find(seq: number, kind: Finding['kind'], message: string): void {
    this.findings.push({ seq, kind, message });
  }
}

/** Every blob an event names: members called digest beside bytes, and the frames of requests. */
const blobDigests = (data: unknown): readonly Digest[] => {
  const found: Digest[] = [];
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) return value.forEach(walk);
    const { digest, bytes, media, head, tail } = value as Record<string, unknown>;
    if (isDigest(digest) && typeof bytes === 'number' && typeof media === 'string') found.push(digest);
    if (isDigest(head) && isDigest(tail)) found.push(head, tail);
    Object.values(value).forEach(walk);
  };
  walk(data);
  return found;
};

const isDigest = (value: unknown): value is Digest =>
  typeof value === 'string' && value.length === DIGEST_LENGTH && /^[0-9a-f]+$/.test(value);
