/** Many sessions at once in one process, beside raw group commit. */
import { inFolder, perform, type Side } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { alternate, medianOf, pairedRatios, spreadOf, type Spread } from './sample.ts';
import { figure, spread, type Table } from './table.ts';
import type { ManyAnswer } from './task.ts';

const SESSIONS = 64;
const STEPS = 20;
const ALL = SESSIONS * STEPS;

export const measureMany = async (plan: Plan): Promise<Measured> => {
  plan.progress(`${SESSIONS} sessions at once`);
  const { a: floor, b: product } = await alternate(
    plan.rounds,
    () => oneRun(plan, 'floor'),
    () => oneRun(plan, 'product'),
  );
  const ratio = spreadOf(
    pairedRatios(
      floor.map(({ ms }) => ms),
      product.map(({ ms }) => ms),
    ).map((slower) => 1 / slower),
  );
  const table: Table = {
    title: `${SESSIONS} sessions of ${STEPS} steps at once`,
    columns: ['', 'steps per second', '× floor', 'CPU ms per step', 'commits per step'],
    rows: [row('floor, group commit', floor, undefined), row('product', product, ratio)],
    note:
      'What all sessions want to write in one turn of the event loop shares a commit, on both sides. For the product ' +
      'starting and ending its sessions, leases included, is part of it.',
  };
  return { tables: [table], data: { floor, product, ratio } };
};

const row = (name: string, runs: readonly ManyAnswer[], against: Spread | undefined): readonly string[] => [
  name,
  spread(spreadOf(speeds(runs))),
  against ? spread(against) : '1',
  figure(medianOf(runs.map(({ cpuMs }) => cpuMs / ALL))),
  figure(medianOf(runs.map(({ commits }) => commits / ALL))),
];

const speeds = (runs: readonly ManyAnswer[]): readonly number[] => runs.map(({ ms }) => (ALL / ms) * 1000);

const oneRun = (plan: Plan, side: Side): Promise<ManyAnswer> =>
  inFolder(plan.scratch, async (folder) => {
    const task = { kind: 'many', folder, sessions: SESSIONS, steps: STEPS } as const;
    return (await perform(side, task, { cwd: folder })).answer;
  });
