/**
 * Runs a suite: every scenario with every model, so often as it is asked for, several at once. Each run has its own
 * folder, store and clock. The report is in the order of the scenarios, whatever ended first.
 *
 * A run is passed, failed (an expectation does not hold) or errored (it could not be judged: a fault was never
 * reached, a script has steps that nobody asked for, the agent could not be made, it does not come to an end).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { badInput, isOnrecordError } from '../../errors.ts';
import type { ScriptedModel } from '../../model/scripted.ts';
import { sha256 } from '../../event/canonical.ts';
import { traceOf, type Trace } from '../../rehearse/trace.ts';
import { countOf } from '../../view/format.ts';
import { FAULT_SEED, faultWords, withSeed, type Fault, type FaultCount } from '../fault-plan.ts';
import { scratch } from '../scratch.ts';
import { aspectsOf, deedsOf, type Deed } from './deeds.ts';
import { divergenceOf, type Divergence, type Signature } from './divergence.ts';
import type { LogEvent, RequestProblemKind } from '../../event/events.ts';
import { inPeaceOrNot, type Expect } from './expect.ts';
import { judge, type Problem } from './judge.ts';
import { guardNetwork } from './network-guard.ts';
import { BODIES_BYTES_MAX, sentRequests, type Room, type SentRequest } from './sent-requests.ts';
import { playScenario, type Candidate, type Playing } from './play.ts';

/** Runs of one command. */
export const RUNS_MAX = 100_000;
export const REPEAT_MAX = 1000;
/** Real time after which a run is given up. */
export const RUN_MS_MAX: number = 60 * 1000;
export const LIVE_RUN_MS_MAX: number = 30 * 60 * 1000;

export type RunVerdict = 'passed' | 'failed' | 'errored';

export type ExamRun = {
  readonly scenario: string;
  /** The name under which its model was asked for. */
  readonly model: string;
  /** From 1. */
  readonly repeat: number;
  readonly live: boolean;
  readonly verdict: RunVerdict;
  /** Why it did not pass: expectations, or what kept it from being judged. */
  readonly problems: readonly Problem[];
  /** Undefined where nothing could be played. */
  readonly signature: Signature | undefined;
  readonly steps: number;
  readonly calls: number;
  /** US dollars; undefined where a part of it is unknown. */
  readonly cost: number | undefined;
  readonly events: number;
  /** Rebuilt from the record, where they are asked for. */
  readonly requests: readonly SentRequest[];
  /** What of its faults came by chance. */
  readonly chance: readonly FaultCount[];
  /** Real milliseconds. */
  readonly ms: number;
};

/** One scenario as each of the models is to play it. */
export type Exam = {
  readonly name: string;
  readonly candidates: ReadonlyMap<string, () => Promise<Candidate>>;
};

export type ExamOptions = {
  readonly exams: readonly Exam[];
  readonly repeat?: number;
  /** In force in every run, beside the scenario's own; then nothing is expected of cost, steps and the cache. */
  readonly faults?: readonly Fault[];
  /** Of faults that come by probability and have none of their own. Each run has its own chance from it. */
  readonly seed?: number;
  /** Keeps the exact requests, for a page. */
  readonly requests?: boolean;
  /** Runs at the same time; default as many as there are processors. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number, bad: number) => void;
};

export type ExamReport = {
  readonly runs: readonly ExamRun[];
  /** False where it was interrupted. */
  readonly complete: boolean;
  /** Taken back with --seed; undefined where nothing was left to chance. */
  readonly seed: number | undefined;
  readonly ms: number;
};

type Planned = {
  readonly exam: string;
  readonly model: string;
  readonly repeat: number;
  readonly made: () => Promise<Candidate>;
};

/** Throws `suite-empty`: a suite without a scenario has examined nothing. */
export const runExams = async (options: ExamOptions): Promise<ExamReport> => {
  const { exams, repeat = 1, signal, onProgress, jobs = availableParallelism() } = options;
  const { faults = [], seed = FAULT_SEED } = options;
  const room: Room | undefined = options.requests === true ? { bytes: BODIES_BYTES_MAX } : undefined;
  const planned = exams.flatMap(({ name, candidates }) =>
    [...candidates].flatMap(([model, made]) =>
      Array.from({ length: repeat }, (_, i): Planned => ({ exam: name, model, repeat: i + 1, made })),
    ),
  );
  if (planned.length === 0)
    throw badInput('suite-empty', 'There is no scenario to run. A suite without one has examined nothing.');
  if (planned.length > RUNS_MAX)
    throw badInput('suite-too-large', `${planned.length} runs are asked for, the limit is ${RUNS_MAX}.`);
  const began = systemClock.monotonic();
  const root = mkdtempSync(join(scratch(), 'onrecord-suite-'));
  const lift = guardNetwork();
  const runs: (ExamRun | undefined)[] = planned.map(() => undefined);
  const left = planned.entries();
  let [done, bad] = [0, 0];
  const work = async (): Promise<void> => {
    for (const [i, one] of left) {
      if (signal?.aborted === true) return;
      const run = await runOne(one, root, { faults, seed, room });
      runs[i] = run;
      if (run.verdict !== 'passed') bad++;
      onProgress?.(++done, planned.length, bad);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
  } finally {
    lift();
    rmSync(root, { recursive: true, force: true });
  }
  const ended = runs.filter((run) => run !== undefined);
  return {
    runs: ended,
    complete: ended.length === planned.length,
    seed: ended.some(({ chance }) => chance.length > 0) ? seed : undefined,
    ms: systemClock.monotonic() - began,
  };
};

type Given = {
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly room: Room | undefined;
};

/** Whatever else is run: this run of this scenario has the same chance again. */
const seedOf = ({ exam, repeat }: Planned, seed: number): number =>
  Number.parseInt(sha256(`${seed} ${exam} ${repeat}`).slice(0, 8), 16);

const runOne = async (planned: Planned, root: string, { faults, seed, room }: Given): Promise<ExamRun> => {
  const { exam, model, repeat, made } = planned;
  const began = systemClock.monotonic();
  const folder = mkdtempSync(join(root, 'run-'));
  let live = false;
  const head = { scenario: exam, model, repeat };
  try {
    const candidate = await made();
    ({ live } = candidate);
    const all = withSeed([...(candidate.scenario.faults ?? []), ...faults], seedOf(planned, seed));
    const playing = await inTime(
      playScenario(candidate, { folder, faults: all }),
      live ? LIVE_RUN_MS_MAX : RUN_MS_MAX,
    );
    const { scenario } = candidate;
    const expect = faults.length > 0 ? inPeaceOrNot(scenario.expect) : scenario.expect;
    const judged = await judgedRun({ ...candidate, scenario: { ...scenario, expect } }, playing);
    const requests = room ? await sentRequests(playing, room) : [];
    return { ...head, live, ...judged, requests, ms: systemClock.monotonic() - began };
  } catch (error) {
    return { ...head, live, ...broken(error), requests: [], ms: systemClock.monotonic() - began };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Throws `scenario-stuck` when so many real milliseconds have passed. */
export const inTime = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = systemClock.after(ms, () =>
    late.reject(badInput('scenario-stuck', `The run did not end within ${ms / 1000} s.`)),
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    timer.cancel();
  }
};

type Judged = Omit<ExamRun, 'scenario' | 'model' | 'repeat' | 'live' | 'requests' | 'ms'>;

const judgedRun = async ({ scenario, live, check }: Candidate, playing: Playing): Promise<Judged> => {
  const { session, events, agent, unfired, answers, chance } = playing;
  const trace = withoutDistorted(traceOf(session, events), playing.distorted);
  const silent = expectsFailure(scenario.expect) ? undefined : silence(events);
  if (silent !== undefined)
    return { ...broken(silent), steps: trace.spent.requests, events: events.length, chance };
  const problems = [
    ...(await judge(scenario.expect, { ...playing, trace })),
    ...((await check?.(playing)) ?? []),
  ];
  const { definition } = agent;
  const ends = new Map(
    events.flatMap(({ type, data, seq }) => (type === 'turn.ended' ? [[data.turn, seq] as const] : [])),
  );
  const { model } = agent;
  const spare = !live && 'unusedSteps' in model ? (model as ScriptedModel).unusedSteps(answers) : 0;
  const expected = live ? 0 : scenario.expect.unusedSteps;
  const unjudged: readonly Problem[] = [
    ...playing.missed.map((call) => ({
      expectation: 'recording-miss',
      message: `the recording does not have this call: ${call}; record the session anew, or give the scenario a desk`,
    })),
    ...unfired.map((fault) => ({
      expectation: 'faults',
      message: `the fault was never reached: ${faultWords(fault)}`,
    })),
    ...(spare !== expected
      ? [
          {
            expectation: 'unusedSteps',
            message: `${countOf(spare, 'step')} of the script left over, expected ${expected}`,
          },
        ]
      : []),
  ];
  // A fault that did not come tested nothing; steps that are left over are the sign of a failure, if there is one.
  const errored =
    unfired.length > 0 || playing.missed.length > 0 || (problems.length === 0 && unjudged.length > 0);
  const { requests, calls, cost } = trace.spent;
  return {
    verdict: errored ? 'errored' : problems.length > 0 ? 'failed' : 'passed',
    problems: [...unjudged, ...problems, ...(problems.length > 0 ? closedTo(playing) : [])],
    signature: {
      deeds: deedsOf({ trace, agent: definition, ends }, scenario.noise),
      aspects: aspectsOf(definition),
    },
    steps: requests,
    calls,
    cost,
    events: events.length,
    chance,
  };
};

/** What a fault plan made of a reply is none of the model's deeds. */
const withoutDistorted = (trace: Trace, distorted: ReadonlySet<string>): Trace => ({
  ...trace,
  turns: trace.turns.map((turn) => ({
    ...turn,
    steps: turn.steps.map((step) =>
      distorted.has(`${step.turn}.${step.step}`) ? { ...step, calls: [], inner: [] } : step,
    ),
  })),
});

/** What may explain a failure: hosts that were wanted and are not opened. */
const closedTo = ({ refused }: Playing): readonly Problem[] =>
  [...new Set(refused)].map((host) => ({
    expectation: 'network',
    message: `${host} was wanted and is closed; "network" opens it by name`,
  }));

const NO_ANSWER: ReadonlySet<RequestProblemKind> = new Set([
  'rate-limited',
  'overloaded',
  'unavailable',
  'interrupted',
  'timeout',
  'bad-response',
  'authentication',
  'no-balance',
]);

const expectsFailure = ({ outcome }: Expect): boolean => outcome === 'failed' || outcome.includes('failed');

/** The last turn ended because the provider gave no answer: nothing can be expected of an answer that is not there. */
const silence = (events: readonly LogEvent[]): Error | undefined => {
  const end = events.findLast(({ type }) => type === 'turn.ended');
  const last = events.findLast(({ type }) => type === 'request.failed' || type === 'response.received');
  if (end?.type !== 'turn.ended' || end.data.outcome !== 'failed' || last?.type !== 'request.failed')
    return undefined;
  const { kind, status, message } = last.data.problem;
  if (!NO_ANSWER.has(kind)) return undefined;
  const words = [kind, status].filter((word) => word !== undefined).join(', status ');
  return badInput('no-answer', `The model gave no answer (${words}): ${message}`);
};

const broken = (error: unknown): Judged => {
  const code = isOnrecordError(error) ? error.code : 'unexpected';
  const message = error instanceof Error ? error.message : String(error);
  const nothing = { signature: undefined, steps: 0, calls: 0, cost: undefined, events: 0, chance: [] };
  return { verdict: 'errored', problems: [{ expectation: code, message }], ...nothing };
};

export type PairDifference = {
  readonly scenario: string;
  readonly models: readonly [string, string];
  readonly divergence: Divergence;
};

/** For each scenario and each pair of models the first difference of their first runs, where there is one. */
export const differencesOf = (runs: readonly ExamRun[]): readonly PairDifference[] => {
  const first = runs.filter(({ repeat, signature }) => repeat === 1 && signature !== undefined);
  const scenarios = [...new Set(first.map(({ scenario }) => scenario))];
  return scenarios.flatMap((scenario) => {
    const here = first.filter((run) => run.scenario === scenario);
    return here.flatMap((one, i) =>
      here.slice(i + 1).flatMap((other): readonly PairDifference[] => {
        const divergence = one.signature && other.signature && divergenceOf(one.signature, other.signature);
        return divergence ? [{ scenario, models: [one.model, other.model], divergence }] : [];
      }),
    );
  });
};

export type Reordered = {
  readonly scenario: string;
  readonly models: readonly [string, string];
  /** Tools of the reads, in the order of the one and of the other. */
  readonly reads: readonly [readonly string[], readonly string[]];
};

/** Pairs without a difference that read in another order: no difference, but worth a line. */
export const reorderedIn = (runs: readonly ExamRun[]): readonly Reordered[] => {
  const first = runs.filter(({ repeat, signature }) => repeat === 1 && signature !== undefined);
  return first.flatMap((one, i) =>
    first.slice(i + 1).flatMap((other): readonly Reordered[] => {
      if (one.scenario !== other.scenario || !one.signature || !other.signature) return [];
      if (divergenceOf(one.signature, other.signature)) return [];
      const reads = reorderedReads(one.signature.deeds, other.signature.deeds);
      return reads ? [{ scenario: one.scenario, models: [one.model, other.model], reads }] : [];
    }),
  );
};

/** The first group of reads between two writes that stands in another order; the deeds are otherwise the same. */
const reorderedReads = (one: readonly Deed[], other: readonly Deed[]): Reordered['reads'] | undefined => {
  for (let from = 0; from < one.length; from++) {
    if (one[from]?.kind !== 'read') continue;
    let to = from;
    while (one[to]?.kind === 'read') to++;
    const [left, right] = [one, other].map((deeds) =>
      deeds
        .slice(from, to)
        .map((deed, at) => ({ ...deed, at }))
        .sort((a, b) => a.seq - b.seq),
    );
    if (left && right && left.some(({ at }, i) => right[i]?.at !== at))
      return [left.map(({ what }) => what), right.map(({ what }) => what)];
    from = to;
  }
  return undefined;
};
