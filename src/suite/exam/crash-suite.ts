/**
 * The crash matrix of a suite: each scenario once in peace, to find its boundaries, then once for each of them with
 * its process killed there. Whatever the scenario expects has to hold all the same, but for what being asked again
 * costs. A call that nobody can know about may be in doubt, as its effect kind says; then a person is waited for.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { badInput } from '../../errors.ts';
import { evolve, initial } from '../../session/evolve.ts';
import { toolOf } from '../../session/state.ts';
import { traceOf } from '../../rehearse/trace.ts';
import type { Boundary } from '../crash/boundary.ts';
import type { Exam } from './exam.ts';
import type { Expect } from './expect.ts';
import { judge, type Problem } from './judge.ts';
import { guardNetwork } from './network-guard.ts';
import { playScenario, type Candidate, type Playing } from './play.ts';

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

export type CrashSuiteOptions = {
  readonly exams: readonly Exam[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number, wrong: number) => void;
};

/** Of the first model of each. One scenario after the other: what they share is one process. */
export const crashSuite = async ({
  exams,
  signal,
  onProgress,
}: CrashSuiteOptions): Promise<readonly CrashedScenario[]> => {
  if (exams.length === 0) throw badInput('suite-empty', 'There is no scenario to run.');
  const root = mkdtempSync(join(tmpdir(), 'onrecord-suite-'));
  const lift = guardNetwork();
  const found: CrashedScenario[] = [];
  try {
    for (const { name, candidates } of exams) {
      const [made] = candidates.values();
      if (!made || signal?.aborted === true) break;
      found.push(await new CrashTrial(name, await made(), root).run(signal));
      onProgress?.(
        found.length,
        exams.length,
        found.reduce((sum, { wrong }) => sum + wrong.length, 0),
      );
    }
    return found;
  } finally {
    lift();
    rmSync(root, { recursive: true, force: true });
  }
};

class CrashTrial {
  readonly #name: string;
  readonly #candidate: Candidate;
  readonly #root: string;

  constructor(name: string, candidate: Candidate, root: string) {
    this.#name = name;
    this.#candidate = candidate;
    this.#root = root;
  }

  async run(signal: AbortSignal | undefined): Promise<CrashedScenario> {
    const calm = await this.#play([]);
    const boundaries = calm.playing.seen.boundaries.length;
    let [same, inDoubt] = [0, 0];
    const wrong: WrongKill[] = [];
    for (let boundary = 1; calm.problems.length === 0 && boundary <= boundaries; boundary++) {
      if (signal?.aborted === true) break;
      const { playing, problems } = await this.#play([boundary]);
      if (problems.length === 0) same++;
      else if (isRightlyInDoubt(playing)) inDoubt++;
      else wrong.push({ boundary, place: playing.seen.struck[0], problems });
      // For Ctrl C: a run may be nothing but promises.
      await new Promise<void>((turn) => setImmediate(turn));
    }
    return { scenario: this.#name, boundaries, same, inDoubt, wrong, unjudged: calm.problems };
  }

  async #play(
    kill: readonly number[],
  ): Promise<{ readonly playing: Playing; readonly problems: readonly Problem[] }> {
    const folder = mkdtempSync(join(this.#root, 'run-'));
    try {
      const { scenario } = this.#candidate;
      const playing = await playScenario(this.#candidate, { folder, faults: scenario.faults ?? [], kill });
      const trace = traceOf(playing.session, playing.events);
      // An idempotent tool may run again with its key; the journal has both.
      const executed = playing.executed.filter(
        ({ call }, i) =>
          playing.executed.findIndex((one) => one.call === call) === i || !isIdempotent(playing, i),
      );
      const problems = await judge(inPeaceOrNot(scenario.expect), { ...playing, executed, trace });
      return { playing, problems };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const isIdempotent = ({ agent, executed }: Playing, i: number): boolean =>
  agent.tools.get(executed[i]?.tool ?? '')?.effect === 'idempotent';

/** What a kill may change: a request that is asked again costs again and begins where a cache may be gone. */
const inPeaceOrNot = (expect: Expect): Expect => {
  const { cost, steps, cacheBreaks, ...rest } = expect;
  // Named to be left out.
  void [cost, steps, cacheBreaks];
  return rest;
};

const MAY_BE_IN_DOUBT: ReadonlySet<string> = new Set(['once', 'reconcilable']);

const isRightlyInDoubt = ({ session, events }: Playing): boolean => {
  const state = events.reduce(evolve, initial(session));
  const doubted = [...state.leftOpen, ...(state.active?.calls ?? [])].filter(
    ({ phase }) => phase === 'in-doubt',
  );
  return (
    doubted.length > 0 &&
    doubted.every(({ tool }) => MAY_BE_IN_DOUBT.has(toolOf(state.agent, tool)?.effect ?? 'once'))
  );
};
