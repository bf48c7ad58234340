/**
 * A session as this process knows it: the state folded to some seq, the head's hash, and the request builder.
 * A cache of the log: it is thrown away and loaded again whenever it might be wrong.
 */
import { bug } from '../errors.ts';
import type { Digest } from '../event/canonical.ts';
import type { AgentDefinition } from '../event/definition.ts';
import { genesis, open, seal, type StoredEvent } from '../event/envelope.ts';
import type { LogEvent, NewEvent } from '../event/events.ts';
import type { SessionSummary } from '../event/summary.ts';
import { RequestBuilder } from '../context/request-builder.ts';
import type { Encoder } from '../context/encoding.ts';
import { PAGE_EVENTS } from '../log/pages.ts';
import type { Append, Blob, ForkPlace, LogStore } from '../log/store.ts';
import { conclude } from '../session/conclude.ts';
import { evolve, initial } from '../session/evolve.ts';
import type { SessionState } from '../session/state.ts';
import { summaryOf } from '../session/summary.ts';
import type { FaultPlace, Faults } from './fault-point.ts';

/** Decisions that may follow from one fact; more means that conclude does not come to rest. */
const DECISIONS_MAX = 10_000;

export type CommitOptions = {
  readonly epoch?: number;
  readonly faults?: Faults | undefined;
  /** Another log that must still end there. */
  readonly given?: Append['given'];
  /** Creates the session on what another one has up to there. */
  readonly fork?: ForkPlace;
};

/** Events that belong together, sealed one after the other on a state that is not committed yet. */
export class Batch {
  readonly session: string;
  readonly at: number;
  readonly expected: number;
  readonly #before: SessionSummary;
  readonly #builder: RequestBuilder | undefined;
  #state: SessionState;
  #hash: Digest;
  #summary: { readonly state: SessionState; readonly summary: SessionSummary } | undefined;
  /** Nothing follows from the state as it stands. */
  #settled = false;
  /** Handed to the store before: what became of that is not known, or this would not be sent again. */
  #sent = false;
  readonly events: LogEvent[] = [];
  readonly stored: StoredEvent[] = [];
  readonly blobs: Blob[] = [];

  constructor(live: LiveSession, at: number) {
    this.session = live.session;
    this.at = at;
    this.#before = live.summary;
    this.#state = live.state;
    this.#hash = live.hash;
    this.#builder = live.builder;
    this.expected = live.state.seq;
  }

  get state(): SessionState {
    return this.#state;
  }

  get hash(): Digest {
    return this.#hash;
  }

  get summary(): SessionSummary {
    if (this.#summary?.state !== this.#state)
      this.#summary = { state: this.#state, summary: summaryOf(this.#state) };
    return this.#summary.summary;
  }

  /** Adds an event, and after it every decision that follows. */
  add(event: NewEvent, blobs: readonly Blob[] = []): void {
    this.follow();
    this.#append(event);
    this.blobs.push(...blobs);
    this.follow();
  }

  /** Adds what follows from the log as it stands: nothing, unless it was cut inside a batch, as a fork may be. */
  follow(): void {
    for (let i = 0; i < DECISIONS_MAX; i++) {
      const decision = this.#settled ? undefined : conclude(this.#state);
      this.#settled = !decision;
      if (!decision) return;
      this.#append(decision);
    }
    throw bug('conclude comes to rest', { session: this.session, seq: this.#state.seq });
  }

  /** Writes the batch. The list of sessions is touched only when what it shows has changed. */
  commit(store: LogStore, options: CommitOptions = {}): Promise<void> {
    const { faults } = options;
    return faults ? this.#commitUnder(faults, store, options) : store.append(this.#toAppend(options));
  }

  async #commitUnder(faults: Faults, store: LogStore, options: CommitOptions): Promise<void> {
    const place: FaultPlace = {
      session: this.session,
      what: this.events.map((event) => event.type).join(' '),
    };
    await faults.reach('append.before', place);
    await store.append(this.#toAppend(options));
    await faults.reach('append.after', place);
  }

  #toAppend({ epoch, given, fork }: CommitOptions): Append {
    const { summary } = this;
    const before = this.#before;
    const changed =
      this.expected === 0 ||
      fork !== undefined ||
      before.status !== summary.status ||
      before.waiting !== summary.waiting ||
      before.inDoubt !== summary.inDoubt ||
      before.canGoOn !== summary.canGoOn ||
      before.turns !== summary.turns ||
      before.wakeAt !== summary.wakeAt ||
      before.waits?.for !== summary.waits?.for ||
      before.untold !== summary.untold ||
      before.agent !== summary.agent;
    const again = this.#sent;
    this.#sent = true;
    return {
      session: this.session,
      again,
      expected: this.expected,
      events: this.stored,
      ...(fork && { fork }),
      ...(this.blobs.length > 0 && { blobs: this.blobs }),
      ...(epoch !== undefined && { epoch }),
      ...(given && { given }),
      // The control log has no agent and stands in no list.
      ...(changed && summary.agent !== '' && { summary }),
    };
  }

  #append(event: NewEvent): void {
    const place = { seq: this.#state.seq + 1, at: this.at, prev: this.#hash };
    const sealed = seal(event, place);
    const before = this.#state;
    this.#state = evolve(before, sealed.event);
    this.#settled = false;
    this.#hash = sealed.stored.hash;
    this.events.push(sealed.event);
    this.stored.push(sealed.stored);
    this.#builder?.push(sealed.event, before, this.#state);
  }
}

export class LiveSession {
  readonly session: string;
  readonly #encoderOf: ((agent: AgentDefinition) => Encoder | undefined) | undefined;
  #builder: RequestBuilder | undefined;
  #state: SessionState;
  #hash: Digest;
  /** Of the state as it stands, once somebody has asked. */
  #summary: SessionSummary | undefined;

  /** Without `encoderOf` the session can be read and commanded, but no request can be built. */
  constructor(session: string, encoderOf?: (agent: AgentDefinition) => Encoder | undefined) {
    this.session = session;
    this.#encoderOf = encoderOf;
    this.#builder = encoderOf && new RequestBuilder(encoderOf);
    this.#state = initial(session);
    this.#hash = genesis(session);
  }

  /** The same place in the log without the request builder: for commands, which build no request. */
  reader(): LiveSession {
    const reader = new LiveSession(this.session);
    reader.#state = this.#state;
    reader.#hash = this.#hash;
    reader.#summary = this.#summary;
    return reader;
  }

  /** Another session on the past that this one has reached. */
  branch(session: string): LiveSession {
    const branch = new LiveSession(session);
    branch.#state = { ...this.#state, session };
    branch.#hash = this.#hash;
    return branch;
  }

  get state(): SessionState {
    return this.#state;
  }

  get hash(): Digest {
    return this.#hash;
  }

  get builder(): RequestBuilder | undefined {
    return this.#builder;
  }

  get summary(): SessionSummary {
    this.#summary ??= summaryOf(this.#state);
    return this.#summary;
  }

  /** Forgets all: a builder that has seen events which were not written cannot go back. */
  reset(): void {
    this.#builder = this.#encoderOf && new RequestBuilder(this.#encoderOf);
    this.#state = initial(this.session);
    this.#hash = genesis(this.session);
    this.#summary = undefined;
  }

  /** Reads what was appended since, here or elsewhere; with `to` not further than that event. */
  async refresh(store: LogStore, to: number = Number.MAX_SAFE_INTEGER): Promise<void> {
    for (let from = this.#state.seq + 1; from <= to; from += PAGE_EVENTS) {
      const page = await store.read(this.session, from, Math.min(to, from + PAGE_EVENTS - 1));
      // Two readers may have asked at once: what the faster one brought is not folded again.
      for (const stored of page) if (stored.seq === this.#state.seq + 1) this.#push(stored);
      if (page.length < PAGE_EVENTS) return;
    }
  }

  /** Takes over a batch that was committed on top of this state; one that was read back meanwhile is there already. */
  adopt(batch: Batch): void {
    if (batch.expected !== this.#state.seq) return;
    this.#state = batch.state;
    this.#hash = batch.hash;
    this.#summary = batch.summary;
  }

  #push(stored: StoredEvent): void {
    const event = open(stored);
    const before = this.#state;
    this.#state = evolve(before, event);
    this.#hash = stored.hash;
    this.#summary = undefined;
    this.#builder?.push(event, before, this.#state);
  }
}
