/**
 * The crash matrix: a scenario once without a kill, to find every boundary; then once for each boundary, and for
 * each pair of them, with a kill there. Every killed run is taken up again until it ends, and compared with the
 * uninterrupted one.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { badInput } from '../../errors.ts';
import { FAULT_POINTS, type FaultPoint } from '../../worker/fault-point.ts';
import { faultNotReached, type Fault } from '../fault-plan.ts';
import { scratch } from '../scratch.ts';
import type { Boundary, Kill } from './boundary.ts';
import { DESK, type NamedCall } from './ending.ts';
import { judge, WRONG, WRONG_UNDER_PLAN, type Calm, type Judged, type Verdict } from './judge.ts';
import { SEED } from './play.ts';
import { playKilled } from './real.ts';
import type { Played } from './run.ts';
import { loadScenario, type CrashScenario, type ScenarioText } from './scenario.ts';
import { playSimulated } from './simulated.ts';

export type KillResult = Judged & {
  readonly kill: Kill;
  /** Where each kill struck. */
  readonly struck: readonly Boundary[];
  /** Calls that wait for a person to say what became of them. */
  readonly inDoubt: readonly NamedCall[];
  readonly wrong: boolean;
};

export type Matrix = {
  readonly scenario: string;
  readonly mode: 'simulated' | 'real';
  readonly seed: number;
  /** What each boundary of the uninterrupted run is, in order. */
  readonly boundaries: readonly Boundary[];
  readonly results: readonly KillResult[];
  /** False where it was stopped before its end. */
  readonly complete: boolean;
  readonly ms: number;
};

export type MatrixProgress = { readonly done: number; readonly all: number; readonly wrong: number };

export type MatrixOptions = {
  readonly text: ScenarioText;
  /** The folder of the scenario; its agent's path starts there. */
  readonly home: string;
  readonly mode: 'simulated' | 'real';
  readonly twice: boolean;
  /** This kill alone. */
  readonly only?: Kill | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly onProgress?: (progress: MatrixProgress) => void;
  readonly signal?: AbortSignal;
};

/** Throws `scenario-invalid`, `fault-not-reached`, and `kill-not-found` where `only` names no boundary. */
export const crashMatrix = async (options: MatrixOptions): Promise<Matrix> => {
  const scenario = await loadScenario(options.text, options.home);
  const folder = mkdtempSync(join(scratch(), 'onrecord-crash-'));
  try {
    // Set up once and copied for every run.
    await scenario.agent({ desk: join(folder, DESK) });
    return await new CrashMatrix(options, scenario, folder).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

class CrashMatrix {
  readonly #options: MatrixOptions;
  readonly #scenario: CrashScenario;
  readonly #folder: string;
  readonly #results: KillResult[] = [];
  /** How many boundaries the run of a single kill had, by the kill. */
  readonly #lengths = new Map<number, number>();
  #wrong = 0;

  constructor(options: MatrixOptions, scenario: CrashScenario, folder: string) {
    this.#options = options;
    this.#scenario = scenario;
    this.#folder = folder;
  }

  async run(): Promise<Matrix> {
    const { mode, twice, only, faults = [], signal } = this.#options;
    const began = performance.now();
    const played = await this.#play([]);
    if (played.unfired.length > 0) throw faultNotReached(played.unfired);
    const { boundaries } = played.seen;
    const calm: Calm = { played, planned: faults.length > 0 };
    const count = boundaries.length;
    const singles = only ? [onlyKill(only, count)] : kills(count);
    const all = singles.length + (twice ? (count * (count - 1)) / 2 : 0);
    await this.#runAll(singles, calm, all);
    const doubles = twice ? kills(count).flatMap(([first = 1]) => this.#pairs(first)) : [];
    await this.#runAll(doubles, calm, singles.length + doubles.length);
    return {
      scenario: this.#scenario.name,
      mode,
      seed: SEED,
      boundaries,
      results: this.#results.toSorted(byKill),
      complete: signal?.aborted !== true,
      ms: performance.now() - began,
    };
  }

  /** The second kill may fall on any boundary that the run has after the first. */
  #pairs(first: number): readonly Kill[] {
    const length = this.#lengths.get(first) ?? first;
    return Array.from({ length: length - first }, (_, i) => [first, first + i + 1]);
  }

  /** Processes run beside each other; what shares this process runs one after the other. */
  async #runAll(planned: readonly Kill[], calm: Calm, all: number): Promise<void> {
    const { mode, signal, onProgress } = this.#options;
    const left = planned.values();
    const work = async (): Promise<void> => {
      for (const kill of left) {
        if (signal?.aborted === true) return;
        const killed = await this.#play(kill);
        const judged = judge(calm, killed, kill);
        const wrong = (calm.planned ? WRONG_UNDER_PLAN : WRONG).has(judged.verdict);
        const { struck, boundaries } = killed.seen;
        this.#results.push({ kill, struck, inDoubt: killed.ending.inDoubt, wrong, ...judged });
        if (kill.length === 1 && kill[0] !== undefined) this.#lengths.set(kill[0], boundaries.length);
        if (wrong) this.#wrong++;
        onProgress?.({ done: this.#results.length, all, wrong: this.#wrong });
        // For Ctrl C and the line of progress: a run may be nothing but promises.
        if (mode === 'simulated') await new Promise<void>((resolve) => setImmediate(resolve));
      }
    };
    const workers = mode === 'real' ? availableParallelism() : 1;
    await Promise.all(Array.from({ length: workers }, work));
  }

  async #play(kill: Kill): Promise<Played> {
    const { text, home, mode, faults = [] } = this.#options;
    const folder = mkdtempSync(join(this.#folder, 'run-'));
    const desk = join(this.#folder, DESK);
    try {
      if (existsSync(desk)) cpSync(desk, join(folder, DESK), { recursive: true });
      return await (mode === 'real'
        ? playKilled({ text, home, folder, kill, faults }, join(this.#folder, 'compiled'))
        : playSimulated({ scenario: this.#scenario, folder, kill, faults }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const kills = (count: number): readonly Kill[] => Array.from({ length: count }, (_, i) => [i + 1]);

const onlyKill = (kill: Kill, count: number): Kill => {
  const [first = 1] = kill;
  if (first <= count) return kill;
  throw badInput(
    'kill-not-found',
    `There is no boundary ${first}: the scenario has ${count}, without a kill.`,
    {
      kill,
      count,
    },
  );
};

const byKill = ({ kill: one }: KillResult, { kill: other }: KillResult): number =>
  one.length - other.length || one.reduce((sum, at, i) => sum || at - (other[i] ?? 0), 0);

export type MatrixRow = Readonly<Record<Verdict, number>> & {
  readonly point: FaultPoint;
  readonly kills: number;
};

/** By the point of the last kill. */
export const matrixRows = ({ results }: Pick<Matrix, 'results'>): readonly MatrixRow[] =>
  FAULT_POINTS.flatMap((point) => {
    const here = results.filter(({ struck }) => struck.at(-1)?.point === point);
    return here.length === 0 ? [] : [{ point, kills: here.length, ...verdictCounts(here) }];
  });

export const verdictCounts = (results: readonly KillResult[]): Readonly<Record<Verdict, number>> => {
  const count = (verdict: Verdict): number => results.filter((one) => one.verdict === verdict).length;
  return {
    'same-end': count('same-end'),
    'in-doubt': count('in-doubt'),
    twice: count('twice'),
    lost: count('lost'),
    unproved: count('unproved'),
    'other-end': count('other-end'),
    'not-reached': count('not-reached'),
  };
};
