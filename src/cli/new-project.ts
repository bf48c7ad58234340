/** The files of a new project: the template as it lies in the package, with names and versions put in. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { badInput, bug } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../event/json.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { faultOf } from './output-file.ts';

const TEMPLATE = join(PACKAGE_FOLDER, 'templates/project');

/** Provider by provider: the model that is written down, the key that switches to it, and the package it needs. */
export const PROVIDERS = {
  anthropic: { model: 'anthropic/claude-opus-5', key: 'ANTHROPIC_API_KEY', sdk: '@anthropic-ai/sdk' },
  openai: { model: 'openai/gpt-6.2-sol', key: 'OPENAI_API_KEY', sdk: 'openai' },
} as const;

export type ProviderName = keyof typeof PROVIDERS;

export type NewProject = {
  /** Absolute; made where it does not exist. */
  readonly folder: string;
  readonly provider: ProviderName;
  /** "provider/model"; default: the provider's of PROVIDERS. */
  readonly model?: string;
};

const jsonFile = (path: string): JsonObject => {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isJsonObject(value)) throw badInput('file-exists', `${basename(path)} is no JSON object.`);
  return value;
};

const textAt = (value: JsonObject, key: string): string => {
  const found = value[key];
  if (typeof found !== 'string') throw bug(`the package's own ${key} is a text`);
  return found;
};

const objectAt = (value: JsonObject, key: string): JsonObject => {
  const found = value[key];
  return isJsonObject(found) ? found : {};
};

/** As the project that holds this package names it, where that is a file: a package that is not published has no version to ask for. */
const ownSpec = (version: string, folder: string): string => {
  const holder = resolve(PACKAGE_FOLDER, '../..');
  const manifest = join(holder, 'package.json');
  if (basename(dirname(resolve(PACKAGE_FOLDER))) !== 'node_modules' || !existsSync(manifest))
    return `^${version}`;
  const spec = objectAt(jsonFile(manifest), 'dependencies')['onrecord'];
  if (typeof spec !== 'string' || !spec.startsWith('file:')) return `^${version}`;
  return `file:${relative(folder, resolve(holder, spec.slice('file:'.length)))}`;
};

/** npm takes lower-case names without spaces. */
const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '') || 'my-agent';

const filled = (text: string, words: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const word = words[name];
    if (word === undefined) throw bug(`the template asks for ${name}`);
    return word;
  });

/** What a package.json that is there already gets: what it has stays as it is. */
const merged = (there: JsonObject, ours: JsonObject): JsonObject => ({
  ...there,
  type: 'module',
  scripts: { ...objectAt(ours, 'scripts'), ...realScripts(objectAt(there, 'scripts')) },
  dependencies: { ...objectAt(ours, 'dependencies'), ...objectAt(there, 'dependencies') },
  devDependencies: { ...objectAt(ours, 'devDependencies'), ...objectAt(there, 'devDependencies') },
});

/** `npm init` writes a test that only fails. */
const realScripts = (scripts: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(scripts).filter(
      ([name, line]) => name !== 'test' || typeof line !== 'string' || !line.includes('no test specified'),
    ),
  );

/**
 * Writes all files or none; a package.json that is there is added to. Answers their paths in the folder. Throws
 * `file-exists`, `file-not-writable`.
 */
export const writeProject = ({ folder, provider, model }: NewProject): readonly string[] => {
  const own = jsonFile(join(PACKAGE_FOLDER, 'package.json'));
  const { model: usual, key, sdk } = PROVIDERS[provider];
  const version = textAt(own, 'version');
  const words = {
    name: packageName(folder),
    onrecord: ownSpec(version, folder),
    zod: `^${textAt(objectAt(own, 'dependencies'), 'zod')}`,
    model: model ?? usual,
    key,
  };
  const files = templateFiles().map(([from, to]) => ({
    to,
    text: filled(readFileSync(from, 'utf8'), words),
  }));
  const there = files.filter(({ to }) => to !== 'package.json' && existsSync(join(folder, to)));
  if (there.length > 0)
    throw badInput(
      'file-exists',
      `${there.map(({ to }) => to).join(', ')} ${there.length === 1 ? 'is' : 'are'} there already. Nothing was written. Name a new folder.`,
      { folder, files: there.map(({ to }) => to) },
    );
  try {
    for (const { to, text } of files) {
      const path = join(folder, to);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, to === 'package.json' ? manifestText(path, text, { sdk, own }) : text);
    }
  } catch (cause) {
    throw faultOf(cause, basename(folder));
  }
  return files.map(({ to }) => to);
};

const manifestText = (
  path: string,
  text: string,
  { sdk, own }: { readonly sdk: string; readonly own: JsonObject },
): string => {
  const ours = JSON.parse(text) as JsonObject;
  const wanted = textAt(objectAt(own, 'peerDependencies'), sdk);
  const dependencies = { ...objectAt(ours, 'dependencies'), [sdk]: wanted };
  const complete = { ...ours, dependencies: sorted(dependencies) };
  return `${JSON.stringify(existsSync(path) ? merged(jsonFile(path), complete) : complete, undefined, 2)}\n`;
};

const sorted = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** npm leaves a file called .gitignore out of packages. */
const templateFiles = (): readonly (readonly [from: string, to: string])[] =>
  readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((from) => {
      const to = relative(TEMPLATE, from);
      return [from, to === 'gitignore' ? '.gitignore' : to] as const;
    });
