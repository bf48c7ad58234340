import { z } from 'zod';
import { content } from '../content.ts';
import { tool, ToolError, type OutputLabels, type Tool } from '../tool.ts';
import { counted, quoted } from './fault.ts';
import type { FileContent, Folder } from './folder.ts';
import { lineEndsOf, lineStarts } from './lines.ts';
import { decodeText, encodingName } from './text.ts';

/** Lines of one answer. */
export const READ_LINES_MAX = 2000;
/** Characters (UTF-16 units) of one answer. */
export const READ_CHARS_MAX = 100_000;
/** Bytes of a file that is no text and is handed on as it is. */
export const READ_BINARY_BYTES_MAX: number = 1024 * 1024;

const Input = z.strictObject({
  path: z.string().describe('File to read, from the folder down'),
  from: z.int().min(1).optional().describe('First line, counted from 1. Default 1'),
  lines: z.int().min(1).max(READ_LINES_MAX).optional().describe(`Lines to read. Default ${READ_LINES_MAX}`),
  numbered: z.boolean().optional().describe('Put the line number and a tab before each line. Default false'),
});

const TYPES: readonly (readonly [type: string, head: string])[] = [
  ['image/png', '\u0089PNG\r\n'],
  ['image/jpeg', '\u00ff\u00d8\u00ff'],
  ['image/gif', 'GIF8'],
  ['image/webp', 'RIFF'],
  ['application/pdf', '%PDF-'],
  ['application/zip', 'PK\u0003\u0004'],
];

/** The media type by the first bytes, for the few kinds that models can look at. */
export const typeOf = (bytes: Uint8Array): string => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  const found = TYPES.find(([, start]) => head.startsWith(start))?.[0] ?? 'application/octet-stream';
  return found === 'image/webp' && !head.endsWith('WEBP') ? 'application/octet-stream' : found;
};

const binary = ({ path, bytes, sha256 }: FileContent): unknown => {
  const facts = { path, bytes: bytes.length, sha256, encoding: 'binary', type: typeOf(bytes) };
  if (bytes.length > READ_BINARY_BYTES_MAX)
    return {
      ...facts,
      note: `Not text, and larger than ${counted(READ_BINARY_BYTES_MAX)} bytes: its bytes are left out.`,
    };
  return content(
    { kind: 'json', value: { ...facts, note: 'Not text. Its bytes follow.' } },
    { kind: 'bytes', bytes, type: facts.type, name: path.split('/').at(-1) ?? path },
  );
};

type Window = { readonly from: number; readonly lines: number; readonly numbered: boolean };

/** Lines of a text from the window's first one on, as many as the limits allow. */
const windowOf = (
  text: string,
  { from, lines, numbered }: Window,
): { text: string; to: number; cut: boolean } => {
  const starts = lineStarts(text);
  let shown = '';
  let to = from - 1;
  for (let at = from - 1; at < Math.min(starts.length, from - 1 + lines); at += 1) {
    const line = text.slice(starts[at], starts[at + 1] ?? text.length);
    const piece = numbered ? `${at + 1}\t${line}` : line;
    if (shown.length + piece.length > READ_CHARS_MAX) {
      if (shown !== '') break;
      // One line beyond the limit: its start is better than nothing, and the note says so.
      return { text: Buffer.from(piece.slice(0, READ_CHARS_MAX)).toString(), to: at + 1, cut: true };
    }
    shown += piece;
    to = at + 1;
  }
  return { text: shown, to, cut: false };
};

const asText = (file: FileContent, window: Window): unknown => {
  const decoded = decodeText(file.bytes);
  if (!decoded) return binary(file);
  const lines = lineStarts(decoded.text).length;
  if (window.from > Math.max(1, lines))
    throw new ToolError(
      `${quoted(file.path)} has ${counted(lines)} lines; line ${counted(window.from)} is not there.`,
      { code: 'line-not-found', details: { path: file.path, lines } },
    );
  const shown = windowOf(decoded.text, window);
  const notes: string[] = [];
  if (decoded.encoding === 'windows-1252')
    notes.push('The bytes are not valid UTF-8 and were read as windows-1252: accented letters may be wrong.');
  if (shown.cut) notes.push(`Line ${shown.to} is longer than ${counted(READ_CHARS_MAX)} characters: cut.`);
  return {
    path: file.path,
    text: shown.text,
    from: window.from,
    to: shown.to,
    lines,
    bytes: file.bytes.length,
    sha256: file.sha256,
    encoding: encodingName(decoded),
    lineEnds: lineEndsOf(decoded.text),
    ...(shown.to < lines && { next: shown.to + 1 }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
  };
};

/**
 * Reads a file. For text {path, text, from, to, lines, bytes, sha256, encoding, lineEnds, next?, note?}:
 * lines `from` to `to` of `lines`, `next` being the first line left out. For anything else a note, and the
 * bytes as a part of their own up to 1 MiB.
 */
export const readTool = (folder: Folder, name: string, labels: OutputLabels): Tool =>
  tool({
    name,
    description:
      `Read a file. Up to ${READ_LINES_MAX} lines and ${counted(READ_CHARS_MAX)} characters an answer; ` +
      'where more follows, "next" is the line to go on from. Files that are not text come as bytes.',
    inputSchema: Input,
    effect: 'none',
    labels,
    execute: async ({ path, from = 1, lines = READ_LINES_MAX, numbered = false }) =>
      asText(await folder.read(path), { from, lines, numbered }),
  });
