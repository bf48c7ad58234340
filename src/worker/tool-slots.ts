/** Calls of a tool that one worker runs at once. A place is taken before the start is recorded, and given back with the result. */
import { limitOf, type WorkLimits } from './work-limits.ts';

export class ToolSlots {
  readonly #limits: WorkLimits['tools'];
  readonly #onFree: () => void;
  /** By session, and there by the name of the work: the tool whose place it has. */
  readonly #held = new Map<string, Map<string, string>>();
  readonly #counts = new Map<string, number>();

  constructor(limits: WorkLimits['tools'], onFree: () => void) {
    this.#limits = limits;
    this.#onFree = onFree;
  }

  isFree(tool: string): boolean {
    return (this.#counts.get(tool) ?? 0) < (limitOf(this.#limits, tool) ?? Infinity);
  }

  hold(session: string, work: string, tool: string): void {
    const held = this.#held.get(session) ?? new Map<string, string>();
    if (held.has(work)) return;
    this.#held.set(session, held.set(work, tool));
    this.#counts.set(tool, (this.#counts.get(tool) ?? 0) + 1);
  }

  /** Gives back what a session has, but for the work that is still in hand. */
  keepOnly(session: string, inHand: { has(work: string): boolean }): void {
    for (const work of this.#held.get(session)?.keys() ?? []) if (!inHand.has(work)) this.drop(session, work);
  }

  drop(session: string, work: string): void {
    const held = this.#held.get(session);
    const tool = held?.get(work);
    if (!held || tool === undefined) return;
    held.delete(work);
    if (held.size === 0) this.#held.delete(session);
    this.#counts.set(tool, (this.#counts.get(tool) ?? 1) - 1);
    this.#onFree();
  }
}
