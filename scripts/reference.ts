/**
 * The reference pages that are made of the source: commands, errors, events and the index for programs. `npm run reference` writes them; a
 * test fails where they are not what the source says.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseSync } from 'vite';
import { COMMANDS } from '../src/cli/commands.ts';
import { EXIT_MEANING, exitCodeOf } from '../src/cli/exit-code.ts';
import { GLOBAL_OPTIONS } from '../src/cli/global-options.ts';
import { OnrecordError, type Next } from '../src/errors.ts';
import { llmsText } from '../src/manual/llms.ts';
import { readManual } from '../src/manual/manual.ts';
import { PROBLEMS } from '../src/server/problem.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MADE = '<!-- Made from the source by `npm run reference`; changed there, not here. -->\n';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

/** What HTML would take for a tag. */
const plain = (text: string): string => text.replaceAll('<', '\\<');

const commandsPage = async (): Promise<string> => {
  const lines = [
    '# Commands',
    MADE,
    'Every command takes these, too:',
    '',
    '| option | what it does |',
    '| --- | --- |',
    ...GLOBAL_OPTIONS.map(([flags, words]) => `| \`${cell(flags)}\` | ${cell(words)} |`),
    '',
    '## Exit codes',
    '',
    '| code | meaning |',
    '| --- | --- |',
    ...Object.entries(EXIT_MEANING).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
  ];
  for (const load of Object.values(COMMANDS)) {
    const command = await load?.();
    if (!command) continue;
    const taken = command.arguments.map(({ name, required }) => (required ? ` <${name}>` : ` [${name}]`));
    lines.push('', `## ${command.name}`, '', plain(command.summary), '');
    lines.push('```text', `onrecord ${command.name}${taken.join('')} [options]`, '```', '');
    const rows = [
      ...command.arguments.map(({ name, description }) => [name, description] as const),
      ...command.options.map(({ flags, description }) => [flags, description] as const),
    ];
    if (rows.length > 0) {
      lines.push('| | |', '| --- | --- |');
      lines.push(...rows.map(([name, words]) => `| \`${cell(name)}\` | ${plain(cell(words))} |`), '');
    }
    lines.push('```sh', command.example, '```', '');
    lines.push(`Exit codes: ${command.exits.join(', ')}.`);
  }
  return `${lines.join('\n')}\n`;
};

type Node = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

const visit = (value: unknown, see: (node: Node) => void): void => {
  if (Array.isArray(value)) for (const one of value as readonly unknown[]) visit(one, see);
  else if (isNode(value)) {
    see(value);
    for (const inner of Object.values(value)) if (typeof inner === 'object') visit(inner, see);
  }
};

/** A sentence as it is written, what is put into it shown as an ellipsis; undefined for no sentence. */
const sentenceOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node.type === 'TemplateLiteral') {
    const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
    return quasis.map(({ value }) => value.cooked).join('…');
  }
  if (node.type === 'BinaryExpression') {
    const [left, right] = [sentenceOf(node['left']), sentenceOf(node['right'])];
    return left === undefined && right === undefined ? undefined : `${left ?? '…'}${right ?? '…'}`;
  }
  return undefined;
};

const CODE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;
/** Functions whose first word is a code and whose second is the sentence. */
const SAYERS = new Set(['badInput', 'refuse', 'reject', 'problem', 'ProblemError', 'refused']);

type Said = { readonly sentences: Set<string>; readonly next: Next | 'tool' };

const calleeOf = ({ callee }: Node): string =>
  isNode(callee) && callee.type === 'Identifier' ? String(callee['name']) : '';

const propertyOf = (node: unknown, name: string): unknown => {
  if (!isNode(node) || node.type !== 'ObjectExpression') return undefined;
  const found = (node['properties'] as readonly Node[]).find(
    ({ type, key }) => type === 'Property' && isNode(key) && key['name'] === name,
  );
  return found?.['value'];
};

const sourceFiles = (): readonly string[] =>
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('web/'))
    .map((name) => join(ROOT, 'src', name))
    .toSorted();

const errorsIn = (file: string, errors: Map<string, Said>): void => {
  const { program } = parseSync(file, readFileSync(file, 'utf8'), { lang: 'ts' });
  const add = (code: string | undefined, sentence: string | undefined, next: Said['next']): void => {
    if (code === undefined || !CODE.test(code)) return;
    const said = errors.get(code) ?? { sentences: new Set<string>(), next };
    if (sentence !== undefined && /[.…]$/.test(sentence.trim())) said.sentences.add(sentence.trim());
    errors.set(code, said);
  };
  visit(program, (node) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return;
    const [first, second] = node['arguments'] as readonly unknown[];
    const name = calleeOf(node);
    if (SAYERS.has(name))
      add(sentenceOf(first), sentenceOf(second), name === 'badInput' ? 'fix-input' : 'look-again');
    else if (name.endsWith('Error')) {
      const next = sentenceOf(propertyOf(second, 'next'));
      const usual = name === 'ToolError' ? 'tool' : 'look-again';
      add(sentenceOf(propertyOf(second, 'code')), sentenceOf(first), (next ?? usual) as Said['next']);
    }
  });
};

const NEXT: Readonly<Record<Next, string>> = {
  'fix-input': 'Change the input: nothing was written.',
  'look-again': 'Look again: the state of the world says no, and nothing was written.',
  retry: 'A passing fault: the same call may succeed later.',
  'ask-a-person': 'A person has to act.',
  corrupt: 'The record does not prove itself: stop, and run `onrecord verify`.',
  bug: 'A fault of this program.',
};

const errorsPage = (): string => {
  const errors = new Map<string, Said>();
  for (const file of sourceFiles()) errorsIn(file, errors);
  for (const code of Object.keys(PROBLEMS))
    if (!errors.has(code) && CODE.test(code)) errors.set(code, { sentences: new Set(), next: 'look-again' });
  const lines = [
    '# Errors',
    MADE,
    'Every error has a stable code in kebab case, and says what happened with the value, what was expected and what to',
    'do. On the command line the code stands at the end of the sentence; over HTTP it is the `code` of a problem',
    '(RFC 9457), whose `type` leads here. An ellipsis stands for the value.',
  ];
  for (const [code, { sentences, next }] of [...errors].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
    lines.push('', `## ${code}`, '');
    if (known) lines.push(plain(known.title), '');
    for (const sentence of [...sentences].toSorted()) lines.push(`- ${plain(cell(sentence))}`);
    if (sentences.size > 0) lines.push('');
    if (next === 'tool') {
      lines.push('Told to the model as the result of its call; the turn goes on.');
      continue;
    }
    const exit = exitCodeOf(new OnrecordError('', { code, next }));
    lines.push(`${NEXT[next]} Exit code ${exit}${known ? `, HTTP status ${known.status}` : ''}.`);
  }
  return `${lines.join('\n')}\n`;
};

type Comment = { readonly value: string; readonly start: number; readonly end: number };

const eventsPage = (): string => {
  const file = join(ROOT, 'src/event/events.ts');
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, text, { lang: 'ts' }) as unknown as {
    readonly program: Node;
    readonly comments: readonly Comment[];
  };
  const lines = [
    '# Events',
    MADE,
    'Everything in a log is one of these. A fact brings news from outside; a decision follows from the events before it',
    'by a pure function, and replay makes it again and compares it byte for byte. The types that are named here are',
    'exported by `onrecord`; [log-format.md](../log-format.md) says how an event is written.',
  ];
  const sectionOf = (name: string, title: string): void => {
    visit(program, (node) => {
      if (node.type !== 'TSTypeAliasDeclaration' || (node['id'] as { name?: string }).name !== name) return;
      lines.push('', `## ${title}`);
      const { members } = node['typeAnnotation'] as { readonly members: readonly Node[] };
      for (const member of members) {
        const key = (member['key'] as { readonly value?: string }).value ?? '';
        const before = comments.findLast(({ end }) => end <= member.start);
        const own = before && /^\s*$/.test(text.slice(before.end, member.start)) ? before.value : undefined;
        lines.push('', `### ${key}`, '');
        if (own !== undefined) lines.push(plain(cell(own.replaceAll(/^\s*\*+/gm, ''))), '');
        const annotation = (member['typeAnnotation'] as Node)['typeAnnotation'] as Node;
        const shape = text.slice(annotation.start, annotation.end).replaceAll(/^ {2}/gm, '');
        lines.push('```text', shape.replaceAll('readonly ', ''), '```');
      }
    });
  };
  sectionOf('FactData', 'Facts');
  sectionOf('DecisionData', 'Decisions');
  return `${lines.join('\n')}\n`;
};

/** By path, relative to the project. */
export const referencePages = async (): Promise<ReadonlyMap<string, string>> =>
  new Map([
    ['docs/reference/commands.md', await commandsPage()],
    ['docs/errors.md', errorsPage()],
    ['docs/reference/events.md', eventsPage()],
    ['llms.txt', llmsText(readManual())],
  ]);

if (import.meta.main)
  for (const [path, text] of await referencePages()) {
    writeFileSync(join(ROOT, path), text);
    console.log(relative(process.cwd(), join(ROOT, path)));
  }
