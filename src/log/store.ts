/**
 * THE RECORD: the one boundary between the runtime and whatever keeps its logs.
 *
 * Promises of every implementation (test/contract/log.ts runs them all over each):
 * 1. One append is all or nothing, and is durable when its promise resolves.
 * 2. Of several appends at one head one succeeds; the others see a conflict and change nothing.
 * 3. An append under an epoch that is no longer the session's is refused (fenced).
 * 4. Bodies and blobs come back as the bytes that went in.
 * 5. Sending an append again whose outcome was unclear adds nothing.
 * 6. An append that is given another log's head is written only while that log ends there.
 * 7. A fork's log is its parent's up to the fork's place, and its own behind it. The shared part is stored once, and
 *    what the parent or the fork appends later is seen in its own log alone.
 */
import { badInput, OnrecordError } from '../errors.ts';
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { SessionStatus, SessionSummary } from '../event/summary.ts';

export type Blob = { readonly digest: Digest; readonly bytes: Uint8Array };

/** Sessions that a log may be made of: a fork of a fork of a fork ... */
export const FORKS_DEEP_MAX = 64;

export type Append = {
  readonly session: string;
  /** The seq that the log ends with now; 0 creates the session, and so does the place of `fork`. */
  readonly expected: number;
  /** Creates the session on another one's events up to this place. */
  readonly fork?: ForkPlace;
  readonly events: readonly StoredEvent[];
  readonly blobs?: readonly Blob[];
  /** The fencing epoch of the driver; absent for what comes from outside (turns, decisions). */
  readonly epoch?: number;
  readonly summary?: SessionSummary;
  /** Written only while this other log ends there; else a conflict, which names it. */
  readonly given?: { readonly session: string; readonly head: number };
  /**
   * Sent before by this writer, with an unclear outcome: if these very events stand there, it was written. Without
   * it, equal events of two writers at one head have one winner like any others.
   */
  readonly again?: boolean;
};

/** The parent of a fork, and the last of its events that both share. */
export type ForkPlace = { readonly parent: string; readonly seq: number };

export type SessionRow = {
  readonly session: string;
  readonly head: number;
  readonly summary: SessionSummary;
  /** Where it was forked from, if it was. */
  readonly fork?: ForkPlace;
  /** Who drives it, until when by the wall clock. */
  readonly lease?: { readonly owner: Owner; readonly until: number };
};

/** How many sessions have a status; one that none has may be missing. */
export type StatusCounts = Readonly<Partial<Record<SessionStatus, number>>>;

export type SessionQuery = {
  readonly status?: readonly SessionStatus[];
  readonly agent?: string;
  readonly tenant?: string;
  readonly canGoOn?: boolean;
  /** Sessions whose `wakeAt` is not after this wall time, milliseconds since 1970 UTC. */
  readonly dueBy?: number;
  /** Sessions with something that nobody was told of yet. */
  readonly untold?: boolean;
  /** Those that were forked from this session itself, not from forks of it. */
  readonly forkOf?: string;
  /** Only these, by name. */
  readonly names?: readonly string[];
  readonly limit?: number;
  /** In the other order, the last changed last. */
  readonly oldestFirst?: true;
  /** Only what stands behind this row in the list, for the next page. */
  readonly after?: SessionPlace;
};

/** A row's place in the list: the last changed first, of those changed at one moment by name. */
export type SessionPlace = {
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number;
  readonly session: string;
};

/** Who drives a session. `pid` and `boot` let a neighbour on the same machine see that it is gone. */
export type Owner = {
  readonly id: string;
  readonly host: string;
  readonly boot: string;
  readonly pid: number;
  /** When the process started, as the system counts it; guards against a reused pid. */
  readonly started: string;
};

/** Sessions of one agent, and of one tenant, whose leases may run at once, this one's included. */
export type ClaimLimits = { readonly agent?: number; readonly tenant?: number };

export type Claim =
  /**
   * `tries`: claims at this very head, this one counted, none of which was given back: the drivers before this one
   * were lost or failed before they had appended anything.
   */
  | { readonly won: true; readonly epoch: number; readonly tries: number }
  | { readonly won: false; readonly owner: Owner; readonly until: number }
  /** The limit that is reached. */
  | { readonly won: false; readonly full: keyof ClaimLimits };

export type ClaimRequest = {
  readonly session: string;
  readonly owner: Owner;
  /** Wall clock, milliseconds since 1970 UTC. */
  readonly now: number;
  readonly leaseMs: number;
  /** Whether a lease that has not run out may be taken, because its owner is known to be gone. */
  readonly isGone: (owner: Owner) => boolean;
  /** For the session's agent and tenant as the list shows them; absent: none. */
  readonly limits?: (of: { readonly agent: string; readonly tenant: string }) => ClaimLimits;
};

export type Head = { readonly seq: number; readonly hash: Digest };

/**
 * The session that grew and its new head; undefined where another process committed something somewhere. `agent`:
 * somebody outside of this process appended work for this agent, which nobody may have taken up yet.
 */
export type Change = { readonly session: string; readonly head: number; readonly agent?: string } | undefined;
export type ChangeListener = (change: Change) => void;

export type LogStore = {
  /** For people: "sqlite .onrecord/log.db", or a URL without its password. */
  readonly name: string;
  append(append: Append): Promise<void>;
  /** Events from `from` (default 1) to `to` (default the head), both included, in order. */
  read(session: string, from?: number, to?: number): Promise<readonly StoredEvent[]>;
  head(session: string): Promise<Head | undefined>;
  blob(digest: Digest): Promise<Uint8Array | undefined>;
  sessions(query?: SessionQuery): Promise<readonly SessionRow[]>;
  /** Of all tenants, in one look at an index: what it costs grows with the sessions, but not with what is in them. */
  counts(): Promise<StatusCounts>;
  claim(request: ClaimRequest): Promise<Claim>;
  /** False when the lease is no longer this epoch's. */
  renew(session: string, epoch: number, until: number): Promise<boolean>;
  /** Gives a lease back. Answers where the log ends then; undefined where the lease was no longer this epoch's. */
  release(session: string, epoch: number): Promise<number | undefined>;
  /**
   * Calls back after something was committed. A hint: it may come late or twice, and a reader reads on from its
   * own position.
   */
  changes(listener: ChangeListener): () => void;
  /**
   * Calls back when the connection is lost by which this process shows that it is there: from then on others may take its
   * leases. Absent where a lease can only run out.
   */
  leasesAtRisk?(listener: () => void): () => void;
  close(): Promise<void>;
};

/** Somebody else appended first: read on, decide again. */
export class ConflictError extends OnrecordError {
  constructor(session: string, expected: number, head: number) {
    super(`Session ${session} ends at event ${head}, not at ${expected}. Somebody else appended first.`, {
      code: 'append-conflict',
      next: 'retry',
      details: { session, expected, head },
    });
  }
}

/** Another driver took the session over: stop, and start no effect. */
export class FencedError extends OnrecordError {
  constructor(session: string, epoch: number, current: number) {
    super(`Session ${session} is driven under epoch ${current} now; epoch ${epoch} may not append.`, {
      code: 'append-fenced',
      next: 'look-again',
      details: { session, epoch, current },
    });
  }
}

export type StorageFault = 'busy' | 'full' | 'read-only' | 'io' | 'replaced' | 'unavailable';

/** The store cannot take the append now. Nothing is known to be lost; the same append may be sent again. */
export class StorageError extends OnrecordError {
  readonly fault: StorageFault;
  constructor(fault: StorageFault, message: string, cause?: unknown) {
    super(message, {
      code: `store-${fault}`,
      next: 'retry',
      details: { fault },
      // It says what answers and what does not, and goes on by itself.
      ...(fault === 'unavailable' && { hint: 'onrecord doctor' }),
      cause,
    });
    this.fault = fault;
  }
}

/** The parent of a fork has no event at its place. */
export const forkPlaceMissing = ({ parent, seq }: ForkPlace, head: number): OnrecordError =>
  badInput(
    'fork-place-missing',
    `Session ${parent} has ${head} events; there is no event ${seq} to fork it at.`,
    { session: parent, seq, head },
    `onrecord show ${parent} --timeline`,
  );

export const forkTooDeep = (parent: string): OnrecordError =>
  badInput(
    'fork-too-deep',
    `Session ${parent} is the ${FORKS_DEEP_MAX}th of a row of forks; no further fork can be made of it. Fork one of its parents.`,
    { session: parent, limit: FORKS_DEEP_MAX },
  );

export const sessionNotFound = (session: string): OnrecordError =>
  new OnrecordError(`No session is called "${session}" in this store.`, {
    code: 'session-not-found',
    next: 'fix-input',
    details: { session },
    hint: 'onrecord sessions',
  });
