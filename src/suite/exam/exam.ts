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
import { traceOf } from '../../rehearse/trace.ts';
import { countOf } from '../../view/format.ts';
import { faultWords, type Fault } from '../fault-plan.ts';
import { scratch } from '../scratch.ts';
import { aspectsOf, deedsOf } from './deeds.ts';
import { divergenceOf, type Divergence, type Signature } from './divergence.ts';
import { judge, type Problem } from './judge.ts';
import { guardNetwork } from './network-guard.ts';
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
  /** In force in every run, beside the scenario's own. */
  readonly faults?: readonly Fault[];
  /** Runs at the same time; default as many as there are processors. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number, bad: number) => void;
};

export type ExamReport = {
  readonly runs: readonly ExamRun[];
  /** False where it was interrupted. */
  readonly complete: boolean;
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
  const { exams, repeat = 1, signal, onProgress, jobs = availableParallelism(), faults = [] } = options;
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
      const run = await runOne(one, root, faults);
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
  return { runs: ended, complete: ended.length === planned.length, ms: systemClock.monotonic() - began };
};

const runOne = async (
  { exam, model, repeat, made }: Planned,
  root: string,
  faults: readonly Fault[],
): Promise<ExamRun> => {
  const began = systemClock.monotonic();
  const folder = mkdtempSync(join(root, 'run-'));
  let live = false;
  const head = { scenario: exam, model, repeat };
  try {
    const candidate = await made();
    ({ live } = candidate);
    const all = [...(candidate.scenario.faults ?? []), ...faults];
    const playing = await inTime(
      playScenario(candidate, { folder, faults: all }),
      live ? LIVE_RUN_MS_MAX : RUN_MS_MAX,
    );
    const judged = await judgedRun(candidate, playing);
    return { ...head, live, ...judged, ms: systemClock.monotonic() - began };
  } catch (error) {
    return { ...head, live, ...broken(error), ms: systemClock.monotonic() - began };
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

type Judged = Omit<ExamRun, 'scenario' | 'model' | 'repeat' | 'live' | 'ms'>;

const judgedRun = async ({ scenario, live }: Candidate, playing: Playing): Promise<Judged> => {
  const { session, events, agent, unfired, answers } = playing;
  const trace = traceOf(session, events);
  const problems = await judge(scenario.expect, { ...playing, trace });
  const { definition } = agent;
  const ends = new Map(
    events.flatMap(({ type, data, seq }) => (type === 'turn.ended' ? [[data.turn, seq] as const] : [])),
  );
  const { model } = agent;
  const spare = !live && 'unusedSteps' in model ? (model as ScriptedModel).unusedSteps(answers) : 0;
  const expected = live ? 0 : scenario.expect.unusedSteps;
  const unjudged: readonly Problem[] = [
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
  const errored = unfired.length > 0 || (problems.length === 0 && unjudged.length > 0);
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
  };
};

/** What may explain a failure: hosts that were wanted and are not opened. */
const closedTo = ({ refused }: Playing): readonly Problem[] =>
  [...new Set(refused)].map((host) => ({
    expectation: 'network',
    message: `${host} was wanted and is closed; "network" opens it by name`,
  }));

const broken = (error: unknown): Judged => {
  const code = isOnrecordError(error) ? error.code : 'unexpected';
  const message = error instanceof Error ? error.message : String(error);
  const nothing = { signature: undefined, steps: 0, calls: 0, cost: undefined, events: 0 };
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
