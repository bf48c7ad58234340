/**
 * Session indexes at hand: what a page needs to show any place of a long session at once. Disposable: made from the log,
 * brought up to date before each use, and dropped when nobody has asked for a while.
 */
import { setImmediate } from 'node:timers/promises';
import { open } from '../event/envelope.ts';
import type { LogEvent } from '../event/events.ts';
import { pages } from '../log/pages.ts';
import { sessionNotFound, type LogStore } from '../log/store.ts';
import type { SessionState } from '../session/state.ts';
import { Reading } from '../view/reading.ts';
import { SessionIndex } from '../view/session-index.ts';
import type { Door } from './door.ts';
import type { Caller } from './tokens.ts';

/** Events of all indexes at hand together; the one not asked for the longest goes first. */
const EVENTS_MAX = 1_000_000;
/** Past states kept for one session: a hand on the slider comes back to where it was. */
const STANDINGS_MAX = 8;

export class Book {
  readonly index: SessionIndex;
  readonly #store: LogStore;
  readonly #past = new Map<number, Reading>();
  #refreshing: Promise<void> | undefined;

  constructor(session: string, store: LogStore) {
    this.index = new SessionIndex(session);
    this.#store = store;
  }

  /** Reads what has been appended since. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** A reading that stands at this event. The one at the head goes on; do not push to it. */
  async at(seq: number): Promise<Reading> {
    if (seq >= this.index.head) return this.index.reading;
    const known = this.#past.get(seq) ?? (await this.#stretch({ from: seq, to: seq })).reading;
    this.#past.delete(seq);
    this.#past.set(seq, known);
    const [oldest] = this.#past.keys();
    if (this.#past.size > STANDINGS_MAX && oldest !== undefined) this.#past.delete(oldest);
    return known;
  }

  /** The events of a stretch, and a reading that knows them and what stood open before; told as of `standing`. */
  async stretch(
    range: { readonly from: number; readonly to: number },
    standing: SessionState,
  ): Promise<{ readonly reading: Reading; readonly events: readonly LogEvent[] }> {
    return this.#stretch(range, standing);
  }

  async #stretch(
    { from, to }: { readonly from: number; readonly to: number },
    standing?: SessionState,
  ): Promise<{ readonly reading: Reading; readonly events: readonly LogEvent[] }> {
    const bookmark = this.index.bookmarkBefore(from);
    const stored = await this.#store.read(this.index.session, bookmark.state.seq + 1, to);
    const events = stored.map(open);
    const last = standing?.seq ?? to;
    const requests = this.index.requests.slice(
      Math.max(0, bookmark.requests - 1),
      this.index.requestAt(last),
    );
    const reading = new Reading(this.index.session, events, {
      from: bookmark,
      // An answer behind the place that is looked at has not come.
      requests: requests.map((one) => ((one.answer?.seq ?? 0) > last ? { ...one, answer: undefined } : one)),
      ...(standing && { standing }),
    });
    return { reading, events: events.slice(Math.max(0, from - bookmark.state.seq - 1)) };
  }

  async #read(): Promise<void> {
    for await (const page of pages(this.#store, this.index.session, { from: this.index.head + 1 })) {
      for (const stored of page) this.index.push(open(stored));
      // A turn of the event loop: other requests are answered meanwhile.
      await setImmediate();
    }
  }
}

export class Books {
  readonly #store: LogStore;
  readonly #books = new Map<string, Book>();

  constructor(store: LogStore) {
    this.#store = store;
  }

  /** The session as its log says now. Throws `session-not-found`. */
  async of(session: string): Promise<Book> {
    const book = this.#books.get(session) ?? new Book(session, this.#store);
    this.#books.delete(session);
    this.#books.set(session, book);
    try {
      await book.refresh();
    } catch (error) {
      // What is half read is no index.
      this.#books.delete(session);
      throw error;
    }
    if (book.index.head === 0) {
      this.#books.delete(session);
      throw sessionNotFound(session);
    }
    this.#forget();
    return book;
  }

  #forget(): void {
    let events = 0;
    for (const book of this.#books.values()) events += book.index.head;
    for (const [session, book] of this.#books) {
      if (events <= EVENTS_MAX || this.#books.size === 1) return;
      events -= book.index.head;
      this.#books.delete(session);
    }
  }
}

/** The session's index, where the caller may know of it. Throws `session-not-found`. */
export const bookFor = async (door: Door, { tenant }: Caller, session: string): Promise<Book> => {
  const book = await door.books.of(session);
  const { state } = book.index;
  if (state.agent.name === '' || (tenant !== '' && state.tenant !== tenant)) throw sessionNotFound(session);
  return book;
};
