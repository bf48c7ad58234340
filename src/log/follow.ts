/** Reading a session as it grows, from any position, without a gap and without a repeat. */
import { open, type StoredEvent } from '../event/envelope.ts';
import type { LogEvent } from '../event/events.ts';
import type { LogStore } from './store.ts';

export type FollowOptions = {
  /** The first seq to yield; default 1. */
  readonly from?: number;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
};

/** What one reader holds at a time: one that stands still must not hold a long log, or large events, in memory. */
const HELD_EVENTS_MIN = 4;
const HELD_EVENTS_MAX = 64;
const HELD_BYTES_WANTED = 512 * 1024;

/** Yields each event once, in order, until the signal is aborted. The reader's pace slows nobody else. */
export async function* follow(
  store: LogStore,
  session: string,
  { from = 1, signal }: FollowOptions = {},
): AsyncGenerator<LogEvent, void, undefined> {
  let at = from;
  let held = HELD_EVENTS_MIN;
  let grown = Promise.withResolvers<void>();
  const look = (): void => grown.resolve();
  // Subscribed before the first read: what is committed in between wakes the wait below.
  const unsubscribe = store.changes((change) => {
    if (change === undefined || change.session === session) look();
  });
  signal?.addEventListener('abort', look);
  try {
    while (!signal?.aborted) {
      grown = Promise.withResolvers<void>();
      const asked = held;
      const stored = await store.read(session, at, at + asked - 1);
      held = heldNext(stored, asked);
      for (const one of stored) {
        yield open(one);
        at = one.seq + 1;
        if (signal?.aborted) return;
      }
      if (stored.length < asked) await grown.promise;
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', look);
  }
}

/** More while they are small; how large the next ones are is not known before they are read. */
const heldNext = (stored: readonly StoredEvent[], held: number): number => {
  const bytes = stored.reduce((sum, { body }) => sum + body.length, 0);
  if (bytes * 2 <= HELD_BYTES_WANTED) return Math.min(held * 2, HELD_EVENTS_MAX);
  return bytes > HELD_BYTES_WANTED ? Math.max(Math.floor(held / 2), HELD_EVENTS_MIN) : held;
};
