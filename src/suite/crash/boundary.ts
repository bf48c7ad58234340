/** The boundaries of one run: counted over all its processes, and the place of a kill. */
import type { FaultAnswer, FaultPlace, FaultPoint, Faults } from '../../worker/fault-point.ts';
import type { FaultPlan } from '../fault-plan.ts';
import { never } from '../simulation/faulty-store.ts';
import { Turnstile } from './turnstile.ts';

/** Where a process can be killed: "call.after", "files.append", "1.1.2". */
export type Boundary = Pick<FaultPlace, 'what' | 'call' | 'attempt'> & { readonly point: FaultPoint };

/** The boundaries of a run at which its process is killed, numbered from 1 over all its processes, in order. */
export type Kill = readonly number[];

/** What a run has seen when one of its processes ends. */
export type Seen = {
  readonly boundaries: readonly Boundary[];
  /** Those at which a process was killed, in order. */
  readonly struck: readonly Boundary[];
};

export type BoundariesOptions = {
  readonly kill: Kill;
  /** Ends the process; what it returns never resolves. */
  readonly die: () => Promise<never>;
  /** Whether this process, which is a simulated one, has ended. */
  readonly isDead?: () => boolean;
  readonly plan?: FaultPlan | undefined;
  /** What the processes before this one have seen. */
  readonly seen?: Seen | undefined;
};

/** The fault points of one process of a run. */
export class Boundaries implements Faults {
  readonly turnstile: Turnstile = new Turnstile();
  readonly #options: BoundariesOptions;
  readonly #boundaries: Boundary[];
  readonly #struck: Boundary[];

  constructor(options: BoundariesOptions) {
    this.#options = options;
    this.#boundaries = [...(options.seen?.boundaries ?? [])];
    this.#struck = [...(options.seen?.struck ?? [])];
  }

  get seen(): Seen {
    return { boundaries: this.#boundaries, struck: this.#struck };
  }

  async reach(point: FaultPoint, place: FaultPlace): Promise<FaultAnswer> {
    const { plan, kill, die, isDead } = this.#options;
    const name = turnName(place.session, place.call);
    if (BEGINS.has(point)) await this.turnstile.enter(name);
    if (isDead?.() === true) return never();
    const boundary = { point, ...boundaryOf(place) };
    this.#boundaries.push(boundary);
    if (kill.includes(this.#boundaries.length)) {
      this.#struck.push(boundary);
      return die();
    }
    if (point === 'append.before') this.turnstile.append('before');
    if (point === 'append.after') this.turnstile.append('after');
    if (ENDS.has(point)) this.turnstile.leave(name);
    return plan && this.#planned(plan, point, place);
  }

  /** What waits for a fault of the plan keeps nobody else from going on. */
  async #planned(plan: FaultPlan, point: FaultPoint, place: FaultPlace): Promise<FaultAnswer> {
    const name = turnName(place.session, place.call);
    const begins = BEGINS.has(point) && plan.isDue(point, place);
    if (begins) this.turnstile.leave(name);
    const answer = await plan.reach(point, place);
    if (begins) await this.turnstile.enter(name);
    return answer;
  }
}

const BEGINS: ReadonlySet<FaultPoint> = new Set(['prepare.before', 'call.before', 'reconcile.before']);
const ENDS: ReadonlySet<FaultPoint> = new Set(['prepare.after', 'call.after', 'reconcile.after']);

/** As ToolContext names a call. */
export const turnName = (session: string, call: string | undefined): string => `${session} ${call ?? ''}`;

const boundaryOf = ({ what, call, attempt }: FaultPlace): Omit<Boundary, 'point'> => ({
  what,
  ...(call !== undefined && { call }),
  ...(attempt !== undefined && { attempt }),
});

/** Whether two runs stood at the same place. */
export const sameBoundary = (one: Boundary, other: Boundary): boolean =>
  one.point === other.point &&
  one.what === other.what &&
  one.call === other.call &&
  one.attempt === other.attempt;
