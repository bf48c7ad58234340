/**
 * What no wake has reached: sessions that could go on and that nobody drives, and moments that have come. Correctness
 * needs no more than this; wakes only make it quick.
 */
import type { Clock } from '../clock.ts';
import type { LogStore, Owner, SessionPlace, SessionRow } from '../log/store.ts';

/** Rows of one look at the list, and wakes that one sweep gives; the next one goes on. */
export const SWEEP_SESSIONS_MAX = 1000;
/** Rows that one sweep looks at: those that are driven stand among them. */
const SWEEP_PAGES_MAX = 100;
/** Where wakes are shared, one that was sent just now is left to whoever gets it. */
const FRESH_MS = 1000;
/** After so long the wake must have been lost, or its job is held by nobody: it is taken here, without one. */
export const LOST_WAKE_MS = 20_000;

export type SweepOptions = {
  readonly store: LogStore;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly isGone: (owner: Owner) => boolean;
  /** Whether other workers hear of the same wakes. */
  readonly shared: boolean;
  /** Whether this worker could drive it and does not. */
  readonly isWanted: (row: SessionRow) => boolean;
  readonly wake: (row: SessionRow) => void;
  /** Takes it here, if there is room. */
  readonly take: (row: SessionRow) => void;
};

/** Wakes what could go on, the longest waiting first. */
export const sweepFree = async (options: SweepOptions): Promise<void> => {
  const { store, clock, shared, isWanted, wake, take } = options;
  let after: SessionPlace | undefined;
  let woken = 0;
  for (let pages = 0; pages < SWEEP_PAGES_MAX && woken < SWEEP_SESSIONS_MAX; pages++) {
    const rows = await store.sessions({
      canGoOn: true,
      oldestFirst: true,
      limit: SWEEP_SESSIONS_MAX,
      ...(after && { after }),
    });
    const now = clock.now();
    for (const row of rows) {
      if (!isWanted(row) || isDriven(row, options)) continue;
      const idle = now - row.summary.updatedAt;
      if (shared && idle < FRESH_MS) continue;
      woken++;
      wake(row);
      if (shared && idle >= LOST_WAKE_MS) take(row);
    }
    const last = rows.at(-1);
    if (!last || rows.length < SWEEP_SESSIONS_MAX) return;
    after = { session: last.session, updatedAt: last.summary.updatedAt };
  }
};

/** By a neighbour that is there: to claim it would be to read its log for nothing. */
const isDriven = ({ lease }: SessionRow, { clock, owner, isGone }: SweepOptions): boolean =>
  lease !== undefined && lease.owner.id !== owner.id && lease.until > clock.now() && !isGone(lease.owner);
