/**
 * The crash matrix: a scenario once without a fault, to find every boundary; then once for each boundary, and for
 * each pair of them, with a kill there. Every killed run is taken up again until it ends, and compared with the
 * uninterrupted one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLog } from '../../log/memory.ts';
import { FAULT_POINTS, type FaultPoint, type Faults } from '../../worker/fault-point.ts';
import { NEVER, faultyStore, type Life } from '../simulation/faulty-store.ts';
import { Dice } from '../simulation/dice.ts';
import { systemClock } from '../../clock.ts';
import { play, type Ending } from './play.ts';
import { playKilled } from './real.ts';
import type { CrashScenario } from './scenario.ts';

export type Kill = readonly number[];

export type KillResult = {
  /** The boundaries of the kills, numbered from 1 over all processes of the run. */
  readonly kill: Kill;
  readonly point: FaultPoint;
  readonly verdict: 'same-end' | 'in-doubt' | 'twice' | 'lost' | 'other-end';
  readonly detail: string;
};

export type Matrix = {
  readonly scenario: string;
  readonly mode: 'simulated' | 'real';
  /** What each boundary is, in order. */
  readonly boundaries: readonly FaultPoint[];
  readonly results: readonly KillResult[];
  readonly ms: number;
};

export type MatrixOptions = {
  readonly scenario: CrashScenario;
  /** The file the scenario was read from; needed for real kills. */
  readonly path?: string;
  readonly mode: 'simulated' | 'real';
  readonly twice: boolean;
  readonly onProgress?: (done: number, all: number, wrong: number) => void;
  readonly signal?: AbortSignal;
};

export const WRONG: ReadonlySet<KillResult['verdict']> = new Set(['twice', 'lost', 'other-end']);

export const crashMatrix = async (options: MatrixOptions): Promise<Matrix> => {
  const { scenario, mode, twice, onProgress, signal } = options;
  const began = performance.now();
  const boundaries: FaultPoint[] = [];
  const calm = await inFolder((folder) => playSimulated(scenario, folder, [], boundaries));
  const kills = plan(boundaries.length, twice);
  const results: KillResult[] = [];
  for (const kill of kills) {
    if (signal?.aborted) break;
    const killed = await inFolder((folder) => runKilled(options, folder, kill));
    const point = boundaries[(kill.at(-1) ?? 1) - 1] ?? 'append.before';
    results.push({ kill, point, ...judge(calm, killed) });
    onProgress?.(results.length, kills.length, results.filter(({ verdict }) => WRONG.has(verdict)).length);
  }
  return { scenario: scenario.name, mode, boundaries, results, ms: performance.now() - began };
};

const plan = (boundaries: number, twice: boolean): readonly Kill[] => {
  const all = Array.from({ length: boundaries }, (_, i) => i + 1);
  const singles = all.map((one) => [one]);
  return twice
    ? [...singles, ...all.flatMap((first) => all.slice(first).map((second) => [first, second]))]
    : singles;
};

const runKilled = (options: MatrixOptions, folder: string, kill: Kill): Promise<Ending> =>
  options.mode === 'real' && options.path !== undefined
    ? playKilled(options.path, folder, kill)
    : playSimulated(options.scenario, folder, kill);

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-crash-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Processes that share a memory: one dies by never going on, the next one takes up the same log and desk. */
const playSimulated = async (
  scenario: CrashScenario,
  folder: string,
  kill: Kill,
  seen: FaultPoint[] = [],
): Promise<Ending> => {
  const log = new MemoryLog();
  let count = 0;
  for (;;) {
    const life: Life = { dead: false };
    const died = Promise.withResolvers<'died'>();
    const faults: Faults = {
      reach: async (point) => {
        if (life.dead) return NEVER;
        seen.push(point);
        count++;
        if (!kill.includes(count)) return undefined;
        life.dead = true;
        died.resolve('died');
        return NEVER;
      },
    };
    const calm = { slow: 0, fails: 0, unsure: 0 };
    const store = faultyStore(log, { life, dice: new Dice(1), clock: systemClock, faults: calm });
    const played = await Promise.race([
      play({ scenario, store, folder, faults, isGone: () => true }),
      died.promise,
    ]);
    if (played !== 'died') return played;
  }
};

const judge = (calm: Ending, killed: Ending): Pick<KillResult, 'verdict' | 'detail'> => {
  const twice = doubled(killed);
  if (twice.length > 0) return { verdict: 'twice', detail: twice.join(', ') };
  // In doubt the scenario stops: messages that come later were never said.
  if (killed.inDoubt.length > 0) return { verdict: 'in-doubt', detail: killed.inDoubt.join(', ') };
  if (killed.inputs < calm.inputs)
    return { verdict: 'lost', detail: `${calm.inputs - killed.inputs} of ${calm.inputs} messages` };
  if (killed.state !== calm.state)
    return { verdict: 'other-end', detail: firstDifferentLine(calm.state, killed.state) };
  return { verdict: 'same-end', detail: '' };
};

/** An idempotent tool may be called again with its key, that is what the key is for; the others may not. */
const doubled = ({ executions }: Ending): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { key, tool, effect } of executions)
    if (effect !== 'idempotent') counts.set(`${tool} ${key}`, (counts.get(`${tool} ${key}`) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
};

const firstDifferentLine = (a: string, b: string): string => {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at = left.findIndex((line, i) => line !== right[i]);
  const i = at < 0 ? left.length : at;
  return `expected ${left[i] ?? 'the end'}, found ${right[i] ?? 'the end'}`;
};

export type MatrixRow = {
  readonly point: FaultPoint;
  readonly kills: number;
  readonly sameEnd: number;
  readonly inDoubt: number;
  readonly twice: number;
  readonly lost: number;
  readonly otherEnd: number;
};

export const matrixRows = ({ results }: Matrix): readonly MatrixRow[] =>
  FAULT_POINTS.flatMap((point) => {
    const here = results.filter((result) => result.point === point);
    const count = (verdict: KillResult['verdict']): number =>
      here.filter((result) => result.verdict === verdict).length;
    if (here.length === 0) return [];
    return [
      {
        point,
        kills: here.length,
        sameEnd: count('same-end'),
        inDoubt: count('in-doubt'),
        twice: count('twice'),
        lost: count('lost'),
        otherEnd: count('other-end'),
      },
    ];
  });
