/** A build of the product for measurements, as it is published: JavaScript that nobody has to strip first. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Below node_modules, so that the build finds the packages that it depends on. */
const CACHE = join(ROOT, 'node_modules', '.cache');

/** The variable that names the folder of a build to a process that is measured. */
export const BUILD = 'ONRECORD_BUILD';

/** What programs here import beside the public entry points. */
export const MORE: readonly string[] = ['event/envelope', 'model/neutral', 'replay/replay', 'replay/verify'];

/**
 * Built by a process of its own: Linux counts what a process holds when it starts another one into the peak of that one,
 * so a bundler in here would stand in every figure of memory.
 */
export const withBuild = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'onrecord-bench-'));
  try {
    const made = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.ts'), folder, ...MORE], {
      encoding: 'utf8',
    });
    if (made.error) throw made.error;
    if (made.status !== 0) throw new Error(`The build failed: ${made.stdout}${made.stderr}`);
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
