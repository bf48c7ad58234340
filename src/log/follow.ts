/** Reading a session as it grows, from any position, without a gap and without a repeat. */
import { open } from '../event/envelope.ts';
import type { LogEvent } from '../event/events.ts';
import type { LogStore } from './store.ts';

export type FollowOptions = {
  /** The first seq to yield; default 1. */
  readonly from?: number;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
};

/** Events that one reader holds at a time: one that stands still must not hold a long log in memory. */
const HELD_EVENTS_MAX = 100;

/** Yields each event once, in order, until the signal is aborted. The reader's pace slows nobody else. */
export async function* follow(
  store: LogStore,
  session: string,
  { from = 1, signal }: FollowOptions = {},
): AsyncGenerator<LogEvent, void, undefined> {
  let at = from;
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
      const stored = await store.read(session, at, at + HELD_EVENTS_MAX - 1);
      for (const one of stored) {
        yield open(one);
        at = one.seq + 1;
        if (signal?.aborted) return;
      }
      if (stored.length < HELD_EVENTS_MAX) await grown.promise;
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', look);
  }
}
