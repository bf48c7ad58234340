/** A cached projection of a session for lists, kept beside the log and rebuilt from it at will. */

/** In the order of urgency: what a person can act on, what went wrong, the rest. */
export type SessionStatus = 'in-doubt' | 'waiting' | 'failed' | 'running' | 'idle' | 'cancelled' | 'done';

/** A decision, a settlement, an end of parking, a mode that is opened: a person. A worker, or the next message. */
export type WaitsFor = 'decision' | 'settlement' | 'unpark' | 'mode' | 'worker' | 'message';

export type SessionSummary = {
  readonly agent: string;
  /** Empty where the store is not shared. */
  readonly tenant: string;
  readonly title: string;
  readonly status: SessionStatus;
  /** Whether there is work that needs nobody's answer. */
  readonly canGoOn: boolean;
  readonly turns: number;
  /** Calls that wait for a decision, and calls in doubt. */
  readonly waiting: number;
  readonly inDoubt: number;
  /** When something falls due by itself: a question lapses or is escalated. Wall time, milliseconds since 1970 UTC. */
  readonly wakeAt?: number;
  /** Questions and doubts that nobody was told of yet. */
  readonly untold: number;
  /** What it waits for, and since when by the wall clock; absent in rows that an older program wrote last. */
  readonly waits?: { readonly for: WaitsFor; readonly since: number };
  /** US dollars; null while a part of it is unknown. */
  readonly cost: number | null;
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number;
  readonly updatedAt: number;
};
