/**
 * A fault plan: what goes wrong where, said beforehand. Written as a YAML list:
 *
 *   - { at: call.after, what: mail.draft, do: crash }
 *   - { at: append.before, what: call.result, occurrence: 2, do: disk-full }
 *   - { at: call.before, do: error, probability: 0.1, seed: 7 }
 *
 * A fault comes once, or by chance from a seed, which is the same chance each time. Where several fall on one place, they come in the order of the plan. A fault that no run
 * has reached tested nothing: that is an error, never a pass. Of chance it is said how often it came.
 */
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { badInput, OnrecordError } from '../errors.ts';
import { sha256 } from '../event/canonical.ts';
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
/** Where nobody names one. */
export const FAULT_SEED = 20_261_127;
export const FAULT_SEED_MAX: number = 2 ** 32 - 1;
/** How far a wall clock goes at once. */
export const CLOCK_MS_MAX: number = 366 * 24 * 60 * 60 * 1000;
const OCCURRENCE_MAX = 1_000_000;
export const FAULT_MS_MAX: number = 60 * 60 * 1000;
/** How long after its time a late result comes, where the plan does not say. */
const LATE_MS = 100;

/** Between the model and the runtime, where a suite stands: what becomes of a reply on its way. */
export const STREAM = 'request.stream';
export type PlanPoint = FaultPoint | typeof STREAM;
const PLAN_POINTS = [...FAULT_POINTS, STREAM] as const;

type EverywhereKind = 'crash' | 'error' | 'delay' | 'disk-full' | 'late' | 'duplicate' | 'drop';
export type StagedKind = 'slow' | 'cut' | 'malformed' | 'clock-forward' | 'clock-back';
export type FaultKind = EverywhereKind | StagedKind;

/** What can go wrong, and where it can. */
export const FAULT_KINDS: Readonly<Record<EverywhereKind, readonly FaultPoint[]>> = {
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

/** What can go wrong on the stage of a suite alone. */
export const STAGED_KINDS: Readonly<Record<StagedKind, readonly PlanPoint[]>> = {
  /** The reply comes in ten pieces, each `ms` after the one before. */
  slow: [STREAM],
  /** The stream breaks off in the middle. */
  cut: [STREAM],
  /** The arguments of its calls end in the middle; a reply without a call cannot be read. */
  malformed: [STREAM],
  /** The wall clock alone goes `ms` forth, or back. */
  'clock-forward': FAULT_POINTS,
  'clock-back': FAULT_POINTS,
};

export type Fault = {
  readonly at: PlanPoint;
  /** A tool's name, an event's type, a command's kind. Absent: any. */
  readonly what?: string | undefined;
  /** "1.2.1". Absent: any. */
  readonly call?: string | undefined;
  /** The request of this step and its calls: "1.2". Absent: any. */
  readonly step?: string | undefined;
  readonly attempt?: number | undefined;
  /** The how manieth of the places that fit; 1 is the first. */
  readonly occurrence: number;
  /** At each of the places that fit it comes with this probability, instead of once. */
  readonly probability?: number | undefined;
  readonly seed?: number | undefined;
  readonly do: FaultKind;
  readonly ms?: number | undefined;
};

const PLACES: Readonly<Record<FaultKind, readonly PlanPoint[]>> = { ...FAULT_KINDS, ...STAGED_KINDS };
const KINDS = Object.keys(PLACES) as [FaultKind, ...FaultKind[]];
const NEEDS_MS: ReadonlySet<FaultKind> = new Set(['delay', 'slow', 'clock-forward', 'clock-back']);

const fault = z
  .strictObject({
    at: z.enum(PLAN_POINTS, { error: `expected a fault point: ${PLAN_POINTS.join(', ')}` }),
    what: z.string().min(1).optional(),
    call: z
      .string()
      .regex(/^[1-9]\d*\.[1-9]\d*\.[1-9]\d*$/, 'must be turn, step and index, in quotation marks: "1.2.1"')
      .optional(),
    step: z
      .string()
      .regex(/^[1-9]\d*\.[1-9]\d*$/, 'must be turn and step, in quotation marks: "1.2"')
      .optional(),
    attempt: z.int().min(1).optional(),
    probability: z.number().gt(0).max(1).optional(),
    seed: z.int().min(0).max(FAULT_SEED_MAX).optional(),
    occurrence: z.int().min(1).max(OCCURRENCE_MAX).default(1),
    do: z.enum(KINDS, { error: `expected what goes wrong: ${KINDS.join(', ')}` }),
    ms: z.int().min(1).max(CLOCK_MS_MAX).optional(),
  })
  .superRefine((one, context) => {
    for (const [path, message] of faultProblems(one))
      context.addIssue({ code: 'custom', path: [path], message });
  });

const faultProblems = (one: Fault): readonly (readonly [keyof Fault, string])[] => {
  const { at, do: kind, ms, call, step, occurrence, probability, seed } = one;
  const places = PLACES[kind];
  const ofCall = /^(?:prepare|call|reconcile)\./.test(at);
  const problems: readonly (readonly [boolean, keyof Fault, string])[] = [
    [!places.includes(at), 'do', `"${kind}" cannot come at ${at}; it can at ${places.join(', ')}`],
    [NEEDS_MS.has(kind) && ms === undefined, 'do', `"${kind}" needs ms, the milliseconds it takes`],
    [
      ms !== undefined && !NEEDS_MS.has(kind) && kind !== 'late',
      'ms',
      `"${kind}" takes no ms; "delay" and "late" do`,
    ],
    [
      ms !== undefined && ms > FAULT_MS_MAX && !kind.startsWith('clock-'),
      'ms',
      `must be at most ${FAULT_MS_MAX}`,
    ],
    [call !== undefined && !ofCall, 'call', `${at} belongs to no call`],
    [step !== undefined && !ofCall && !at.startsWith('request.'), 'step', `${at} belongs to no step`],
    [
      probability !== undefined && occurrence !== 1,
      'occurrence',
      'a fault comes at one occurrence or by probability, not both',
    ],
    [seed !== undefined && probability === undefined, 'seed', 'a seed goes with a probability'],
  ];
  return problems.filter(([wrong]) => wrong).map(([, path, message]) => [path, message]);
};

/** A plan as it is written; its list is closed: unknown keys are errors. */
export const faultPlanSchema: z.ZodType<readonly Fault[]> = z.array(fault).min(1).max(FAULTS_MAX);

/** How far a plan has come, for a run that goes on in another process. */
export type FaultPlanState = readonly { readonly met: number; readonly came: number }[];

/** What chance made of a fault. */
export type FaultCount = {
  /** As `faultWords` says it. */
  readonly fault: string;
  readonly came: number;
  /** Places that fitted. */
  readonly of: number;
};

export type FaultPlanOptions = {
  readonly clock: Clock;
  /** Ends the process. Default: SIGKILL. */
  readonly die?: (fault: Fault, place: FaultPlace) => Promise<never>;
  readonly state?: FaultPlanState | undefined;
  /** Moves the wall clock by milliseconds; only the stage of a suite can. */
  readonly jump?: (ms: number) => void;
};

type Planned = { readonly fault: Fault; met: number; came: number };

export class FaultPlan implements Faults {
  readonly #planned: readonly Planned[];
  readonly #clock: Clock;
  readonly #die: NonNullable<FaultPlanOptions['die']>;
  readonly #jump: FaultPlanOptions['jump'];

  /** Throws `fault-plan-invalid` where something can only go wrong in a suite, and this is none. */
  constructor(faults: readonly Fault[], options: FaultPlanOptions) {
    const { clock, die = killThisProcess, state, jump } = options;
    const staged = faults.find((one) => Object.hasOwn(STAGED_KINDS, one.do));
    if (staged && !jump)
      throw badInput(
        'fault-plan-invalid',
        `"${staged.do}" needs the stage of a suite, where clocks and replies are in its hand.`,
        { fault: { ...staged } },
        'onrecord help suite',
      );
    this.#planned = faults.map((one, i) => ({ fault: one, ...(state?.[i] ?? { met: 0, came: 0 }) }));
    this.#clock = clock;
    this.#die = die;
    this.#jump = jump;
  }

  get state(): FaultPlanState {
    return this.#planned.map(({ met, came }) => ({ met, came }));
  }

  /** Faults that were to come and have not. What is left to chance is counted instead. */
  unfired(): readonly Fault[] {
    return this.#planned
      .filter(({ came, fault: { probability } }) => came === 0 && probability === undefined)
      .map(({ fault: one }) => one);
  }

  /** What came by chance, and at how many places it could have. */
  counts(): readonly FaultCount[] {
    return this.#planned
      .filter(({ fault: { probability } }) => probability !== undefined)
      .map(({ fault: one, met, came }) => ({ fault: faultWords(one), came, of: met }));
  }

  /** Whether something would go wrong here now. */
  isDue(point: FaultPoint, place: FaultPlace): boolean {
    return this.#planned.some(({ fault: one, met }) => fits(one, point, place) && comes(one, met + 1));
  }

  async reach(point: FaultPoint, place: FaultPlace): Promise<FaultAnswer> {
    let answer: FaultAnswer = undefined;
    for (const one of this.#due(point, place)) answer = (await this.#come(one, place)) ?? answer;
    return answer;
  }

  /** What is to become of a reply; where several faults fall on it, the first of the plan. */
  distortion(place: FaultPlace): Fault | undefined {
    return this.#due(STREAM, place)[0];
  }

  #due(point: PlanPoint, place: FaultPlace): readonly Fault[] {
    const here = this.#planned.filter(({ fault: one }) => fits(one, point, place));
    for (const one of here) one.met++;
    const due = here.filter(({ fault: one, met }) => comes(one, met));
    for (const one of due) one.came++;
    return due.map(({ fault: one }) => one);
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
      case 'clock-forward':
      case 'clock-back':
        return this.#jump?.(one.do === 'clock-back' ? -(one.ms ?? 0) : (one.ms ?? 0));
      case 'slow':
      case 'cut':
      case 'malformed':
        // Of the reply itself: whoever sends the request asks for it.
        return undefined;
      default:
        return one.do satisfies never;
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

/** At the how manieth place that fits. Chance is a function of the seed, the fault and the place alone. */
const comes = (one: Fault, met: number): boolean => {
  const { probability, seed = FAULT_SEED, occurrence } = one;
  if (probability === undefined) return met === occurrence;
  return Number.parseInt(sha256(`${seed} ${faultWords(one)} ${met}`).slice(0, 8), 16) / 2 ** 32 < probability;
};

/** The same plan with a seed for what has none of its own. */
export const withSeed = (faults: readonly Fault[], seed: number): readonly Fault[] =>
  faults.map((one) =>
    one.probability === undefined || one.seed !== undefined ? one : { ...one, seed: seed >>> 0 },
  );

const fits = (one: Fault, point: PlanPoint, { what, call, attempt }: FaultPlace): boolean =>
  one.at === point &&
  (one.step === undefined || what === `request ${one.step}` || call?.startsWith(`${one.step}.`) === true) &&
  (one.what === undefined || one.what === what || what.split(' ').includes(one.what)) &&
  (one.call === undefined || one.call === call) &&
  (one.attempt === undefined || one.attempt === attempt);

/** What fails at a point, as whoever stands there would see it. */
const errorAt = (point: PlanPoint): Error => {
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
export const faultWords = ({
  at,
  what,
  call,
  step,
  attempt,
  occurrence,
  probability,
  do: kind,
}: Fault): string =>
  [
    [at, what, call, step].filter((word) => word !== undefined).join(' '),
    ...(attempt === undefined ? [] : [`, attempt ${attempt}`]),
    ...(occurrence === 1 ? [] : [`, occurrence ${occurrence}`]),
    ...(probability === undefined ? [] : [`, probability ${probability}`]),
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
