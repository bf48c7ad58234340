/** Time that moves only when told. The wall clock may jump; the monotonic one never goes back. */
import type { Clock, Timer } from '../../clock.ts';

type Planned = { readonly at: number; readonly order: number; readonly callback: () => void };

export class VirtualClock implements Clock {
  #monotonic = 0;
  #wall: number;
  #order = 0;
  readonly #planned = new Set<Planned>();

  constructor(wall: number) {
    this.#wall = wall;
  }

  now(): number {
    return Math.round(this.#wall);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, callback: () => void): Timer {
    const planned = { at: this.#monotonic + Math.max(0, ms), order: this.#order++, callback };
    this.#planned.add(planned);
    return { cancel: () => this.#planned.delete(planned) };
  }

  /** Whether somebody waits for a moment. */
  get isAwaited(): boolean {
    return this.#planned.size > 0;
  }

  /** The wall clock alone goes forth or back, as after a time correction. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** Moves to the next timer, but not further than `ms`, and calls what is due. False where nothing was. */
  advance(ms: number): boolean {
    const due = [...this.#planned]
      .filter(({ at }) => at <= this.#monotonic + ms)
      .sort((a, b) => a.at - b.at || a.order - b.order)[0];
    const until = due?.at ?? this.#monotonic + ms;
    this.#wall += until - this.#monotonic;
    this.#monotonic = until;
    if (!due) return false;
    this.#planned.delete(due);
    due.callback();
    return true;
  }
}
