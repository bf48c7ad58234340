/**
 * The log in PostgreSQL, for one or many processes on any number of machines. An append is one call of one function
 * that checks and writes, committed by the server on its own: nothing of it waits for this process. Appends that come
 * while another call is under way go together with the next one, so many sessions share a round trip and a sync.
 *
 * Nothing is read from a standby. What was sent and not answered is a StorageError; sent `again`, it is known by its hashes.
 */
import { randomId, systemClock, systemRandom, type Clock } from '../clock.ts';
import { isOnrecordError } from '../errors.ts';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { Part } from './lineage.ts';
import { SESSIONS_LIMIT } from './memory.ts';
import * as batch from './postgres-batch.ts';
import { Connection, type Ask, type ConnectionOptions } from './postgres-connection.ts';
import { PostgresControl } from './postgres-control.ts';
import { postgresPlace, type PostgresPlace } from './postgres-place.ts';
import { PostgresPrimary } from './postgres-primary.ts';
import { awaitStandby, checkFormat, checkReplicated } from './postgres-schema.ts';
import { listing, statements, type Statements } from './postgres-sql.ts';
import {
  sessionNotFound,
  StorageError,
  type Append,
  type Change,
  type ChangeListener,
  type Claim,
  type ClaimRequest,
  type Head,
  type LogStore,
  type Owner,
  type SessionQuery,
  type SessionRow,
  type StatusCounts,
} from './store.ts';

/** Connections for reading and for leases; beside them one writes and one listens. */
const READERS = 4;
/** Appends of one call, and about how many bytes they have together. One larger append goes alone. */
const CALL_APPENDS_MAX = 64;
const CALL_BYTES_MAX = 8_000_000;
/** Sessions whose place among the forks is remembered; it never changes. */
const LINES_MAX = 10_000;

export type PostgresOptions = {
  readonly clock?: Clock;
  /**
   * `primary` (default): an acknowledged append is on the primary's disk. `replicated`: on a synchronous standby's,
   * too; refused where the server names none.
   */
  readonly durability?: 'primary' | 'replicated';
  /** How long the answer to a statement is waited for, milliseconds. */
  readonly answerMs?: number;
};

type Pending = {
  readonly packed: batch.Packed;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

type Renewal = {
  readonly session: string;
  readonly epoch: number;
  readonly until: number;
  readonly resolve: (kept: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/** Where a session's own events begin, and what of other logs comes before them. */
type Line = { readonly parts: readonly Omit<Part, 'id'>[]; readonly names: readonly string[] };

type ClaimRow = { epoch: string; tries: number; reached: 'agent' | 'tenant' | null };

const claimed = ({ epoch, tries, reached }: ClaimRow): Claim =>
  reached === null ? { won: true, epoch: Number(epoch), tries } : { won: false, full: reached };

type LineRow = { fork_seq: string | null; line_names: string[]; line_from: string[]; line_to: string[] };

export class PostgresLog implements LogStore {
  readonly name: string;
  readonly #place: PostgresPlace;
  readonly #sql: Statements;
  readonly #writer: Connection;
  readonly #readers: readonly Connection[];
  readonly #control: PostgresControl;
  readonly #primary: PostgresPrimary;
  readonly #lines = new Map<string, Line>();
  readonly #listeners = new Set<ChangeListener>();
  readonly #atRisk = new Set<() => void>();
  readonly #owners = new Set<string>();
  #queue: Pending[] = [];
  #renewals: Renewal[] = [];
  #writing = false;
  #opened = false;
  #closed = false;

  private constructor(place: PostgresPlace, options: PostgresOptions) {
    const { clock = systemClock, durability = 'primary', answerMs } = options;
    this.#place = place;
    this.name = place.shown;
    this.#sql = statements(place.schema);
    this.#primary = new PostgresPrimary(place, clock);
    const primary = this.#primary;
    const connection = (purpose: string, more: Partial<ConnectionOptions> = {}): Connection =>
      new Connection({
        place,
        clock,
        primary,
        purpose,
        ...(answerMs !== undefined && { answerMs }),
        ...more,
      });
    const replicated =
      durability === 'replicated'
        ? async (ask: Ask): Promise<void> => {
            await this.#checkReplicated(() => checkReplicated(ask, place));
            await awaitStandby(ask, place, clock);
          }
        : undefined;
    this.#writer = connection('writer', {
      prepare: async (ask) => {
        await checkFormat(ask, place);
        await replicated?.(ask);
      },
    });
    const prepared = replicated && { prepare: replicated };
    this.#readers = Array.from({ length: READERS }, (_, i) => connection(`reader ${i + 1}`, prepared));
    const self = randomId(systemRandom, 10);
    this.#control = new PostgresControl({
      place,
      statements: this.#sql,
      clock,
      primary,
      self,
      tell: (change) => this.#tell(change),
      onLost: () => this.#atRisk.forEach((listener) => listener()),
    });
  }

  /**
   * Opens the store at `postgres://user:password@host:port/database?schema=onrecord`. Throws `store-url-invalid`,
   * `store-not-migrated`, `store-too-new`, `store-not-replicated`, and StorageError where no primary can be reached.
   */
  static async open(url: string, options: PostgresOptions = {}): Promise<PostgresLog> {
    const log = new PostgresLog(postgresPlace(url), options);
    try {
      await log.#writer.connect();
      await log.#control.start();
      log.#primary.watch();
      log.#opened = true;
    } catch (error) {
      await log.close();
      throw error;
    }
    return log;
  }

  async append(append: Append): Promise<void> {
    if (this.#closed) throw this.#closedFault();
    const packed = batch.pack(append);
    await new Promise<void>((resolve, reject) => {
      this.#queue.push({ packed, resolve, reject });
      if (!this.#writing) this.#plan();
    });
  }

  async read(
    session: string,
    from = 1,
    to: number = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly StoredEvent[]> {
    const { parts, names } = await this.#line(session);
    const events: StoredEvent[] = [];
    for (const [i, part] of parts.entries()) {
      if (part.to < from || part.from > to) continue;
      const name = names[i] ?? session;
      const range = [Math.max(from, part.from), Math.min(to, part.to)];
      const { rows } = await this.#reader.ask<batch.EventRow>(this.#sql.events, [
        batch.bucketOf(name),
        name,
        ...range,
      ]);
      for (const row of rows) events.push(batch.storedEvent(row));
    }
    return events;
  }

  async head(session: string): Promise<Head | undefined> {
    type Row = { head: string; hash: Buffer };
    const { rows } = await this.#reader.ask<Row>(this.#sql.head, [batch.bucketOf(session), session]);
    const [row] = rows;
    return row && { seq: Number(row.head), hash: row.hash.toString('hex') as Digest };
  }

  async blob(digest: Digest): Promise<Uint8Array | undefined> {
    type Row = { size: number; body: Buffer };
    const key = [batch.bucketOfDigest(digest), Buffer.from(digest, 'hex')];
    const { rows } = await this.#reader.ask<Row>(this.#sql.blob, key);
    const [row] = rows;
    return row && batch.unpacked(row.body, row.size);
  }

  async sessions(query: SessionQuery = {}): Promise<readonly SessionRow[]> {
    const { text, values } = listing(this.#place.schema, query, query.limit ?? SESSIONS_LIMIT);
    const { rows } = await this.#reader.ask<batch.ListedRow>(text, values);
    return rows.map(batch.listed);
  }

  async counts(): Promise<StatusCounts> {
    type Row = { status: string; sessions: string };
    const { rows } = await this.#reader.ask<Row>(this.#sql.counts);
    return Object.fromEntries(rows.map(({ status, sessions }) => [status, Number(sessions)]));
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const { session, owner, now, leaseMs, isGone, limits } = request;
    // Before the lease: a lease whose owner holds no lock is free for everybody.
    if (!this.#owners.has(owner.id)) {
      await this.#control.hold(owner.id);
      this.#owners.add(owner.id);
    }
    const key = [batch.bucketOf(session), session];
    const lease = [owner.id, JSON.stringify(owner), now + leaseMs];
    const within = limits && (await this.#limitsOf(key, limits));
    for (;;) {
      const asked = [...key, ...lease, now];
      const { rows } = await (within
        ? this.#reader.ask<ClaimRow>(this.#sql.claimWithin, [...asked, ...within])
        : this.#reader.ask<ClaimRow>(this.#sql.claim, asked));
      if (rows[0]) return claimed(rows[0]);
      type Row = { epoch: string; owner: string | null; lease_until: string | null };
      const { rows: found } = await this.#reader.ask<Row>(this.#sql.lease, key);
      const [row] = found;
      if (!row) throw sessionNotFound(session);
      // Released in between: it is free now.
      if (row.owner === null) continue;
      const holder = JSON.parse(row.owner) as Owner;
      if (!isGone(holder)) return { won: false, owner: holder, until: Number(row.lease_until) };
      const taken = await this.#reader.ask<ClaimRow>(this.#sql.takeOver, [
        ...key,
        ...lease,
        Number(row.epoch),
      ]);
      if (taken.rows[0]) return claimed(taken.rows[0]);
    }
  }

  async #limitsOf(
    key: readonly unknown[],
    limits: NonNullable<ClaimRequest['limits']>,
  ): Promise<readonly (number | null)[] | undefined> {
    type Row = { agent: string; tenant: string };
    const { rows } = await this.#reader.ask<Row>(this.#sql.shared, key);
    const { agent = null, tenant = null } = (rows[0] && limits(rows[0])) ?? {};
    return agent === null && tenant === null ? undefined : [agent, tenant];
  }

  /** Those of one turn of the event loop go together. */
  async renew(session: string, epoch: number, until: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#renewals.push({ session, epoch, until, resolve, reject }) > 1) return;
      setImmediate(() => void this.#renewAll(this.#renewals.splice(0)));
    });
  }

  async release(session: string, epoch: number): Promise<number | undefined> {
    const values = [batch.bucketOf(session), session, epoch];
    const { rows } = await this.#reader.ask<{ head: string }>(this.#sql.release, values);
    return rows[0] && Number(rows[0].head);
  }

  changes(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    this.#control.listen();
    return () => this.#listeners.delete(listener);
  }

  leasesAtRisk(listener: () => void): () => void {
    this.#atRisk.add(listener);
    return () => this.#atRisk.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Whoever follows looks once more and finds the store closed.
    this.#tell(undefined);
    this.#listeners.clear();
    for (const { reject } of this.#queue.splice(0)) reject(this.#closedFault());
    this.#primary.close();
    const connections = [this.#writer, ...this.#readers, this.#control];
    await Promise.all(connections.map((connection) => connection.close()));
  }

  #closedFault(): StorageError {
    return new StorageError('unavailable', `The store ${this.#place.shown} is closed.`);
  }

  /** Refused at the start; once there is work in hand, a server without a standby is one to wait for. */
  async #checkReplicated(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!this.#opened || !isOnrecordError(error) || error instanceof StorageError) throw error;
      throw new StorageError('unavailable', error.message, error);
    }
  }

  /** The one with the fewest statements before this one. */
  get #reader(): Connection {
    return this.#readers.reduce((best, one) => (one.waiting < best.waiting ? one : best));
  }

  #plan(): void {
    this.#writing = true;
    setImmediate(() => void this.#write());
  }

  /** Calls one after the other, so that appends are written in the order in which they came. */
  async #write(): Promise<void> {
    while (this.#queue.length > 0) {
      const taken = this.#take();
      try {
        await this.#call(taken);
      } catch (error) {
        // What was refused as a whole for one's sake is sent one by one; where no answer came, all are unclear.
        if (taken.length === 1 || error instanceof StorageError)
          for (const { reject } of taken) reject(error);
        else await this.#oneByOne(taken);
      }
    }
    this.#writing = false;
  }

  async #oneByOne(taken: readonly Pending[]): Promise<void> {
    for (const pending of taken) {
      try {
        await this.#call([pending]);
      } catch (error) {
        pending.reject(error);
      }
    }
  }

  #take(): readonly Pending[] {
    let bytes = 0;
    let count = 0;
    for (const { packed } of this.#queue) {
      bytes += packed.bytes;
      if (count > 0 && (bytes > CALL_BYTES_MAX || count === CALL_APPENDS_MAX)) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  async #call(taken: readonly Pending[]): Promise<void> {
    const call = batch.callOf(taken.map(({ packed }) => packed));
    const { rows } = await this.#writer.ask<batch.OutcomeRow>(this.#sql.append, call);
    const written: Append[] = [];
    for (const row of rows) {
      const pending = taken[row.place];
      if (!pending) continue;
      const { append } = pending.packed;
      const refusal = batch.refusalOf(append, row);
      if (refusal) pending.reject(refusal);
      else pending.resolve();
      if (row.outcome === 'written') written.push(append);
    }
    for (const append of written) this.#written(append);
  }

  #written({ session, expected, events, epoch, summary }: Append): void {
    const head = expected + events.length;
    this.#tell({ session, head });
    // Work that came from outside is somebody's to take up; a driver goes on with its own.
    const work = epoch === undefined && summary?.canGoOn ? summary.agent : undefined;
    this.#control.note(work === undefined ? [session, head] : [session, head, work]);
  }

  async #renewAll(renewals: readonly Renewal[]): Promise<void> {
    try {
      const { rows } = await this.#reader.ask<{ name: string }>(this.#sql.renew, [
        renewals.map(({ session }) => batch.bucketOf(session)),
        renewals.map(({ session }) => session),
        renewals.map(({ epoch }) => epoch),
        renewals.map(({ until }) => until),
      ]);
      const kept = new Set(rows.map(({ name }) => name));
      for (const { session, resolve } of renewals) resolve(kept.has(session));
    } catch (error) {
      for (const { reject } of renewals) reject(error);
    }
  }

  async #line(session: string): Promise<Line> {
    const known = this.#lines.get(session);
    if (known) return known;
    const key = [batch.bucketOf(session), session];
    const { rows } = await this.#reader.ask<LineRow>(this.#sql.line, key);
    const [row] = rows;
    if (!row) throw sessionNotFound(session);
    const before = row.line_names.map((_, i) => ({
      from: Number(row.line_from[i]),
      to: Number(row.line_to[i]),
    }));
    const own = { from: Number(row.fork_seq ?? 0) + 1, to: Number.MAX_SAFE_INTEGER };
    const line = { parts: [...before, own], names: row.line_names };
    const [oldest] = this.#lines.keys();
    if (this.#lines.size >= LINES_MAX && oldest !== undefined) this.#lines.delete(oldest);
    this.#lines.set(session, line);
    return line;
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
