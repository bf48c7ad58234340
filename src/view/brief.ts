/** Long things in a few words, for one line. Pure; what comes out still is text that others wrote. */
import type { Content } from '../event/content.ts';
import { formatBytes, formatCount } from './format.ts';

/** Code points of one value within a line. */
const VALUE_LENGTH_MAX = 60;
/** Code points of everything about one call. */
const BRIEF_LENGTH_MAX = 200;
/** Bytes from which arguments are counted instead of read. */
const ARGS_LENGTH_MAX = 16_384;
/** A result of up to so many characters is shown instead of counted. */
const RESULT_LENGTH_MAX = 32;

export const cutText = (text: string, lengthMax: number): string => {
  // A code point is at most two UTF-16 units, so a longer text need not be taken apart as a whole.
  const points = Array.from(text.slice(0, 2 * lengthMax + 2));
  return points.length <= lengthMax ? text : `${points.slice(0, lengthMax - 1).join('')}…`;
};

/** The first line that says something; an ellipsis where more follow. */
export const firstLine = (text: string): string => {
  const start = text.search(/\S/u);
  if (start < 0) return '';
  const end = text.indexOf('\n', start);
  if (end < 0) return text.slice(start).trimEnd();
  const line = text.slice(start, end).trimEnd();
  return text.slice(end).trim() === '' ? line : `${line} …`;
};

/** `: the first line of a reason`, or nothing. */
export const because = (reason: string | undefined): string =>
  reason === undefined ? '' : `: ${firstLine(reason)}`;

/** `to x@y.example, attempts 3, lines 2 items`: the arguments of a call, given as JSON text. */
export const argumentsBrief = (args: string): string => {
  if (args.length > ARGS_LENGTH_MAX) return `${formatBytes(args.length)} of arguments`;
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    return cutText(firstLine(args), VALUE_LENGTH_MAX);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return valueBrief(value);
  const parts = Object.entries(value).map(([name, member]) => `${name} ${valueBrief(member)}`);
  return cutText(parts.join(', '), BRIEF_LENGTH_MAX);
};

const valueBrief = (value: unknown): string => {
  if (typeof value === 'string') return cutText(firstLine(value), VALUE_LENGTH_MAX);
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${formatCount(value.length)} items`;
  if (typeof value === 'object' && value !== null) return '{…}';
  return String(value);
};

/** What a result is, in a few words: its text where that is short, else its size. */
export const contentBrief = (content: readonly Content[]): string => {
  if (content.length === 0) return 'nothing returned';
  const [first] = content;
  if (content.length === 1 && first && first.type !== 'blob' && isShort(first.text))
    return first.text === '' ? 'an empty text' : first.type === 'json' ? first.text : `“${first.text}”`;
  const files = content.filter((part) => part.type === 'blob');
  const size = formatBytes(content.reduce((sum, part) => sum + bytesOf(part), 0));
  const [file] = files;
  if (!file) return size;
  const name = file.blob.name ?? file.blob.media;
  return files.length === 1 ? `${name}, ${size}` : `${formatCount(files.length)} files, ${size}`;
};

const isShort = (text: string): boolean => text.length <= RESULT_LENGTH_MAX && !text.includes('\n');

/** Pages run in browsers, too: nothing of Node here. */
const UTF8 = new TextEncoder();

/** UTF-8 bytes of one part. */
export const bytesOf = (part: Content): number =>
  part.type === 'blob' ? part.blob.bytes : UTF8.encode(part.text).length;

/** The text of an input or a result, files as a line each. */
export const contentText = (content: readonly Content[]): string =>
  content
    .map((part) =>
      part.type === 'blob'
        ? `[${part.blob.name ?? 'file'}: ${part.blob.media}, ${formatBytes(part.blob.bytes)}]`
        : part.text,
    )
    .join('\n');
