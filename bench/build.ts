/** A build of the product for measurements, as it is published: JavaScript that nobody has to strip first. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Below node_modules, so that the build finds the packages that it depends on. */
const CACHE = join(ROOT, 'node_modules', '.cache');

export const withBuild = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'onrecord-bench-'));
  try {
    const compiler = join(ROOT, 'node_modules', '.bin', 'tsc');
    const args = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', folder];
    const made = spawnSync(compiler, args, { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`The build failed: ${made.stdout}${made.stderr}`);
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
