/**
 * One connection that comes back. Statements go over it in order, one at a time; each is a transaction of its own, so
 * that no lock ever waits for this process. A statement that gets no answer in time takes the connection down: what
 * became of it is unclear, and whoever sent it is told so with a StorageError.
 */
import { Socket } from 'node:net';
import { Client, DatabaseError, type QueryResult, type QueryResultRow } from 'pg';
import type { Clock } from '../clock.ts';
import type { PostgresPlace } from './postgres-place.ts';
import { onStandby, postgresFault } from './postgres-fault.ts';
import {
  isNotAsked,
  PostgresPrimary,
  timelineOf,
  WHAT_IT_IS,
  WHETHER_STANDBY,
  type SelfDescription,
} from './postgres-primary.ts';
import type { Statement } from './postgres-sql.ts';
import { StorageError } from './store.ts';

/** How long a connection may take to be made, and to be proved a primary's. */
export const CONNECT_MS = 10_000;
/** How long the server works on one statement before it gives it up. */
export const STATEMENT_MS = 20_000;
/** How long it waits for somebody else's lock in it. */
export const LOCK_MS = 10_000;
/** How long an answer is waited for; longer than the server would try, so that its own word comes first. */
export const ANSWER_MS = 30_000;
/** After so long without a word the server asks whether this side is there, and again every 2 s, three times. */
const KEEPALIVE_SECONDS = 5;
/** After so long without an acknowledgement of what it sent the server gives this side up. */
const UNANSWERED_MS = 30_000;

export type ConnectionOptions = {
  readonly place: PostgresPlace;
  readonly clock: Clock;
  /** Shared by the connections of a store; default one of its own. */
  readonly primary?: PostgresPrimary;
  /** What it is for, as the server's own list of connections shows it. */
  readonly purpose: string;
  readonly answerMs?: number;
  /** Whether a commit is acknowledged when it is durable; else when it is done. Default true. */
  readonly durable?: boolean;
  /** Done first on each new connection; what it throws is the answer to whoever asked. */
  readonly prepare?: (ask: Ask) => Promise<void>;
  readonly onNotice?: (payload: string) => void;
  /** Called when a connection that stood is lost. */
  readonly onLost?: () => void;
};

export type Ask = <T extends QueryResultRow>(
  statement: Statement | string,
  values?: readonly unknown[],
) => Promise<QueryResult<T>>;

type Open = { readonly client: Client; readonly socket: Socket; timeline: number };

const settings = ({ durable = true }: ConnectionOptions): string =>
  Object.entries({
    // An operator's default must not weaken what an acknowledgement means.
    ...(durable ? {} : { synchronous_commit: 'off' }),
    default_transaction_isolation: `'read committed'`,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    tcp_keepalives_idle: KEEPALIVE_SECONDS,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 3,
    tcp_user_timeout: UNANSWERED_MS,
  })
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ');

/** On the disks of all that the server names, and not less; what waits for more stays. */
const KEEP_DURABLE = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')`;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #primary: PostgresPrimary;
  readonly #leave: () => void;
  #open: Promise<Open> | undefined;
  /** The one that stands. */
  #current: Open | undefined;
  #waiting = 0;
  /** The statement before the next one: the driver sends one at a time. */
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { primary, place, clock } = options;
    this.#primary = primary ?? new PostgresPrimary(place, clock);
    // What is under way there is unclear, and sent again to the newer one.
    this.#leave = this.#primary.onNewer((timeline) => {
      if (this.#current && this.#current.timeline < timeline) this.#lose(this.#current);
    });
  }

  /** Statements that have no answer yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Asks on the connection, made anew where it is gone. Throws a StorageError where no answer came. */
  readonly ask: Ask = async (statement, values = []) => {
    this.#waiting++;
    const before = this.#turn;
    const { promise, resolve: pass } = Promise.withResolvers<void>();
    this.#turn = promise;
    try {
      await before;
      const open = await this.#ready();
      return await this.#askOn(open, statement, values);
    } catch (error) {
      throw postgresFault(error, this.#options.place.shown);
    } finally {
      pass();
      this.#waiting--;
    }
  };

  /** Makes sure that the connection stands. */
  async connect(): Promise<void> {
    try {
      await this.#ready();
    } catch (error) {
      throw postgresFault(error, this.#options.place.shown);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#leave();
    const open = await this.#open?.catch(() => undefined);
    this.#open = undefined;
    this.#current = undefined;
    if (!open) return;
    // A server that does not answer holds nobody up.
    const timer = this.#options.clock.after(1000, () => open.socket.destroy());
    await open.client.end().catch(() => undefined);
    timer.cancel();
  }

  #ready(): Promise<Open> {
    if (this.#closed)
      return Promise.reject(
        new StorageError('unavailable', `The store ${this.#options.place.shown} is closed.`),
      );
    if (this.#open) return this.#open;
    const opening = this.#connect();
    this.#open = opening;
    opening.catch(() => {
      if (this.#open === opening) this.#open = undefined;
    });
    return opening;
  }

  async #connect(): Promise<Open> {
    const { purpose, onNotice } = this.#options;
    const url = await this.#primary.url();
    const socket = new Socket();
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: `onrecord ${purpose}`,
      stream: () => socket,
    });
    const open: Open = { client, socket, timeline: 0 };
    client.on('error', () => this.#lose(open));
    client.on('end', () => this.#lose(open));
    if (onNotice) client.on('notification', ({ payload = '' }) => onNotice(payload));
    try {
      await client.connect();
      await this.#prove(open);
    } catch (error) {
      socket.destroy();
      this.#primary.forget();
      throw error;
    }
    if (socket.destroyed) throw new Error('connection terminated');
    this.#current = open;
    return open;
  }

  async #prove(open: Open): Promise<void> {
    const { place, durable = true, prepare } = this.#options;
    const ask: Ask = (statement, values) => this.#askOn(open, statement, values ?? []);
    await ask(settings(this.#options));
    if (durable) await ask(KEEP_DURABLE);
    const { rows } = await ask<SelfDescription>(WHAT_IT_IS).catch((error: unknown) => {
      if (isNotAsked(error)) return ask<SelfDescription>(WHETHER_STANDBY);
      throw error;
    });
    const [said] = rows;
    if (said?.standby !== false) throw onStandby(place.shown);
    open.timeline = timelineOf(said);
    this.#primary.accept(open.timeline);
    await prepare?.(ask);
  }

  async #askOn<T extends QueryResultRow>(
    open: Open,
    statement: Statement | string,
    values: readonly unknown[],
  ): Promise<QueryResult<T>> {
    const { client, socket } = open;
    const { clock, answerMs = ANSWER_MS } = this.#options;
    const timer = clock.after(answerMs, () => socket.destroy());
    try {
      if (typeof statement === 'string' && values.length === 0) return await client.query<T>(statement);
      const query = typeof statement === 'string' ? { text: statement } : statement;
      return await client.query<T>({ ...query, values: [...values] });
    } catch (error) {
      if (endsConnection(error)) this.#lose(open);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #lose(open: Open): void {
    open.socket.destroy();
    if (this.#current !== open) return;
    this.#current = undefined;
    this.#open = undefined;
    this.#primary.forget();
    if (!this.#closed) this.#options.onLost?.();
  }
}

/** What the server refuses leaves the connection as it was; it ends sessions with 57P.., and all else is a broken wire. */
const endsConnection = (error: unknown): boolean =>
  !(error instanceof DatabaseError) || (error.code ?? '').startsWith('57P');
