/** A build of the product for measurements, as it is published: JavaScript that nobody has to strip first. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackage } from '../scripts/build.ts';

const ROOT = join(import.meta.dirname, '..');
/** Below node_modules, so that the build finds the packages that it depends on. */
const CACHE = join(ROOT, 'node_modules', '.cache');

/** What programs here import beside the public entry points. */
const MORE = ['model/neutral'];

export const withBuild = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'onrecord-bench-'));
  try {
    await buildPackage(folder, MORE);
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
