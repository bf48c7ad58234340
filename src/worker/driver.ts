/**
 * THE HEARTBEAT: drives one session until it rests. The only place that both acts and appends.
 *
 * Invariants: (1) an intent (a request built, a call started) is durable before it is acted on; (2) facts in
 * hand are never dropped: they are appended, however long the store or a rival takes; (3) decisions are made on
 * the state they are committed on, and made again when somebody else appended first; (4) what another driver
 * had begun is never taken for this one's: it is said to be lost before anything follows from it.
 */
import type { Clock } from '../clock.ts';
import type { Digest } from '../event/canonical.ts';
import { open } from '../event/envelope.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { ConflictError, FencedError, StorageError, type Blob, type LogStore } from '../log/store.ts';
import { nextRequest } from '../context/next-request.ts';
import { rebuildRequest } from '../context/rebuild.ts';
import { beforeStart } from '../session/before-start.ts';
import {
  isInFlight,
  isPlanned,
  isSameWork,
  next,
  workName,
  type PlannedWork,
  type Work,
} from '../session/next.ts';
import type { SessionState } from '../session/state.ts';
import { definitionDigest } from './agent.ts';
import { agentFor } from './kept-level.ts';
import { CONTROL_LOG, gateFact, type Gate } from './gate.ts';
import {
  attemptJob,
  prepareJob,
  reconcileJob,
  requestJob,
  sleep,
  startProblem,
  type JobContext,
  type News,
} from './jobs.ts';
import { Batch, type LiveSession } from './live-session.ts';
import { evidenceOf, isNews, isRecorded } from './news.ts';
import { restOf, type Rest } from './rest.ts';
import { Signal } from './signal.ts';
import { WorkInHand, type Job } from './work-in-hand.ts';

/** Calls of one session that are executed at the same time. */
export const CALLS_AT_ONCE = 8;
/** The first wait for a store that cannot take an append, doubled up to the second. */
const STORAGE_WAIT_MS = 50;
const STORAGE_WAIT_MS_MAX = 5000;

export type DriverOptions = {
  readonly session: string;
  readonly epoch: number;
  readonly store: LogStore;
  readonly clock: Clock;
  readonly program: string;
  readonly jobs: JobContext;
  readonly live: LiveSession;
  /** When the claim was asked for, on the monotonic clock, and for how long it was given. */
  readonly lease: { readonly since: number; readonly ms: number };
  /** The store's gate, as it was last looked at, and a fresh look. */
  readonly gate: { last(): Gate; look(): Promise<Gate> };
  readonly onStorageFault: (fault: StorageError | undefined) => void;
};

type Delivery = { readonly news: News; readonly job?: Job };

/** What begins something in the world, and so is subject to the store's gate. */
const isIntent = ({ type }: LogEvent): boolean =>
  type === 'call.started' || type === 'request.built' || type === 'request.sent';

export class Driver {
  readonly #options: DriverOptions;
  readonly #live: LiveSession;
  readonly #inHand = new WorkInHand();
  /** When planned work is due, on the monotonic clock. */
  readonly #due = new Map<string, number>();
  readonly #wake = new Signal();
  readonly #stop = new AbortController();
  /** Nobody waits for this driver any longer: whatever is not in the log by now is left as it is. */
  readonly #abandoned = new AbortController();
  /** Until then nobody may have taken over, on the monotonic clock. */
  #ownedUntil: number;
  #inbox: Delivery[] = [];
  /** The part of the inbox that the batch in hand holds. */
  #taken: readonly Delivery[] = [];
  /** The head that this driver has written or is about to write. */
  #head = 0;
  /** Where the control log ended when the intents in hand were decided on. */
  #gateHead = 0;
  #stale = false;
  #over = false;
  #failure: unknown;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#ownedUntil = options.lease.since + options.lease.ms;
    this.#live = options.live;
  }

  get live(): LiveSession {
    return this.#live;
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The log may have grown up to `head`, or somewhere where it is not known: look, unless it is our own doing. */
  wake(head?: number): void {
    if (head !== undefined && head <= this.#head) return;
    this.#stale = true;
    this.#wake.raise();
  }

  /** Something outside of the log lets it go on. `doubtful`: somebody may have taken over, so it asks before it starts more. */
  look(doubtful = false): void {
    if (doubtful) this.#ownedUntil = -Infinity;
    this.#wake.raise();
  }

  /** Starts nothing more; what runs may end within the caller's patience. */
  stop(): void {
    this.#stop.abort();
    this.#wake.raise();
  }

  /** The caller's patience is over: ends without waiting for what runs. */
  abandon(): void {
    this.stop();
    this.#abandoned.abort();
  }

  /** Says again that this driver is there. False where another one has taken over. */
  async renew(): Promise<boolean> {
    const { store, session, epoch, clock, lease } = this.#options;
    const since = clock.monotonic();
    const kept = await store.renew(session, epoch, clock.now() + lease.ms);
    this.#ownedUntil = kept ? since + lease.ms : since;
    return kept;
  }

  /** News from a tool that was given up. False where this driver has ended and cannot take it any more. */
  deliver(news: News): boolean {
    if (this.#over) return false;
    this.#inbox.push({ news });
    this.#wake.raise();
    return true;
  }

  /** Drives until the session rests or the driver is stopped. Throws FencedError where another took over. */
  async run(): Promise<Rest> {
    try {
      return await this.#drive();
    } finally {
      this.#over = true;
      this.#options.jobs.slots.keepOnly(this.#options.session, []);
      for (const { news } of this.#inbox.splice(0)) this.#handOn(news);
      for (const { abort } of this.#inHand.jobs) abort.abort(new Error('the driver has ended'));
    }
  }

  /** What a tool still says to a driver that has ended is evidence for the log, whoever drives now. */
  #handOn(news: News): void {
    const evidence = evidenceOf(news);
    if (evidence) this.#options.jobs.onLate(evidence);
  }

  async #drive(): Promise<Rest> {
    await this.#refresh();
    for (;;) {
      const composed = this.#compose();
      const batch = composed instanceof Promise ? await composed : composed;
      if (batch.events.length > 0 && !(await this.#commit(batch))) continue;
      this.#put();
      this.#abortCancelled();
      if (!this.#isOwner()) await this.#makeSure();
      this.#launch();
      if (this.#isDone()) return restOf(this.#live.state);
      await this.#pause();
      if (this.#stale) {
        this.#stale = false;
        await this.#refresh();
      }
    }
  }

  #isDone(): boolean {
    if (this.#abandoned.signal.aborted) return true;
    if (this.#inHand.jobs.length > 0 || this.#inbox.length > 0) return false;
    return this.#stop.signal.aborted || !next(this.#live.state).some(isPlanned);
  }

  /** Whether nobody can have taken over, or nothing is started here any more. */
  #isOwner(): boolean {
    return this.#options.clock.monotonic() < this.#ownedUntil || this.#abandoned.signal.aborted;
  }

  /**
   * Before anything is started: a process that was stopped between its commit and the start, for longer than its
   * lease, must not act for a driver that has taken over meanwhile.
   */
  async #makeSure(): Promise<void> {
    const { session, epoch } = this.#options;
    if (!(await this.#patiently(() => this.renew()))) throw new FencedError(session, epoch, epoch + 1);
  }

  /** Facts in hand, the decisions that follow, and the intents that are due, as one batch. */
  #compose(): Batch | Promise<Batch> {
    const batch = new Batch(this.#live, this.#options.clock.now());
    batch.follow();
    // Before the news, so that what follows from it follows under the gate as it stands.
    const gate = this.#options.gate.last();
    this.#gateHead = gate.head;
    const moved = gateFact(batch.state, gate);
    if (moved) batch.add(moved);
    const lost = next(batch.state).some((work) => isInFlight(work) && !this.#inHand.hasBegun(work));
    if (lost)
      batch.add({ type: 'driver.changed', data: { epoch: this.#options.epoch, reason: 'process-lost' } });
    this.#taken = [...this.#inbox];
    for (const { news, job } of this.#taken) {
      // No news of a tool of its own: another driver has taken over and said that the attempt was lost.
      const evidence = job === undefined || isRecorded(batch.state, news.fact) ? undefined : evidenceOf(news);
      const told = isNews(batch.state, news.fact) ? news : evidence;
      if (told) batch.add(told.fact, told.blobs);
    }
    const intended = this.#stop.signal.aborted ? undefined : this.#intend(batch);
    return intended ? intended.then(() => batch) : batch;
  }

  /** A promise only where foreign code is asked first. */
  #intend(batch: Batch): Promise<void> | undefined {
    for (;;) {
      const work = next(batch.state).find((one) => this.#isDue(one, batch.state));
      if (!work) return undefined;
      const recorded = this.#record(work, batch);
      if (recorded) return recorded.then(() => this.#intend(batch));
    }
  }

  #isDue(work: Work, state: SessionState): boolean {
    switch (work.kind) {
      case 'build':
        return true;
      case 'resend':
        return this.#left(work) === 0;
      case 'start': {
        const running = next(state).filter((one) => one.kind === 'execute').length;
        const isFree = this.#options.jobs.slots.isFree(work.call.tool);
        return isFree && running < CALLS_AT_ONCE && this.#left(work) === 0;
      }
      default:
        return false;
    }
  }

  /** Milliseconds until planned work is due: from the moment it was first seen, by the clock that never goes back. */
  #left(work: PlannedWork): number {
    const { notBefore, ms } = work.pause;
    if (ms === 0) return 0;
    const { clock } = this.#options;
    const name = workName(work);
    let due = this.#due.get(name);
    if (due === undefined) {
      due = clock.monotonic() + Math.min(ms, Math.max(0, notBefore - clock.now()));
      this.#due.set(name, due);
    }
    return Math.max(0, due - clock.monotonic());
  }

  /** A promise only where foreign code is asked first. */
  #record(work: Work, batch: Batch): Promise<void> | undefined {
    switch (work.kind) {
      case 'build':
        this.#build(batch);
        return undefined;
      case 'resend': {
        const { turn, step, attempt } = work;
        batch.add({ type: 'request.sent', data: { turn, step, attempt } });
        this.#inHand.begin(work);
        return undefined;
      }
      case 'start':
        return this.#start(work, batch);
      default:
        return undefined;
    }
  }

  #start(work: Extract<Work, { kind: 'start' }>, batch: Batch): Promise<void> | undefined {
    const { call } = work;
    const first = beforeStart(batch.state, call, batch.at);
    if (first) {
      batch.add(first);
      return undefined;
    }
    const begin = (problem: News | undefined): void => {
      if (problem) return batch.add(problem.fact, problem.blobs);
      this.#options.jobs.slots.hold(batch.session, work, call.tool);
      batch.add({ type: 'call.started', data: { call: call.id, attempt: work.attempt } });
      this.#inHand.begin(work);
    };
    const problem = startProblem(batch.state, call, this.#options.jobs.agent);
    if (problem instanceof Promise) return problem.then(begin);
    begin(problem);
    return undefined;
  }

  #build(batch: Batch): void {
    const { agent } = this.#options.jobs;
    // Between steps no call is open, so a newer build's definition can take over.
    const { definition, digest } = agentFor(batch.state.agent, agent);
    if (definitionDigest(batch.state.agent) !== digest)
      batch.add({ type: 'agent.updated', data: { agent: definition, program: this.#options.program } });
    // The newer definition may end the turn instead: its limits are lower.
    const { builder } = this.#live;
    const work = next(batch.state).find((one) => one.kind === 'build');
    if (!builder || !work) return;
    const request = nextRequest(builder, batch.state, work);
    if (request.type === 'request.refused') return batch.add({ type: request.type, data: request.data });
    const { type, data, head, tail } = request;
    batch.add({ type, data }, this.#frameBlobs(data, head, tail));
    this.#inHand.begin({ kind: 'request', turn: work.turn, step: work.step, attempt: 1 });
  }

  /** What stands around the parts, where the log does not have it yet. */
  #frameBlobs(data: EventData['request.built'], head: string, tail: string): readonly Blob[] {
    if (!data.frame) return [];
    return [
      { digest: data.frame.head, bytes: Buffer.from(head) },
      { digest: data.frame.tail, bytes: Buffer.from(tail) },
    ];
  }

  /** False where somebody else appended first, and all has to be decided again. */
  async #commit(batch: Batch): Promise<boolean> {
    const { store, epoch, jobs } = this.#options;
    this.#head = batch.state.seq;
    try {
      // The very same batch again: if it was written after all, the store knows it by its hashes.
      const given = batch.events.some(isIntent) ? { session: CONTROL_LOG, head: this.#gateHead } : undefined;
      const options = { epoch, faults: jobs.faults, ...(given && { given }) };
      await this.#patiently(() => batch.commit(store, options));
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      await this.#patiently(() => this.#options.gate.look());
      await this.#reload();
      return false;
    }
    this.#live.adopt(batch);
    return true;
  }

  /** Asks the store again until it answers: with facts in hand a fault of the disk is no reason to end. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    const { clock, onStorageFault } = this.#options;
    for (let wait = STORAGE_WAIT_MS; ; wait = Math.min(wait * 2, STORAGE_WAIT_MS_MAX)) {
      try {
        const result = await work();
        onStorageFault(undefined);
        return result;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        onStorageFault(error);
        await sleep(clock, wait, this.#abandoned.signal);
        if (this.#abandoned.signal.aborted) throw error;
      }
    }
  }

  async #refresh(): Promise<void> {
    await this.#patiently(() => this.#live.refresh(this.#options.store));
  }

  /** What was taken from the inbox is in the log now, or was no news. */
  #put(): void {
    const { jobs, session } = this.#options;
    for (const { job } of this.#taken) if (job && this.#inHand.end(job)) jobs.slots.drop(session, job.work);
    // What has come meanwhile stands behind it.
    this.#inbox = this.#inbox.slice(this.#taken.length);
  }

  /** The request builder has seen events that were not written; it is made again from the log. */
  async #reload(): Promise<void> {
    this.#options.jobs.slots.keepOnly(this.#options.session, this.#inHand.works);
    this.#head = 0;
    this.#live.reset();
    await this.#refresh();
  }

  /**
   * Begins what is due. A driver that stops begins only calls whose start it has just recorded: left alone they
   * would be in doubt, although it is known that they have not run.
   */
  #launch(): void {
    if (this.#abandoned.signal.aborted) return;
    const stops = this.#stop.signal.aborted;
    for (const work of next(this.#live.state)) {
      if (stops && work.kind !== 'execute') continue;
      const run = this.#inHand.isRunning(work) ? undefined : this.#runner(work);
      if (!run) continue;
      const job = this.#inHand.run(work);
      void run(job.abort).then(
        (news) => {
          if (!news) this.#inHand.forget(job);
          else if (this.#over) return this.#handOn(news);
          else this.#inbox.push({ news, job });
          this.#wake.raise();
        },
        (error: unknown) => {
          this.#failure = error;
          this.#wake.raise();
        },
      );
    }
  }

  #runner(work: Work): ((abort: AbortController) => Promise<News | undefined>) | undefined {
    const { state, builder } = this.#live;
    const { jobs } = this.#options;
    switch (work.kind) {
      case 'request': {
        const { turn, step, attempt } = work;
        const body = builder?.lastBody(state);
        return async (abort) =>
          requestJob(
            { body: body ?? (await this.#recordedBody(state)), turn, step, attempt },
            state,
            jobs,
            abort,
          );
      }
      case 'execute':
        return (abort) => attemptJob(state, work.call, jobs, abort);
      case 'prepare':
        return (abort) => prepareJob(state, work.call, jobs, abort);
      case 'reconcile':
        return (abort) => reconcileJob(state, work.call, jobs, abort);
      default:
        return undefined;
    }
  }

  /** The bytes of the open request from the record, where today's adapter would make others. */
  async #recordedBody({ session, lastRequest = 0 }: SessionState): Promise<() => string> {
    const { store } = this.#options;
    const events = (await store.read(session)).map(open);
    const source = {
      eventAt: (seq: number) => events[seq - 1],
      blob: (digest: Digest) => store.blob(digest),
    };
    const { body } = await rebuildRequest(source, lastRequest);
    return () => body;
  }

  /** A cancelled turn may have ended already, where only a preview was under way: what nobody wants is stopped, too. */
  #abortCancelled(): void {
    const { jobs } = this.#inHand;
    if (jobs.length === 0) return;
    const { state } = this.#live;
    const wanted = next(state);
    for (const { work, abort } of jobs)
      if (
        (work.kind !== 'execute' && !wanted.some((one) => isSameWork(one, work))) ||
        (state.active?.cancel && work.kind !== 'reconcile')
      )
        abort.abort(new Error('the turn was cancelled'));
  }

  /** The one place where the driver waits for the world. */
  async #pause(): Promise<void> {
    const { clock } = this.#options;
    const { state } = this.#live;
    let soonest = Infinity;
    for (const work of next(state)) {
      if (!isPlanned(work)) continue;
      // Read before it is asked what is due: whatever falls due between the two has a timer.
      const left = this.#left(work);
      if (left > 0) soonest = Math.min(soonest, left);
      // Its time came while the batch was written: no timer would tell.
      if (!this.#stop.signal.aborted && this.#isDue(work, state)) return;
    }
    const timer = soonest < Infinity ? clock.after(soonest, () => this.#wake.raise()) : undefined;
    await this.#wake.raised();
    timer?.cancel();
    if (this.#failure !== undefined) throw this.#failure;
  }
}
