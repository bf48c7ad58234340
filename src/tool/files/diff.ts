/** What a change does to a file, as blocks of a preview. Made from the bytes, never from the model's words. */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatchHunk } from 'diff';
import type { PreviewBlock } from '../preview.ts';
import { counted } from './fault.ts';
import { lineEndsOf, lineStarts } from './lines.ts';
import { decodeText, encodingName } from './text.ts';

const CONTEXT_LINES = 3;
/** Changed lines up to which the smallest diff is looked for. Beyond it the whole middle counts as replaced. */
const EDIT_LINES_MAX = 1000;
const NO_LINE_END = '\\ No newline at end of file';

const linesOf = (text: string): readonly string[] => {
  const starts = lineStarts(text);
  return starts.map((start, at) => text.slice(start, starts[at + 1] ?? text.length));
};

const marked = (sign: string, lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => (line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, NO_LINE_END]));

/** One hunk from the first to the last changed line: right for every pair of texts, at linear cost. */
const wholeMiddle = (before: string, after: string): StructuredPatchHunk => {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1;
  const from = Math.max(0, head - CONTEXT_LINES);
  const kept = Math.min(tail, CONTEXT_LINES);
  const oldEnd = old.length - tail;
  const nowEnd = now.length - tail;
  return {
    oldStart: from + 1,
    oldLines: oldEnd + kept - from,
    newStart: from + 1,
    newLines: nowEnd + kept - from,
    lines: [
      ...marked(' ', old.slice(from, head)),
      ...marked('-', old.slice(head, oldEnd)),
      ...marked('+', now.slice(head, nowEnd)),
      ...marked(' ', old.slice(oldEnd, oldEnd + kept)),
    ],
  };
};

/** A unified diff with three lines of context. */
const diffBlock = (path: string, before: string | undefined, after: string): PreviewBlock => {
  const oldName = before === undefined ? '/dev/null' : path;
  const old = before ?? '';
  const found = structuredPatch(oldName, path, old, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: EDIT_LINES_MAX,
  });
  const patch = found ?? {
    oldFileName: oldName,
    newFileName: path,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [wholeMiddle(old, after)],
  };
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  return {
    kind: 'diff',
    path,
    patch: formatPatch(patch, FILE_HEADERS_ONLY),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
    newFile: before === undefined,
  };
};

export type ShownChange = { readonly blocks: readonly PreviewBlock[]; readonly warnings: readonly string[] };

/** The change of a file's bytes (before: undefined for a new file), with what a diff of lines cannot show. */
export const showChange = (path: string, before: Uint8Array | undefined, after: Uint8Array): ShownChange => {
  const old = before && decodeText(before);
  const now = decodeText(after);
  if (!now || (before && !old))
    return {
      blocks: [
        {
          kind: 'text',
          title: path,
          text: `Replaces ${counted(before?.length ?? 0)} bytes, which are not text, by ${counted(after.length)} bytes.`,
        },
        ...(now ? [diffBlock(path, undefined, now.text)] : []),
      ],
      warnings: ['The old content is not text and cannot be shown.'],
    };
  const warnings: string[] = [];
  if (old && encodingName(old) !== encodingName(now))
    warnings.push(`The encoding changes from ${encodingName(old)} to ${encodingName(now)}.`);
  const ends = old && lineEndsOf(old.text);
  if (ends && ends !== 'none' && ends !== lineEndsOf(now.text))
    warnings.push(`The line ends change from ${ends} to ${lineEndsOf(now.text)}.`);
  return { blocks: [diffBlock(path, old?.text, now.text)], warnings };
};
