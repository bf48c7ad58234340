/**
 * What it takes to come back to a long session, and to prove it: whole processes of the product as it is published,
 * beside one that only reads rows.
 */
import { cpSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BUILD, withBuild } from './build.ts';
import { inFolder, perform, runNode, type Ended, type Side } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { medianOf, spreadOf } from './sample.ts';
import { count, figure, spread, type Table } from './table.ts';
import type { FillAnswer, ReadAnswer } from './task.ts';

/** Lengths of the sessions that are opened. */
const OPENED_STEPS: readonly number[] = [1_000, 10_000];

const COMMAND = join(import.meta.dirname, 'command-process.ts');

/** Each way is one process over its own copy of the store. */
const WAYS = ['node', 'rows', 'state', 'show', 'resume', 'replay', 'verify'] as const;
type Way = (typeof WAYS)[number];

const WORDS: Readonly<Record<Way, string>> = {
  node: 'Node alone',
  rows: 'raw: read and parse every row',
  state: 'state of the session',
  show: 'onrecord show',
  resume: 'resume after SIGKILL, to the next model call',
  replay: 'replay',
  verify: 'verify',
};

type Opened = {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The work inside of the process; absent where it does not say. */
  readonly inside: ReadAnswer | undefined;
};

export const measureOpening = async (plan: Plan): Promise<Measured> => {
  const longest = Math.max(...plan.steps);
  const fitting = OPENED_STEPS.filter((steps) => steps <= longest);
  return withBuild(async (build) => {
    const tables: Table[] = [];
    const data: object[] = [];
    for (const steps of fitting.length > 0 ? fitting : [longest]) {
      plan.progress(`opening a session of ${count(steps)} steps`);
      const opened = await inFolder(plan.scratch, (folder) => openAll(plan, { build, folder, steps }));
      tables.push(tableOf(steps, opened));
      data.push({ steps, opened });
    }
    return { tables, data };
  });
};

type AllOpened = Readonly<Record<Way, readonly Opened[]>>;

type Opening = { readonly build: string; readonly folder: string; readonly steps: number };

const openAll = async (plan: Plan, { build, folder, steps }: Opening): Promise<AllOpened> => {
  const task = { kind: 'fill', folder, steps, killed: true } as const;
  const { answer: filled } = await perform('product', task, { cwd: folder, killed: true });
  const opened: Record<Way, Opened[]> = {
    node: [],
    rows: [],
    state: [],
    show: [],
    resume: [],
    replay: [],
    verify: [],
  };
  for (let round = 0; round < plan.rounds; round++)
    for (const way of WAYS)
      opened[way].push(
        await inFolder(plan.scratch, (copy) => openOne(way, { ...filled, build, copy, steps })),
      );
  return opened;
};

type Place = FillAnswer & { readonly build: string; readonly copy: string; readonly steps: number };

const openOne = async (way: Way, { store: filled, session, build, copy, steps }: Place): Promise<Opened> => {
  const store = join(copy, basename(filled));
  for (const name of readdirSync(join(filled, '..')))
    if (name.startsWith(basename(filled))) cpSync(join(filled, '..', name), join(copy, name));
  const options = { cwd: copy, env: { [BUILD]: build } };
  switch (way) {
    case 'node':
      return openedBy(await runNode(['--eval', '0'], options));
    case 'show':
      return openedBy(await runNode([COMMAND, build, 'show', session, '--store', basename(store)], options));
    case 'resume':
      return openedBy(await perform('product', { kind: way, store, session, steps }, options));
    default: {
      const side: Side = way === 'rows' ? 'floor' : 'product';
      return openedBy(await perform(side, { kind: way, store, session }, options));
    }
  }
};

const openedBy = ({ wallMs, cost, answer }: Ended & { readonly answer?: ReadAnswer }): Opened => ({
  wallMs,
  cpuMs: cost?.cpuMs ?? 0,
  peakMb: cost?.peakMb ?? 0,
  inside: answer,
});

const tableOf = (steps: number, opened: AllOpened): Table => {
  const rows = WAYS.map((way) => {
    const runs = opened[way];
    const ratio = runs.map(({ cpuMs }, i) => cpuMs / (opened.rows[i]?.cpuMs ?? 1));
    return [
      WORDS[way],
      spread(spreadOf(runs.map(({ wallMs }) => wallMs))),
      spread(spreadOf(runs.map(({ cpuMs }) => cpuMs))),
      figure(medianOf(ratio)),
      figure(medianOf(runs.map(({ peakMb }) => peakMb))),
      eventsPerSecond(way, runs),
    ];
  });
  return {
    title: `Coming back to a session of ${count(steps)} steps, whole processes`,
    columns: ['', 'ms', 'CPU ms', '× CPU of raw', 'peak MB', 'events per CPU second'],
    rows,
    note:
      'From the start of the process to its end. The product is a build, and nothing that Node has compiled is kept. ' +
      'Events per second are of the work alone, without the start of the process.',
  };
};

const eventsPerSecond = (way: Way, runs: readonly Opened[]): string => {
  if (way === 'node' || way === 'show' || way === 'resume') return '';
  return figure(medianOf(runs.map(({ inside }) => (inside ? (inside.events / inside.cpuMs) * 1000 : 0))));
};
