/** Ten thousand sessions that wait a week for a person, beside an empty store: what a process over them costs. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder, runNode } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { medianOf } from './sample.ts';
import { count, figure, type Table } from './table.ts';
import type { Held } from './waiting-process.ts';

const SESSIONS: readonly number[] = [0, 1000, 10_000];

const PROGRAM = join(import.meta.dirname, 'waiting-process.ts');

type Waiting = {
  readonly sessions: number;
  readonly storeMb: number;
  readonly wallMs: number;
  readonly held: Held;
};

export const measureWaiting = async ({ scratch, progress }: Plan): Promise<Measured> => {
  const all: Waiting[] = [];
  for (const sessions of SESSIONS) {
    progress(`${count(sessions)} waiting sessions`);
    all.push(await inFolder(scratch, (folder) => measureOne(folder, sessions)));
  }
  return { tables: [tableOf(all)], data: { waiting: all } };
};

const measureOne = async (folder: string, sessions: number): Promise<Waiting> => {
  const store = join(folder, 'log.db');
  await runNode([PROGRAM, 'fill', store, String(sessions)], { cwd: folder });
  const { output, wallMs } = await runNode(['--expose-gc', PROGRAM, 'hold', store], { cwd: folder });
  const held = JSON.parse(output) as Held;
  return { sessions, storeMb: statSync(store).size / 2 ** 20, wallMs, held };
};

const orNothing = (values: readonly number[], of: (values: readonly number[]) => number): string =>
  values.length === 0 ? '' : figure(of(values));

const tableOf = (all: readonly Waiting[]): Table => ({
  title: 'Sessions that wait for a person, with a week to decide',
  columns: [
    'waiting',
    'store MB',
    'open ms',
    'RSS MB',
    'heap MB',
    'sweep ms',
    'CPU ms per idle s',
    'decision to start ms',
    'at most',
  ],
  rows: all.map(({ sessions, storeMb, held }) => [
    count(sessions),
    figure(storeMb),
    figure(held.openMs),
    figure(held.rssMb),
    figure(held.heapMb),
    figure(medianOf(held.sweepMs)),
    figure((held.idleCpuMs / held.idleMs) * 1000),
    orNothing(held.decideMs, medianOf),
    orNothing(held.decideMs, (values) => Math.max(...values)),
  ]),
  note:
    'Each row is a fresh process over a store that another one has filled. Open: openRuntime() with its first sweep. ' +
    'Memory after a garbage collection. Sweep: the median of 30. Decision to start: from decide() to the first ' +
    'line of the tool, for 50 sessions one after the other; two durable commits lie between.',
});
