/**
 * The sessions that this process drives: claims what the dispatcher hands it, keeps the leases, and sweeps for what no
 * wake has reached. What is correct is the append, with its expected seq and its fencing epoch.
 */
import type { Clock } from '../clock.ts';
import { OnrecordError } from '../errors.ts';
import type { Encoder } from '../context/encoding.ts';
import type { AgentDefinition } from '../event/definition.ts';
import { FencedError, StorageError, type Change, type LogStore, type Owner } from '../log/store.ts';
import { wakeAtOf } from '../session/deadlines.ts';
import type { SessionState } from '../session/state.ts';
import type { Logger } from '../tool/tool.ts';
import type { Agent } from './agent.ts';
import { LATER_MS, type Dispatcher, type Taken, type WakeReason } from './dispatcher.ts';
import { Driver } from './driver.ts';
import type { Rest } from './rest.ts';
import type { Faults } from './fault-point.ts';
import { CONTROL_LOG, OPEN_GATE, readGate, type Gate } from './gate.ts';
import { sleep, type News, type StreamDelta } from './jobs.ts';
import type { KnownSessions } from './known-sessions.ts';
import type { PriceSource } from './priced.ts';
import { Claims, LEASE_MS, type Won } from './claims.ts';
import { LiveSession } from './live-session.ts';
import { backoffAfter } from './parking.ts';
import { PROGRAM } from './program.ts';
import { sweepFree, SWEEP_SESSIONS_MAX } from './sweep.ts';
import { ToolSlots } from './tool-slots.ts';
import { SESSIONS_AT_ONCE, type WorkLimits } from './work-limits.ts';

/** After so long without a driver a session that could go on stands still: no model or tool is asked for that. */
export const STALLED_MS = 60_000;
/** A look at what is due ends within this time, also where the store does not answer: its statements have deadlines. */
export const ALIVE_MS = 120_000;
/** Sessions that stand still of which it is said; one is one too many. */
const STALLED_MAX = 100;
/** After leases may have come free, what nobody has taken is woken again. */
const AGAIN_MS = 1200;
/** Turns of the event loop that close() waits for the leases to be given back. */
const RELEASE_TURNS = 3;

export type WorkerOptions = {
  readonly store: LogStore;
  readonly sessions: KnownSessions;
  /** Throws `agent-not-found`. */
  readonly agent: (name: string) => Agent;
  readonly knows: (agent: string) => boolean;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly isGone: (owner: Owner) => boolean;
  readonly log: Logger;
  readonly faults: Faults | undefined;
  readonly prices: PriceSource;
  readonly onDelta: (session: string, delta: StreamDelta) => void;
  /** Whether sessions are taken up without being asked for. */
  readonly drives: boolean;
  /** Whether rehearsals are what is driven here; elsewhere their tools would act. */
  readonly rehearsal: boolean;
  readonly dispatcher: Dispatcher;
  readonly limits: WorkLimits;
};

/**
 * How a driver has ended: the session rests and nothing was appended since, or what has ended it. Neither where it was
 * told to stop, another one has taken over, or there is more to do.
 */
export type DrivingEnd = { readonly rest?: Rest; readonly failure?: unknown };

export type Driving = { readonly driver: Driver; readonly done: Promise<DrivingEnd> };

const LATER: Taken = { kind: 'later', afterMs: LATER_MS };

export class Worker {
  readonly #options: WorkerOptions;
  readonly #driving = new Map<string, Driving>();
  readonly #claiming = new Map<string, Promise<Driving | 'later' | undefined>>();
  readonly #claims: Claims;
  readonly #slots: ToolSlots;
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;
  /** Sessions that wait for the store, and what they were told. */
  readonly #waiting = new Map<string, StorageError>();
  #gate: Gate = OPEN_GATE;
  /** Sessions with events that a newer program wrote: nothing here can drive them. */
  readonly #tooNew = new Set<string>();
  /** When a look at all that is due last came to an end, on the monotonic clock. */
  #lookedAt: number;
  #closing = false;
  #again = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#lookedAt = options.clock.monotonic();
    this.#claims = new Claims({
      ...options,
      shared: options.dispatcher.shared,
      begin: (session) => this.begin(session),
      ring: (session) => this.ring(session),
      gate: () => this.gate(),
      isClosing: () => this.#closing,
      waits: (session, fault) => this.#waits(session, fault),
    });
    this.#slots = new ToolSlots(options.limits.tools, () => this.#lookAll());
    const changes = options.store.changes((change) => this.#changed(change));
    const atRisk = options.store.leasesAtRisk?.(() => this.#lookAll(true));
    this.#unsubscribe = () => {
      changes();
      atRisk?.();
    };
    this.#keepLeases();
  }

  /** The store's fault that work waits for, if any. */
  get storageFault(): StorageError | undefined {
    const [fault] = this.#waiting.values();
    return fault;
  }

  /**
   * False where this process drives and no look at what is due has come to an end for ALIVE_MS, well or not: it hangs.
   * A store that is away is no reason: then looks end with its fault.
   */
  get isAlive(): boolean {
    const { clock, drives } = this.#options;
    return !drives || this.#closing || clock.monotonic() - this.#lookedAt < ALIVE_MS;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Begins to take what the dispatcher hands out. */
  async start(): Promise<void> {
    await this.#options.dispatcher.start({
      take: (session) => this.#take(session),
      room: () => this.#room(),
    });
  }

  #room(): number {
    const { sessions = SESSIONS_AT_ONCE } = this.#options.limits;
    return sessions - this.#driving.size - this.#claiming.size;
  }

  #lookAll(doubtful = false): void {
    for (const { driver } of this.#driving.values()) driver.look(doubtful);
  }

  /** The store's gate as it stands now. */
  async gate(): Promise<Gate> {
    const gate = await readGate(this.#options.store, this.#gate);
    // Of two looks at once the later one may answer first.
    if (gate.head <= this.#gate.head) return this.#gate;
    this.#gate = gate;
    for (const { driver } of this.#driving.values()) driver.wake();
    return gate;
  }

  /**
   * Sessions that could go on and that nobody drives, here or elsewhere, although they have waited for STALLED_MS: a
   * sweep of any worker would have taken them up several times. STALLED_MAX of them at most.
   */
  async stalled(): Promise<readonly string[]> {
    const { store, clock, knows } = this.#options;
    if ((await this.gate()).mode === 'frozen') return [];
    const now = clock.now();
    const after = { updatedAt: now - STALLED_MS, session: '' };
    const rows = await store.sessions({ canGoOn: true, after, limit: STALLED_MAX });
    const idle = rows.filter(
      ({ session, summary, lease }) =>
        knows(summary.agent) &&
        !this.#driving.has(session) &&
        !this.#tooNew.has(session) &&
        (lease?.until ?? 0) <= now,
    );
    const stalled: string[] = [];
    for (const { session } of idle) if (await this.#isOurs(session)) stalled.push(session);
    return stalled;
  }

  /** One that cannot be read is as good as standing still. */
  async #isOurs(session: string): Promise<boolean> {
    try {
      return (await this.#options.sessions.state(session)).rehearsal === this.#options.rehearsal;
    } catch (error) {
      if (error instanceof StorageError) throw error;
      return true;
    }
  }

  /** Says that a moment was reached that the session waits for, where it was. Answers the session as it stands then. */
  ring(session: string): Promise<SessionState> {
    return this.#options.sessions.append(session, (state, now) => {
      const due = wakeAtOf(state);
      if (due === undefined || due > now) return [];
      return [{ fact: { type: 'time.reached', data: { due } }, blobs: [] }];
    });
  }

  /** Takes up every session that can go on and that nobody drives, and rings where a moment was reached. */
  async sweep(): Promise<void> {
    try {
      await this.#sweep();
    } finally {
      this.#lookedAt = this.#options.clock.monotonic();
    }
  }

  async #sweep(): Promise<void> {
    const { store, clock, owner, isGone, dispatcher, knows } = this.#options;
    const due = await store.sessions({ dueBy: clock.now(), limit: SWEEP_SESSIONS_MAX });
    for (const { session, summary } of due) {
      await this.#ringIn(session);
      if (knows(summary.agent)) this.wake(session, 'swept', summary.tenant);
    }
    if ((await this.gate()).mode === 'frozen') return;
    await sweepFree({
      store,
      clock,
      owner,
      isGone,
      shared: dispatcher.shared,
      isWanted: ({ session, summary }) =>
        knows(summary.agent) && !this.#driving.has(session) && !this.#tooNew.has(session),
      wake: ({ session, summary }) => this.wake(session, 'swept', summary.tenant),
      take: ({ session }) => {
        if (this.#room() > 0) void this.#take(session);
      },
    });
  }

  /** One session that cannot be read must not keep the others from being looked at. */
  async #ringIn(session: string): Promise<void> {
    try {
      await this.ring(session);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      this.#warn(session, error);
    }
  }

  /** Somebody is to look at the session; what goes wrong is said in the operator's log. */
  wake(session: string, reason: WakeReason, tenant?: string): void {
    if (this.#closing) return;
    const running = this.#driving.get(session);
    if (running) return running.driver.wake();
    const { dispatcher } = this.#options;
    if (reason === 'appended' && dispatcher.heedsAppends) return dispatcher.look();
    dispatcher
      .wake({ session, reason, ...(tenant !== undefined && { tenant }) })
      .catch((error: unknown) => this.#warn(session, error));
  }

  /** A wake that is sent even where every append sends its own: that one may have been lost. */
  async hint(session: string): Promise<void> {
    await this.#options.dispatcher.wake({ session, reason: 'swept' });
  }

  async #take(session: string): Promise<Taken> {
    if (this.#closing) return LATER;
    try {
      const claimed = await this.#drive(session);
      if (claimed === 'later' || this.#closing) return LATER;
      return claimed ? { kind: 'driven', rested: claimed.done } : { kind: 'nothing' };
    } catch (error) {
      this.#warn(session, error);
      return { kind: 'nothing' };
    }
  }

  /** Starts or wakes the driver, whatever the limits; undefined where there is nothing to do or another process drives. */
  async drive(session: string): Promise<Driving | undefined> {
    const claimed = await this.#drive(session, { withinLimits: false });
    return claimed === 'later' ? undefined : claimed;
  }

  async #drive(session: string, { withinLimits = true } = {}): Promise<Driving | 'later' | undefined> {
    for (;;) {
      const running = this.#driving.get(session);
      if (running) {
        running.driver.wake();
        return running;
      }
      const claiming = this.#claiming.get(session);
      if (!claiming) break;
      // A claim that began before the caller's own append may have seen nothing to do: look again after it.
      await Promise.allSettled([claiming]);
    }
    // One claim at a time: a second one would raise the epoch and fence the driver that the first has started.
    const claim = this.#claim(session, withinLimits);
    this.#claiming.set(session, claim);
    try {
      return await claim;
    } finally {
      this.#claiming.delete(session);
    }
  }

  async #claim(session: string, withinLimits: boolean): Promise<Driving | 'later' | undefined> {
    const won = await this.#claims.claim(session, withinLimits);
    return typeof won === 'object' ? this.#launch(won, this.#options.agent(won.state.agent.name)) : won;
  }

  /** A session that is about to be made: a driver here goes on from it without reading it. */
  begin(session: string): LiveSession {
    return new LiveSession(session, (definition) => this.#encoderOf(definition));
  }

  #encoderOf({ name, model }: AgentDefinition): Encoder | undefined {
    if (!this.#options.knows(name)) return undefined;
    const agent = this.#options.agent(name);
    return model.provider === agent.definition.model.provider ? agent.model.encoder : undefined;
  }

  #waits(session: string, fault: StorageError | undefined): void {
    if (fault) this.#waiting.set(session, fault);
    else this.#waiting.delete(session);
  }

  #launch({ live, epoch, since, lost }: Won, agent: Agent): Driving {
    const { session } = live;
    const driver = new Driver({
      session,
      live,
      epoch,
      store: this.#options.store,
      clock: this.#options.clock,
      program: PROGRAM,
      lease: { since, ms: LEASE_MS },
      gate: { last: () => this.#gate, look: () => this.gate() },
      onStorageFault: (fault) => this.#waits(session, fault),
      jobs: {
        agent,
        clock: this.#options.clock,
        log: this.#options.log,
        faults: this.#options.faults,
        prices: this.#options.prices,
        blob: (digest) => this.#options.store.blob(digest),
        slots: this.#slots,
        onDelta: (delta) => this.#options.onDelta(session, delta),
        onLate: (news) => this.#late(session, news),
      },
    });
    const driving = { driver, done: this.#run(session, driver, backoffAfter(lost)) };
    this.#driving.set(session, driving);
    return driving;
  }

  async #run(session: string, driver: Driver, waitMs: number): Promise<DrivingEnd> {
    // It holds its lease meanwhile, so that no other worker tries before its time.
    if (waitMs > 0) await sleep(this.#options.clock, waitMs, this.#stopping.signal);
    const ended = await this.#runOut(session, driver);
    this.#options.dispatcher.look();
    return ended;
  }

  async #runOut(session: string, driver: Driver): Promise<DrivingEnd> {
    const { epoch } = driver;
    let rested: Rest;
    try {
      rested = await driver.run();
      this.#options.sessions.keep(driver.live);
    } catch (error) {
      this.#driving.delete(session);
      this.#waits(session, undefined);
      // Fenced: another worker has taken over, which is how it should be.
      if (error instanceof FencedError) return {};
      this.#warn(session, error);
      await this.#claims.failed(session, epoch, error).catch((then: unknown) => this.#warn(session, then));
      return { failure: error };
    }
    this.#driving.delete(session);
    this.#claims.ended(session);
    let head: number | undefined;
    try {
      head = await this.#options.store.release(session, epoch);
    } catch (error) {
      // The lease runs out by itself; what was done is in the log.
      this.#warn(session, error);
      return {};
    }
    // What was appended between the last look and the release woke nobody.
    if (head !== undefined && head > rested.seq) this.wake(session, 'left', driver.live.state.tenant);
    return head === rested.seq && !driver.isStopped ? { rest: rested } : {};
  }

  /** A tool has settled after its time: evidence for the log, wherever the session stands by now. */
  #late(session: string, news: News): void {
    const driving = this.#driving.get(session);
    if (driving?.driver.deliver(news)) return;
    if (!this.#closing)
      this.#options.sessions
        .append(session, () => [news])
        .then(
          () => this.wake(session, 'appended'),
          (error: unknown) => this.#warn(session, error),
        );
  }

  #changed(change: Change): void {
    if (change && change.session !== CONTROL_LOG) {
      const driving = this.#driving.get(change.session);
      if (driving) driving.driver.wake(change.head);
      else if (change.agent !== undefined) this.#appendedElsewhere(change.session, change.agent);
      return;
    }
    for (const { driver } of this.#driving.values()) driver.wake();
    this.#lookAgain();
    if (this.#options.drives) this.sweep().catch((error: unknown) => this.#warn('', error));
  }

  /**
   * Leases of a worker that is gone may be free now, and their wakes may go to one that is about to go, too: what is
   * still free in a moment is woken again.
   */
  #lookAgain(): void {
    const { clock, dispatcher, drives } = this.#options;
    if (!drives || !dispatcher.shared || this.#again) return;
    this.#again = true;
    const look = (): void => {
      this.#again = false;
      if (!this.#closing) this.sweep().catch((error: unknown) => this.#warn('', error));
    };
    clock.after(AGAIN_MS, look, true);
  }

  /** Where wakes reach other processes, whoever appended has sent one. */
  #appendedElsewhere(session: string, agent: string): void {
    const { dispatcher, knows } = this.#options;
    if (!knows(agent)) return;
    if (dispatcher.shared) dispatcher.look();
    else this.wake(session, 'appended');
  }

  #keepLeases(): void {
    this.#options.clock.after(
      LEASE_MS / 3,
      () => {
        if (this.#closing) return;
        this.#renewAll().catch((error: unknown) => this.#warn('', error));
        // Whatever woke nobody, or was held by a driver that is gone by now, is found here.
        if (this.#options.drives) this.sweep().catch((error: unknown) => this.#warn('', error));
        this.#keepLeases();
      },
      true,
    );
  }

  async #renewAll(): Promise<void> {
    // Together, so that one that fails keeps no other from it.
    const renewals = [...this.#driving].map(async ([session, { driver }]) => {
      try {
        if (!(await driver.renew())) driver.stop();
      } catch (error) {
        this.#warn(session, error);
      }
    });
    await Promise.all(renewals);
  }

  /** Starts nothing more, lets what runs end for `drainMs`, and gives the sessions back. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true;
    this.#stopping.abort();
    this.#unsubscribe();
    const stopped = this.#options.dispatcher.stop().catch((error: unknown) => this.#warn('', error));
    const drivings = [...this.#driving.values()];
    for (const { driver } of drivings) driver.stop();
    const drained = Promise.all([stopped, ...drivings.map(({ done }) => done)]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.clock.after(drainMs, resolve);
    await Promise.race([drained, promise]);
    timer.cancel();
    for (const { driver } of drivings) driver.abandon();
    // A moment to give the leases back, which go with the store's next commit; a store that does not answer holds nobody up.
    for (let turns = 0; turns < RELEASE_TURNS; turns++)
      await Promise.race([drained, new Promise<void>((turn) => setImmediate(turn))]);
  }

  #warn(session: string, error: unknown): void {
    if (error instanceof OnrecordError && error.code === 'event-too-new') this.#tooNew.add(session);
    this.#options.log.warn(error instanceof Error ? error.message : String(error), {
      session,
      code: error instanceof OnrecordError ? error.code : 'unexpected',
    });
  }
}
