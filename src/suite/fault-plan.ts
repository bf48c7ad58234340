/**
 * A fault plan: what goes wrong where, said beforehand. Written as a YAML list:
 *
 *   - { at: call.after, what: mail.draft, do: crash }
 *   - { at: append.before, what: call.result, occurrence: 2, do: disk-full }
 *
 * A fault comes once. Where several fall on one place, they come in the order of the plan. A fault that no run
 * has reached tested nothing: that is an error, never a pass.
 */
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { OnrecordError } from '../errors.ts';
import { StorageError } from '../log/store.ts';
import { ToolError } from '../tool/tool.ts';
import {
  FAULT_POINTS,
  type FaultAnswer,
  type FaultPlace,
  type FaultPoint,
  type Faults,
} from '../worker/fault-point.ts';

const FAULTS_MAX = 100;
const OCCURRENCE_MAX = 1_000_000;
export const FAULT_MS_MAX: number = 60 * 60 * 1000;
/** How long after its time a late result comes, where the plan does not say. */
const LATE_MS = 100;

export type FaultKind = 'crash' | 'error' | 'delay' | 'disk-full' | 'late' | 'duplicate' | 'drop';

/** What can go wrong, and where it can. */
export const FAULT_KINDS: Readonly<Record<FaultKind, readonly FaultPoint[]>> = {
  /** The process is killed. */
  crash: FAULT_POINTS,
  /** It fails: the tool, the model, the store or the caller's connection, as the place says. */
  error: FAULT_POINTS,
  /** It takes `ms` longer. */
  delay: FAULT_POINTS,
  /** The store has no room for this append. */
  'disk-full': ['append.before'],
  /** The answer comes `ms` after everybody has stopped waiting for it. */
  late: ['request.after', 'call.after'],
  /** The command, the reply or the result comes twice. */
  duplicate: ['request.after', 'call.after', 'command.after'],
  /** There is never an answer. */
  drop: ['request.before', 'request.after', 'call.before', 'call.after'],
};

export type Fault = {
  readonly at: FaultPoint;
  /** A tool's name, an event's type, a command's kind. Absent: any. */
  readonly what?: string | undefined;
  /** "1.2.1". Absent: any. */
  readonly call?: string | undefined;
  readonly attempt?: number | undefined;
  /** The how manieth of the places that fit; 1 is the first. */
  readonly occurrence: number;
  readonly do: FaultKind;
  readonly ms?: number | undefined;
};

const KINDS = Object.keys(FAULT_KINDS) as [FaultKind, ...FaultKind[]];

const fault = z
  .strictObject({
    at: z.enum(FAULT_POINTS, { error: `expected a fault point: ${FAULT_POINTS.join(', ')}` }),
    what: z.string().min(1).optional(),
    call: z
      .string()
      .regex(/^[1-9]\d*\.[1-9]\d*\.[1-9]\d*$/, 'must be turn, step and index, in quotation marks: "1.2.1"')
      .optional(),
    attempt: z.int().min(1).optional(),
    occurrence: z.int().min(1).max(OCCURRENCE_MAX).default(1),
    do: z.enum(KINDS, { error: `expected what goes wrong: ${KINDS.join(', ')}` }),
    ms: z.int().min(1).max(FAULT_MS_MAX).optional(),
  })
  .superRefine((one, context) => {
    const { at, do: kind, ms, call } = one;
    const places = FAULT_KINDS[kind];
    const complain = (path: keyof Fault, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (!places.includes(at))
      complain('do', `"${kind}" cannot come at ${at}; it can at ${places.join(', ')}`);
    if (kind === 'delay' && ms === undefined) complain('do', '"delay" needs ms, the milliseconds it takes');
    if (kind !== 'delay' && kind !== 'late' && ms !== undefined)
      complain('ms', `"${kind}" takes no ms; "delay" and "late" do`);
    if (call !== undefined && !/^(?:prepare|call|reconcile)\./.test(at))
      complain('call', `${at} belongs to no call`);
  });

/** A plan as it is written; its list is closed: unknown keys are errors. */
export const faultPlanSchema: z.ZodType<readonly Fault[]> = z.array(fault).min(1).max(FAULTS_MAX);

/** How far a plan has come, for a run that goes on in another process. */
export type FaultPlanState = readonly { readonly met: number; readonly fired: boolean }[];

export type FaultPlanOptions = {
  readonly clock: Clock;
  /** Ends the process. Default: SIGKILL. */
  readonly die?: (fault: Fault, place: FaultPlace) => Promise<never>;
  readonly state?: FaultPlanState | undefined;
};

type Planned = { readonly fault: Fault; met: number; fired: boolean };

export class FaultPlan implements Faults {
  readonly #planned: readonly Planned[];
  readonly #clock: Clock;
  readonly #die: NonNullable<FaultPlanOptions['die']>;

  constructor(faults: readonly Fault[], { clock, die = killThisProcess, state }: FaultPlanOptions) {
    this.#planned = faults.map((one, i) => ({
      fault: one,
      ...(state?.[i] ?? { met: 0, fired: false }),
    }));
    this.#clock = clock;
    this.#die = die;
  }

  get state(): FaultPlanState {
    return this.#planned.map(({ met, fired }) => ({ met, fired }));
  }

  /** Faults that have not come. */
  unfired(): readonly Fault[] {
    return this.#planned.filter(({ fired }) => !fired).map(({ fault: one }) => one);
  }

  /** Whether something would go wrong here now. */
  isDue(point: FaultPoint, place: FaultPlace): boolean {
    return this.#planned.some(({ fault: one, met }) => fits(one, point, place) && met + 1 === one.occurrence);
  }

  async reach(point: FaultPoint, place: FaultPlace): Promise<FaultAnswer> {
    const here = this.#planned.filter(({ fault: one }) => fits(one, point, place));
    for (const one of here) one.met++;
    let answer: FaultAnswer = undefined;
    for (const one of here.filter(({ met, fault: { occurrence } }) => met === occurrence)) {
      one.fired = true;
      answer = (await this.#come(one.fault, place)) ?? answer;
    }
    return answer;
  }

  async #come(one: Fault, place: FaultPlace): Promise<FaultAnswer> {
    switch (one.do) {
      case 'crash':
        return this.#die(one, place);
      case 'error':
        throw errorAt(one.at);
      case 'disk-full':
        throw new StorageError('full', 'The disk is full, says the fault plan.');
      case 'delay':
        return this.#wait(one.ms ?? 0);
      case 'late':
        return this.#wait((place.timeoutMs ?? 0) + (one.ms ?? LATE_MS));
      case 'duplicate':
        return 'again';
      case 'drop':
        return new Promise<never>(() => undefined);
      default:
        return one.do satisfies never;
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

const fits = (one: Fault, point: FaultPoint, { what, call, attempt }: FaultPlace): boolean =>
  one.at === point &&
  (one.what === undefined || one.what === what || what.split(' ').includes(one.what)) &&
  (one.call === undefined || one.call === call) &&
  (one.attempt === undefined || one.attempt === attempt);

/** What fails at a point, as whoever stands there would see it. */
const errorAt = (point: FaultPoint): Error => {
  switch (point) {
    case 'call.before':
      return new ToolError('The service was not reached, says the fault plan.', {
        code: 'fault-planned',
        happened: false,
        retryable: true,
      });
    case 'append.before':
    case 'append.after':
      return new StorageError('io', 'The store gave no answer, says the fault plan.');
    case 'command.before':
    case 'command.after':
      return new OnrecordError('The connection was lost, says the fault plan.', {
        code: 'fault-planned',
        next: 'retry',
      });
    default:
      return new Error('The connection was lost, says the fault plan.');
  }
};

/** SIGKILL, as by the system when it has no memory left. */
export const killThisProcess = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before anything that follows.
  return new Promise<never>(() => undefined);
};

/** `call.after mail.draft, occurrence 2: crash`. */
export const faultWords = ({ at, what, call, attempt, occurrence, do: kind }: Fault): string =>
  [
    [at, what, call].filter((word) => word !== undefined).join(' '),
    ...(attempt === undefined ? [] : [`, attempt ${attempt}`]),
    ...(occurrence === 1 ? [] : [`, occurrence ${occurrence}`]),
    `: ${kind}`,
  ].join('');

export const faultNotReached = (unfired: readonly Fault[]): OnrecordError =>
  new OnrecordError(
    `${unfired.length === 1 ? 'A fault of the plan was' : `${unfired.length} faults of the plan were`} not reached: ` +
      `${unfired.map(faultWords).join('; ')}. What was not reached was not tested. Correct the plan.`,
    {
      code: 'fault-not-reached',
      next: 'fix-input',
      details: { unfired: unfired.map((one) => ({ ...one })) },
    },
  );
