/** A store in memory: for tests, simulations and throw-away sessions. Same promises, but for durability. */
import { EventEmitter } from 'node:events';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionStatus, SessionSummary } from '../event/summary.ts';
import {
  ConflictError,
  FencedError,
  FORKS_DEEP_MAX,
  forkPlaceMissing,
  forkTooDeep,
  sessionNotFound,
  type Append,
  type ChangeListener,
  type Claim,
  type ClaimLimits,
  type ClaimRequest,
  type ForkPlace,
  type Head,
  type LogStore,
  type Owner,
  type SessionQuery,
  type SessionPlace,
  type SessionRow,
  type StatusCounts,
} from './store.ts';

type Stream = {
  /** A fork's begin with its parent's: the same values, not copies of them. */
  events: StoredEvent[];
  fork: ForkPlace | undefined;
  /** Sessions that the log is made of. */
  deep: number;
  summary: SessionSummary | undefined;
  epoch: number;
  lease: { owner: Owner; until: number } | undefined;
  /** Claims at `triedHead`, none of which was given back. */
  tries: number;
  triedHead: number | undefined;
};

const LISTENERS_MAX = 10_000;
export const SESSIONS_LIMIT = 100;

export class MemoryLog implements LogStore {
  readonly name = 'memory';
  readonly #streams = new Map<string, Stream>();
  readonly #blobs = new Map<Digest, Uint8Array>();
  readonly #changes = new EventEmitter().setMaxListeners(LISTENERS_MAX);

  async append(append: Append): Promise<void> {
    const { session, expected, events, epoch } = append;
    const stream = this.#streams.get(session);
    const head = stream?.events.length ?? 0;
    const { given, fork } = append;
    const found = given && (this.#streams.get(given.session)?.events.length ?? 0);
    if (epoch !== undefined && epoch !== stream?.epoch)
      throw new FencedError(session, epoch, stream?.epoch ?? 0);
    if (fork ? stream !== undefined : head !== expected) {
      if (append.again && alreadyThere(append, stream?.events ?? [])) return;
      throw new ConflictError(session, expected, head);
    }
    if (given && found !== given.head) throw new ConflictError(given.session, given.head, found ?? 0);
    const target: Stream = stream ?? (fork ? this.#forked(fork, append) : newStream());
    for (const event of events) target.events.push(event);
    if (append.summary) target.summary = append.summary;
    this.#streams.set(session, target);
    for (const blob of append.blobs ?? []) this.#blobs.set(blob.digest, Uint8Array.from(blob.bytes));
    this.#changes.emit('change', { session, head: target.events.length });
  }

  /** What is durable now, without waiting; for oracles that must not disturb a simulation. */
  peek(session: string): readonly StoredEvent[] {
    return this.#streams.get(session)?.events ?? [];
  }

  /** What the list of sessions shows of it now. */
  summary(session: string): SessionSummary | undefined {
    return this.#streams.get(session)?.summary;
  }

  async read(
    session: string,
    from = 1,
    to: number = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly StoredEvent[]> {
    return this.#stream(session).events.slice(Math.max(0, from - 1), to);
  }

  async head(session: string): Promise<Head | undefined> {
    const last = this.#streams.get(session)?.events.at(-1);
    return last && { seq: last.seq, hash: last.hash };
  }

  async blob(digest: Digest): Promise<Uint8Array | undefined> {
    return this.#blobs.get(digest);
  }

  async sessions(query: SessionQuery = {}): Promise<readonly SessionRow[]> {
    const rows: SessionRow[] = [];
    for (const [session, { summary, events, fork, lease }] of this.#streams) {
      if (!summary) continue;
      if (query.status && !query.status.includes(summary.status)) continue;
      if (query.names && !query.names.includes(session)) continue;
      if (query.forkOf !== undefined && fork?.parent !== query.forkOf) continue;
      if (query.agent !== undefined && summary.agent !== query.agent) continue;
      if (query.tenant !== undefined && summary.tenant !== query.tenant) continue;
      if (query.canGoOn !== undefined && summary.canGoOn !== query.canGoOn) continue;
      if (query.dueBy !== undefined && (summary.wakeAt ?? Infinity) > query.dueBy) continue;
      if (query.untold !== undefined && summary.untold > 0 !== query.untold) continue;
      const { after, oldestFirst = false } = query;
      const place = { session, updatedAt: summary.updatedAt };
      if (after && !(oldestFirst ? isBehind(after, place) : isBehind(place, after))) continue;
      rows.push({ session, head: events.length, summary, ...(fork && { fork }), ...(lease && { lease }) });
    }
    rows.sort((a, b) => (isBehind(placeOf(a), placeOf(b)) ? 1 : -1));
    if (query.oldestFirst) rows.reverse();
    return rows.slice(0, query.limit ?? SESSIONS_LIMIT);
  }

  async counts(): Promise<StatusCounts> {
    const counts: Partial<Record<SessionStatus, number>> = {};
    for (const { summary } of this.#streams.values())
      if (summary) counts[summary.status] = (counts[summary.status] ?? 0) + 1;
    return counts;
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const stream = this.#stream(request.session);
    const { lease } = stream;
    if (
      lease &&
      lease.owner.id !== request.owner.id &&
      lease.until > request.now &&
      !request.isGone(lease.owner)
    )
      return { won: false, owner: lease.owner, until: lease.until };
    const full = this.#full(stream, request);
    if (full) return { won: false, full };
    stream.epoch += 1;
    stream.lease = { owner: request.owner, until: request.now + request.leaseMs };
    const head = stream.events.length;
    stream.tries = stream.triedHead === head ? stream.tries + 1 : 1;
    stream.triedHead = head;
    return { won: true, epoch: stream.epoch, tries: stream.tries };
  }

  #full(own: Stream, { limits, now }: ClaimRequest): keyof ClaimLimits | undefined {
    const most = own.summary && limits?.(own.summary);
    for (const kind of ['agent', 'tenant'] as const) {
      const limit = most?.[kind];
      if (limit === undefined) continue;
      let others = 0;
      for (const stream of this.#streams.values())
        if (
          stream !== own &&
          stream.summary?.[kind] === own.summary?.[kind] &&
          (stream.lease?.until ?? 0) > now
        )
          others++;
      if (others >= limit) return kind;
    }
    return undefined;
  }

  async renew(session: string, epoch: number, until: number): Promise<boolean> {
    const stream = this.#stream(session);
    if (stream.epoch !== epoch || !stream.lease) return false;
    stream.lease = { ...stream.lease, until };
    return true;
  }

  async release(session: string, epoch: number): Promise<number | undefined> {
    const stream = this.#stream(session);
    if (stream.epoch !== epoch) return undefined;
    stream.lease = undefined;
    stream.triedHead = undefined;
    return stream.events.length;
  }

  changes(listener: ChangeListener): () => void {
    this.#changes.on('change', listener);
    return () => this.#changes.off('change', listener);
  }

  async close(): Promise<void> {
    this.#changes.removeAllListeners();
  }

  #forked(fork: ForkPlace, { session, expected }: Append): Stream {
    const parent = this.#stream(fork.parent);
    if (parent.events.length < fork.seq || fork.seq < 1) throw forkPlaceMissing(fork, parent.events.length);
    if (expected !== fork.seq) throw new ConflictError(session, expected, fork.seq);
    if (parent.deep >= FORKS_DEEP_MAX) throw forkTooDeep(fork.parent);
    return { ...newStream(), events: parent.events.slice(0, fork.seq), fork, deep: parent.deep + 1 };
  }

  #stream(session: string): Stream {
    const stream = this.#streams.get(session);
    if (!stream) throw sessionNotFound(session);
    return stream;
  }
}

const newStream = (): Stream => ({
  events: [],
  fork: undefined,
  deep: 1,
  summary: undefined,
  epoch: 0,
  lease: undefined,
  tries: 0,
  triedHead: undefined,
});

const placeOf = ({ session, summary }: SessionRow): SessionPlace => ({
  session,
  updatedAt: summary.updatedAt,
});

/** Names are compared as their bytes, as SQLite does. */
const isBehind = (row: SessionPlace, other: SessionPlace): boolean =>
  row.updatedAt === other.updatedAt
    ? Buffer.compare(Buffer.from(row.session), Buffer.from(other.session)) > 0
    : row.updatedAt < other.updatedAt;

/** Whether an append is one that was committed before, sent again because its outcome was unclear. */
const alreadyThere = (append: Append, events: readonly StoredEvent[]): boolean =>
  append.events.length > 0 && append.events.every((event) => events[event.seq - 1]?.hash === event.hash);
