/**
 * Who is to look at a session next. A wake is a hint: it may be lost, late or repeated, and a worker's sweep makes up
 * for it. What is correct is the log's: the claim, the expected seq, the fencing epoch. So a dispatcher keeps no truth,
 * and a session that waits for a person or for its next message has neither a job nor a timer in it.
 *
 * What every implementation does all the same (test/contract/dispatcher.ts runs it over each):
 * 1. A wake leads to a take that begins after it, while somebody has started and has room.
 * 2. Where several processes have started on one dispatcher, one of them gets a wake.
 * 3. Nothing is taken before its time.
 * 4. A session is taken by one take at a time; a wake in the middle of one leads to another one after it.
 * 5. What could not be taken for now is offered again, here or elsewhere.
 * 6. A take that throws keeps nobody else's wakes up, nor later ones of that session.
 * 7. No more is taken at once than there is room for.
 * 8. When stop() has resolved nothing is taken any more here.
 */

/** Why a session is looked at: for the operator, nothing depends on it. */
export type WakeReason =
  /** Something was appended from outside: a message, a decision, a settlement. */
  | 'appended'
  /** A sweep found that it could go on and that nobody drives it. */
  | 'swept'
  /** Its worker gave it back with work left: it stops, or is full. */
  | 'left';

export type Wake = {
  readonly session: string;
  /** Whose it is, so that one tenant's many do not keep another's few from being looked at. Empty: nobody's. */
  readonly tenant?: string;
  /** Wall time, milliseconds since 1970 UTC. Absent: now. */
  readonly notBefore?: number;
  readonly reason: WakeReason;
};

export type Taken =
  /** It is driven here now; `rested` settles when that has ended, and never rejects. */
  | { readonly kind: 'driven'; readonly rested: Promise<unknown> }
  /** It rests, somebody else drives it, or nothing here can: the wake has done what it was for. */
  | { readonly kind: 'nothing' }
  /** Not now: a limit is reached, or this worker is about to end. Offered again after so many milliseconds. */
  | { readonly kind: 'later'; readonly afterMs: number };

/** The side that drives. */
export type Taker = {
  /** Claims the session and begins to drive it, where there is anything to do. Resolves once that is known. */
  take(session: string): Promise<Taken>;
  /** How many sessions could be taken now, with the takes under way counted as taken. */
  room(): number;
};

export type Dispatcher = {
  /** For the operator's log: "in-process", "pg-boss". */
  readonly name: string;
  /** Whether a wake reaches the workers of other processes, too. */
  readonly shared: boolean;
  /** Whether it hears of every append by itself, because it sits in the store: then nobody has to wake for one. */
  readonly heedsAppends: boolean;
  /** Never throws for what is only late: a hint that cannot be given is left to the sweep. */
  wake(wake: Wake): Promise<void>;
  /** Begins to hand out sessions. Throws where it cannot be reached at all. Called once at most. */
  start(taker: Taker): Promise<void>;
  /** There may be something to take, or room for it: looks now instead of some time soon. */
  look(): void;
  /** Hands out nothing more, and gives back what it holds of connections. Takes under way end first. */
  stop(): Promise<void>;
};

/** After so long a session is offered again that could not be taken, where nothing else says when. */
export const LATER_MS = 1000;
