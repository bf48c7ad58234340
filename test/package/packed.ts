/** The package as strangers get it: packed once, installed into empty folders with the npm that runs the tests. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll } from 'vitest';
import { ROOT } from '../cli/project.ts';

const INSTALL_MS = 400_000;
export const home: string = mkdtempSync(join(tmpdir(), 'onrecord-package-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

export type Said = { readonly code: number; readonly out: string; readonly errors: string };

const pathFrom = (folder: string): string =>
  [join(folder, 'node_modules/.bin'), join(home, 'node_modules/.bin'), process.env['PATH']].join(delimiter);

const run = (folder: string, [command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Said => {
  const ran = spawnSync(command, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    input: '',
    timeout: INSTALL_MS,
  });
  if (ran.error) throw ran.error;
  return { code: ran.status ?? -1, out: ran.stdout, errors: ran.stderr };
};

/** A stranger's shell: no CI, no key, no colour, and the programs of the folder first. */
export const shell = (folder: string, ...command: readonly string[]): Said =>
  run(folder, command, { PATH: pathFrom(folder), HOME: home, TZ: 'UTC', NO_COLOR: '1' });

const npmProgram = process.env['npm_execpath'];

/** With the machine's way to its registry, under this Node, whatever the machine's own npm runs under. */
export const npm = (folder: string, ...args: readonly string[]): Said => {
  const program = npmProgram?.endsWith('.js') === true ? [process.execPath, npmProgram] : ['npm'];
  const { CI: _, ANTHROPIC_API_KEY: __, ...env } = process.env;
  return run(folder, [...program, ...args], { ...env, PATH: pathFrom(folder), TZ: 'UTC', NO_COLOR: '1' });
};

export const installed = (folder: string, ...packages: readonly string[]): void => {
  const { code, errors } = npm(folder, 'install', '--no-audit', '--no-fund', '--prefer-offline', ...packages);
  if (code !== 0) throw new Error(`npm install ${packages.join(' ')}: ${errors}`);
};

/** An empty folder. */
export const empty = (name: string): string => {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** Built and packed from a copy, so that nothing appears in the checkout. The path of the tarball. */
export const packed = (): string => {
  const copy = empty('copy');
  for (const name of readdirSync(ROOT))
    if (!['node_modules', 'dist', '.git', '.onrecord', 'test'].includes(name))
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  writeFileSync(join(copy, '.npmrc'), 'ignore-scripts=true\n');
  const modules = spawnSync('ln', ['-s', join(ROOT, 'node_modules'), join(copy, 'node_modules')]);
  if (modules.status !== 0) throw new Error('the modules could not be linked');
  const built = npm(copy, 'run', 'build');
  if (built.code !== 0) throw new Error(`npm run build: ${built.out}${built.errors}`);
  const pack = npm(copy, 'pack', '--json', '--pack-destination', home);
  if (pack.code !== 0) throw new Error(`npm pack: ${pack.errors}`);
  const [, file = ''] = /"filename": "([^"]+\.tgz)"/.exec(pack.out) ?? [];
  return join(home, file);
};
