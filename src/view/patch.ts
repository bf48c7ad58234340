/** A unified diff of one file, read: its lines with their numbers, and what is the same between them. Pure. */
/** `number` is that of the line in its own text, from 1: the old one where it goes, else the new one. */
export type PatchLine = { readonly sign: ' ' | '-' | '+'; readonly number: number; readonly text: string };
export type PatchPart =
  | { readonly kind: 'line'; readonly line: PatchLine }
  | { readonly kind: 'equal'; readonly count: number }
  | { readonly kind: 'no-newline' };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

type Hunk = { oldLine: number; newLine: number; oldLeft: number; newLeft: number };

const hunkOf = (header: string): Hunk | undefined => {
  const match = HUNK.exec(header);
  if (match === null) return undefined;
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = match;
  return {
    oldLine: Number(oldStart),
    newLine: Number(newStart),
    oldLeft: Number(oldCount),
    newLeft: Number(newCount),
  };
};

/** One line of a hunk, by its sign; undefined when the patch breaks its own counts. */
const partOf = (raw: string, hunk: Hunk): PatchPart | undefined => {
  const text = raw.slice(1);
  if (raw.startsWith('-') && hunk.oldLeft > 0) {
    hunk.oldLeft--;
    return { kind: 'line', line: { sign: '-', number: hunk.oldLine++, text } };
  }
  if (raw.startsWith('+') && hunk.newLeft > 0) {
    hunk.newLeft--;
    return { kind: 'line', line: { sign: '+', number: hunk.newLine++, text } };
  }
  if ((raw === '' || raw.startsWith(' ')) && hunk.oldLeft > 0 && hunk.newLeft > 0) {
    hunk.oldLeft--;
    hunk.newLeft--;
    hunk.oldLine++;
    return { kind: 'line', line: { sign: ' ', number: hunk.newLine++, text } };
  }
  return undefined;
};

const HEADER = /^(?:---|\+\+\+|Index:|={3,}|diff |index |$)/;

/** The parts of a patch in order, or undefined when it is not a unified diff of one file. */
export const patchParts = (patch: string): PatchPart[] | undefined => {
  const parts: PatchPart[] = [];
  let hunk: Hunk | undefined;
  let equalUpTo = 1;
  for (const raw of patch.replace(/\n$/, '').split('\n')) {
    const inside = hunk !== undefined && (hunk.oldLeft > 0 || hunk.newLeft > 0);
    if (raw.startsWith('\\') && parts.length > 0) {
      parts.push({ kind: 'no-newline' });
    } else if (hunk !== undefined && inside) {
      const part = partOf(raw, hunk);
      if (part === undefined) return undefined;
      parts.push(part);
      equalUpTo = hunk.newLine;
    } else {
      const next = hunkOf(raw);
      if (next === undefined && (hunk !== undefined || !HEADER.test(raw))) return undefined;
      if (next !== undefined && hunk !== undefined)
        parts.push({ kind: 'equal', count: Math.max(0, next.newLine - equalUpTo) });
      hunk = next;
    }
  }
  const whole = hunk !== undefined && hunk.oldLeft === 0 && hunk.newLeft === 0;
  return whole ? parts : undefined;
};

/** A text in three: what both have before it, what differs, what both have behind it. */
export type Marked = { readonly before: string; readonly changed: string; readonly after: string };

/** Where a line and the one that takes its place differ, at whole words. */
export const markedWords = (old: string, now: string): readonly [Marked, Marked] => {
  const [from, to] = [wordsOf(old), wordsOf(now)];
  let start = 0;
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start++;
  let end = 0;
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const cut = (words: readonly string[]): Marked => ({
    before: words.slice(0, start).join(''),
    changed: words.slice(start, words.length - end).join(''),
    after: words.slice(words.length - end).join(''),
  });
  return [cut(from), cut(to)];
};

const wordsOf = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];
