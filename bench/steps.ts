/** What a step costs: time, processor time, bytes and commits, beside the floor in the same minute. */
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { inFolder, perform, type Side } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import type { Plot, Series } from './plot.ts';
import { alternate, medianOf, pairedRatios, spreadOf, type Spread } from './sample.ts';
import { count, figure, spread, type Table } from './table.ts';
import { SETTLED_STEPS, WARM_STEPS, type StepsAnswer } from './task.ts';

/** Syncs are counted as the difference of two runs, so that opening and closing a store do not count. */
const SYNC_STEPS: readonly [few: number, many: number] = [50, 250];

/** Steps that one measurement has at least: sessions that are shorter are run again and again. */
const MEASURED_STEPS_MIN = 300;

type PerStep = StepsAnswer & {
  readonly peakMb: number;
  /** What a session takes besides its steps. */
  readonly besidesMs: number;
};

/** The longest sessions that are measured in a process that has settled, too. */
const SETTLED_LENGTH_MAX = 1000;

export type StepsMeasured = {
  readonly steps: number;
  readonly floor: readonly PerStep[];
  readonly product: readonly PerStep[];
  readonly ratio: Spread;
  readonly cpuRatio: Spread;
};

export const measureSteps = async (plan: Plan): Promise<Measured> => {
  const measured: StepsMeasured[] = [];
  for (const steps of plan.steps) {
    plan.progress(`${count(steps)} steps`);
    measured.push(await atLength(plan, steps, WARM_STEPS));
  }
  const settled: StepsMeasured[] = [];
  for (const steps of plan.steps.filter((length) => length <= SETTLED_LENGTH_MAX)) {
    plan.progress(`${count(steps)} steps in a settled process`);
    settled.push(await atLength(plan, steps, SETTLED_STEPS));
  }
  plan.progress('syncs');
  const syncs = { floor: await syncsPerStep(plan, 'floor'), product: await syncsPerStep(plan, 'product') };
  return {
    tables: [timeTable(measured), partsTable(measured, settled), spaceTable(measured, syncs)],
    plots: plotsOf(measured),
    data: { measured, settled, syncs },
  };
};

const plotsOf = (measured: readonly StepsMeasured[]): readonly Plot[] => {
  const line = (name: string, of: (one: StepsMeasured) => number): Series => ({
    name,
    points: measured.map((one) => [one.steps, of(one)]),
  });
  const steps = 'steps of the session';
  const time: Plot = {
    name: 'step-time',
    title: 'Milliseconds a step, by the length of the session',
    x: steps,
    y: 'ms',
    series: [
      line('product', ({ product }) => medianOf(product.map(({ ms }) => ms))),
      line('floor', ({ floor }) => medianOf(floor.map(({ ms }) => ms))),
      line('CPU of the product', ({ product }) => medianOf(product.map(({ cpuMs }) => cpuMs))),
      line('CPU of the floor', ({ floor }) => medianOf(floor.map(({ cpuMs }) => cpuMs))),
    ],
  };
  const space: Plot = {
    name: 'step-bytes',
    title: 'Bytes stored a step, by the length of the session',
    x: steps,
    y: 'bytes',
    series: [
      line('product', ({ product }) => bytesOf(product)),
      line('floor', ({ floor }) => bytesOf(floor)),
    ],
  };
  return [time, space];
};

const atLength = async (plan: Plan, steps: number, warm: number): Promise<StepsMeasured> => {
  const { a: floor, b: product } = await alternate(
    plan.rounds,
    () => oneRun(plan, 'floor', steps, warm),
    () => oneRun(plan, 'product', steps, warm),
  );
  const ratioOf = (value: (one: PerStep) => number): Spread =>
    spreadOf(pairedRatios(floor.map(value), product.map(value)));
  return { steps, floor, product, ratio: ratioOf(({ ms }) => ms), cpuRatio: ratioOf((one) => one.cpuMs) };
};

const oneRun = (plan: Plan, side: Side, steps: number, warm: number): Promise<PerStep> =>
  inFolder(plan.scratch, async (folder) => {
    const sessions = Math.ceil(MEASURED_STEPS_MIN / steps);
    const task = { kind: 'steps', folder, steps, sessions, warm } as const;
    const { answer, cost } = await perform(side, task, { cwd: folder });
    const { ms, cpuMs, stepsMs, bytes, commits, first, last } = answer;
    const all = steps * sessions;
    return {
      ms: ms / all,
      cpuMs: cpuMs / all,
      stepsMs: stepsMs / all,
      besidesMs: (ms - stepsMs) / sessions,
      bytes: bytes / all,
      commits: commits / steps,
      first,
      last,
      peakMb: cost?.peakMb ?? 0,
    };
  });

/** Calls that make the disk hold what was written, per step; undefined where no strace is at hand. */
const syncsPerStep = async (plan: Plan, side: Side): Promise<number | undefined> => {
  if (spawnSync('strace', ['-V']).status !== 0) return undefined;
  const counts: number[] = [];
  for (const steps of SYNC_STEPS)
    counts.push(
      await inFolder(plan.scratch, async (folder) => {
        const file = join(folder, 'syncs.txt');
        const under = [
          'strace',
          '-f',
          '-q',
          '-e',
          'trace=fsync,fdatasync,msync',
          '-e',
          'signal=none',
          '-o',
          file,
        ];
        const task = { kind: 'steps', folder, steps, sessions: 1, warm: WARM_STEPS } as const;
        await perform(side, task, { cwd: folder, under });
        const lines = readFileSync(file, 'utf8').split('\n');
        return lines.filter((line) => /\b(?:fsync|fdatasync|msync)\(/.test(line)).length;
      }),
    );
  const [few = 0, many = 0] = counts;
  return (many - few) / (SYNC_STEPS[1] - SYNC_STEPS[0]);
};

const timeTable = (measured: readonly StepsMeasured[]): Table => ({
  title: 'Time of a step, milliseconds',
  columns: [
    'steps',
    'floor',
    'product',
    '× floor',
    'CPU floor',
    'CPU product',
    '× CPU',
    'first → last tenth',
  ],
  rows: measured.map(({ steps, floor, product, ratio, cpuRatio }) => [
    count(steps),
    spread(spreadOf(floor.map(({ ms }) => ms))),
    spread(spreadOf(product.map(({ ms }) => ms))),
    spread(ratio),
    figure(medianOf(floor.map(({ cpuMs }) => cpuMs))),
    figure(medianOf(product.map(({ cpuMs }) => cpuMs))),
    figure(cpuRatio.median),
    `${figure(medianOf(product.map(({ first }) => first)))} → ${figure(medianOf(product.map(({ last }) => last)))}`,
  ]),
  note:
    'Median (least–greatest). From the message to the rest of the session, divided by its steps; the ratio is to the ' +
    'mean of the floor measured right before and right after. CPU is user and system time of the process. ' +
    `Sessions of fewer than ${MEASURED_STEPS_MIN} steps are repeated until there are so many.`,
});

const of = (runs: readonly PerStep[], value: (one: PerStep) => number): Spread => spreadOf(runs.map(value));
const stepsMs = (one: PerStep): number => one.stepsMs;
const besidesMs = (one: PerStep): number => one.besidesMs;

const partsRow =
  (process: string) =>
  ({ steps, floor, product }: StepsMeasured): readonly string[] => [
    `${count(steps)}, ${process}`,
    spread(of(floor, stepsMs)),
    spread(of(product, stepsMs)),
    spread(spreadOf(pairedRatios(floor.map(stepsMs), product.map(stepsMs)))),
    figure(of(floor, besidesMs).median),
    figure(of(product, besidesMs).median),
  ];

const partsTable = (measured: readonly StepsMeasured[], settled: readonly StepsMeasured[]): Table => {
  return {
    title: 'Steps by themselves, and what a session takes besides them, milliseconds',
    columns: ['steps, process', 'floor', 'product', '× floor', 'besides: floor', 'besides: product'],
    rows: [...measured.map(partsRow('fresh')), ...settled.map(partsRow('settled'))],
    note:
      'A step by itself is counted from the first call of the model to the one after the last step. Besides its steps a ' +
      'session has its message, durable before it is acknowledged, and its answer: two commits of the floor. The product ' +
      'has a third one for its first request, durable before it is sent, and takes and gives back a lease. A fresh process ' +
      `has made ${WARM_STEPS} steps in a new store before: the engine still compiles what it meets, and the write-ahead logs ` +
      `of both sides grow. A settled one has made ${count(SETTLED_STEPS)}.`,
  };
};

const bytesOf = (runs: readonly PerStep[]): number => medianOf(runs.map(({ bytes }) => bytes));
const peakOf = (runs: readonly PerStep[]): number => medianOf(runs.map(({ peakMb }) => peakMb));
const commitsIn = (runs: readonly PerStep[]): string =>
  medianOf(runs.map(({ commits }) => commits)).toFixed(2);

const spaceTable = (
  measured: readonly StepsMeasured[],
  syncs: { readonly floor: number | undefined; readonly product: number | undefined },
): Table => {
  return {
    title: 'Space and commits of a step',
    columns: [
      'steps',
      'bytes floor',
      'bytes product',
      '× floor',
      'commits floor',
      'commits product',
      'peak MB floor',
      'peak MB product',
      '× floor',
    ],
    rows: measured.map(({ steps, floor, product }) => [
      count(steps),
      count(Math.round(bytesOf(floor))),
      count(Math.round(bytesOf(product))),
      figure(bytesOf(product) / bytesOf(floor)),
      commitsIn(floor),
      commitsIn(product),
      figure(peakOf(floor)),
      figure(peakOf(product)),
      figure(peakOf(product) / peakOf(floor)),
    ]),
    note:
      'Bytes are pages in use, those of the whole session, commits are counted by SQLite between the first model call and the last. ' +
      (syncs.product === undefined || syncs.floor === undefined
        ? 'Syncs were not counted: strace is not here.'
        : `Syncs of the disk per step: floor ${figure(syncs.floor)}, product ${figure(syncs.product)}.`),
  };
};
