/**
 * The log in one SQLite file. WAL, synchronous=FULL: what was acknowledged is on the disk. All appends of one
 * turn of the event loop are committed together (group commit), so many sessions share one sync; a session that has
 * the store to itself commits at once.
 *
 * Several processes may open one file. Each append is checked against the session's head and epoch inside
 * its transaction, so no process can write past another.
 */
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { systemClock, type Clock } from '../clock.ts';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import { partsOf, type OwnPart, type Part } from './lineage.ts';
import { LoneWriter } from './lone-writer.ts';
import { SESSIONS_LIMIT } from './memory.ts';
import { identityOf, Placement, refuseRemote } from './placement.ts';
import { claimLease } from './sqlite-lease.ts';
import { isBusy, outcomeOf, type Outcome, type Pending } from './sqlite-queue.ts';
import * as sql from './sqlite-sql.ts';
import { storageFault } from './sqlite-fault.ts';
import { SqliteHeads } from './sqlite-heads.ts';
import { growLog, openDatabase, synchronous, type Durability } from './sqlite-open.ts';
import {
  countsOf,
  eventCells,
  hex,
  listed,
  storedBlob,
  storedEvent,
  summaryRow,
  type BlobRow,
  type CountRow,
  type FoundHead,
  type EventRow,
  type ListedRow,
} from './sqlite-row.ts';
import {
  ConflictError,
  FencedError,
  FORKS_DEEP_MAX,
  forkPlaceMissing,
  forkTooDeep,
  sessionNotFound,
  StorageError,
  type Append,
  type Blob,
  type Change,
  type ChangeListener,
  type Claim,
  type ClaimRequest,
  type ForkPlace,
  type Head,
  type LogStore,
  type SessionQuery,
  type SessionRow,
  type StatusCounts,
} from './store.ts';

/** How long an append waits in memory for a lock that another process holds. */
export const STORE_BUSY_MS = 30_000;
/** How often the wait is tried again. Short, because SQLite's own wait would stop the event loop. */
const STORE_RETRY_MS = 20;
/** How often commits of other processes are looked for while somebody listens. */
export const STORE_POLL_MS = 50;
/** Whoever has committed so often will go on: from then on the write-ahead log has its full length. */
export const GROW_AFTER_COMMITS = 24;

export type SqliteOptions = {
  readonly clock?: Clock;
  /** `full` survives power loss (default); `normal` may lose the last commits then, never the order. */
  readonly durability?: Durability;
  readonly busyMs?: number;
  /** Answers the file system type of a folder; a seam for tests. */
  readonly typeOf?: (path: string) => number;
};

export class SqliteLog implements LogStore {
  readonly name: string;
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #busyMs: number;
  readonly #durability: Durability;
  /** The file and its WAL: SQLite keeps both as long as somebody has them open. */
  readonly #placement: Placement;
  readonly #version: StatementSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #heads = new SqliteHeads(
    (session) => this.#prepare(sql.FIND_HEAD).get(session) as FoundHead | undefined,
  );
  readonly #ids = new Map<string, number>();
  /** Where a session was forked from never changes. */
  readonly #parts = new Map<number, readonly Part[]>();
  readonly #listeners = new Set<ChangeListener>();
  #queue: Pending[] = [];
  #flushPlanned = false;
  readonly #loneWriter = new LoneWriter();
  #poll: { cancel(): void } | undefined;
  #dataVersion = 0;
  #commits = 0;
  #closed = false;

  constructor(path: string, options: SqliteOptions = {}) {
    this.#path = resolve(path);
    this.name = `sqlite ${path}`;
    this.#clock = options.clock ?? systemClock;
    this.#busyMs = options.busyMs ?? STORE_BUSY_MS;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const before = identityOf(this.#path);
    refuseRemote(dirname(this.#path), options.typeOf);
    this.#durability = options.durability ?? 'full';
    this.#db = openDatabase(this.#path, this.#durability);
    this.#version = this.#db.prepare('PRAGMA data_version');
    // It is asked in each transaction: an array is made quicker than an object.
    this.#version.setReturnArrays(true);
    // Restored in this very moment: what was opened is the old file, which nobody looks into any more.
    if (before !== undefined && before !== identityOf(this.#path)) {
      this.#db.close();
      throw new StorageError('replaced', `${this.#path} was replaced while it was opened. Open it again.`);
    }
    this.#placement = new Placement([this.#path, `${this.#path}-wal`], () => this.#clock.monotonic());
  }

  append(append: Append): Promise<void> {
    const { session, expected, events } = append;
    return this.#write(session, () => this.#apply(append), expected + events.length);
  }

  async read(
    session: string,
    from = 1,
    to: number = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly StoredEvent[]> {
    return this.#reading(() => {
      const read = this.#prepare(sql.READ_EVENTS);
      const rows = this.#partsOf(this.#id(session)).flatMap((part) =>
        part.to < from || part.from > to
          ? []
          : read.all(part.id, Math.max(from, part.from), Math.min(to, part.to)),
      );
      return (rows as EventRow[]).map(storedEvent);
    });
  }

  async head(session: string): Promise<Head | undefined> {
    return this.#reading(() => {
      const id = this.#findId(session);
      return id === undefined ? undefined : this.#head(id);
    });
  }

  async blob(digest: Digest): Promise<Uint8Array | undefined> {
    const row = this.#reading(
      () => this.#prepare(sql.READ_BLOB).get(Buffer.from(digest, 'hex')) as BlobRow | undefined,
    );
    if (!row) return undefined;
    return row.body.length === row.size ? row.body : zstdDecompressSync(row.body);
  }

  async sessions(query: SessionQuery = {}): Promise<readonly SessionRow[]> {
    const { text, parameters } = sql.listSessions(query, query.limit ?? SESSIONS_LIMIT);
    return this.#reading(() => this.#prepare(text).all(parameters) as ListedRow[]).map(listed);
  }

  async counts(): Promise<StatusCounts> {
    return countsOf(this.#reading(() => this.#prepare(sql.STATUS_COUNTS).all() as CountRow[]));
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    return this.#write(request.session, () => {
      // It raises the epoch.
      this.#heads.forget(request.session);
      return claimLease((text) => this.#prepare(text), request);
    });
  }

  async renew(session: string, epoch: number, until: number): Promise<boolean> {
    return this.#write(
      session,
      () => this.#prepare(sql.RENEW_LEASE).run(until, session, epoch).changes === 1,
    );
  }

  async release(session: string, epoch: number): Promise<number | undefined> {
    const give = (): boolean => this.#prepare(sql.RELEASE_LEASE).run(session, epoch).changes === 1;
    const head = await this.#write(session, () => (give() ? this.#heads.find(session)?.head : undefined));
    this.#loneWriter.left(session);
    return head;
  }

  changes(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    if (!this.#poll) {
      this.#dataVersion = this.#readDataVersion();
      this.#planPoll();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) {
        this.#poll?.cancel();
        this.#poll = undefined;
      }
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#poll?.cancel();
    // Whoever follows looks once more and finds the store closed.
    this.#tell(undefined);
    this.#listeners.clear();
    for (const pending of this.#queue.splice(0)) pending.reject(this.#closedFault());
    this.#statements.clear();
    this.#db.close();
    this.#placement.close();
  }

  #closedFault(): StorageError {
    return new StorageError('unavailable', `The store ${this.#path} is closed.`);
  }

  /** What SQLite throws at a reader, as what happens next. */
  #reading<T>(work: () => T): T {
    if (this.#closed) throw this.#closedFault();
    try {
      return work();
    } catch (error) {
      throw storageFault(error, this.#path);
    }
  }

  /** At the end of the event loop's turn, so that all who write in it share a commit, or at once where there is nobody else. */
  #planFlush(now: number, session: string): void {
    if (this.#flushPlanned) return;
    if (this.#loneWriter.isAlone(session, now)) return this.#flush();
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#loneWriter.turned(this.#clock.monotonic());
      this.#flush();
    });
  }

  /** Commits all that is queued in one transaction. */
  #flush(): void {
    this.#flushPlanned = false;
    const batch = this.#queue;
    if (batch.length === 0 || this.#closed) return;
    this.#queue = [];
    this.#loneWriter.wrote(batch);
    this.#commit(batch);
  }

  #commit(batch: readonly Pending[]): void {
    let outcomes: readonly Outcome[];
    try {
      const leases = batch.every(({ head }) => head === undefined);
      outcomes = this.#transaction(() => batch.map(({ work }) => outcomeOf(work)), leases);
    } catch (error) {
      const fault = storageFault(error, this.#path);
      if (isBusy(fault)) this.#waitForLock(batch, fault);
      else if (batch.length === 1) batch[0]?.reject(fault);
      // One that cannot be written takes no other with it.
      else for (const pending of batch) this.#commit([pending]);
      return;
    }
    for (const [i, { resolve: done, reject }] of batch.entries()) {
      const outcome = outcomes[i];
      if (outcome && 'refusal' in outcome) reject(outcome.refusal);
      else done(outcome?.value);
    }
    for (const [i, { session, head }] of batch.entries())
      if (head !== undefined && outcomes[i] && 'value' in outcomes[i]) this.#tell({ session, head });
    if (++this.#commits === GROW_AFTER_COMMITS) growLog(this.#db, this.#path);
  }

  /** A lock of another process is waited for without stopping the event loop; other faults are answers. */
  #waitForLock(batch: readonly Pending[], fault: unknown): void {
    const now = this.#clock.monotonic();
    const again = batch.filter((pending) => pending.deadline > now);
    for (const pending of batch) if (!again.includes(pending)) pending.reject(fault);
    if (again.length === 0) return;
    this.#queue.push(...again);
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    this.#clock.after(STORE_RETRY_MS, () => this.#flush());
  }

  /** Checks first, writes then: a refused append leaves nothing to undo in the shared transaction. */
  #apply(append: Append): void {
    const { session, expected, events, epoch, fork } = append;
    const row = this.#heads.find(session);
    if (epoch !== undefined && epoch !== row?.epoch) throw new FencedError(session, epoch, row?.epoch ?? 0);
    const head = row?.head ?? 0;
    if (fork ? row !== undefined : head !== expected) {
      if (row && append.again && this.#alreadyThere(row.id, events)) return;
      throw new ConflictError(session, expected, head);
    }
    if (append.given) this.#checkGiven(append.given);
    const id = row?.id ?? this.#insertSession(append);
    const insert = this.#prepare(sql.INSERT_EVENT);
    for (const event of events) insert.get(id, event.seq, event.hash, ...eventCells(event));
    for (const blob of append.blobs ?? []) this.#insertBlob(blob);
    if (append.summary) this.#setSummary(id, append.summary);
    this.#heads.wrote(session, { id, epoch: row?.epoch ?? 0, head: expected + events.length });
  }

  #checkGiven({ session, head }: NonNullable<Append['given']>): void {
    const found = this.#heads.find(session)?.head ?? 0;
    if (found !== head) throw new ConflictError(session, head, found);
  }

  #insertSession({ session, expected, fork }: Append): number {
    const parent = fork ? this.#forkable(fork) : null;
    if (fork && expected !== fork.seq) throw new ConflictError(session, expected, fork.seq);
    return Number(this.#prepare(sql.INSERT_SESSION).run(session, parent, fork?.seq ?? null).lastInsertRowid);
  }

  /** The parent's row, where a fork can be made there. */
  #forkable(fork: ForkPlace): number {
    const row = this.#heads.find(fork.parent);
    if (!row) throw sessionNotFound(fork.parent);
    const { head } = row;
    if (head < fork.seq || fork.seq < 1) throw forkPlaceMissing(fork, head);
    let deep = 1;
    for (let part = this.#ownPart(row.id); part?.parent; part = this.#ownPart(part.parent)) deep++;
    if (deep >= FORKS_DEEP_MAX) throw forkTooDeep(fork.parent);
    return row.id;
  }

  #ownPart(id: number): OwnPart | undefined {
    return this.#prepare(sql.FIND_PART).get(id) as OwnPart | undefined;
  }

  #partsOf(id: number): readonly Part[] {
    const known = this.#parts.get(id) ?? partsOf(id, (one) => this.#ownPart(one));
    this.#parts.set(id, known);
    return known;
  }

  #alreadyThere(id: number, events: readonly StoredEvent[]): boolean {
    return events.every((event) => {
      const row = this.#prepare(sql.HASH_AT).get(id, event.seq) as { hash: Uint8Array } | undefined;
      return row !== undefined && hex(row.hash) === event.hash;
    });
  }

  #insertBlob({ digest, bytes }: Blob): void {
    this.#prepare(sql.INSERT_BLOB).run(Buffer.from(digest, 'hex'), bytes.length, storedBlob(bytes));
  }

  #setSummary(id: number, summary: SessionSummary): void {
    this.#prepare(sql.SET_SUMMARY).run(...summaryRow(summary), id);
  }

  #head(id: number): Head | undefined {
    // Nothing of its own in a fork is a damage: its log then ends where its parent's part does.
    for (const part of this.#partsOf(id).toReversed()) {
      const row = this.#prepare(sql.HEAD).get(part.id, part.to) as
        | { seq: number; hash: Uint8Array }
        | undefined;
      if (row) return { seq: row.seq, hash: hex(row.hash) };
    }
    return undefined;
  }

  #id(session: string): number {
    const id = this.#findId(session);
    if (id === undefined) throw sessionNotFound(session);
    return id;
  }

  #findId(session: string): number | undefined {
    const known = this.#ids.get(session);
    if (known !== undefined) return known;
    const row = this.#prepare(sql.FIND_SESSION).get(session) as { id: number } | undefined;
    if (row) this.#ids.set(session, row.id);
    return row?.id;
  }

  /** Queues a write for the next commit, with patience for other processes' locks. */
  #write<T>(session: string, work: () => T, head?: number): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closedFault());
    const { promise, resolve: done, reject } = Promise.withResolvers<T>();
    const now = this.#clock.monotonic();
    this.#queue.push({
      work,
      deadline: now + this.#busyMs,
      resolve: (value) => done(value as T),
      reject,
      session,
      head,
    });
    this.#planFlush(now, session);
    return promise;
  }

  #transaction<T>(work: () => T, unsynced: boolean): T {
    const relaxed = unsynced && this.#durability === 'full';
    if (relaxed) this.#db.exec(synchronous('normal'));
    try {
      // Of statements that answer nothing, get() makes no object of counts.
      this.#prepare('BEGIN IMMEDIATE').get();
      this.#heads.begin(this.#readDataVersion());
      const result = work();
      // Under the lock: what replaces a store properly waits for it. Moved by force while this is committed, the
      // file holds it all the same, as if it had been moved right after.
      this.#checkPlace();
      this.#prepare('COMMIT').get();
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      if (relaxed) this.#db.exec(synchronous('full'));
    }
  }

  /** After some faults SQLite has rolled back by itself; a fault of the way back must not hide the first one. */
  #rollback(): void {
    this.#heads.rolledBack();
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // The next transaction says what is still wrong.
    }
  }

  /** Writing into a file that was moved away would acknowledge what nobody can read again. */
  #checkPlace(): void {
    const missing = this.#placement.missing();
    if (missing === undefined) return;
    throw new StorageError(
      'replaced',
      `${missing} was moved, deleted or replaced while the store was open. Put it back, or restart.`,
    );
  }

  #planPoll(): void {
    this.#poll = this.#clock.after(STORE_POLL_MS, () => this.#look(), true);
  }

  #look(): void {
    let version = this.#dataVersion;
    try {
      version = this.#readDataVersion();
    } catch {
      // Whoever reads next is told what is wrong; a poll that throws would end the process.
    }
    if (version !== this.#dataVersion) {
      this.#dataVersion = version;
      this.#tell(undefined);
    }
    if (this.#listeners.size > 0 && !this.#closed) this.#planPoll();
  }

  /** Changes when another connection has committed; our own commits leave it alone (SQLite, pragma data_version). */
  #readDataVersion(): number {
    return (this.#version.get() as unknown as readonly [number])[0];
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  #prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}
