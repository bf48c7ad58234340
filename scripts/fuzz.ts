/**
 * npm run fuzz [-- --cases 100000 --seed 1]   sends the HTTP door what nobody would send
 *
 * Exit code 0: no 500, no crash, and what was refused changed nothing; 1: a case that did, with its seed.
 */
import { parseArgs } from 'node:util';
import { fuzz } from '../test/server/fuzz-door.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});

const REPORT_EVERY = 10_000;

const whole = (text: string, name: string): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new Error(`--${name} "${text}" is no whole number from 1 up.`);
};

const cases = whole(values.cases, 'cases');
const seed = whole(values.seed, 'seed');
const began = performance.now();
const found = await fuzz({
  cases,
  seed,
  progress: (done) => {
    if (done % REPORT_EVERY === 0) process.stderr.write(`${done.toLocaleString('en-US')} cases\n`);
  },
});
const { accepted, refused, impossible, statuses, failure } = found;
const seconds = ((performance.now() - began) / 1000).toFixed(0);
process.stdout.write(
  `${found.cases.toLocaleString('en-US')} cases from seed ${seed} in ${seconds} s: ${accepted} taken, ${refused} refused, ${impossible} that no client can send.\n` +
    `${Object.entries(statuses)
      .map(([status, count]) => `  ${status}  ${count}`)
      .join('\n')}\n`,
);
if (failure !== undefined) {
  process.stdout.write(`${failure}\n`);
  process.exitCode = 1;
} else process.stdout.write('No 500, no crash, no change by what was refused.\n');
