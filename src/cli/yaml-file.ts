/** A YAML 1.2 file that people write, held against a schema; a mistake is shown at its line and column. */
import {
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Scalar,
} from 'yaml';
import type { z } from 'zod';
import { badInput, type OnrecordError } from '../errors.ts';
import { isExactNumber } from '../event/strict.ts';
import { nearest } from '../view/nearest.ts';

/** UTF-8 bytes of one file. */
export const YAML_BYTES_MAX: number = 1024 * 1024;
/** UTF-16 units of a line that is quoted. */
const QUOTED_LENGTH_MAX = 60;
/** A place further right is quoted with so many units before it: the terminal keeps no deeper indent. */
const INDENT_MAX = 30;
const KEPT_BEFORE = 20;
/** Keys named where none is near. */
const KEYS_NAMED_MAX = 8;

export type YamlFile = {
  /** The path as people know it. */
  readonly where: string;
  /** Code of every mistake in it: "agent-file-invalid". */
  readonly code: string;
};

export type YamlDocument = {
  readonly value: unknown;
  /** A mistake at a path of the document; `hint` stands under the place. */
  fail(what: string, path?: readonly PropertyKey[], hint?: string): OnrecordError;
  /** Throws the first issue that a schema finds. */
  check(schema: z.ZodType): unknown;
};

/** Parses the bytes of a file. No aliases, no tags, one document. Throws the file's code. */
export const readYaml = (bytes: Uint8Array, file: YamlFile): YamlDocument => {
  const text = textOf(bytes, file);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: true,
    lineCounter: lines,
    version: '1.2',
    merge: false,
    logLevel: 'error',
  });
  const place = new Place(text, lines, file);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw place.error(shortened(problem.message), problem.pos);
  refuseSpecials(document, place);
  // A null prototype, or a key "__proto__", must not reach the schema as something else.
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  const fail: YamlDocument['fail'] = (what, path = [], hint = '') =>
    place.error(what, rangeAt(document, path), hint);
  return {
    value,
    fail,
    check(schema) {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      // A misspelt key is also missing under its right name: what was written says more than what was not.
      const issue =
        parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0];
      throw issue ? issueError(document, place, issue, schema) : fail('is not as expected');
    },
  };
};

const textOf = (bytes: Uint8Array, { where, code }: YamlFile): string => {
  if (bytes.length > YAML_BYTES_MAX)
    throw badInput(code, `${where} has ${bytes.length} bytes, the limit is ${YAML_BYTES_MAX}.`, { where });
  try {
    // CRLF would turn line ends inside block texts into spaces.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    throw badInput(code, `${where} is not UTF-8 text.`, { where });
  }
};

/** The parser's own sentence, without its quotation of the source. */
const shortened = (message: string): string =>
  (message.split('\n', 1)[0] ?? '').replace(/ at line \d+, column \d+:?$/, '').replace(/\.$/, '');

const refuseSpecials = (document: Document, place: Place): void => {
  visit(document, {
    Alias: (_, node) => {
      throw place.error('aliases are not read here', node.range ?? undefined, 'write the value out');
    },
    Node: (_, node) => {
      if (isScalar(node)) refuseInexact(node, place);
      if ('anchor' in node && node.anchor !== undefined)
        throw place.error(
          `the anchor "${node.anchor}" is not read here`,
          node.range ?? undefined,
          'write the value out',
        );
      if (node.tag !== undefined)
        throw place.error(
          `the tag "${node.tag}" is not read here`,
          node.range ?? undefined,
          'leave the tag out',
        );
    },
  });
};

const refuseInexact = ({ value, source = '', range }: Scalar, place: Place): void => {
  if (typeof value === 'number' && !isExactNumber(source, value))
    throw place.error(`the number ${source} cannot be held exactly`, range ?? undefined, quoteIt(source));
};

const quoteIt = (source: string): string => `as text it is written "${source}", in quotes`;

type Issue = z.core.$ZodIssue;

const issueError = (document: Document, place: Place, issue: Issue, schema: z.ZodType): OnrecordError => {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = keysAt(schema, issue.path);
    const near = nearest(key, known);
    return place.error(
      `unknown key "${key}"`,
      keyRange(document, issue.path, key),
      near !== undefined
        ? `did you mean "${near}"?`
        : known.length > 0
          ? `known: ${known.slice(0, KEYS_NAMED_MAX).join(', ')}`
          : '',
    );
  }
  const range = rangeAt(document, issue.path);
  const name = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return place.error(`${name}${issue.message}`, range, textHint(document, issue));
};

/** A number, a truth value or nothing where a text is meant: 1.10, true, ~. */
const textHint = (document: Document, issue: Issue): string | undefined => {
  if (issue.code !== 'invalid_type' || issue.expected !== 'string') return undefined;
  const node: unknown = issue.path.length === 0 ? document.contents : document.getIn(issue.path, true);
  return isScalar(node) && node.source !== undefined && node.source !== '' ? quoteIt(node.source) : undefined;
};

/** The names that a schema knows at a path; of a choice between schemas those of all. */
const keysAt = (schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] => {
  let at = choicesOf(schema);
  for (const step of path)
    at = at.flatMap(({ shape, element }) =>
      choicesOf(typeof step === 'number' ? element : shape?.[step as string]),
    );
  return [...new Set(at.flatMap(({ shape }) => Object.keys(shape ?? {})))];
};

type SchemaParts = {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly element?: unknown;
  readonly def?: { readonly innerType?: unknown; readonly options?: readonly unknown[] };
};

/** Through optional(), default(), union() and the like to the objects and lists inside. */
const choicesOf = (schema: unknown): readonly SchemaParts[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const parts: SchemaParts = schema;
  if (parts.def?.innerType !== undefined) return choicesOf(parts.def.innerType);
  return parts.def?.options?.flatMap(choicesOf) ?? [parts];
};

type Range = readonly [number, number, ...number[]];

/** Where the value at a path stands; the nearest thing above it where it is missing. */
const rangeAt = (document: Document, path: readonly PropertyKey[]): Range | undefined => {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range;
  }
  return undefined;
};

const keyRange = (document: Document, path: readonly PropertyKey[], key: string): Range | undefined => {
  const map = (path.length === 0 ? document.contents : document.getIn(path, true)) as
    | { readonly items?: readonly unknown[] }
    | undefined;
  for (const pair of map?.items ?? [])
    if (isPair(pair) && isScalar(pair.key) && String(pair.key.value) === key)
      return (pair.key as Node).range ?? undefined;
  return rangeAt(document, path);
};

class Place {
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #file: YamlFile;

  constructor(text: string, lines: LineCounter, file: YamlFile) {
    this.#text = text;
    this.#lines = lines;
    this.#file = file;
  }

  error(what: string, range?: Range, hint: string = ''): OnrecordError {
    const { where, code } = this.#file;
    if (!range) return badInput(code, `${where}: ${what}.${hint === '' ? '' : `\n${hint}`}`, { where });
    const { line, col } = this.#lines.linePos(range[0]);
    const message = `${where}:${line}:${col}: ${what}.\n${this.#quote(line, col, range[1] - range[0], hint)}`;
    return badInput(code, message, { where, line, column: col });
  }

  /** The line before, the line, and a mark under the place; of a long line the part around it. */
  #quote(line: number, column: number, length: number, hint: string): string {
    const all = this.#text.split('\n');
    const width = String(line).length;
    const skipped = column > INDENT_MAX ? column - 1 - KEPT_BEFORE : 0;
    const cropped = (text: string, from: number): string => {
      const kept = text.slice(from, from + QUOTED_LENGTH_MAX);
      return `${from > 0 ? '…' : ''}${kept}${from + kept.length < text.length ? '…' : ''}`;
    };
    const row = (number: number, from: number): string =>
      `${String(number).padStart(width)} │ ${cropped(all[number - 1] ?? '', from)}`;
    const rest = Math.min((all[line - 1] ?? '').length, skipped + QUOTED_LENGTH_MAX) - column + 1;
    const marks = '^'.repeat(Math.max(1, Math.min(length, rest)));
    const lead = ' '.repeat(column - 1 - skipped + (skipped > 0 ? 1 : 0));
    const mark = `${' '.repeat(width)} │ ${lead}${marks}${hint === '' ? '' : ` ${hint}`}`;
    return [...(line > 1 ? [row(line - 1, 0)] : []), row(line, skipped), mark].join('\n');
  }
}
