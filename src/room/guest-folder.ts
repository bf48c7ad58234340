/**
 * The folder that a room's process reads its own code from: the runner, the engine, nothing else. Made once for
 * each content, under a name that is its digest, so that what runs inside is what the record names.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sha256, type Digest } from '../event/canonical.ts';
import { CODE_FOLDER, CODE_SUFFIX } from '../package-folder.ts';

export type GuestFolder = { readonly path: string; readonly digest: Digest };

const ENGINE_FILES = [
  'dist/index.js',
  'dist/wasi-shim.js',
  'dist/extensions.js',
  'dist/version.js',
  'quickjs.wasm',
];

type GuestFile = { readonly name: string; readonly bytes: Buffer };

/** Without what they end with: TypeScript in a checkout, which Node runs as it is, JavaScript in the package. */
const OWN_FILES = ['machine', 'outside', 'prelude', 'runner'];

const ownFile = (name: string): GuestFile => ({
  name: `${name}.${CODE_SUFFIX}`,
  bytes: readFileSync(join(CODE_FOLDER, 'room', 'guest', `${name}.${CODE_SUFFIX}`)),
});

const engineFiles = (): readonly GuestFile[] => {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve('quickjs-wasi/package.json'));
  const manifest = JSON.stringify({
    name: 'quickjs-wasi',
    type: 'module',
    exports: { '.': './dist/index.js', './quickjs.wasm': './quickjs.wasm' },
  });
  const inside = join('node_modules', 'quickjs-wasi');
  return [
    { name: join(inside, 'package.json'), bytes: Buffer.from(manifest) },
    ...ENGINE_FILES.map((name) => ({ name: join(inside, name), bytes: readFileSync(join(root, name)) })),
  ];
};

/** Every file that a room's process is given beside Node itself. */
const guestFiles = (): readonly GuestFile[] => [
  { name: 'package.json', bytes: Buffer.from('{"type":"module"}') },
  ...OWN_FILES.map(ownFile),
  ...engineFiles(),
];

/** Writes files into a folder that appears whole or not at all, whoever else makes the same one meanwhile. */
export const placeFolder = (path: string, fill: (folder: string) => void): void => {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const making = mkdtempSync(`${path}-`);
  try {
    fill(making);
    renameSync(making, path);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(path)) throw error;
  }
};

export const writeGuest = (folder: string): void => {
  for (const { name, bytes } of guestFiles()) {
    const target = join(folder, name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
};

export const guestDigest = (): Digest =>
  sha256(
    guestFiles()
      .map(({ name, bytes }) => `${sha256(bytes)} ${name}\n`)
      .join(''),
  );

export const guestFolder = (base: string): GuestFolder => {
  const digest = guestDigest();
  const path = join(base, `guest-${digest.slice(0, DIGEST_SHOWN)}`);
  placeFolder(path, writeGuest);
  return { path, digest };
};

/** Name of the program inside a guest folder. */
export const RUNNER: string = `runner.${CODE_SUFFIX}`;

/** Digits of a digest that stand in the name of a folder. */
export const DIGEST_SHOWN = 16;
