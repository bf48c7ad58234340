/**
 * openRuntime(): agents and a store, put to work. Commands from people and programs are appended as facts;
 * sessions that can go on are driven until they rest. A session that rests costs a row, nothing else.
 */
import { randomId, systemClock, systemRandom, type Clock, type Random } from '../clock.ts';
import { badInput, OnrecordError } from '../errors.ts';
import type { Digest } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import { open } from '../event/envelope.ts';
import type { Actor, Content } from '../event/content.ts';
import type { ApprovalDecision, LogEvent, Settlement } from '../event/events.ts';
import { follow, type FollowOptions } from '../log/follow.ts';
import { isGone, thisOwner } from '../log/owner.ts';
import {
  ConflictError,
  FencedError,
  type Change,
  type LogStore,
  type Owner,
  type SessionQuery,
  type SessionRow,
  type StorageError,
} from '../log/store.ts';
import type { Delta } from '../model/model.ts';
import { decide, type Command, type Decision } from '../session/decide.ts';
import { earlierAnswer } from '../session/earlier-answer.ts';
import { canGoOn } from '../session/summary.ts';
import type { Decided, SessionState } from '../session/state.ts';
import type { Logger } from '../tool/tool.ts';
import type { Agent } from './agent.ts';
import { Driver, restOf, type Rest } from './driver.ts';
import { reach, type FaultPlace, type Faults } from './fault-point.ts';
import type { News } from './jobs.ts';
import { Batch, LiveSession } from './live-session.ts';
import { PROGRAM } from './program.ts';
import { sessionId } from './session-id.ts';

/** How long a driver owns a session without saying that it still does. */
export const LEASE_MS = 15_000;
/** Sessions whose state is kept at hand for commands. */
const KNOWN_SESSIONS_MAX = 128;
/** Sessions one sweep takes up; the next one goes on. */
const SWEEP_SESSIONS_MAX = 1000;
const KEY_LENGTH = 20;
export const MESSAGE_BYTES_MAX: number = 1024 * 1024;
const KEY = /^[\x21-\x7e]{1,255}$/;
/** How long close() waits for work in flight. */
export const DRAIN_MS = 5000;

export type StreamDelta = Delta & { readonly turn: number; readonly step: number; readonly attempt: number };

export type RuntimeOptions = {
  readonly store: LogStore;
  readonly agents: readonly Agent[];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Whether another owner's lease may be taken before it has run out; a seam for simulations. */
  readonly isGone?: (owner: Owner) => boolean;
  /** Makes things fail at named places; for tests, the crash matrix and the simulator. */
  readonly faults?: Faults;
  /** Drives whatever can go on, also what other processes left or changed. Default true. */
  readonly drive?: boolean;
};

export type SendOptions = {
  /** The agent of a new session. */
  readonly agent?: string;
  /** An existing session instead. */
  readonly session?: string;
  readonly message: string;
  /** Names the turn: sending the same key again is the same turn. 1 to 255 visible ASCII characters. */
  readonly key?: string;
  readonly by?: Actor;
};

export type Sent = { readonly session: string; readonly turn: number; readonly replayed: boolean };

export type Answered = { readonly replayed: boolean; readonly decided?: Decided };

export type CallRef = { readonly session: string; readonly call: CallId; readonly by?: Actor };

const HERE: Actor = { kind: 'program', name: 'local' };
const SILENT: Logger = { info: () => undefined, warn: () => undefined };

type SendCommand = Extract<Command, { kind: 'send' }>;

/** `done` answers with what ended the driver, if it was not the session's rest. */
type Driving = { readonly driver: Driver; readonly done: Promise<unknown> };

export class Runtime {
  readonly store: LogStore;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #faults: Faults | undefined;
  readonly #isGone: (owner: Owner) => boolean;
  readonly #owner: Owner;
  readonly #drives: boolean;
  readonly #known = new Map<string, LiveSession>();
  readonly #driving = new Map<string, Driving>();
  readonly #claiming = new Map<string, Promise<Driving | undefined>>();
  readonly #watchers = new Map<string, Set<(delta: StreamDelta) => void>>();
  readonly #unsubscribe: () => void;
  #fault: StorageError | undefined;
  #closing = false;

  constructor(options: RuntimeOptions) {
    this.store = options.store;
    this.agents = new Map(options.agents.map((agent) => [agent.definition.name, agent]));
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? SILENT;
    this.#faults = options.faults;
    this.#isGone = options.isGone ?? isGone;
    this.#owner = thisOwner(this.#random);
    this.#drives = options.drive ?? true;
    this.#unsubscribe = this.store.changes((change) => this.#changed(change));
    this.#keepLeases();
  }

  /** The name under which this runtime holds leases. */
  get ownerId(): string {
    return this.#owner.id;
  }

  /** The store's fault that work waits for, if any. */
  get storageFault(): StorageError | undefined {
    return this.#fault;
  }

  /** Accepts a message as a turn: durable when this returns. Throws `agent-not-found`, `turn-key-reused`, ... */
  async send(options: SendOptions): Promise<Sent> {
    const input: readonly Content[] = [{ type: 'text', text: checkMessage(options.message) }];
    const key = checkKey(options.key ?? randomId(this.#random, KEY_LENGTH));
    const command: Command = { kind: 'send', key, input, by: options.by ?? HERE };
    if (options.session === undefined) return this.#start(this.agent(options.agent ?? ''), command);
    return this.#say(options.session, command);
  }

  /** Records a person's answer to a call that waits. The digest names what the person saw. */
  async decide(options: CallRef & { digest: Digest; decision: ApprovalDecision }): Promise<Answered> {
    const { call, digest, decision, by = HERE } = options;
    return this.#answer(options.session, { kind: 'decide', call, digest, decision, by });
  }

  /** Records what a person says became of a call in doubt. */
  async settle(options: CallRef & { settlement: Settlement; note?: string }): Promise<Answered> {
    const { call, settlement, note, by = HERE } = options;
    const command: Command = { kind: 'settle', call, settlement, by, ...(note !== undefined && { note }) };
    return this.#answer(options.session, command);
  }

  /** Asks the running turn to stop. Nothing starts after this returns. */
  async cancel(session: string, options: { by?: Actor; reason?: string } = {}): Promise<Answered> {
    const { by = HERE, reason } = options;
    return this.#answer(session, { kind: 'cancel', by, ...(reason !== undefined && { reason }) });
  }

  /** Drives a session until it rests, and says how it rests. Throws what made driving impossible. */
  async rest(session: string): Promise<Rest> {
    for (;;) {
      const driving = this.#driving.get(session) ?? (await this.#drive(session));
      if (!driving) break;
      const failure = await driving.done;
      if (failure !== undefined) throw failure;
      if (this.#closing) break;
    }
    return restOf(await this.state(session));
  }

  /** The session as its log says now. */
  async state(session: string): Promise<SessionState> {
    return (await this.#live(session)).state;
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
    const rows = await this.store.sessions({ canGoOn: true, limit: SWEEP_SESSIONS_MAX });
    for (const { session, summary } of rows)
      if (this.agents.has(summary.agent) && !this.#driving.has(session)) this.#go(session);
  }

  /** Starts nothing more, lets what runs end for `drainMs`, and leaves the rest as the log has it. */
  async close(options: { drainMs?: number } = {}): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.#unsubscribe();
    for (const { driver } of this.#driving.values()) driver.stop();
    const drained = Promise.all([...this.#driving.values()].map(({ done }) => done));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(options.drainMs ?? DRAIN_MS, resolve);
    await Promise.race([drained, promise]);
    timer.cancel();
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
    this.#go(session);
    return { session, turn: decision.turn ?? 0, replayed: decision.kind === 'replayed' };
  }

  /** A new session has its id from the key, so that the same key is the same session, also after a crash. */
  async #start(agent: Agent, command: SendCommand): Promise<Sent> {
    for (let taken = 0; ; taken++) {
      const session = sessionId(agent.definition.name, command.key, taken);
      if (await this.#create(session, agent, command)) {
        this.#go(session);
        return { session, turn: 1, replayed: false };
      }
      const { turns } = await this.state(session);
      // Another key has the same id by chance: take the next one.
      if (turns[0]?.key === command.key) return this.#say(session, command);
    }
  }

  async #create(session: string, agent: Agent, command: SendCommand): Promise<boolean> {
    const batch = new Batch(new LiveSession(session), this.#clock.now());
    batch.add({ type: 'session.created', data: { agent: agent.definition, program: PROGRAM } });
    const decision = decide(batch.state, command);
    if (decision.kind !== 'facts') throw refused(decision, session);
    for (const fact of decision.facts) batch.add(fact);
    try {
      await batch.commit(this.store, { faults: this.#faults });
      return true;
    } catch (error) {
      if (error instanceof ConflictError) return false;
      throw error;
    }
  }

  /** Drives on after an answer. One that was given before, to a call that is long closed, is looked up in the log. */
  async #answer(session: string, command: Command): Promise<Answered> {
    let decision = await this.#command(session, command);
    if (decision.kind === 'refused' && decision.code === 'call-not-found')
      decision = (await this.#answeredBefore(session, command)) ?? decision;
    if (decision.kind === 'refused') throw refused(decision, session);
    this.#go(session);
    if (decision.kind === 'facts') return { replayed: false };
    return { replayed: true, ...(decision.decided && { decided: decision.decided }) };
  }

  async #answeredBefore(session: string, command: Command): Promise<Decision | undefined> {
    const events = (await this.store.read(session)).map(open);
    return earlierAnswer(events, command);
  }

  /** Decides on the head, appends, and decides again where somebody else appended first. */
  async #command(session: string, command: Command): Promise<Decision> {
    const place = (): FaultPlace => ({ session, what: command.kind });
    await reach(this.#faults, 'command.before', place);
    const decision = await this.#record(session, command);
    await reach(this.#faults, 'command.after', place);
    return decision;
  }

  async #record(session: string, command: Command): Promise<Decision> {
    for (;;) {
      const live = await this.#live(session);
      const decision = decide(live.state, command);
      if (decision.kind !== 'facts') return decision;
      const batch = new Batch(live, this.#clock.now());
      for (const fact of decision.facts) batch.add(fact);
      try {
        await batch.commit(this.store, { faults: this.#faults });
        live.adopt(batch);
        return decision;
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  }

  async #live(session: string): Promise<LiveSession> {
    const live = this.#known.get(session) ?? new LiveSession(session);
    await live.refresh(this.store);
    this.#known.delete(session);
    this.#known.set(session, live);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_SESSIONS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return live;
  }

  /** Drives without waiting for it; what goes wrong is said in the operator's log. */
  #go(session: string): void {
    if (!this.#drives || this.#closing) return;
    this.#drive(session).catch((error: unknown) => this.#warn(session, error));
  }

  /** Starts or wakes the driver; undefined where there is nothing to do or another process drives. */
  async #drive(session: string): Promise<Driving | undefined> {
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
    const claim = this.#claim(session);
    this.#claiming.set(session, claim);
    try {
      return await claim;
    } finally {
      this.#claiming.delete(session);
    }
  }

  async #claim(session: string): Promise<Driving | undefined> {
    const { state } = await this.#live(session);
    if (!canGoOn(state) || this.#closing) return undefined;
    const agent = this.agent(state.agent.name);
    const claim = await this.store.claim({
      session,
      owner: this.#owner,
      now: this.#clock.now(),
      leaseMs: LEASE_MS,
      isGone: this.#isGone,
    });
    if (!claim.won || this.#closing) return undefined;
    const driving = this.#launch(session, claim.epoch, agent);
    this.#driving.set(session, driving);
    return driving;
  }

  #launch(session: string, epoch: number, agent: Agent): Driving {
    const driver = new Driver({
      session,
      epoch,
      store: this.store,
      clock: this.#clock,
      program: PROGRAM,
      onStorageFault: (fault) => (this.#fault = fault),
      jobs: {
        agent,
        clock: this.#clock,
        log: this.#log,
        faults: this.#faults,
        onDelta: (delta) => this.#watchers.get(session)?.forEach((listener) => listener(delta)),
        onLate: (news) => this.#late(session, news),
      },
    });
    return { driver, done: this.#run(session, epoch, driver) };
  }

  async #run(session: string, epoch: number, driver: Driver): Promise<unknown> {
    let rested: Rest;
    try {
      rested = await driver.run();
    } catch (error) {
      this.#driving.delete(session);
      // Fenced: another worker has taken over, which is how it should be.
      if (error instanceof FencedError) return undefined;
      this.#warn(session, error);
      return error;
    }
    this.#driving.delete(session);
    try {
      await this.store.release(session, epoch);
    } catch (error) {
      // The lease runs out by itself; what was done is in the log.
      this.#warn(session, error);
      return undefined;
    }
    // What was appended between the last look and the release woke nobody.
    const head = await this.#headOf(session);
    if (head > rested.seq) this.#go(session);
    return undefined;
  }

  async #headOf(session: string): Promise<number> {
    try {
      return (await this.store.head(session))?.seq ?? 0;
    } catch (error) {
      this.#warn(session, error);
      return 0;
    }
  }

  /** A tool has settled after its time: evidence for the log, wherever the session stands by now. */
  #late(session: string, news: News): void {
    const driving = this.#driving.get(session);
    if (driving?.driver.deliver(news)) return;
    if (!this.#closing)
      this.#append(session, news).then(
        () => this.#go(session),
        (error: unknown) => this.#warn(session, error),
      );
  }

  async #append(session: string, { fact, blobs }: News): Promise<void> {
    for (;;) {
      const live = await this.#live(session);
      const batch = new Batch(live, this.#clock.now());
      batch.add(fact, blobs);
      try {
        await batch.commit(this.store, { faults: this.#faults });
        return live.adopt(batch);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  }

  #changed(change: Change): void {
    if (change) return this.#driving.get(change.session)?.driver.wake(change.head);
    for (const { driver } of this.#driving.values()) driver.wake();
    if (this.#drives) this.sweep().catch((error: unknown) => this.#warn('', error));
  }

  #keepLeases(): void {
    this.#clock.after(
      LEASE_MS / 3,
      () => {
        if (this.#closing) return;
        this.#renewAll().catch((error: unknown) => this.#warn('', error));
        // Whatever woke nobody, or was held by a driver that is gone by now, is found here.
        if (this.#drives) this.sweep().catch((error: unknown) => this.#warn('', error));
        this.#keepLeases();
      },
      true,
    );
  }

  async #renewAll(): Promise<void> {
    for (const [session, { driver }] of this.#driving) {
      const kept = await this.store.renew(session, driver.epoch, this.#clock.now() + LEASE_MS);
      if (!kept) driver.stop();
    }
  }

  #warn(session: string, error: unknown): void {
    this.#log.warn(error instanceof Error ? error.message : String(error), {
      session,
      code: error instanceof OnrecordError ? error.code : 'unexpected',
    });
  }
}

export const openRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  const runtime = new Runtime(options);
  if (options.drive ?? true) await runtime.sweep();
  return runtime;
};

const checkMessage = (message: string): string => {
  if (typeof message !== 'string' || message.trim() === '')
    throw badInput('message-empty', 'The message is empty. Say what the agent should do.');
  const bytes = Buffer.byteLength(message);
  if (bytes > MESSAGE_BYTES_MAX)
    throw badInput(
      'message-too-large',
      `The message has ${bytes} bytes, the limit is ${MESSAGE_BYTES_MAX}.`,
      { bytes },
    );
  return message;
};

const checkKey = (key: string): string => {
  if (KEY.test(key)) return key;
  throw badInput('turn-key-invalid', 'A turn key is 1 to 255 visible ASCII characters, without spaces.', {
    length: key.length,
  });
};

const refused = (decision: Exclude<Decision, { kind: 'facts' }>, session: string): OnrecordError => {
  if (decision.kind === 'replayed') return badInput('already-done', 'This was done already.', { session });
  return new OnrecordError(decision.message, {
    code: decision.code,
    next:
      decision.code === 'arguments-invalid' || decision.code === 'turn-key-reused'
        ? 'fix-input'
        : 'look-again',
    details: { session, ...(decision.decided && { decided: decision.decided }) },
  });
};
