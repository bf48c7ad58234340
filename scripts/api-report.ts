/**
 * The public API as text, one file an entry point, so that a change of it is seen in review: `npm run api` writes
 * api/*.txt, and a test fails where they are not what the source says. Comments are left out: they are no promise.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from 'vite';

const ROOT = resolve(import.meta.dirname, '..');
export const API_FOLDER: string = join(ROOT, 'api');

type Statement = { readonly names: readonly string[]; readonly text: string };
type Origin = { readonly file: string; readonly name: string };
type Module = {
  readonly declared: ReadonlyMap<string, Statement>;
  readonly imported: ReadonlyMap<string, Origin>;
  /** By the name outside; undefined where the declaration itself says it. */
  readonly exported: ReadonlyMap<string, Origin>;
  readonly stars: readonly string[];
};

/** The parts of the tree that matter here, as ESTree names them. */
type Named = { readonly name?: string; readonly value?: string };
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly source?: { readonly value: string } | null;
  readonly declaration?: Node | null;
  readonly id?: Named | null;
  readonly declarations?: readonly { readonly id: Named }[];
  readonly specifiers?: readonly {
    readonly type: string;
    readonly local: Named;
    readonly imported?: Named;
    readonly exported?: Named;
  }[];
  readonly exported?: Named | null;
};

const WHOLE = '*';

const nameOf = (named: Named | undefined): string => named?.name ?? named?.value ?? 'default';

/** Comments and the spaces that a printer may move around. */
const bare = (text: string): string =>
  text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\s*\n/gm, '')
    .trim();

class Declarations {
  readonly #modules = new Map<string, Module>();

  module(file: string): Module {
    const known = this.#modules.get(file);
    if (known) return known;
    const made = read(file);
    this.#modules.set(file, made);
    return made;
  }

  /** Every name that a module exports, with where it is declared. Undefined origins are of other packages. */
  exportsOf(file: string): ReadonlyMap<string, Origin> {
    const { exported, stars } = this.module(file);
    const all = new Map<string, Origin>();
    for (const star of stars)
      for (const [name, origin] of this.exportsOf(star)) if (name !== 'default') all.set(name, origin);
    for (const [name, origin] of exported) all.set(name, this.settled(origin));
    return all;
  }

  /** Follows re-exports to the declaration. */
  settled(origin: Origin): Origin {
    if (!existsSync(origin.file) || origin.name === WHOLE) return origin;
    const { declared, imported, exported } = this.module(origin.file);
    if (declared.has(origin.name)) return origin;
    const next = exported.get(origin.name) ?? imported.get(origin.name);
    if (next && (next.file !== origin.file || next.name !== origin.name)) return this.settled(next);
    const star = this.module(origin.file).stars.find((file) => this.exportsOf(file).has(origin.name));
    return star === undefined ? origin : this.settled({ file: star, name: origin.name });
  }

  statement({ file, name }: Origin): Statement | undefined {
    return existsSync(file) ? this.module(file).declared.get(name) : undefined;
  }

  /** What the text of a declaration names that is declared in this package. */
  named(origin: Origin): readonly Origin[] {
    const statement = this.statement(origin);
    if (!statement) return [];
    const { declared, imported } = this.module(origin.file);
    const words = new Set(statement.text.match(/[A-Za-z_$][\w$]*/g));
    return [...words].flatMap((word) => {
      if (statement.names.includes(word)) return [];
      if (declared.has(word)) return [{ file: origin.file, name: word }];
      const from = imported.get(word);
      return from && existsSync(from.file) ? [this.settled(from)] : [];
    });
  }
}

const fileOf = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? resolve(dirname(from), specifier.replace(/\.(?:js|ts)$/, '.d.ts')) : specifier;

const read = (file: string): Module => {
  const text = readFileSync(file, 'utf8');
  const { program, errors } = parseSync(file, text, { lang: 'dts' });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const declared = new Map<string, Statement>();
  const imported = new Map<string, Origin>();
  const exported = new Map<string, Origin>();
  const stars: string[] = [];
  const declare = (node: Node, whole: Node): readonly string[] => {
    const names = node.declarations?.map(({ id }) => nameOf(id)) ?? [nameOf(node.id ?? undefined)];
    for (const name of names) {
      const before = declared.get(name);
      // Overloads are declarations of one name.
      const said = [before?.text, bare(text.slice(whole.start, whole.end))].filter(
        (one) => one !== undefined,
      );
      declared.set(name, { names, text: said.join('\n') });
    }
    return names;
  };
  for (const node of program.body as unknown as readonly Node[]) {
    const source = node.source ? fileOf(file, node.source.value) : undefined;
    if (node.type === 'ImportDeclaration' && source !== undefined)
      for (const { local, imported: outside, type } of node.specifiers ?? [])
        imported.set(nameOf(local), {
          file: source,
          name: type === 'ImportNamespaceSpecifier' ? WHOLE : nameOf(outside),
        });
    else if (node.type === 'ExportAllDeclaration' && source !== undefined) {
      if (node.exported) exported.set(nameOf(node.exported), { file: source, name: WHOLE });
      else stars.push(source);
    } else if (node.declaration)
      for (const name of declare(node.declaration, node)) exported.set(name, { file, name });
    else if (node.type === 'ExportNamedDeclaration')
      for (const { local, exported: outside } of node.specifiers ?? [])
        exported.set(nameOf(outside), { file: source ?? file, name: nameOf(local) });
    else declare(node, node);
  }
  return { declared, imported, exported, stars };
};

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** One entry point: what it exports, then what that names and nobody can import. */
const reportOf = (entry: string, name: string, folder: string): string => {
  const declarations = new Declarations();
  const keyOf = ({ file, name: of }: Origin): string => `${file}#${of}`;
  const exported = [...declarations.exportsOf(entry)].toSorted(byName);
  const seen = new Set(exported.map(([, origin]) => keyOf(origin)));
  const texts = (origin: Origin): string =>
    declarations.statement(origin)?.text ?? `// from ${relative(folder, origin.file) || origin.file}`;
  const hidden = new Map<string, Origin>();
  const left = exported.map(([, origin]) => origin);
  for (let next = left.pop(); next; next = left.pop())
    for (const origin of declarations.named(next))
      if (!seen.has(keyOf(origin))) {
        seen.add(keyOf(origin));
        hidden.set(keyOf(origin), origin);
        left.push(origin);
      }
  const shown = (title: string, origin: Origin): string => `## ${title}\n${texts(origin)}\n`;
  return [
    `# ${name}\n`,
    ...exported.map(([title, origin]) => shown(title, origin)),
    ...(hidden.size > 0 ? ['# Named by these, exported nowhere\n'] : []),
    ...[...hidden.values()]
      .map(
        (origin) =>
          [`${origin.name} (${relative(folder, origin.file).replace(/\.d\.ts$/, '')})`, origin] as const,
      )
      .toSorted(byName)
      .map(([title, origin]) => shown(title, origin)),
  ].join('\n');
};

/** By the name of the file in api/, made from the source as it lies. */
export const apiReports = (): ReadonlyMap<string, string> => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-api-'));
  try {
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    const options = [
      '-p',
      'tsconfig.build.json',
      '--emitDeclarationOnly',
      '--sourceMap',
      'false',
      '--outDir',
      folder,
    ];
    const built = spawnSync(compiler, options, { cwd: ROOT, encoding: 'utf8' });
    if (built.status !== 0)
      throw new Error(`The declarations could not be made: ${built.stdout}${built.stderr}`);
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, { readonly types?: string } | string>>;
    };
    const reports = new Map<string, string>();
    for (const [path, target] of Object.entries(exports)) {
      if (typeof target === 'string' || target.types === undefined) continue;
      const entry = join(folder, relative('./dist', target.types));
      const name = path === '.' ? 'onrecord' : `onrecord${path.slice(1)}`;
      reports.set(`${name.replace('/', '-')}.txt`, reportOf(entry, name, folder));
    }
    return reports;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

if (import.meta.main) {
  mkdirSync(API_FOLDER, { recursive: true });
  for (const [name, text] of apiReports()) writeFileSync(join(API_FOLDER, name), text);
  console.log(`The public API is in ${relative(process.cwd(), API_FOLDER)}/.`);
}
