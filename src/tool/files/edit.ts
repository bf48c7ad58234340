/**
 * An exact piece of text, replaced. It is looked for in a view of the file with LF line ends, because that is
 * how models write; only the bytes that really differ are replaced, with the line ends that the file has there.
 */
import { z } from 'zod';
import { ToolError, type Tool } from '../tool.ts';
import { changeTool } from './change.ts';
import { showChange } from './diff.ts';
import { counted, quoted, tooLarge } from './fault.ts';
import { FILE_BYTES_MAX, type Folder } from './folder.ts';
import { lfView, lineAt, lineEndNear, toLf } from './lines.ts';
import { decodeText, spliceText, type Splice, type TextFile } from './text.ts';

/** Line numbers that an error lists. */
const LINES_NAMED_MAX = 10;

const Input = z.strictObject({
  path: z.string().describe('File to change, from the folder down'),
  old: z
    .string()
    .min(1)
    .describe('The text to replace, exactly as in the file, with enough around it to occur once'),
  new: z.string().describe('What takes its place; "" removes it'),
  all: z.boolean().optional().describe('Replace every occurrence. Default false: it must occur exactly once'),
});

const positionsOf = (text: string, wanted: string, step: number): readonly number[] => {
  const positions: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) positions.push(at);
  return positions;
};

const squeezed = (value: string): string => value.replaceAll(/\s+/gu, ' ').trim();

const notFound = (path: string, text: string, wanted: string): ToolError => {
  const hint = text.normalize('NFC').includes(wanted.normalize('NFC'))
    ? 'The file has it in another Unicode form (composed or decomposed letters).'
    : squeezed(text).includes(squeezed(wanted))
      ? 'The file has it with other white space.'
      : 'Read the file again and copy the text from it.';
  return new ToolError(`The text to replace does not occur in ${quoted(path)}. ${hint}`, {
    code: 'edit-not-found',
    details: { path },
  });
};

const ambiguous = (path: string, text: string, positions: readonly number[]): ToolError => {
  const lines = positions.slice(0, LINES_NAMED_MAX).map((position) => lineAt(text, position));
  const more = positions.length > lines.length ? ' and further ones' : '';
  return new ToolError(
    `The text to replace occurs ${counted(positions.length)} times in ${quoted(path)}, in line ${lines.join(', ')}${more}. Add text around it, or set "all".`,
    { code: 'edit-ambiguous', details: { path, occurrences: positions.length, lines } },
  );
};

const isHighHalf = (unit: string | undefined): boolean => unit !== undefined && /[\ud800-\udbff]/.test(unit);
const isLowHalf = (unit: string | undefined): boolean => unit !== undefined && /[\udc00-\udfff]/.test(unit);

/** How many characters at the start, and then at the end, are the same; never ending inside a pair. */
const commonEnds = (old: string, now: string): { readonly head: number; readonly tail: number } => {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  if (isHighHalf(old[head - 1])) head -= 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  if (tail > 0 && isLowHalf(old[old.length - tail])) tail -= 1;
  return { head, tail };
};

export type Edit = { readonly old: string; readonly new: string; readonly all?: boolean | undefined };

export type Edited = { readonly bytes: Uint8Array; readonly replaced: number };

/**
 * The file's bytes after the edit. Line ends in `new` follow the file, whatever the model wrote. Throws
 * `edit-not-found`, `edit-ambiguous` (unless `all`), `edit-changes-nothing`, `text-not-encodable`.
 */
export const editText = (path: string, file: TextFile, edit: Edit): Edited => {
  const view = lfView(file.text);
  const old = toLf(edit.old);
  const now = toLf(edit.new);
  if (old === now)
    throw new ToolError('"old" and "new" are the same text. Say what should change.', {
      code: 'edit-changes-nothing',
    });
  // Half a pair would be found inside a character.
  const positions = old.isWellFormed() ? positionsOf(view.text, old, edit.all === true ? old.length : 1) : [];
  if (positions.length === 0) throw notFound(path, view.text, old);
  if (positions.length > 1 && edit.all !== true) throw ambiguous(path, view.text, positions);
  const { head, tail } = commonEnds(old, now);
  const middle = now.slice(head, now.length - tail);
  const splices = positions.map((position): Splice => {
    const start = view.original(position + head);
    const end = view.original(position + old.length - tail);
    return { start, end, text: middle.replaceAll('\n', lineEndNear(file.text, start)) };
  });
  return { bytes: spliceText(file, splices), replaced: positions.length };
};

/** Replaces a piece of text in a file. `reconcilable`; result {path, sha256, bytes, created, replaced}. */
export const editTool = (folder: Folder, name: string): Tool =>
  changeTool({
    folder,
    name,
    description:
      'Replace an exact piece of text in a file. It must occur exactly once, unless "all" is set. ' +
      'Line ends and encoding of the file are kept.',
    inputSchema: Input,
    plan: async (input) => {
      const file = await folder.read(input.path);
      const text = decodeText(file.bytes);
      if (!text)
        throw new ToolError(`${quoted(file.path)} is not text. Only text files can be edited.`, {
          code: 'not-text',
          details: { path: file.path },
        });
      const { bytes, replaced } = editText(file.path, text, input);
      if (bytes.length > FILE_BYTES_MAX) throw tooLarge(file.path, FILE_BYTES_MAX);
      const place = { path: file.path, file, twins: [], missingFolders: [] };
      const shown = showChange(file.path, file.bytes, bytes);
      return { place, after: bytes, title: 'Edit a file', ...shown, facts: { replaced } };
    },
  });
