/**
 * npm run chaos                                three workers, two minutes of kill -9, SIGSTOP and SIGCONT, 500 sessions
 * npm run chaos -- --seed 7                    the same faults again
 * npm run chaos -- --seconds 30 --sessions 100
 * npm run chaos -- --plant fencing             with a bug that has to be found: workers that are not fenced
 *
 * Ends with 1 where an invariant does not hold.
 */
import { parseArgs } from 'node:util';
import { noPostgres } from '../test/kit/postgres-server.ts';
import { runChaos } from '../test/chaos/chaos.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    seconds: { type: 'string', default: '120' },
    sessions: { type: 'string', default: '500' },
    workers: { type: 'string', default: '3' },
    plant: { type: 'string' },
  },
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const reason = noPostgres();
if (reason !== undefined) throw new Error(`Chaos needs a PostgreSQL server: ${reason}.`);
if (values.plant !== undefined && values.plant !== 'fencing')
  throw new Error(`There is no bug "${values.plant}" to plant; there is fencing.`);

const seed = Number(values.seed);
say(`seed ${seed}: ${values.workers} workers, ${values.sessions} sessions, ${values.seconds} s of faults`);
const { problems, takeoverMs, undisturbedMs, claimMs, ...counts } = await runChaos({
  seed,
  seconds: Number(values.seconds),
  sessions: Number(values.sessions),
  workers: Number(values.workers),
  ...(values.plant === 'fencing' && { plant: values.plant }),
  say,
});
const share = (all: readonly number[], part: number): string =>
  `${Math.round(all[Math.ceil(all.length * part) - 1] ?? 0)} ms`;
for (const [name, count] of Object.entries(counts)) say(`${name.padEnd(14)} ${count}`);
for (const [what, all] of [
  ['takeovers after kill -9, no other fault meanwhile', undisturbedMs],
  ['all takeovers after kill -9', takeoverMs],
  ['claims of new sessions, with faults or without', claimMs],
] as const)
  say(`${what}: ${all.length}, p50 ${share(all, 0.5)}, p99 ${share(all, 0.99)}, longest ${share(all, 1)}`);
for (const problem of problems) say(`✗ ${problem}`);
say(problems.length === 0 ? '✓ every invariant holds' : `✗ npm run chaos -- --seed ${seed}`);
process.exitCode = problems.length === 0 ? 0 : 1;
