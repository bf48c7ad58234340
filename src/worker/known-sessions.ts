/** Sessions that commands were about lately: their state at hand, and the one way in which facts are added to them. */
import type { Clock } from '../clock.ts';
import { ConflictError, type LogStore } from '../log/store.ts';
import type { SessionState } from '../session/state.ts';
import type { Faults } from './fault-point.ts';
import type { News } from './jobs.ts';
import { Batch, LiveSession } from './live-session.ts';
import { RestedSessions } from './rested-sessions.ts';

/**
 * Sessions whose state is kept; the one not asked for the longest goes first. More than a process drives at once: one
 * that is forgotten while it is driven is read from its first event again when it rests.
 */
const KNOWN_SESSIONS_MAX = 1024;

export class KnownSessions {
  readonly #store: LogStore;
  readonly #clock: Clock;
  readonly #faults: Faults | undefined;
  readonly #known = new Map<string, LiveSession>();
  readonly #rested = new RestedSessions();

  constructor(store: LogStore, clock: Clock, faults: Faults | undefined) {
    this.#store = store;
    this.#clock = clock;
    this.#faults = faults;
  }

  /** The session as its log says now. Throws `session-not-found`. */
  async state(session: string): Promise<SessionState> {
    return (await this.#live(session)).state;
  }

  /**
   * Appends what `decide` answers for the state at the head; where somebody else appended first, it is asked
   * again. Nothing is appended where it answers nothing. A log that is not there is begun where `begin` says so.
   * Answers the session as it stands then.
   */
  async append(
    session: string,
    decide: (state: SessionState, now: number) => readonly News[],
    { begin = false }: { readonly begin?: boolean } = {},
  ): Promise<SessionState> {
    for (;;) {
      const live = await this.#live(session, begin);
      const now = this.#clock.now();
      const news = decide(live.state, now);
      if (news.length === 0) return live.state;
      const batch = new Batch(live, now);
      for (const { fact, blobs } of news) batch.add(fact, blobs);
      try {
        await batch.commit(this.#store, { faults: this.#faults });
        live.adopt(batch);
        return live.state;
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  }

  /** Begins a session's log with its first batch. False where it has begun already. */
  async create(live: LiveSession, batch: Batch): Promise<boolean> {
    try {
      await batch.commit(this.#store, { faults: this.#faults });
    } catch (error) {
      if (error instanceof ConflictError) return false;
      throw error;
    }
    live.adopt(batch);
    this.keep(live);
    return true;
  }

  has(session: string): boolean {
    return this.#known.has(session);
  }

  /** Takes over what was read for a driver, so that nothing has to be read again for commands. */
  learn(live: LiveSession): void {
    const known = this.#known.get(live.session);
    if (known && known.state.seq >= live.state.seq) return;
    this.#remember(live.reader());
  }

  /** Takes over the session from a driver that is done with it. */
  keep(live: LiveSession): void {
    this.learn(live);
    this.#rested.put(live);
  }

  /** The session as the last driver here left it, for the next one alone. */
  take(session: string): LiveSession | undefined {
    return this.#rested.take(session);
  }

  async #live(session: string, begin = false): Promise<LiveSession> {
    const live = this.#known.get(session) ?? new LiveSession(session);
    if (begin && !(await this.#store.head(session))) return live;
    await live.refresh(this.#store);
    this.#remember(live);
    return live;
  }

  #remember(live: LiveSession): void {
    this.#known.delete(live.session);
    this.#known.set(live.session, live);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_SESSIONS_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}
