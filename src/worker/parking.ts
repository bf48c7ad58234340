/**
 * What becomes of a session whose drivers are lost again and again: from some loss on the next driver waits before it
 * begins, and in the end the session is parked, so that it takes no more workers down with it. A person unparks it.
 *
 * A driver that is lost before it has appended anything is counted by the store, with the claims at one head; one that is
 * lost in the middle of a turn by the log, which says so (driver.changed).
 */
import type { Clock } from '../clock.ts';
import { seal } from '../event/envelope.ts';
import type { EventData } from '../event/events.ts';
import type { LogStore } from '../log/store.ts';

/** Drivers that may be lost in a row before the next one waits: the neighbours of whatever takes a process down. */
export const LOST_AT_ONCE = 3;
/** Drivers lost in a row after which a session is parked. */
export const LOST_MAX = 8;
/** The first wait, doubled with each further loss up to the second. */
const BACKOFF_MS = 1000;
const BACKOFF_MS_MAX = 60_000;

/** How long a driver waits that comes after so many lost ones, milliseconds. */
export const backoffAfter = (lost: number): number =>
  lost <= LOST_AT_ONCE ? 0 : Math.min(BACKOFF_MS * 2 ** (lost - LOST_AT_ONCE - 1), BACKOFF_MS_MAX);

export type Parking = {
  readonly session: string;
  readonly epoch: number;
  readonly data: EventData['session.parked'];
};

/**
 * Writes it without reading the log: that may be what ends processes. Nothing follows from the event, so nothing has to
 * be known of what comes before it. Throws ConflictError where somebody else has appended meanwhile.
 */
export const park = async (
  store: LogStore,
  clock: Clock,
  { session, epoch, data }: Parking,
): Promise<void> => {
  const head = await store.head(session);
  const [row] = await store.sessions({ names: [session], limit: 1 });
  if (!head || !row) return;
  const at = clock.now();
  const { stored } = seal({ type: 'session.parked', data }, { seq: head.seq + 1, at, prev: head.hash });
  const waits = { for: 'unpark', since: at } as const;
  const summary = { ...row.summary, canGoOn: false, waits, updatedAt: at };
  await store.append({ session, expected: head.seq, epoch, events: [stored], summary });
};
