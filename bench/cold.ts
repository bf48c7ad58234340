/** From nothing to the first durable step: whole processes, the product as it is published beside a raw program. */
import { join } from 'node:path';
import { withBuild } from './build.ts';
import { inFolder, runNode } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { medianOf, spreadOf } from './sample.ts';
import { figure, spread, type Table } from './table.ts';

const PROGRAM = join(import.meta.dirname, 'cold-process.ts');
/** Short processes: more of them are needed than of long ones. */
const RUNS_PER_ROUND = 3;

const WAYS = ['node', 'raw', 'product'] as const;
type Way = (typeof WAYS)[number];
type Run = { readonly wallMs: number; readonly cpuMs: number; readonly peakMb: number };
type Runs = Readonly<Record<Way, readonly Run[]>>;

const WORDS: Readonly<Record<Way, string>> = {
  node: 'Node alone',
  raw: 'raw: a table, two commits',
  product: 'product, built',
};

export const measureCold = async (plan: Plan): Promise<Measured> => {
  plan.progress('cold starts');
  const runs = await withBuild(async (build) => {
    const found: Record<Way, Run[]> = { node: [], raw: [], product: [] };
    // The first round brings files into memory and is not counted.
    for (let round = 0; round <= plan.rounds * RUNS_PER_ROUND; round++)
      for (const way of WAYS) {
        const run = await inFolder(plan.scratch, (folder) => start(way, folder, build));
        if (round > 0) found[way].push(run);
      }
    return found;
  });
  return { tables: [tableOf(runs)], data: runs };
};

const start = async (way: Way, folder: string, build: string): Promise<Run> => {
  const args = way === 'node' ? ['--eval', '0'] : [PROGRAM, folder, way === 'raw' ? 'raw' : build];
  const { wallMs, cost } = await runNode(args, { cwd: folder });
  return { wallMs, cpuMs: cost?.cpuMs ?? 0, peakMb: cost?.peakMb ?? 0 };
};

const tableOf = (runs: Runs): Table => {
  const base = medianOf(runs.raw.map(({ wallMs }) => wallMs));
  return {
    title: 'Cold start to the first durable step, whole processes',
    columns: ['', 'ms', '× raw', 'CPU ms', 'peak MB'],
    rows: WAYS.map((way) => [
      WORDS[way],
      spread(spreadOf(runs[way].map(({ wallMs }) => wallMs))),
      figure(medianOf(runs[way].map(({ wallMs }) => wallMs)) / base),
      figure(medianOf(runs[way].map(({ cpuMs }) => cpuMs))),
      figure(medianOf(runs[way].map(({ peakMb }) => peakMb))),
    ]),
    note:
      'A fresh process with a fresh store, up to the moment at which the turn of a model and the result of a tool are ' +
      'on the disk; it ends there. Made before: the build, and nothing else.',
  };
};
