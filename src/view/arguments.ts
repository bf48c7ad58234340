/**
 * Canonical arguments as people read them. Digits and order stay as they are recorded: what is shown here is
 * what is approved and run.
 */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { parseStrict, type StrictValue } from '../event/strict.ts';
import type { Preview } from '../tool/preview.ts';

/** Over several lines, two spaces a level. A text that is no JSON comes back as it is. */
export const prettyArguments = (args: string): string => written(args, (text) => JSON.stringify(text));

/** How a text is written that stands at this indent. */
type WriteText = (text: string, indent: string) => string;

const written = (args: string, write: WriteText): string => {
  const parsed = parseStrict(args);
  return parsed.ok ? pretty(parsed.value, '', write) : args;
};

/** A line of its own after each line feed, which is still shown as one: a diff then tells the line that has changed. */
const byLines: WriteText = (text, indent) => {
  const lines = text.split('\n').map((line) => JSON.stringify(line).slice(1, -1));
  return `"${lines.join(`\\n\n${indent}  `)}"`;
};

const pretty = (value: StrictValue, indent: string, write: WriteText): string => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return write(value, indent);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Array.isArray(value)
    ? value.map((item) => pretty(item, inner, write))
    : Object.keys(value).map(
        (key) => `${JSON.stringify(key)}: ${pretty(value[key] as StrictValue, inner, write)}`,
      );
  if (members.length === 0) return `${open}${close}`;
  return `${open}\n${members.map((member) => inner + member).join(',\n')}\n${indent}${close}`;
};

const PATCH_LINES_MAX = 2000;

/** A unified diff of two texts, lines of context included; empty where they are the same. */
export const patchOf = (name: string, before: string, after: string): string => {
  if (before === after) return '';
  const [old, now] = [before, after].map((text) => (text.endsWith('\n') ? text : `${text}\n`)) as [
    string,
    string,
  ];
  const patch = createTwoFilesPatch(name, name, old, now, undefined, undefined, {
    context: 3,
    maxEditLength: PATCH_LINES_MAX,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? replaced(name, old, now);
};

const signed = (text: string, sign: string): string[] =>
  text
    .slice(0, -1)
    .split('\n')
    .map((words) => sign + words);

/** Too different to look for the smallest diff: all of one, then all of the other. */
const replaced = (name: string, before: string, after: string): string => {
  const [old, now] = [signed(before, '-'), signed(after, '+')];
  const header = `--- ${name}\n+++ ${name}\n@@ -1,${old.length} +1,${now.length} @@\n`;
  return `${header}${[...old, ...now].join('\n')}\n`;
};

export const argumentsPatch = (before: string, after: string): string =>
  patchOf('arguments', written(before, byLines), written(after, byLines));

export type Leaf = { readonly pointer: string; readonly value: Exclude<StrictValue, object> };

/** Every value that is no object or list, with its JSON Pointer (RFC 6901); empty ones stand for themselves. */
export const leavesOf = (args: string): readonly Leaf[] => {
  const parsed = parseStrict(args);
  return parsed.ok ? leaves(parsed.value, '') : [];
};

const leaves = (value: StrictValue, pointer: string): Leaf[] => {
  if (value === null || typeof value !== 'object') return [{ pointer, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, `${pointer}/${index}`));
  return Object.keys(value).flatMap((key) =>
    leaves(value[key] as StrictValue, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
};

/** Shorter texts stand in a preview by accident. */
const FOUND_LENGTH_MIN = 4;

/**
 * The arguments that a preview does not show: a tool's preview is code, and a value that it leaves out would be
 * approved unseen. Words and numbers count as shown where a text of the preview contains them.
 */
export const unshownLeaves = (args: string, preview: Preview): readonly Leaf[] => {
  const texts = stringsOf(preview);
  const shown = (value: Leaf['value']): boolean => {
    const text = String(value);
    if (typeof value === 'boolean' || value === null) return false;
    if (text.length < FOUND_LENGTH_MIN) return text === '' || texts.includes(text);
    const lines = text.replaceAll('\r\n', '\n');
    return texts.some((one) => one.includes(text) || one.includes(lines));
  };
  return leavesOf(args).filter(({ value }) => !shown(value));
};

const stringsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
};
