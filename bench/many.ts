/** Many sessions at once in one process, beside raw group commit. */
import { inFolder, perform, type Side } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { alternate, medianOf, pairedRatios, spreadOf, type Spread } from './sample.ts';
import { figure, spread, type Table } from './table.ts';
import type { ManyAnswer } from './task.ts';

const SESSIONS: readonly number[] = [64, 512];
const STEPS = 20;

export const measureMany = async (plan: Plan): Promise<Measured> => {
  const tables: Table[] = [];
  const data: object[] = [];
  for (const sessions of SESSIONS) {
    plan.progress(`${sessions} sessions at once`);
    const { a: floor, b: product } = await alternate(
      plan.rounds,
      () => oneRun(plan, 'floor', sessions),
      () => oneRun(plan, 'product', sessions),
    );
    const times = pairedRatios(
      floor.map(({ ms }) => ms),
      product.map(({ ms }) => ms),
    );
    const ratio = spreadOf(times.map((slower) => 1 / slower));
    tables.push(tableOf(sessions, { floor, product, ratio }));
    data.push({ sessions, floor, product, ratio });
  }
  return { tables, data };
};

type Run = ManyAnswer & { readonly steps: number; readonly peakMb: number };
type Compared = { readonly floor: readonly Run[]; readonly product: readonly Run[]; readonly ratio: Spread };

const tableOf = (sessions: number, { floor, product, ratio }: Compared): Table => ({
  title: `${sessions} sessions of ${STEPS} steps at once`,
  columns: ['', 'steps per second', '× floor', 'CPU ms per step', 'commits per step', 'peak MB'],
  rows: [row('floor, group commit', floor, undefined), row('product', product, ratio)],
  note:
    'What all sessions want to write in one turn of the event loop shares a commit, on both sides. For the product ' +
    'starting and ending its sessions, leases included, is part of it.',
});

const row = (name: string, runs: readonly Run[], against: Spread | undefined): readonly string[] => [
  name,
  spread(spreadOf(runs.map(({ ms, steps }) => (steps / ms) * 1000))),
  against ? spread(against) : '1',
  figure(medianOf(runs.map(({ cpuMs, steps }) => cpuMs / steps))),
  figure(medianOf(runs.map(({ commits, steps }) => commits / steps))),
  figure(medianOf(runs.map(({ peakMb }) => peakMb))),
];

const oneRun = (plan: Plan, side: Side, sessions: number): Promise<Run> =>
  inFolder(plan.scratch, async (folder) => {
    const task = { kind: 'many', folder, sessions, steps: STEPS } as const;
    const { answer, cost } = await perform(side, task, { cwd: folder });
    return { ...answer, steps: sessions * STEPS, peakMb: cost?.peakMb ?? 0 };
  });
