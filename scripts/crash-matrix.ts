/**
 * npm run crash-matrix [-- --real]   every example, killed at every boundary and at every pair of them
 *
 * Takes minutes. Options are those of `onrecord crash-test`; the exit code is the most urgent one.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { main as onrecord } from '../src/cli/main.ts';
import { EXIT, type ExitCode } from '../src/cli/exit-code.ts';
import { mostUrgent } from '../src/cli/outcome.ts';

const CHECKOUT = resolve(import.meta.dirname, '..');
const EXAMPLES = join(CHECKOUT, 'examples');

const scenarios = readdirSync(EXAMPLES)
  .map((name) => join(EXAMPLES, name, 'crash.yaml'))
  .filter((path) => existsSync(path))
  .map((path) => relative(process.cwd(), path));

const codes: ExitCode[] = [];
for (const scenario of scenarios) {
  if (codes.includes(EXIT.interrupted)) break;
  if (codes.length > 0) process.stdout.write('\n');
  const argv = [...process.argv.slice(0, 2), 'crash-test', scenario, '--twice', ...process.argv.slice(2)];
  const { env, stdin, stdout, stderr } = process;
  const given = {
    argv,
    env,
    stdin,
    stdout,
    stderr,
    cwd: () => process.cwd(),
    once: process.once.bind(process),
  };
  codes.push(await onrecord(given));
}
process.exitCode = mostUrgent(codes);
