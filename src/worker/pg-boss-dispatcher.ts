/**
 * The dispatcher of many machines on one database: pg-boss, in the log's own server, over one connection. Wakes for what
 * is appended are written by the log itself (log/postgres-jobs.ts); here they are fetched, one worker each, only while
 * there is room. A job ends when it is fetched, not with the work: who drives is the lease's business, so a worker that
 * dies leaves nothing here.
 */
import { systemClock, type Clock, type Timer } from '../clock.ts';
import { isOnrecordError, OnrecordError } from '../errors.ts';
import { Connection } from '../log/postgres-connection.ts';
import { bossOver, JOBS_QUEUE, type Boss } from '../log/postgres-jobs.ts';
import { postgresPlace, type PostgresPlace } from '../log/postgres-place.ts';
import type { Logger } from '../tool/tool.ts';
import type { Dispatcher, Taken, Taker, Wake } from './dispatcher.ts';

/** How often the queue is looked at where nothing says that there is something in it. */
export const POLL_MS = 500;
/** Sessions that are being taken at a time. What is fetched and not taken is lost for a while with its worker. */
const TAKES_MAX = 8;

export type PgBossOptions = { readonly clock?: Clock; readonly log?: Logger };

type Job = { readonly id: string; readonly data: { readonly session: string } };

export class PgBossDispatcher implements Dispatcher {
  readonly name = 'pg-boss';
  readonly shared = true;
  readonly heedsAppends = true;
  readonly #place: PostgresPlace;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #connection: Connection;
  readonly #taking = new Set<Promise<void>>();
  readonly #offered = new Set<string>();
  /** Wakes that go with the next statement. */
  readonly #jobs: NewJob[] = [];
  #inserting: Promise<void> | undefined;
  #boss: Promise<Boss> | undefined;
  #taker: Taker | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  /** The last look ended because there was no room, not because there was nothing. */
  #full = false;
  #troubled = false;
  #stopped: Promise<void> | undefined;

  /** Nothing is reached yet. Throws `store-url-invalid`. */
  constructor(store: string, { clock = systemClock, log }: PgBossOptions = {}) {
    this.#place = postgresPlace(store);
    this.#clock = clock;
    this.#log = log;
    this.#connection = new Connection({ place: this.#place, clock, purpose: 'jobs', durable: false });
  }

  async wake({ session, notBefore, reason }: Wake): Promise<void> {
    if (this.#stopped) return;
    const planned = notBefore !== undefined && notBefore > this.#clock.now();
    await this.#insert(
      planned
        ? job(session, reason, `${session} at ${notBefore}`, new Date(notBefore).toISOString())
        : job(session, reason, session),
    );
    if (!planned) this.look();
  }

  /** Those of one turn of the event loop go together: a sweep's hundreds must not keep a fetch waiting. */
  #insert(one: NewJob): Promise<void> {
    this.#jobs.push(one);
    this.#inserting ??= new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      this.#inserting = undefined;
      const boss = await this.#ready();
      await boss.insert(JOBS_QUEUE, this.#jobs.splice(0), { returnId: false });
    });
    return this.#inserting;
  }

  async start(taker: Taker): Promise<void> {
    await this.#ready();
    this.#taker = taker;
    this.look();
  }

  look(): void {
    if (!this.#taker) return;
    this.#again = true;
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = undefined;
      this.#plan();
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#taker = undefined;
    this.#timer?.cancel();
    await this.#looking;
    await Promise.all(this.#taking);
    await (await this.#boss?.catch(() => undefined))?.stop({ graceful: false });
    await this.#connection.close();
  }

  /** Throws `jobs-not-migrated`, and what keeps the database from being reached; then the next one tries again. */
  #ready(): Promise<Boss> {
    if (this.#boss) return this.#boss;
    const opening = this.#open();
    this.#boss = opening;
    opening.catch(() => {
      if (this.#boss === opening) this.#boss = undefined;
    });
    return opening;
  }

  async #open(): Promise<Boss> {
    const boss = await bossOver(this.#place, {
      ask: this.#connection.ask,
      migrate: false,
      onError: (error) => this.#warn(error),
    });
    try {
      await boss.start();
      return boss;
    } catch (error) {
      if (isOnrecordError(error)) throw error;
      throw jobsNotMigrated(this.#place, error);
    }
  }

  #plan(): void {
    this.#timer?.cancel();
    if (this.#taker) this.#timer = this.#clock.after(POLL_MS, () => this.look(), true);
  }

  async #lookAll(): Promise<void> {
    try {
      while (this.#again && this.#taker) {
        this.#again = false;
        await this.#fetchWhile();
      }
      this.#troubled = false;
    } catch (error) {
      // Looked at again soon; said once until it works again.
      if (!this.#troubled) this.#warn(error);
      this.#troubled = true;
    }
  }

  async #fetchWhile(): Promise<void> {
    for (;;) {
      const room = Math.min(this.#taker?.room() ?? 0, TAKES_MAX - this.#taking.size);
      this.#full = room <= 0;
      if (this.#full) return;
      const boss = await this.#ready();
      const jobs = (await boss.fetch(JOBS_QUEUE, {
        batchSize: room,
      })) as readonly Job[];
      if (jobs.length === 0) return;
      // Before they are taken: whoever dies in between leaves nothing behind, and the sweep finds the sessions.
      await boss.deleteJob(
        JOBS_QUEUE,
        jobs.map(({ id }) => id),
      );
      for (const one of jobs) this.#begin(one);
    }
  }

  #begin(one: Job): void {
    const taking = this.#take(one)
      .catch((error: unknown) => this.#warn(error))
      .finally(() => {
        this.#taking.delete(taking);
        if (this.#full) this.look();
      });
    this.#taking.add(taking);
  }

  async #take({ data: { session } }: Job): Promise<void> {
    const taken = await this.#offer(session);
    if (taken.kind !== 'later') return;
    const startAfter = new Date(this.#clock.now() + taken.afterMs).toISOString();
    await this.#insert(job(session, 'left', session, startAfter));
  }

  async #offer(session: string): Promise<Taken> {
    // Stopped since it was fetched: somebody else has it.
    if (!this.#taker) return { kind: 'later', afterMs: 0 };
    // A planned wake has come due while another one of the session is being taken.
    if (this.#offered.has(session)) return { kind: 'later', afterMs: POLL_MS };
    this.#offered.add(session);
    try {
      return await this.#taker.take(session);
    } catch {
      // The taker has said so to its operator; the sweep looks at the session again.
      return { kind: 'nothing' };
    } finally {
      this.#offered.delete(session);
    }
  }

  #warn(error: unknown): void {
    if (this.#stopped) return;
    this.#log?.warn(error instanceof Error ? error.message : String(error), { dispatcher: this.name });
  }
}

type NewJob = {
  readonly data: { readonly session: string; readonly reason: string };
  readonly singletonKey: string;
  readonly startAfter?: string;
};

const job = (session: string, reason: string, singletonKey: string, startAfter?: string): NewJob => ({
  data: { session, reason },
  singletonKey,
  ...(startAfter !== undefined && { startAfter }),
});

const jobsNotMigrated = ({ shown }: PostgresPlace, cause: unknown): OnrecordError =>
  new OnrecordError(
    `The database ${shown} has no queue for workers yet, or one of another version of pg-boss: ${cause instanceof Error ? cause.message : String(cause)}`,
    { code: 'jobs-not-migrated', next: 'ask-a-person', hint: 'onrecord migrate --dispatch pg-boss', cause },
  );
