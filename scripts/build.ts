/**
 * Builds src into a folder, dist by default: declarations file by file, and the code in few files, because most of
 * what a start costs is the opening of files. One file an entry point; what several share is in `chunks`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type CodeSplittingNameFunction, type InputOptions, type OutputOptions } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

type Manifest = {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

const source = (name: string): string => join(SRC, `${name}.ts`);
const inputs = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, source(name)]));

/** The public entry points: "./dist/tools.js" is made of src/tools.ts. */
const ENTRIES = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : [entry.default.slice('./dist/'.length, -'.js'.length)],
);
/** Programs that are started by their path. */
const PROGRAMS = ['cli/main', 'suite/crash/child'];
/** What runs inside a room: copied file by file to where nothing else of ours is. */
const GUEST = ['machine', 'outside', 'prelude', 'runner'].map((name) => `room/guest/${name}`);

const PACKAGES = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];
const isOutside = (specifier: string): boolean =>
  specifier.startsWith('node:') ||
  PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`));

/** Starts that have to be quick: a page with the client, the program, a library, a command that reads. */
const STARTS = ['client', 'cli/main', 'index', 'cli/commands/sessions'];

/**
 * What the same starts need is one chunk, so that each opens few files and none that it does not need: a page in a
 * browser none of Node's modules, a command that prints its version no runtime. The rest is split as it is shared.
 */
const chunkNames = (): CodeSplittingNameFunction => {
  const users = new Map<string, Set<string>>();
  return (id, context) => {
    const add = (module: string, start: string): void => {
      const known = users.get(module) ?? new Set();
      users.set(module, known);
      if (known.has(start) || !module.startsWith(SRC)) return;
      known.add(start);
      for (const next of context.getModuleInfo(module)?.importedIds ?? []) add(next, start);
    };
    if (users.size === 0) for (const start of STARTS) add(source(start), start);
    const names = [...(users.get(id) ?? [])].map((name) => name.split('/').at(-1));
    return names.length === 0 ? undefined : `for-${names.join('-')}`;
  };
};

/** Says where the code lies, and so has to lie where it does in src. */
const FOLDER = 'package-folder';

const INPUT: InputOptions = {
  external: isOutside,
  platform: 'node',
  tsconfig: join(ROOT, 'tsconfig.json'),
  preserveEntrySignatures: 'allow-extension',
  // A module that one place loads late and another at once is loaded at once; that is no fault.
  checks: { ineffectiveDynamicImport: false },
};

const OUTPUT: OutputOptions = {
  format: 'esm',
  sourcemap: true,
  sourcemapExcludeSources: true,
  entryFileNames: '[name].js',
  chunkFileNames: ({ name }) => (name === FOLDER ? '[name].js' : 'chunks/[name].js'),
};

const code = async (folder: string, more: readonly string[]): Promise<void> => {
  const groups = [
    { name: FOLDER, test: source(FOLDER), priority: 1 },
    { debugName: 'starts', name: chunkNames() },
  ];
  await build({
    ...INPUT,
    input: inputs([...ENTRIES, ...PROGRAMS, ...more]),
    output: { ...OUTPUT, dir: folder, codeSplitting: { groups, includeDependenciesRecursively: false } },
  });
  await build({
    ...INPUT,
    input: inputs(GUEST),
    output: { ...OUTPUT, dir: folder, preserveModules: true, preserveModulesRoot: SRC },
  });
};

const declarations = (folder: string): void => {
  const compiler = join(ROOT, 'node_modules', '.bin', 'tsc');
  const args = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', folder];
  const made = spawnSync(compiler, args, { encoding: 'utf8' });
  if (made.error) throw made.error;
  if (made.status !== 0) throw new Error(`The declarations failed: ${made.stdout}${made.stderr}`);
};

/** Empties the folder first: what an earlier build left there would be published. `more`: further files of src. */
export const buildPackage = async (folder: string, more: readonly string[] = []): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  declarations(folder);
  await code(folder, more);
};

if (import.meta.main) {
  const [folder = join(ROOT, 'dist'), ...more] = process.argv.slice(2);
  await buildPackage(folder, more);
}
