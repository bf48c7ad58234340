/** Every snippet of the documentation compiles, and every command line in it is one that the console takes. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command as Parser, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { GLOBAL_OPTIONS } from '../../src/cli/global-options.ts';
import { ROOT } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';

type Fence = { readonly page: string; readonly line: number; readonly info: string; readonly text: string };

const pages = (): readonly string[] => [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .map((name) => `docs/${name}`)
    .toSorted(),
];

const fencesOf = (page: string): readonly Fence[] => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([^]*?)^```/gm)].map(
    ({ 1: kind = '', 2: more = '', 3: body = '', index }) => ({
      page,
      line: text.slice(0, index).split('\n').length,
      info: kind + more,
      text: body,
    }),
  );
};

const FENCES = pages().flatMap(fencesOf);

/** "```ts continued" goes on with the snippet before it on its page. */
const programs = (): readonly Fence[] => {
  const whole: Fence[] = [];
  for (const fence of FENCES) {
    if (!/^tsx?\b/.test(fence.info)) continue;
    const before = whole.at(-1);
    if (fence.info.includes('continued') && before?.page === fence.page)
      whole[whole.length - 1] = { ...before, text: `${before.text}\n${fence.text}` };
    else whole.push(fence);
  }
  return whole;
};

/** What a reader has at hand where a snippet does not say it; and a package that is not installed here. */
const GIVEN = `
declare global {
  const agents: readonly import('onrecord').Agent[];
  const clerk: import('onrecord').Agent;
  const exporter: import('@opentelemetry/sdk-trace-node').SpanExporter;
  const store: import('onrecord').LogStore;
  const token: string;
  const url: string;
}
export {};
`;
const NOT_INSTALLED = `
declare module '@ai-sdk/react' {
  export const useChat: (options: import('ai').ChatInit<import('ai').UIMessage>) => unknown;
}
`;

describe('snippets', () => {
  it('compile, each by itself', { timeout: 400_000 }, () => {
    const folder = tempFolder();
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'snippets'));
    const named = new Map<string, Fence>();
    for (const [at, fence] of programs().entries()) {
      const name = `${String(at).padStart(3, '0')}.ts`;
      named.set(name, fence);
      // A snippet without an import would share its names with all others.
      writeFileSync(join(folder, 'snippets', name), `${fence.text}\nexport {};\n`);
    }
    const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
      readonly compilerOptions: Readonly<Record<string, unknown>>;
    };
    const options = {
      ...compilerOptions,
      isolatedDeclarations: false,
      declaration: false,
      noUnusedLocals: false,
      paths: { onrecord: [join(ROOT, 'src/index.ts')], 'onrecord/*': [join(ROOT, 'src/*.ts')] },
      typeRoots: [join(ROOT, 'node_modules/@types')],
    };
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'snippets', 'given.d.ts'), GIVEN);
    writeFileSync(join(folder, 'snippets', 'not-installed.d.ts'), NOT_INSTALLED);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['snippets'] }),
    );
    const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
      cwd: folder,
    });
    const wrong = stdout
      .split('\n')
      .filter((line) => line.startsWith('snippets/'))
      .map((line) => {
        const [, name = '', row = ''] = /^snippets\/(\d+\.ts)\((\d+)/.exec(line) ?? [];
        const fence = named.get(name);
        return `${fence?.page}:${(fence?.line ?? 0) + Number(row)} ${line.replace(/^[^:]*: /, '')}`;
      });
    expect(wrong).toEqual([]);
    expect(stdout).toBe('');
    expect(named.size).toBeGreaterThan(5);
  });
});

/** The words of a shell line, without what is put into variables or piped on. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"]+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );

/** Lines of shells: with a prompt in a transcript, without one in a block of sh. Continued lines are one. */
const commandLines = ({ info, text }: Fence): readonly string[] => {
  const joined = text.replaceAll(/\\\n\s*/g, ' ').replaceAll(/"([^"\n]*)\n\s+([^"\n]*)"/g, '"$1 $2"');
  const lines = joined.split('\n');
  if (/^(?:sh|shell|bash)\b/.test(info)) return lines.map((line) => line.replace(/^\$ /, ''));
  if (/^(?:text|console)\b/.test(info))
    return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  return [];
};

const problemOf = async (line: string): Promise<string | undefined> => {
  const words = wordsOf(line.replace(/\s+#.*$/, '').replace(/\s*(?:\||>|&&|;).*$/, ''));
  const at = words[0] === 'npx' ? 1 : 0;
  if (words[0] === 'npm') return npmProblem(words);
  if (words[at] !== 'onrecord') return undefined;
  const [name = 'help', ...rest] = words.slice(at + 1);
  if (name.startsWith('-')) return undefined;
  const command = await (Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.() : undefined);
  if (!command) return `there is no command ${name}`;
  if (rest.includes('...') || rest.includes('…')) return undefined;
  const parser = new Parser(name)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .allowExcessArguments(false);
  for (const { name: taken, required } of command.arguments)
    parser.argument(required ? `<${taken}>` : `[${taken}]`);
  for (const [flags] of GLOBAL_OPTIONS) parser.option(flags);
  for (const { flags, many } of command.options)
    if (many === true) parser.option(flags, '', (value: string) => value, '');
    else parser.option(flags);
  try {
    parser.parse([...rest], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
};

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const npmProblem = ([, verb = '', script = '']: readonly string[]): string | undefined => {
  const name =
    verb === 'run'
      ? script
      : verb === 'test' || verb === 't'
        ? 'test'
        : verb === 'start'
          ? 'start'
          : undefined;
  return name === undefined || Object.hasOwn(scripts, name) ? undefined : `there is no npm script ${name}`;
};

describe('command lines', () => {
  it('name commands and options that there are', async () => {
    const wrong: string[] = [];
    let looked = 0;
    for (const fence of FENCES)
      for (const line of commandLines(fence)) {
        if (!/\b(?:onrecord|npm)\b/.test(line)) continue;
        looked++;
        const problem = await problemOf(line);
        if (problem !== undefined) wrong.push(`${fence.page}:${fence.line} ${line}: ${problem}`);
      }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(20);
  });
});
