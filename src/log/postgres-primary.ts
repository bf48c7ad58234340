/**
 * Which of a store's servers is the primary. Of several that say so it is the one on the newest timeline: each
 * promotion begins one, so an earlier primary that came back, or never went, is behind it. What was seen once holds for
 * as long as this process lives: nobody here goes back to an earlier primary, and who is still on one is taken off it.
 */
import { Client, DatabaseError } from 'pg';
import type { Clock, Timer } from '../clock.ts';
import type { PostgresPlace } from './postgres-place.ts';
import { StorageError } from './store.ts';

/** How long a server may take to say what it is. */
const PROBE_MS = 3000;
/** How often it is looked whether a newer primary is there, where the URL names several servers. */
export const WATCH_MS = 5000;

/**
 * What a server says of itself. The first eight digits of the name of a file of the write-ahead log are the timeline
 * (postgresql.org/docs/current/functions-admin.html); a standby would refuse the question.
 */
export const WHAT_IT_IS = `SELECT pg_is_in_recovery() AS standby,
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;
/** The same of a server without files of that kind, which some services run. */
export const WHETHER_STANDBY = 'SELECT pg_is_in_recovery() AS standby, NULL AS timeline';

export type SelfDescription = { readonly standby: boolean; readonly timeline: string | null };

/** 0 where the server says none. */
export const timelineOf = ({ timeline }: SelfDescription): number =>
  timeline === null ? 0 : Number.parseInt(timeline, 16);

/** What a question that cannot be asked there is answered with instead. */
export const isNotAsked = (error: unknown): boolean =>
  error instanceof DatabaseError && /^(0A|42|55)/.test(error.code ?? '');

type Probed =
  | { readonly url: string; readonly timeline: number }
  | { readonly url: string; readonly not: string };

export class PostgresPrimary {
  readonly #place: PostgresPlace;
  readonly #clock: Clock;
  readonly #listeners = new Set<(timeline: number) => void>();
  /** The newest timeline that was seen. */
  #timeline = 0;
  #found: Promise<string> | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(place: PostgresPlace, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  /** Where the primary is, as far as is known. Throws a StorageError where none answers. */
  async url(): Promise<string> {
    const [only, another] = this.#place.urls;
    if (only !== undefined && another === undefined) return only;
    const found = (this.#found ??= this.#find());
    try {
      return await found;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** It could not be reached, or is no primary: next time it is looked for anew. */
  forget(): void {
    this.#found = undefined;
  }

  /** A primary says which timeline it is on. Throws a StorageError where that is an earlier one. */
  accept(timeline: number): void {
    if (timeline === 0) return;
    if (timeline < this.#timeline) throw this.#earlier(timeline);
    if (timeline === this.#timeline) return;
    this.#timeline = timeline;
    for (const listener of this.#listeners) listener(timeline);
  }

  /** Calls back when a newer timeline was seen. */
  onNewer(listener: (timeline: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Looks from time to time whether there is a newer primary: the one that we are on may not know that it is none any more. */
  watch(): void {
    if (this.#place.urls.length < 2 || this.#closed) return;
    this.#timer = this.#clock.after(WATCH_MS, () => void this.#look().finally(() => this.watch()), true);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#listeners.clear();
  }

  #earlier(timeline: number): StorageError {
    return new StorageError(
      'read-only',
      `${this.#place.shown} answers as the primary of timeline ${timeline}, but there was one of timeline ${this.#timeline} already: ` +
        'a standby was promoted, and this server does not know it. Nothing is decided on it.',
    );
  }

  async #look(): Promise<void> {
    const before = this.#timeline;
    const best = newest(await this.#probeAll());
    if (!best || best.timeline <= before || this.#closed) return;
    this.#found = Promise.resolve(best.url);
    this.accept(best.timeline);
  }

  async #find(): Promise<string> {
    const probed = await this.#probeAll();
    const best = newest(probed);
    if (best) {
      this.accept(best.timeline);
      return best.url;
    }
    const said = probed.map((one) => `${hostOf(one.url)} ${'not' in one ? one.not : ''}`);
    throw new StorageError(
      'unavailable',
      `No primary of ${this.#place.shown} can be reached: ${said.join(', ')}.`,
    );
  }

  #probeAll(): Promise<readonly Probed[]> {
    return Promise.all(this.#place.urls.map((url) => probe(url)));
  }
}

const hostOf = (url: string): string => new URL(url).host;

const newest = (probed: readonly Probed[]): Extract<Probed, { timeline: number }> | undefined =>
  probed
    .filter((one) => 'timeline' in one)
    // The first of the URL's order, of those on one timeline.
    .reduce<Extract<Probed, { timeline: number }> | undefined>(
      (best, one) => (best && best.timeline >= one.timeline ? best : one),
      undefined,
    );

/** Asks one server, over a connection of its own. */
const probe = async (url: string): Promise<Probed> => {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'onrecord probe',
  });
  // Whatever breaks breaks the question, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const ask = async (text: string): Promise<SelfDescription | undefined> =>
      (await client.query<SelfDescription>(text)).rows[0];
    const said = await ask(WHAT_IT_IS).catch((error: unknown) => {
      if (isNotAsked(error)) return ask(WHETHER_STANDBY);
      throw error;
    });
    if (said?.standby !== false) return { url, not: 'is a standby' };
    return { url, timeline: timelineOf(said) };
  } catch (error) {
    const { code } = error as { code?: unknown };
    return { url, not: `does not answer (${typeof code === 'string' ? code : 'no connection'})` };
  } finally {
    await client.end().catch(() => undefined);
  }
};
