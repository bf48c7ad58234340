// Runs before every npm script, under whatever Node the machine has: installs what the lockfile says, once.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';

const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
const mark = 'node_modules/.onrecord-setup';
// Linked from another checkout: its owner's, and an install here would empty it there.
const isLink = lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink() === true;
if (!isLink && (!existsSync(mark) || readFileSync(mark, 'utf8') !== lock)) {
  console.error('Installing what package-lock.json says (once, about 20 s) ...');
  const npm = process.env.npm_execpath;
  const [command, args] = npm
    ? [process.execPath, [npm, 'ci', '--no-audit', '--no-fund', '--loglevel=error']]
    : ['npm', ['ci', '--loglevel=error']];
  const run = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (run.status !== 0) {
    console.error('npm ci failed: see above. Nothing else was done.');
    process.exit(run.status ?? 1);
  }
  writeFileSync(mark, lock);
}
