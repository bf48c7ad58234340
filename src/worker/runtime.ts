/**
 * openRuntime(): agents and a store, put to work. Commands from people and programs are appended as facts;
 * sessions that can go on are driven until they rest. A session that rests costs a row, nothing else.
 */
import { randomId, systemClock, systemRandom, type Clock, type Random } from '../clock.ts';
import { badInput, bug } from '../errors.ts';
import type { CallId } from '../event/call-id.ts';
import type { Digest } from '../event/canonical.ts';
import { open } from '../event/envelope.ts';
import type { Actor, Content } from '../event/content.ts';
import { MODES, type Mode } from '../event/definition.ts';
import type { ApprovalDecision, LogEvent, SelectionChange, Settlement } from '../event/events.ts';
import { follow, type FollowOptions } from '../log/follow.ts';
import { isGone, thisOwner } from '../log/owner.ts';
import {
  sessionNotFound,
  type LogStore,
  type Owner,
  type SessionQuery,
  type SessionRow,
  type StorageError,
} from '../log/store.ts';
import { decide, type Command, type Decision } from '../session/decide.ts';
import { earlierAnswer } from '../session/earlier-answer.ts';
import type { Decided, SessionState } from '../session/state.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Logger } from '../tool/tool.ts';
import type { Agent } from './agent.ts';
import { restOf, type Rest } from './rest.ts';
import { reach, type FaultPlace, type Faults } from './fault-point.ts';
import { fork, type Forked, type ForkOptions } from './fork.ts';
import type { StreamDelta } from './jobs.ts';
import { CONTROL_LOG, gateFact, type Gate } from './gate.ts';
import { Notifier } from './notifier.ts';
import { KnownSessions } from './known-sessions.ts';
import { checkKey, checkMessage, checkTenant, isRehearsal, refused } from './input.ts';
import { Batch } from './live-session.ts';
import { InProcessDispatcher } from './in-process-dispatcher.ts';
import { priceSource } from './priced.ts';
import type { CallRef, RehearsalOf, RuntimeOptions, SendOptions } from './runtime-options.ts';
import { PROGRAM } from './program.ts';
import { sessionId } from './session-id.ts';
import { checkWorkLimits } from './work-limits.ts';
import { Worker } from './worker.ts';

const KEY_LENGTH = 20;
/** How long close() waits for work in flight. */
export const DRAIN_MS = 5000;

export type Sent = { readonly session: string; readonly turn: number; readonly replayed: boolean };

export type Answered = { readonly replayed: boolean; readonly decided?: Decided };

const HERE: Actor = { kind: 'program', name: 'local' };
const SILENT: Logger = { info: () => undefined, warn: () => undefined };

/** Refusals that may stand for an answer that was given before and is given again. */
const LONG_ANSWERED: ReadonlySet<string> = new Set(['call-not-found', 'already-settled', 'grant-not-found']);

type SendCommand = Extract<Command, { kind: 'send' }>;

type NewSession = {
  /** Absent: made from the key. */
  readonly session: string | undefined;
  readonly agent: Agent;
  readonly mode: Mode | undefined;
  readonly tenant: string;
  readonly rehearsal: RehearsalOf | undefined;
};

export class Runtime {
  readonly store: LogStore;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly telemetry: Telemetry | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: Faults | undefined;
  readonly #rehearsal: boolean;
  readonly #owner: Owner;
  readonly #sessions: KnownSessions;
  readonly #worker: Worker;
  readonly #notifier: Notifier;
  readonly #unsubscribe: () => void;
  /** Settles when the dispatcher hands out sessions; rejects where it cannot be reached. */
  readonly started: Promise<void>;
  readonly #watchers = new Map<string, Set<(delta: StreamDelta) => void>>();
  #closed: Promise<void> | undefined;

  constructor(options: RuntimeOptions) {
    this.telemetry = options.telemetry;
    this.store = options.telemetry?.observe(options.store) ?? options.store;
    this.agents = new Map(options.agents.map((agent) => [agent.definition.name, agent]));
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#faults = options.faults;
    this.#rehearsal = options.rehearsal ?? false;
    this.#owner = thisOwner(this.#random);
    this.#sessions = new KnownSessions(this.store, this.#clock, this.#faults);
    this.#worker = new Worker({
      store: this.store,
      sessions: this.#sessions,
      agent: (name) => this.agent(name),
      knows: (name) => this.agents.has(name),
      clock: this.#clock,
      owner: this.#owner,
      isGone: options.isGone ?? isGone,
      log: options.log ?? SILENT,
      faults: this.#faults,
      prices: priceSource(options.prices),
      onDelta: (session, delta) => this.#watchers.get(session)?.forEach((listener) => listener(delta)),
      drives: options.drive ?? true,
      rehearsal: this.#rehearsal,
      dispatcher: options.dispatcher ?? new InProcessDispatcher(this.#clock),
      limits: checkWorkLimits(options.limits),
    });
    this.started = (options.drive ?? true) ? this.#worker.start() : Promise.resolve();
    // Whoever opens a runtime is told; one that is closed before it has started tells nobody.
    this.started.catch(() => undefined);
    this.#notifier = new Notifier({
      store: this.store,
      sessions: this.#sessions,
      channels: options.notify ?? [],
      clock: this.#clock,
      log: options.log ?? SILENT,
    });
    this.#unsubscribe = this.store.changes(() => this.#notifier.hint());
  }

  /** The name under which this runtime holds leases. */
  get ownerId(): string {
    return this.#owner.id;
  }

  /** The store's fault that work waits for, if any. */
  get storageFault(): StorageError | undefined {
    return this.#worker.storageFault;
  }

  /** Whether this process still looks at what is due, as far as it drives anything. */
  get isAlive(): boolean {
    return this.#worker.isAlive;
  }

  /** Sessions that could go on, that this process could drive, and that nobody, here or elsewhere, has driven for STALLED_MS. */
  stalled(): Promise<readonly string[]> {
    return this.#worker.stalled();
  }

  /** Accepts a message as a turn: durable when this returns. Throws `agent-not-found`, `turn-key-reused`, ... */
  async send(options: SendOptions): Promise<Sent> {
    const input: readonly Content[] = [{ type: 'text', text: checkMessage(options.message) }];
    const key = checkKey(options.key ?? randomId(this.#random, KEY_LENGTH));
    const { by = HERE, labels = [], mode, when = 'queue', tenant, rehearsal } = options;
    const command: SendCommand = { kind: 'send', key, input, by, labels, when };
    const { session, agent } = options;
    if (session !== undefined && agent === undefined) return this.#say(session, command);
    return this.#start(
      { session, agent: this.agent(agent ?? ''), mode, tenant: checkTenant(tenant), rehearsal },
      command,
    );
  }

  /** Records a person's answer to a call that waits. The digest names what the person saw. */
  async decide(options: CallRef & { digest: Digest; decision: ApprovalDecision }): Promise<Answered> {
    const { call, digest, decision, by = HERE, key } = options;
    const named = key === undefined ? {} : { key: checkKey(key) };
    return this.#answer(options.session, { kind: 'decide', call, digest, decision, by, ...named });
  }

  /** Records what a person says became of a call in doubt. */
  async settle(options: CallRef & { settlement: Settlement; note?: string }): Promise<Answered> {
    const { call, settlement, note, by = HERE, key } = options;
    const command: Command = {
      kind: 'settle',
      call,
      settlement,
      by,
      ...(note !== undefined && { note }),
      ...(key !== undefined && { key: checkKey(key) }),
    };
    return this.#answer(options.session, command);
  }

  /** Takes back a turn that has not begun. */
  async withdraw(session: string, options: { turn: number; by?: Actor; reason?: string }): Promise<Answered> {
    const { turn, by = HERE, reason } = options;
    return this.#answer(session, { kind: 'withdraw', turn, by, ...(reason !== undefined && { reason }) });
  }

  /**
   * Asks the running turn to stop; where a turn is named, that one or none. Nothing starts after this returns.
   * Throws `nothing-to-cancel`.
   */
  async cancel(
    session: string,
    options: { by?: Actor; reason?: string; turn?: number } = {},
  ): Promise<Answered> {
    const { by = HERE, reason, turn } = options;
    return this.#answer(session, {
      kind: 'cancel',
      by,
      ...(reason !== undefined && { reason }),
      ...(turn !== undefined && { turn }),
    });
  }

  /** Lets workers try a parked session again. Throws `not-parked`. */
  async unpark(
    session: string,
    { by = HERE, reason }: { by?: Actor; reason?: string } = {},
  ): Promise<Answered> {
    return this.#answer(session, { kind: 'unpark', by, ...(reason !== undefined && { reason }) });
  }

  /**
   * Takes leave for further calls back: what one approval gave, or all that stands in the session. When this returns
   * nothing starts by it any more, in any process; what it had let pass and not started is asked about. Throws
   * `grant-not-found`.
   */
  async revoke(
    session: string,
    { call, by = HERE, reason }: { call?: CallId; by?: Actor; reason?: string } = {},
  ): Promise<Answered> {
    return this.#answer(session, {
      kind: 'revoke',
      by,
      ...(call !== undefined && { call }),
      ...(reason !== undefined && { reason }),
    });
  }

  /**
   * Says what may start from now on, in one session or, without one, in the whole store. When this returns nothing
   * starts against it any more, in any process.
   */
  async setMode(
    mode: Mode,
    options: { session?: string; by?: Actor; reason?: string } = {},
  ): Promise<Answered> {
    if (!MODES.includes(mode))
      throw badInput('mode-unknown', `There is no mode "${String(mode)}"; there are ${MODES.join(', ')}.`);
    const { session, by = HERE, reason } = options;
    const scope = session === undefined ? 'store' : 'session';
    const command: Command = { kind: 'set-mode', scope, mode, by, ...(reason !== undefined && { reason }) };
    if (session !== undefined) return this.#answer(session, command);
    const decision = await this.#command(CONTROL_LOG, command);
    await this.#worker.sweep();
    return { replayed: decision.kind === 'replayed' };
  }

  /** The gate of the whole store: its mode, and who set it. */
  gate(): Promise<Gate> {
    return this.#worker.gate();
  }

  /**
   * A new session on another one's events up to a place; the parent goes on as it is. Throws `session-not-found`,
   * `fork-place-missing`, `fork-too-deep`.
   */
  async fork(options: ForkOptions): Promise<Forked> {
    const key = checkKey(options.key ?? randomId(this.#random, KEY_LENGTH));
    const context = { store: this.store, clock: this.#clock, faults: this.#faults };
    return fork(context, { ...options, key, by: options.by ?? HERE });
  }

  /**
   * Records what later requests leave out, or hold whatever their policy says. Throws `reasoning-signed` where
   * that takes signed reasoning out and `dropsReasoning` was not said, `turn-held`, `turn-summarised`, ...
   */
  async select(
    session: string,
    change: SelectionChange,
    options: { by?: Actor; reason?: string; dropsReasoning?: boolean } = {},
  ): Promise<Answered> {
    const { by = HERE, reason, dropsReasoning = false } = options;
    return this.#answer(session, {
      kind: 'select',
      change,
      by,
      ...(reason !== undefined && { reason }),
      ...(dropsReasoning && { dropsReasoning }),
    });
  }

  /**
   * Asks for a summary of what was said: the model writes it before the next request of the running turn, or of
   * the next one where none runs. Throws `nothing-to-summarise`, `reasoning-signed`.
   */
  async compact(session: string, options: { by?: Actor; dropsReasoning?: boolean } = {}): Promise<Answered> {
    const { by = HERE, dropsReasoning = false } = options;
    return this.#answer(session, { kind: 'compact', by, ...(dropsReasoning && { dropsReasoning }) });
  }

  /** Drives a session until it rests, and says how it rests. Throws what made driving impossible. */
  async rest(session: string): Promise<Rest> {
    for (;;) {
      const driving = await this.#worker.drive(session);
      if (!driving) break;
      const { rest, failure } = await driving.done;
      if (failure !== undefined) throw failure;
      if (rest) return rest;
      if (this.#worker.closing) break;
    }
    return restOf(await this.state(session));
  }

  /** The session as its log says now. */
  async state(session: string): Promise<SessionState> {
    return this.#sessions.state(session);
  }

  sessions(query?: SessionQuery): Promise<readonly SessionRow[]> {
    return this.store.sessions(query);
  }

  /** Every event from a position on, as they are appended, here or elsewhere. */
  follow(session: string, options?: FollowOptions): AsyncGenerator<LogEvent, void, undefined> {
    return follow(this.store, session, options);
  }

  /** Text as the model produces it in this process. Not part of the record. */
  watch(session: string, listener: (delta: StreamDelta) => void): () => void {
    const listeners = this.#watchers.get(session) ?? new Set();
    this.#watchers.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#watchers.delete(session);
    };
  }

  /** Takes up every session that can go on and that nobody drives. */
  async sweep(): Promise<void> {
    await this.#worker.sweep();
    this.#notifier.hint();
  }

  /** Hints to whoever drives that the session is to be looked at. Does nothing where nobody hears of it. */
  wake(session: string): Promise<void> {
    return this.#worker.hint(session);
  }

  /** Tells people what they were not told of; resolves when that is done and on the record. */
  notify(): Promise<void> {
    return this.#notifier.look();
  }

  /** Starts nothing more, lets what runs end for `drainMs`, and leaves the rest as the log has it. */
  close(options: { drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(options.drainMs ?? DRAIN_MS);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    this.#unsubscribe();
    this.#notifier.stop();
    await this.#worker.close(drainMs);
    await this.telemetry?.close();
    await this.store.close();
  }

  /** Throws `agent-not-found`. */
  agent(name: string): Agent {
    const agent = this.agents.get(name);
    if (agent) return agent;
    const known = [...this.agents.keys()].sort();
    throw badInput(
      'agent-not-found',
      `No agent is called "${name}". Known here: ${known.length === 0 ? 'none' : known.join(', ')}.`,
      { agent: name, known },
      'onrecord agents',
    );
  }

  async #say(session: string, command: SendCommand): Promise<Sent> {
    const decision = await this.#command(session, command);
    if (decision.kind === 'refused') throw refused(decision, session);
    this.#worker.wake(session, 'appended');
    return { session, turn: decision.turn ?? 0, replayed: decision.kind === 'replayed' };
  }

  /** A new session has its id from the key, so that the same key is the same session, also after a crash. */
  async #start(made: NewSession, command: SendCommand): Promise<Sent> {
    for (let taken = 0; ; taken++) {
      const agent = made.agent.definition.name;
      const session = made.session ?? sessionId({ agent, key: command.key, tenant: made.tenant }, taken);
      const place = (): FaultPlace => ({ session, what: command.kind });
      await reach(this.#faults, 'command.before', place);
      if (await this.#create(session, made, command)) {
        const answer = await reach(this.#faults, 'command.after', place);
        const decision = answer === 'again' ? await this.#record(session, command) : undefined;
        this.#worker.wake(session, 'appended');
        return { session, turn: 1, replayed: decision?.kind === 'replayed' };
      }
      const state = await this.state(session);
      const { turns, tenant } = state;
      if (made.session !== undefined) {
        if (tenant !== made.tenant || state.agent.name !== agent) throw sessionNotFound(session);
        return this.#say(session, command);
      }
      // Another key, or another tenant's, has the same id by chance: take the next one.
      if (turns[0]?.key === command.key && tenant === made.tenant) return this.#say(session, command);
    }
  }

  async #create(
    session: string,
    { agent, mode, tenant, rehearsal }: NewSession,
    command: SendCommand,
  ): Promise<boolean> {
    const live = this.#worker.begin(session);
    const batch = new Batch(live, this.#clock.now());
    const data = {
      session,
      agent: agent.definition,
      program: PROGRAM,
      ...(mode && { mode }),
      ...(tenant !== '' && { tenant }),
      ...(rehearsal && { rehearsal }),
    };
    batch.add({ type: 'session.created', data });
    const decision = decide(batch.state, command, batch.at);
    if (decision.kind !== 'facts') throw refused(decision, session);
    for (const fact of decision.facts) batch.add(fact);
    return this.#sessions.create(live, batch);
  }

  /** Drives on after an answer. One that was given before, to a call that is long closed, is looked up in the log. */
  async #answer(session: string, command: Command): Promise<Answered> {
    let decision = await this.#command(session, command);
    if (decision.kind === 'refused' && LONG_ANSWERED.has(decision.code))
      decision = (await this.#answeredBefore(session, command)) ?? decision;
    if (decision.kind === 'refused') {
      if (decision.code === 'approval-expired') await this.#lapse(session);
      throw refused(decision, session);
    }
    this.#worker.wake(session, 'appended');
    if (decision.kind === 'facts') return { replayed: false };
    return { replayed: true, ...(decision.decided && { decided: decision.decided }) };
  }

  /** Somebody came too late: that the question has lapsed is said now, not only at the next sweep. */
  async #lapse(session: string): Promise<void> {
    await this.#worker.ring(session);
    this.#worker.wake(session, 'appended');
  }

  async #answeredBefore(session: string, command: Command): Promise<Decision | undefined> {
    const events = (await this.store.read(session)).map(open);
    return earlierAnswer(events, command);
  }

  /** Decides on the head, appends, and decides again where somebody else appended first. */
  async #command(session: string, command: Command): Promise<Decision> {
    // The store's own log takes nothing but its gate.
    const forStore = command.kind === 'set-mode' && command.scope === 'store';
    if (session === CONTROL_LOG && !forStore) throw sessionNotFound(session);
    const place = (): FaultPlace => ({ session, what: command.kind });
    await reach(this.#faults, 'command.before', place);
    const decision = await this.#record(session, command);
    const answer = await reach(this.#faults, 'command.after', place);
    return answer === 'again' ? this.#record(session, command) : decision;
  }

  async #record(session: string, command: Command): Promise<Decision> {
    let decision: Decision | undefined;
    // What follows from an answer follows under the gate as it stands, not as the session last saw it.
    const gate = session === CONTROL_LOG ? undefined : await this.#worker.gate();
    await this.#sessions.append(
      session,
      (state, now) => {
        if (state.rehearsal && !this.#rehearsal) throw isRehearsal(session);
        decision = decide(state, command, now);
        if (decision.kind !== 'facts') return [];
        // A gate that was closed meanwhile is the driver's to see.
        const moved = gate && state.mode.store !== 'normal' ? gateFact(state, gate) : undefined;
        return [...(moved ? [moved] : []), ...decision.facts].map((fact) => ({ fact, blobs: [] }));
      },
      { begin: session === CONTROL_LOG },
    );
    if (!decision) throw bug('a command is decided on');
    return decision;
  }
}

export const openRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  const runtime = new Runtime(options);
  if (options.drive ?? true) {
    try {
      await runtime.started;
      await runtime.sweep();
    } catch (error) {
      await runtime.close({ drainMs: 0 });
      throw error;
    }
  }
  return runtime;
};
