/** A store in memory: for tests, simulations and throw-away sessions. Same promises, but for durability. */
import { EventEmitter } from 'node:events';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import {
  ConflictError,
  FencedError,
  sessionNotFound,
  type Append,
  type ChangeListener,
  type Claim,
  type ClaimRequest,
  type Head,
  type LogStore,
  type Owner,
  type SessionQuery,
  type SessionRow,
} from './store.ts';

type Stream = {
  events: StoredEvent[];
  summary: SessionSummary | undefined;
  epoch: number;
  lease: { owner: Owner; until: number } | undefined;
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
    if (epoch !== undefined && epoch !== stream?.epoch)
      throw new FencedError(session, epoch, stream?.epoch ?? 0);
    if (head !== expected) {
      if (append.again && alreadyThere(append, stream?.events ?? [])) return;
      throw new ConflictError(session, expected, head);
    }
    const target: Stream = stream ?? { events: [], summary: undefined, epoch: 0, lease: undefined };
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
    for (const [session, { summary, events }] of this.#streams) {
      if (!summary) continue;
      if (query.status && !query.status.includes(summary.status)) continue;
      if (query.agent !== undefined && summary.agent !== query.agent) continue;
      if (query.canGoOn !== undefined && summary.canGoOn !== query.canGoOn) continue;
      if (query.before !== undefined && summary.updatedAt >= query.before) continue;
      rows.push({ session, head: events.length, summary });
    }
    rows.sort((a, b) => b.summary.updatedAt - a.summary.updatedAt || (a.session < b.session ? -1 : 1));
    return rows.slice(0, query.limit ?? SESSIONS_LIMIT);
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
    stream.epoch += 1;
    stream.lease = { owner: request.owner, until: request.now + request.leaseMs };
    return { won: true, epoch: stream.epoch };
  }

  async renew(session: string, epoch: number, until: number): Promise<boolean> {
    const stream = this.#stream(session);
    if (stream.epoch !== epoch || !stream.lease) return false;
    stream.lease = { ...stream.lease, until };
    return true;
  }

  async release(session: string, epoch: number): Promise<void> {
    const stream = this.#stream(session);
    if (stream.epoch === epoch) stream.lease = undefined;
  }

  changes(listener: ChangeListener): () => void {
    this.#changes.on('change', listener);
    return () => this.#changes.off('change', listener);
  }

  async close(): Promise<void> {
    this.#changes.removeAllListeners();
  }

  #stream(session: string): Stream {
    const stream = this.#streams.get(session);
    if (!stream) throw sessionNotFound(session);
    return stream;
  }
}

/** Whether an append is one that was committed before, sent again because its outcome was unclear. */
const alreadyThere = (append: Append, events: readonly StoredEvent[]): boolean =>
  append.events.length > 0 && append.events.every((event) => events[event.seq - 1]?.hash === event.hash);
