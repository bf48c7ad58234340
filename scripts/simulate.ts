/**
 * npm run simulate [-- --seeds 100000 --from 1 --jobs 2]   as many histories as asked, each from its seed
 * npm run simulate -- --seed 42                            one history again, with its log
 * npm run simulate -- --first                              no further than the first violation
 *
 * Exit code 0: no violation; 1: at least one, each with the command that repeats it.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { simulate, Simulation, type History } from '../src/suite/simulation/simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100000' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    seed: { type: 'string' },
    part: { type: 'string' },
    first: { type: 'boolean', default: false },
  },
});

/** How often a part reports. */
const REPORT_EVERY = 200;
const SHOWN_MAX = 20;

type Totals = {
  histories: number;
  events: number;
  effects: number;
  crashes: number;
  inDoubt: number;
  asked: number;
  wrong: number;
};
type Report = { readonly totals: Totals; readonly broken: readonly History[] };

const none = (): Totals => ({
  histories: 0,
  events: 0,
  effects: 0,
  crashes: 0,
  inDoubt: 0,
  asked: 0,
  wrong: 0,
});

const count = (totals: Totals, history: History): void => {
  totals.histories++;
  totals.events += history.events;
  totals.effects += history.effects;
  totals.crashes += history.crashes;
  totals.inDoubt += history.inDoubt;
  totals.asked += history.asked;
  totals.wrong += history.violations.length > 0 ? 1 : 0;
};

type Part = { readonly part: number; readonly jobs: number; readonly from: number; readonly seeds: number };

/** Every `jobs`-th seed, reported in pieces. */
const runPart = async (
  { part, jobs, from, seeds }: Part,
  report: (report: Report) => void,
): Promise<void> => {
  let totals = none();
  let broken: History[] = [];
  const flush = (): void => {
    report({ totals, broken });
    totals = none();
    broken = [];
  };
  for (let seed = from + part; seed < from + seeds; seed += jobs) {
    const history = await simulate(seed);
    count(totals, history);
    if (history.violations.length > 0) broken.push(history);
    if (values.first && broken.length > 0) break;
    if (totals.histories >= REPORT_EVERY) flush();
  }
  flush();
};

const runAll = async (jobs: number, from: number, seeds: number): Promise<number> => {
  const all = none();
  const broken: History[] = [];
  const began = performance.now();
  const take = ({ totals, broken: more }: Report): void => {
    for (const key of Object.keys(all) as (keyof Totals)[]) all[key] += totals[key];
    broken.push(...more);
    progress(all, seeds, began);
  };
  // One job runs here, so that whoever ends this process ends it.
  const codes = await (jobs === 1
    ? runPart({ part: 0, jobs, from, seeds }, take).then(() => [0])
    : Promise.all(Array.from({ length: jobs }, (_, part) => runChild(part, take))));
  finish(all, broken, began);
  return codes.some((code) => code !== 0) || all.wrong > 0 || all.histories !== seeds ? 1 : 0;
};

const runChild = (part: number, take: (report: Report) => void): Promise<number> => {
  const child = fork(import.meta.filename, ['--part', String(part), ...process.argv.slice(2)]);
  child.on('message', (report: Report) => take(report));
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
};

let shownAt = 0;
const progress = (all: Totals, seeds: number, began: number): void => {
  const now = performance.now();
  if (now - shownAt < (process.stderr.isTTY ? 100 : 10_000)) return;
  shownAt = now;
  const rate = all.histories / ((now - began) / 1000);
  const left = Math.round((seeds - all.histories) / rate);
  const line = `${all.histories} of ${seeds} histories   ${Math.round(rate)} a second   about ${left} s left   ${all.wrong} wrong`;
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[2K${line}` : `${line}\n`);
};

const finish = (all: Totals, broken: readonly History[], began: number): void => {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
  for (const { seed, violations } of broken.slice(0, SHOWN_MAX)) {
    for (const { invariant, what } of violations) print(`✗ seed ${seed}  invariant ${invariant}: ${what}`);
    print(`  npm run simulate -- --seed ${seed}`);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  print(
    `${all.wrong === 0 ? '✓' : '✗'} ${all.histories} histories, ${all.events} events, ${all.effects} effects, ` +
      `${all.crashes} crashes, ${all.asked} questions, ${all.inDoubt} calls in doubt: ${all.wrong} wrong. ${seconds} s.`,
  );
};

const runOne = async (seed: number): Promise<number> => {
  const simulation = new Simulation(seed);
  const history = await simulation.run();
  for (const { body } of simulation.log.peek(simulation.session)) print(body);
  for (const { invariant, what } of history.violations) print(`✗ invariant ${invariant}: ${what}`);
  print(
    `seed ${seed}: ${history.events} events, ${history.crashes} crashes, ${history.violations.length} violations`,
  );
  return history.violations.length > 0 ? 1 : 0;
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const jobs = Number(values.jobs);
const from = Number(values.from);
const seeds = Number(values.seeds);
if (values.part !== undefined) {
  process.on('disconnect', () => process.exit(1));
  await runPart({ part: Number(values.part), jobs, from, seeds }, (report) => process.send?.(report));
  process.exit(0);
}
process.exit(values.seed === undefined ? await runAll(jobs, from, seeds) : await runOne(Number(values.seed)));
