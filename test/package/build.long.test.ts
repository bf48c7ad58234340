/** What the bundler may not change: what is exported, which classes are one, what is outside, what a stack names. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MORE, withBuild } from '../../bench/build.ts';
import { buildPackage } from '../../scripts/build.ts';
import { ROOT } from '../cli/project.ts';

const ENTRIES =
  'index tools testing client server mcp postgres telemetry otel restate cli/main suite/crash/child'.split(
    ' ',
  );

const node = (...args: readonly string[]): string => {
  const ran = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
  return ran.stdout + ran.stderr;
};

const evaluated = (program: string): string => node('--input-type=module', '--eval', program);

const filesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:js|map|ts)$/.test(name))
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

const STATIC = /^(?:import|export)\b[^;]*?["']([^"']+)["'];/gm;

/** Every file that a program opens at once when it imports this one, and what it takes from outside. */
const opened = (
  folder: string,
  entry: string,
): { readonly own: Set<string>; readonly others: Set<string> } => {
  const [own, others] = [new Set<string>(), new Set<string>()];
  const open = (path: string): void => {
    if (own.has(path)) return;
    own.add(path);
    for (const [, from = ''] of readFileSync(path, 'utf8').matchAll(STATIC))
      if (from.startsWith('.')) open(join(dirname(path), from));
      else others.add(from);
  };
  open(join(folder, `${entry}.js`));
  return { own, others };
};

describe('a build', () => {
  it('is the source in few files, the same each time', async () => {
    await withBuild(async (folder) => {
      const files = filesIn(folder);
      const bundled = [...files.keys()].filter((name) => name.endsWith('.js'));
      expect(bundled).toEqual(expect.arrayContaining(ENTRIES.map((name) => `${name}.js`)));
      expect(bundled).toContain('room/guest/runner.js');
      expect([...files.values()].filter((text) => text.includes('//#region node_modules'))).toEqual([]);

      for (const entry of ENTRIES.filter((name) => !name.includes('/'))) {
        const names = (path: string): string =>
          evaluated(`console.log(Object.keys(await import(${JSON.stringify(path)})).sort().join())`);
        expect(names(join(folder, `${entry}.js`))).toBe(names(join(ROOT, 'src', `${entry}.ts`)));
      }

      expect(opened(folder, 'index').own.size).toBeLessThan(10);
      expect(opened(folder, 'index').others).not.toContain('commander');
      expect([...opened(folder, 'client').others]).toEqual([]);
      expect(opened(folder, 'cli/main').others).not.toContain('node:sqlite');

      const [index, server] = ['index', 'server'].map((name) => JSON.stringify(join(folder, `${name}.js`)));
      const caught = evaluated(`
        const [{ OnrecordError }, { createApp }] = [await import(${index}), await import(${server})];
        try { createApp({ runtime: {}, limits: { nothing: 1 } }); }
        catch (error) { console.log(error instanceof OnrecordError, error.code); }`);
      expect(caught).toBe('true limit-invalid\n');

      const stack = node(
        '--enable-source-maps',
        '--input-type=module',
        '--eval',
        `(await import(${index})).defineAgent({ name: 'A B' })`,
      );
      expect(stack).toMatch(/at (?:Module\.)?defineAgent \(.*src\/worker\/agent\.ts:\d+:\d+\)/);

      const before = filesIn(folder);
      await buildPackage(folder, MORE);
      expect(filesIn(folder)).toEqual(before);
    });
  }, 600_000);
});
