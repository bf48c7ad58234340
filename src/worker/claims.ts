/**
 * How a worker comes by a session: by its lease, within the limits, and not again and again in vain. What has to be read
 * first may be what ends processes; then the claim comes before the reading, so that it is counted.
 */
import type { Clock } from '../clock.ts';
import { isOnrecordError } from '../errors.ts';
import { StorageError, type Claim, type ClaimLimits, type LogStore, type Owner } from '../log/store.ts';
import { wakeAtOf } from '../session/deadlines.ts';
import { canGoOn } from '../session/summary.ts';
import type { SessionState } from '../session/state.ts';
import type { Logger } from '../tool/tool.ts';
import type { Gate } from './gate.ts';
import type { KnownSessions } from './known-sessions.ts';
import type { LiveSession } from './live-session.ts';
import { LOST_MAX, park } from './parking.ts';
import { limitOf, type WorkLimits } from './work-limits.ts';

/** How long a driver owns a session without saying that it still does. */
export const LEASE_MS = 15_000;
/** Sessions whose last failure is remembered, for the reason why they are parked. */
const FAILURES_MAX = 1000;

export type ClaimsOptions = {
  readonly store: LogStore;
  readonly sessions: KnownSessions;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly isGone: (owner: Owner) => boolean;
  readonly limits: WorkLimits;
  readonly rehearsal: boolean;
  readonly knows: (agent: string) => boolean;
  /** Whether another worker may get what this one gives back. */
  readonly shared: boolean;
  readonly log: Logger;
  /** A session of which nothing is known yet. */
  readonly begin: (session: string) => LiveSession;
  readonly ring: (session: string) => Promise<SessionState>;
  readonly gate: () => Promise<Gate>;
  readonly isClosing: () => boolean;
  /** The store's fault that the session waits for, or none any more. */
  readonly waits: (session: string, fault: StorageError | undefined) => void;
};

export type Won = {
  readonly live: LiveSession;
  readonly state: SessionState;
  readonly epoch: number;
  /** When the claim was asked for, on the monotonic clock. */
  readonly since: number;
  /** Drivers lost in a row before this one. */
  readonly lost: number;
};

/** `later`: a limit is reached, or another worker may know what this one does not. Undefined: there is nothing to do here. */
export type Claimed = Won | 'later' | undefined;

export class Claims {
  readonly #options: ClaimsOptions;
  /** What ended the last driver of a session, until one has ended well. */
  readonly #failures = new Map<string, string>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  async claim(session: string, withinLimits: boolean): Promise<Claimed> {
    const { sessions, clock } = this.#options;
    const known = sessions.has(session);
    if (known && !(await this.#drivable(session))) return undefined;
    const since = clock.monotonic();
    const claim = await this.#ask(session, withinLimits);
    if (!claim.won) return 'full' in claim ? 'later' : undefined;
    const { epoch, tries } = claim;
    try {
      // One more than that is known of the turn: this claim is no loss yet.
      if (tries > LOST_MAX) return await this.#park(session, epoch, tries - 1);
      const live = await this.#read(session, known);
      const state = known ? await sessions.state(session) : await this.#drivable(session, live.state);
      if (!state) return await this.#giveBack(session, epoch);
      const lost = Math.max(tries - 1, state.active?.losses ?? 0);
      if (lost >= LOST_MAX) return await this.#park(session, epoch, lost);
      if (!this.#options.knows(state.agent.name) && this.#options.shared)
        return (await this.#giveBack(session, epoch)) ?? 'later';
      if (this.#options.isClosing()) return await this.#giveBack(session, epoch);
      return { live, state, epoch, since, lost };
    } catch (error) {
      await this.failed(session, epoch, error);
      throw error;
    }
  }

  /** The driver ended as it should. */
  ended(session: string): void {
    this.#failures.delete(session);
  }

  /**
   * Whoever tries next need not wait for the lease to run out. What cannot be read here by its nature, as an event of a
   * newer program, is no fault of the session, nor is a store that is away: that counts for nothing.
   */
  async failed(session: string, epoch: number, error: unknown): Promise<void> {
    const { store, clock } = this.#options;
    if (error instanceof StorageError) return;
    if (isOnrecordError(error) && error.next !== 'bug' && error.next !== 'corrupt') {
      await this.#giveBack(session, epoch);
      return;
    }
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= FAILURES_MAX && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(session, error instanceof Error ? error.message : String(error));
    await store.renew(session, epoch, clock.now());
  }

  async #read(session: string, known: boolean): Promise<LiveSession> {
    const { store, sessions, begin } = this.#options;
    const live = sessions.take(session) ?? begin(session);
    // What is not known yet is read once, for the driver and for commands.
    if (!known) {
      await live.refresh(store);
      sessions.learn(live);
    }
    return live;
  }

  /**
   * The session, where it could be driven here; `read`: as it was read just now. Rings first: what has fallen due may be
   * what lets it go on.
   */
  async #drivable(session: string, read?: SessionState): Promise<SessionState | undefined> {
    const { ring, gate, rehearsal, isClosing, clock } = this.#options;
    const state = read && !isDue(read, clock.now()) ? read : await ring(session);
    const { mode } = await gate();
    const could = mode !== 'frozen' && !isClosing() && state.rehearsal === rehearsal && canGoOn(state);
    return could ? state : undefined;
  }

  async #ask(session: string, withinLimits: boolean): Promise<Claim> {
    const { store, owner, clock, isGone, limits, waits } = this.#options;
    const limited = withinLimits && (limits.agents ?? limits.tenants) !== undefined;
    try {
      const claim = await store.claim({
        session,
        owner,
        now: clock.now(),
        leaseMs: LEASE_MS,
        isGone,
        ...(limited && { limits: (of) => claimLimits(limits, of) }),
      });
      waits(session, undefined);
      return claim;
    } catch (error) {
      if (error instanceof StorageError) waits(session, error);
      throw error;
    }
  }

  async #giveBack(session: string, epoch: number): Promise<undefined> {
    await this.#options.store.release(session, epoch);
  }

  async #park(session: string, epoch: number, lost: number): Promise<undefined> {
    const { store, clock, log } = this.#options;
    const failure = this.#failures.get(session);
    const message = failure ?? `its driver was lost ${lost} times in a row`;
    const reason = failure === undefined ? 'driver-lost' : 'driver-failed';
    await park(store, clock, { session, epoch, data: { reason, tries: lost, message } });
    this.#failures.delete(session);
    log.warn(`Parked after ${lost} tries: ${message}`, { session, code: 'session-parked' });
    return this.#giveBack(session, epoch);
  }
}

const isDue = (state: SessionState, now: number): boolean => (wakeAtOf(state) ?? Infinity) <= now;

const claimLimits = (
  { agents, tenants }: WorkLimits,
  of: { readonly agent: string; readonly tenant: string },
): ClaimLimits => {
  const agent = limitOf(agents, of.agent);
  // What is nobody's is no tenant's.
  const tenant = of.tenant === '' ? undefined : limitOf(tenants, of.tenant);
  return { ...(agent !== undefined && { agent }), ...(tenant !== undefined && { tenant }) };
};
