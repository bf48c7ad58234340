/**
 * The crash matrix of a suite: each scenario once in peace, to find its boundaries, then once for each of them with
 * its process killed there. Whatever the scenario expects has to hold all the same, but for what being asked again
 * costs. A call that nobody can know about may be in doubt, as its effect kind says; then a person is waited for.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { badInput, isOnrecordError } from '../../errors.ts';
import { evolve, initial } from '../../session/evolve.ts';
import { knownCalls, toolOf } from '../../session/state.ts';
import { traceOf } from '../../rehearse/trace.ts';
import type { Boundary } from '../crash/boundary.ts';
import { FAULT_SEED, faultWords, withSeed, type Fault } from '../fault-plan.ts';
import { scratch } from '../scratch.ts';
import { inTime, RUN_MS_MAX, type Exam } from './exam.ts';
import { inPeaceOrNot } from './expect.ts';
import { judge, type Problem } from './judge.ts';
import { guardNetwork } from './network-guard.ts';
import { playScenario, type Candidate, type Playing } from './play.ts';

/** Kills of one command. */
export const KILLS_MAX = 1_000_000;

export type WrongKill = {
  readonly boundary: number;
  readonly place: Boundary | undefined;
  readonly problems: readonly Problem[];
};

export type CrashedScenario = {
  readonly scenario: string;
  readonly boundaries: number;
  readonly same: number;
  readonly inDoubt: number;
  readonly wrong: readonly WrongKill[];
  /** Why it could not be tried: it does not pass in peace. */
  readonly unjudged: readonly Problem[];
};

export type CrashReport = {
  readonly scenarios: readonly CrashedScenario[];
  /** Kills that were planned: one for each boundary of each scenario that passes in peace. */
  readonly planned: number;
  /** Kills that were tried; fewer than planned where it was interrupted. */
  readonly tried: number;
  /** Real milliseconds. */
  readonly ms: number;
};

export type CrashProgress = { readonly done: number; readonly all: number; readonly wrong: number };

export type CrashSuiteOptions = {
  readonly exams: readonly Exam[];
  /** In force in every run, beside the scenario's own. */
  readonly faults?: readonly Fault[];
  readonly signal?: AbortSignal;
  /** In kills, from when all scenarios have been played in peace. */
  readonly onProgress?: (progress: CrashProgress) => void;
};

/**
 * Of the first model of each. First all in peace, so that it is known how many kills there are; then kill by kill.
 * Throws `suite-empty`, `suite-too-large`.
 */
export const crashSuite = async (options: CrashSuiteOptions): Promise<CrashReport> => {
  const { exams, signal, onProgress, faults = [] } = options;
  if (exams.length === 0) throw badInput('suite-empty', 'There is no scenario to run.');
  const began = systemClock.monotonic();
  const root = mkdtempSync(join(scratch(), 'onrecord-suite-'));
  const lift = guardNetwork();
  const trials: CrashTrial[] = [];
  try {
    for (const { name, candidates } of exams) {
      const [made] = candidates.values();
      if (!made || signal?.aborted === true) break;
      const trial = new CrashTrial(name, { faults, folder: mkdtempSync(join(root, 'scenario-')) });
      await trial.begin(made);
      trials.push(trial);
    }
    const planned = trials.reduce((sum, { planned: kills }) => sum + kills, 0);
    if (planned > KILLS_MAX)
      throw badInput(
        'suite-too-large',
        `These scenarios have ${planned} boundaries, the limit is ${KILLS_MAX}.`,
      );
    let [done, wrong] = [0, 0];
    for (const trial of trials)
      for await (const isWrong of trial.kills(signal)) {
        if (isWrong) wrong++;
        onProgress?.({ done: ++done, all: planned, wrong });
      }
    const scenarios = trials.map((trial) => trial.found);
    return { scenarios, planned, tried: done, ms: systemClock.monotonic() - began };
  } finally {
    lift();
    rmSync(root, { recursive: true, force: true });
  }
};

type TrialPlace = { readonly faults: readonly Fault[]; readonly folder: string };
type Attempted = { readonly playing: Playing; readonly problems: readonly Problem[] };

class CrashTrial {
  readonly #name: string;
  readonly #place: TrialPlace;
  readonly #wrong: WrongKill[] = [];
  #candidate: Candidate | undefined;
  #boundaries = 0;
  #same = 0;
  #inDoubt = 0;
  #unjudged: readonly Problem[] = [];

  constructor(name: string, place: TrialPlace) {
    this.#name = name;
    this.#place = place;
  }

  /** Kills that are to come; none where the scenario does not pass in peace. */
  get planned(): number {
    return this.#unjudged.length > 0 ? 0 : this.#boundaries;
  }

  get found(): CrashedScenario {
    return {
      scenario: this.#name,
      boundaries: this.#boundaries,
      same: this.#same,
      inDoubt: this.#inDoubt,
      wrong: this.#wrong,
      unjudged: this.#unjudged,
    };
  }

  async begin(made: () => Promise<Candidate>): Promise<void> {
    try {
      this.#candidate = await made();
      const { playing, problems } = await this.#play(this.#candidate, []);
      this.#boundaries = playing.seen.boundaries.length;
      this.#unjudged = [
        ...playing.unfired.map((fault) => ({
          expectation: 'faults',
          message: `the fault was never reached: ${faultWords(fault)}`,
        })),
        ...problems,
      ];
    } catch (error) {
      this.#unjudged = [problemOf(error)];
    }
  }

  /** One kill after the other; yields whether it was wrong. */
  async *kills(signal: AbortSignal | undefined): AsyncGenerator<boolean, void, undefined> {
    const candidate = this.#candidate;
    if (!candidate) return;
    for (let boundary = 1; boundary <= this.planned && signal?.aborted !== true; boundary++) {
      yield await this.#kill(candidate, boundary);
      // For Ctrl C: a run may be nothing but promises.
      await new Promise<void>((turn) => setImmediate(turn));
    }
  }

  async #kill(candidate: Candidate, boundary: number): Promise<boolean> {
    try {
      const { playing, problems } = await this.#play(candidate, [boundary]);
      if (problems.length === 0) this.#same++;
      else if (isRightlyInDoubt(playing, problems)) this.#inDoubt++;
      else return this.#isWrong({ boundary, place: playing.seen.struck[0], problems });
      return false;
    } catch (error) {
      return this.#isWrong({ boundary, place: undefined, problems: [problemOf(error)] });
    }
  }

  #isWrong(kill: WrongKill): true {
    this.#wrong.push(kill);
    return true;
  }

  async #play(candidate: Candidate, kill: readonly number[]): Promise<Attempted> {
    const { folder: place, faults: planned } = this.#place;
    const folder = mkdtempSync(join(place, 'run-'));
    try {
      const { scenario } = candidate;
      const faults = withSeed([...(scenario.faults ?? []), ...planned], FAULT_SEED);
      const playing = await inTime(
        playScenario(candidate, { folder, faults, kill, laid: join(place, 'laid') }),
        RUN_MS_MAX,
      );
      const trace = traceOf(playing.session, playing.events);
      // An idempotent tool may run again with its key; the journal has both.
      const executed = playing.executed.filter(
        ({ call }, i) =>
          playing.executed.findIndex((one) => one.call === call) === i || !isIdempotent(playing, i),
      );
      const problems = [
        ...(await judge(inPeaceOrNot(scenario.expect), { ...playing, executed, trace })),
        ...((await candidate.check?.(playing)) ?? []),
      ];
      return { playing, problems };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const problemOf = (error: unknown): Problem => ({
  expectation: isOnrecordError(error) ? error.code : 'unexpected',
  message: error instanceof Error ? error.message : String(error),
});

const isIdempotent = ({ agent, executed }: Playing, i: number): boolean =>
  agent.tools.get(executed[i]?.tool ?? '')?.effect === 'idempotent';

const MAY_BE_IN_DOUBT: ReadonlySet<string> = new Set(['once', 'reconcilable']);

const isRightlyInDoubt = (playing: Playing, problems: readonly Problem[]): boolean => {
  const { session, events } = playing;
  const state = events.reduce(evolve, initial(session));
  const doubted = knownCalls(state).filter(({ phase }) => phase === 'in-doubt');
  if (doubted.length === 0) return isSettledUnseen(playing, problems);
  return doubted.every(({ tool }) => MAY_BE_IN_DOUBT.has(toolOf(state.agent, tool)?.effect ?? 'once'));
};

/**
 * A call that was in doubt until the scenario's person said that it happened, and that was killed before it did: the
 * record has the person's word, and the world does not have the effect.
 */
const isSettledUnseen = ({ events, executed }: Playing, problems: readonly Problem[]): boolean =>
  problems.every(({ expectation }) => expectation === 'effects') &&
  events.some(
    ({ type, data }) =>
      type === 'call.settled' &&
      data.settlement.answer === 'happened' &&
      executed.every(({ call }) => call !== data.call),
  );
