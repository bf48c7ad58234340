/**
 * Whether a session's record proves itself: the hash chain, every blob that it names, every request's prefix
 * chain, that each event can be read, and that its decisions are those that follow from its facts. Needs nothing
 * but the store.
 */
import { isOnrecordError } from '../errors.ts';
import { canonical, sha256, type Digest } from '../event/canonical.ts';
import { chainHash, genesis, linkHash, open, partBody, type StoredEvent } from '../event/envelope.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import { CHAIN_START, chainLink, chainNode } from '../context/prefix-chain.ts';
import { expandTemplate } from '../context/template.ts';
import { PAGE_EVENTS } from '../log/pages.ts';
import { sessionNotFound, type LogStore } from '../log/store.ts';
import { blobsNamed } from './named-blobs.ts';
import { replay, type ReplayOptions } from './replay.ts';
import { summaryProblem, type StoredSummary } from './summary-check.ts';

export type FindingKind =
  | 'order'
  | 'hash'
  | 'unreadable'
  | 'blob-missing'
  | 'blob-damaged'
  | 'request'
  | 'head'
  | 'lineage'
  | 'too-new'
  | 'decision'
  | 'summary'
  | 'anchor'
  | 'bundle';

export type Finding = {
  /** 0 where it is about no single event. */
  readonly seq: number;
  readonly kind: FindingKind;
  readonly message: string;
};

export type Verified = {
  readonly session: string;
  readonly events: number;
  readonly blobs: number;
  readonly requests: number;
  /** Decisions that were made again and compared; 0 where that was not asked for. */
  readonly decisions: number;
  /** Events and blobs whose content was removed by rule: their place is proved, their content is not. */
  readonly removed: { readonly events: number; readonly blobs: number; readonly requests: number };
  /** The last event's hash: what an anchor outside the store can hold on to. */
  readonly head: Digest;
  readonly findings: readonly Finding[];
};

/** What was removed by rule and is known by its digest: the data of events, and blobs. */
export type Removed = {
  readonly data: ReadonlyMap<number, Digest>;
  readonly blobs: ReadonlySet<Digest>;
  /** The digest of a request's part that was removed, by what stands there instead. */
  readonly partDigest?: (text: string) => Digest | undefined;
};

export type VerifyOptions = {
  readonly removed?: Removed;
  /** How decisions are made again; absent: they are not. */
  readonly replay?: Pick<ReplayOptions, 'encoderOf' | 'program'> | undefined;
  /** The session's line in lists and the head that it was read with: the log is checked up to there. */
  readonly listed?: (StoredSummary & { readonly head: number }) | undefined;
};

const NOTHING: Removed = { data: new Map(), blobs: new Set() };

/** Throws `session-not-found`. */
export const verify = async (
  store: LogStore,
  session: string,
  options: VerifyOptions = {},
): Promise<Verified> => {
  const { removed = NOTHING, listed } = options;
  const head = await headOf(store, session, listed?.head);
  const check = new Check(session, removed);
  const rows: StoredEvent[] = [];
  for await (const stored of readable(store, session, { head: head.seq, check })) rows.push(stored);
  check.events(rows);
  const blobs = await check.blobs(store);
  check.ends(head);
  if (listed && check.findings.length === 0) check.listed(listed);
  // A decision of a log that does not hold together says nothing, and facts that were removed lead nowhere.
  const whole = check.findings.length === 0 && removed.data.size === 0;
  const decisions = options.replay && whole ? check.decisions(options.replay) : 0;
  return {
    session,
    events: rows.length,
    blobs,
    requests: check.requests,
    decisions,
    removed: { events: removed.data.size, blobs: removed.blobs.size, requests: check.requestsRemoved },
    head: check.hash,
    findings: check.findings,
  };
};

type HeadAt = { readonly seq: number; readonly hash: Digest | undefined };

/** A session may grow while it is looked at: what is checked ends where it stood. */
const headOf = async (store: LogStore, session: string, at: number | undefined): Promise<HeadAt> => {
  const head = await store.head(session);
  if (!head || head.seq === 0) throw sessionNotFound(session);
  return at === undefined || at >= head.seq ? head : { seq: at, hash: undefined };
};

type Range = { readonly head: number; readonly check: Check };

/** Event by event where a page cannot be read, so that a row the store itself cannot unpack is a finding like any other. */
async function* readable(
  store: LogStore,
  session: string,
  { head, check }: Range,
): AsyncGenerator<StoredEvent> {
  for (let at = 1; at <= head; at += PAGE_EVENTS) {
    const to = Math.min(head, at + PAGE_EVENTS - 1);
    const page = await store.read(session, at, to).catch(() => undefined);
    if (page?.length === 0) {
      // A damaged number may stand far behind the others: nothing is looked for in between.
      yield* await one(store, session, { from: at, to: head, check });
      return;
    }
    if (page) yield* page;
    else for (let seq = at; seq <= to; seq++) yield* await one(store, session, { from: seq, to: seq, check });
  }
}

const one = async (
  store: LogStore,
  session: string,
  { from, to, check }: { readonly from: number; readonly to: number; readonly check: Check },
): Promise<readonly StoredEvent[]> => {
  try {
    return await store.read(session, from, to);
  } catch (error) {
    check.unreadable(from, isOnrecordError(error) ? error.message : String(error));
    return [];
  }
};

class Check {
  readonly findings: Finding[] = [];
  requests = 0;
  /** Requests that stand on removed text: they cannot be put together again. */
  requestsRemoved = 0;
  hash: Digest;
  readonly #session: string;
  readonly #removed: Removed;
  /** Whose log it is so far, as it says itself: a fork's begins as its parent's. */
  #origin: string;
  #seq = 0;
  readonly #unreadable = new Set<number>();
  readonly #events = new Map<number, LogEvent>();
  readonly #digests = new Map<Digest, number>();
  /** Nodes of the last request, part by part; undefined from where a part was removed. */
  #nodes: (Digest | undefined)[] = [];
  #lastRequest: number | undefined;

  constructor(session: string, removed: Removed) {
    this.#session = session;
    this.#origin = session;
    this.#removed = removed;
    this.hash = genesis(session);
  }

  events(rows: readonly StoredEvent[]): void {
    for (const stored of rows) this.#event(stored);
  }

  #event(stored: StoredEvent): void {
    const { seq, hash } = stored;
    const event = this.#open(stored);
    if (event) this.#lineage(event);
    // The gap of an unreadable row is named with it.
    while (this.#unreadable.has(this.#seq + 1)) this.#seq++;
    const gap = this.#unreadable.has(seq - 1);
    if (seq !== this.#seq + 1) this.#find(seq, 'order', orderWords(this.#seq, seq));
    if (this.#hashOf(stored) !== hash && !gap)
      this.#find(seq, 'hash', `Event ${seq} does not match its hash.`);
    this.#seq = seq;
    // The chain goes on from what is stored, so that one damaged event is named once.
    this.hash = hash;
    if (!event) return;
    this.#events.set(seq, event);
    for (const digest of blobsNamed(event.data))
      if (!this.#digests.has(digest)) this.#digests.set(digest, seq);
    if (event.type !== 'request.built') return;
    const { data } = event;
    const problem = this.#guarded(() => this.#request(seq, data));
    if (problem !== undefined) this.#find(seq, 'request', `Request ${seq} cannot be rebuilt: ${problem}`);
  }

  #hashOf({ seq, body }: StoredEvent): Digest {
    const data = this.#removed.data.get(seq);
    if (data === undefined) return chainHash(this.hash, body);
    return linkHash(this.hash, data, partBody(body)?.shell ?? '');
  }

  /** A row that cannot be read: the chain goes on behind it. */
  unreadable(seq: number, why: string): void {
    this.#find(seq, 'unreadable', `Event ${seq} cannot be read: ${why}`);
    this.#unreadable.add(seq);
  }

  async blobs(store: LogStore): Promise<number> {
    for (const [digest, seq] of this.#digests) {
      if (this.#removed.blobs.has(digest)) continue;
      const bytes = await this.#read(store, digest, seq);
      if (bytes === 'damaged') continue;
      if (!bytes) this.#find(seq, 'blob-missing', `Blob ${digest}, named by event ${seq}, is not there.`);
      else if (sha256(bytes) !== digest)
        this.#find(seq, 'blob-damaged', `Blob ${digest}, named by event ${seq}, has other bytes.`);
    }
    return this.#digests.size;
  }

  ends(head: HeadAt): void {
    if (this.#unreadable.has(head.seq)) return;
    if (head.seq !== this.#seq || (head.hash !== undefined && head.hash !== this.hash))
      this.#find(this.#seq, 'head', `The store's head is event ${head.seq}, the log ends at ${this.#seq}.`);
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

  listed(listed: StoredSummary): void {
    const problem = this.#guarded(() => summaryProblem(this.#session, this.#events.values(), listed));
    if (problem !== undefined) this.#find(0, 'summary', problem);
  }

  /** Makes every decision again; answers how many. */
  decisions(how: Pick<ReplayOptions, 'encoderOf' | 'program'>): number {
    let decisions = 0;
    const problem = this.#guarded(() => {
      const replayed = replay({ ...how, session: this.#session, events: this.#events.values() });
      decisions = replayed.decisions;
      const { difference } = replayed;
      if (!difference) return undefined;
      const { seq, type, path, recorded, now, cause } = difference;
      const values = `${brief(recorded)} is recorded, ${brief(now)} follows from the facts`;
      const message = `Decision ${type}${path === '' ? '' : ` at ${path}`}: ${values}. Likely cause: ${cause}.`;
      this.#find(seq, 'decision', message);
      return undefined;
    });
    if (problem !== undefined)
      this.#find(0, 'decision', `The events mean nothing to the decider: ${problem}`);
    return decisions;
  }

  /** Events that are not what their type promises are damage, whatever they break. */
  #guarded(work: () => string | undefined): string | undefined {
    try {
      return work();
    } catch (error) {
      return isOnrecordError(error) ? error.message : String(error);
    }
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

  #request(seq: number, data: EventData['request.built']): undefined {
    this.requests++;
    const kept = data.reuse?.parts ?? 0;
    if ((data.reuse && data.reuse.request !== this.#lastRequest) || kept > this.#nodes.length)
      this.#find(
        seq,
        'request',
        `Request ${seq} builds on ${data.reuse?.request}, which is not the request before it.`,
      );
    this.#nodes.length = Math.min(kept, this.#nodes.length);
    for (const { pieces } of data.parts) this.#nodes.push(this.#node(seq, pieces));
    const last = this.#nodes.length === 0 ? CHAIN_START : this.#nodes.at(-1);
    if (last === undefined) this.requestsRemoved++;
    else if (last !== data.chain)
      this.#find(seq, 'request', `Request ${seq} rebuilt from the record has another prefix chain.`);
    this.#lastRequest = seq;
  }

  /** Undefined where the part, or one before it, is not there and has left no digest. */
  #node(seq: number, pieces: EventData['request.built']['parts'][number]['pieces']): Digest | undefined {
    const before = this.#nodes.length === 0 ? CHAIN_START : this.#nodes.at(-1);
    if (before === undefined) return undefined;
    const { data, partDigest } = this.#removed;
    const [first] = pieces;
    const digest = data.has(seq) && typeof first === 'string' ? partDigest?.(first) : undefined;
    if (digest !== undefined) return chainLink(before, digest);
    if (pieces.some((piece) => typeof piece !== 'string' && data.has(piece[0]))) return undefined;
    return chainNode(
      before,
      expandTemplate(pieces, (at) => this.#events.get(at)),
    );
  }

  #find(seq: number, kind: FindingKind, message: string): void {
    this.findings.push({ seq, kind, message });
  }
}

const orderWords = (before: number, seq: number): string => {
  if (seq <= before) return `Event ${seq} stands behind event ${before}.`;
  const missing = seq - before - 1;
  const words = missing === 1 ? `Event ${before + 1} is missing` : `${missing} events are missing`;
  return `${words}: event ${seq} follows ${before === 0 ? 'nothing' : `event ${before}`}.`;
};

/** Characters of a value that are quoted in a finding. */
const VALUE_LENGTH_MAX = 80;

const brief = (value: Json | undefined): string => {
  const text = value === undefined ? 'nothing' : canonical(value);
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;
};
