/**
 * Whether a write has to wait for others. All who write in one turn of the event loop share a commit; a session that has
 * had the store to itself has nobody to wait for, nor has whichever comes after it once it has given its lease back.
 */

/** For so long commits may follow one upon the other before all else in the process has its turn again. */
export const COMMITS_MS = 20;

const WHOEVER = Symbol('whoever comes next');

export class LoneWriter {
  /** The session that wrote the last batch, where it was one alone. */
  #session: string | typeof WHOEVER | undefined;
  #turnAt = -Infinity;

  /** The event loop has turned, at this moment of the monotonic clock. */
  turned(at: number): void {
    this.#turnAt = at;
  }

  /** These are about to be written together. */
  wrote(sessions: readonly { readonly session: string }[]): void {
    this.#session = sessions.length === 1 ? sessions[0]?.session : undefined;
  }

  /** The session has given its lease back. */
  left(session: string): void {
    if (this.#session === session) this.#session = WHOEVER;
  }

  /** Whether what a session writes now can be committed at once. */
  isAlone(session: string, now: number): boolean {
    const alone = this.#session === session || this.#session === WHOEVER;
    return alone && now - this.#turnAt < COMMITS_MS;
  }
}
