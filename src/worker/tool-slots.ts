/** Calls of a tool that one worker runs at once. A place is taken before the start is recorded, and given back with the result. */
import { isSameWork, type Work } from '../session/next.ts';
import { limitOf, type WorkLimits } from './work-limits.ts';

type Held = { readonly work: Work; readonly tool: string };

export class ToolSlots {
  readonly #limits: WorkLimits['tools'];
  readonly #onFree: () => void;
  /** By session: the work, and the tool whose place it has. */
  readonly #held = new Map<string, readonly Held[]>();
  readonly #counts = new Map<string, number>();

  constructor(limits: WorkLimits['tools'], onFree: () => void) {
    this.#limits = limits;
    this.#onFree = onFree;
  }

  isFree(tool: string): boolean {
    return (this.#counts.get(tool) ?? 0) < (limitOf(this.#limits, tool) ?? Infinity);
  }

  hold(session: string, work: Work, tool: string): void {
    const held = this.#held.get(session) ?? [];
    if (held.some((one) => isSameWork(one.work, work))) return;
    this.#held.set(session, [...held, { work, tool }]);
    this.#counts.set(tool, (this.#counts.get(tool) ?? 0) + 1);
  }

  /** Gives back what a session has, but for the work that is still in hand. */
  keepOnly(session: string, inHand: readonly Work[]): void {
    for (const { work } of this.#held.get(session) ?? [])
      if (!inHand.some((one) => isSameWork(one, work))) this.drop(session, work);
  }

  drop(session: string, work: Work): void {
    const held = this.#held.get(session) ?? [];
    const place = held.find((one) => isSameWork(one.work, work));
    if (!place) return;
    if (held.length === 1) this.#held.delete(session);
    else
      this.#held.set(
        session,
        held.filter((one) => one !== place),
      );
    // Where there was room, nobody waits: a look of all drivers at each result would cost each session all others.
    const wasFull = !this.isFree(place.tool);
    this.#counts.set(place.tool, (this.#counts.get(place.tool) ?? 1) - 1);
    if (wasFull) this.#onFree();
  }
}
