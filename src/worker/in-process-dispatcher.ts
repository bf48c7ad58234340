/**
 * The dispatcher of one process: a queue in memory, a line for each tenant, one of each line in turn. What is in it when
 * the process ends is found again by the sweep of whoever comes next.
 */
import { systemClock, type Clock, type Timer } from '../clock.ts';
import type { Dispatcher, Taken, Taker, Wake } from './dispatcher.ts';

/** Sessions that wait for room. What does not fit is left to the sweep. */
export const WAITING_MAX = 100_000;

export class InProcessDispatcher implements Dispatcher {
  readonly name = 'in-process';
  readonly shared = false;
  readonly heedsAppends = false;
  readonly #clock: Clock;
  /** By tenant, in the order in which they came; the tenant whose turn it is stands first. */
  readonly #lines = new Map<string, Map<string, Wake>>();
  readonly #timers = new Map<string, { readonly due: number; readonly timer: Timer }>();
  readonly #taking = new Map<string, Promise<void>>();
  #waiting = 0;
  #taker: Taker | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  async wake(wake: Wake): Promise<void> {
    if (!this.#taker) return;
    const { session, notBefore = 0 } = wake;
    const ms = notBefore - this.#clock.now();
    if (ms > 0) return this.#plan(wake, notBefore, ms);
    this.#timers.get(session)?.timer.cancel();
    this.#timers.delete(session);
    this.#enqueue(wake);
    this.#pump();
  }

  async start(taker: Taker): Promise<void> {
    this.#taker = taker;
  }

  look(): void {
    this.#pump();
  }

  async stop(): Promise<void> {
    this.#taker = undefined;
    this.#lines.clear();
    this.#waiting = 0;
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    await Promise.all(this.#taking.values());
  }

  #plan(wake: Wake, due: number, ms: number): void {
    const planned = this.#timers.get(wake.session);
    if (planned && planned.due <= due) return;
    planned?.timer.cancel();
    // It may ring up to a millisecond early, and is set again then: what has rung is planned no more.
    const ring = (): void => {
      this.#timers.delete(wake.session);
      void this.wake(wake);
    };
    const timer = this.#clock.after(ms, ring, true);
    this.#timers.set(wake.session, { due, timer });
  }

  #enqueue(wake: Wake): void {
    const { session, tenant = '' } = wake;
    const line = this.#lines.get(tenant) ?? new Map<string, Wake>();
    if (line.has(session) || this.#waiting >= WAITING_MAX) return;
    this.#lines.set(tenant, line.set(session, wake));
    this.#waiting++;
  }

  #pump(): void {
    while (this.#taker && this.#waiting > 0 && this.#taker.room() > 0) {
      const wake = this.#next();
      if (!wake) return;
      const taking = this.#take(this.#taker, wake).finally(() => {
        this.#taking.delete(wake.session);
        this.#pump();
      });
      this.#taking.set(wake.session, taking);
    }
  }

  /** The next one in turn that is not being taken right now. */
  #next(): Wake | undefined {
    for (const [tenant, line] of this.#lines)
      for (const wake of line.values()) {
        if (this.#taking.has(wake.session)) continue;
        line.delete(wake.session);
        this.#waiting--;
        this.#lines.delete(tenant);
        if (line.size > 0) this.#lines.set(tenant, line);
        return wake;
      }
    return undefined;
  }

  async #take(taker: Taker, wake: Wake): Promise<void> {
    let taken: Taken;
    try {
      taken = await taker.take(wake.session);
    } catch {
      // The taker has said so to its operator; the sweep looks at the session again.
      return;
    }
    if (taken.kind === 'later') await this.wake({ ...wake, notBefore: this.#clock.now() + taken.afterMs });
  }
}
