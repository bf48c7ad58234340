/** What Node has compiled is kept from one start of the command to the next: where, and what happens where it cannot be. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../kit/folder.ts';
import { ROOT } from './project.ts';

/** Says where code is kept. Longer than what is not worth keeping. */
const MAIN = `
import module from 'node:module';
export const main = async ({ stdout }) => {
  stdout.write(String(module.getCompileCacheDir()));
  return 0;
};
`;

/** The command as it is installed, with a program of its own. */
const installed = (name = 'node_modules'): { readonly packages: string; readonly bin: string } => {
  const packages = join(tempFolder(), name);
  const own = join(packages, 'onrecord');
  for (const folder of ['bin', 'dist/cli']) mkdirSync(join(own, folder), { recursive: true });
  writeFileSync(join(own, 'package.json'), '{"type":"module"}');
  writeFileSync(join(own, 'dist/cli/main.js'), MAIN);
  const bin = join(own, 'bin/onrecord.js');
  copyFileSync(join(ROOT, 'bin/onrecord.js'), bin);
  return { packages, bin };
};

const start = (
  bin: string,
  env: Readonly<Record<string, string>> = {},
): { code: number | null; kept: string } => {
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = process.env;
  const ran = spawnSync(process.execPath, [bin], { env: { ...rest, ...env }, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return { code: ran.status, kept: ran.stdout };
};

describe('compiled code', () => {
  test('is kept beside the packages, and nowhere in them', () => {
    const { packages, bin } = installed();
    const { code, kept } = start(bin);
    expect(code).toBe(0);
    expect(kept.startsWith(join(packages, '.cache', 'onrecord'))).toBe(true);
    expect(readdirSync(kept)).not.toEqual([]);
    expect(readdirSync(packages).toSorted()).toEqual(['.cache', 'onrecord']);
    expect(readdirSync(join(packages, 'onrecord')).toSorted()).toEqual(['bin', 'dist', 'package.json']);
  });

  test('is not kept where nothing can be written, nor where Node is told so; the command runs all the same', () => {
    const { packages, bin } = installed();
    writeFileSync(join(packages, '.cache'), 'a file where the folder would be');
    expect(start(bin)).toEqual({ code: 0, kept: 'undefined' });
    const other = installed();
    expect(start(other.bin, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual({ code: 0, kept: 'undefined' });
    expect(existsSync(join(other.packages, '.cache'))).toBe(false);
  });

  test('is not kept where no packages lie: no folder appears beside the command', () => {
    const unpacked = installed('opt');
    expect(start(unpacked.bin)).toEqual({ code: 0, kept: 'undefined' });
    expect(readdirSync(unpacked.packages)).toEqual(['onrecord']);
    const checkout = join(unpacked.packages, 'onrecord');
    mkdirSync(join(checkout, 'src/cli'), { recursive: true });
    writeFileSync(join(checkout, 'src/cli/main.ts'), MAIN);
    expect(start(unpacked.bin)).toEqual({ code: 0, kept: 'undefined' });
    expect(readdirSync(checkout)).not.toContain('node_modules');
    mkdirSync(join(checkout, 'node_modules'));
    expect(start(unpacked.bin).kept.startsWith(join(checkout, 'node_modules/.cache/onrecord'))).toBe(true);
  });
});
