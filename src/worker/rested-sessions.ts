/**
 * Sessions as their drivers left them, request builder and all: the next turn reads what was appended since, not the
 * whole log again. A cache of the log like what it holds; what is not in it is read from the first event.
 */
import type { LiveSession } from './live-session.ts';

/** Bytes of conversations that are kept, up to three times as much in memory; whoever has rested longest goes first. */
const RESTED_BYTES_MAX = 16 * 1024 * 1024;
/** Sessions that are kept, whatever their size. */
const RESTED_SESSIONS_MAX = 1024;

type RestedLimits = { readonly bytesMax: number; readonly sessionsMax: number };

export class RestedSessions {
  readonly #bytesMax: number;
  readonly #sessionsMax: number;
  readonly #rested = new Map<string, { readonly live: LiveSession; readonly bytes: number }>();
  #bytes = 0;

  constructor({
    bytesMax = RESTED_BYTES_MAX,
    sessionsMax = RESTED_SESSIONS_MAX,
  }: Partial<RestedLimits> = {}) {
    this.#bytesMax = bytesMax;
    this.#sessionsMax = sessionsMax;
  }

  /** The caller lets go of it: it belongs to whoever takes it. */
  put(live: LiveSession): void {
    this.take(live.session);
    const bytes = live.builder?.size ?? 0;
    if (bytes > this.#bytesMax) return;
    this.#rested.set(live.session, { live, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#rested) {
      if (this.#bytes <= this.#bytesMax && this.#rested.size <= this.#sessionsMax) return;
      this.take(oldest);
    }
  }

  /** Out of the cache: two drivers must never build on one. */
  take(session: string): LiveSession | undefined {
    const found = this.#rested.get(session);
    if (!found) return undefined;
    this.#rested.delete(session);
    this.#bytes -= found.bytes;
    return found.live;
  }
}
