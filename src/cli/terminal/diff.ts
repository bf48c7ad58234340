/** Unified diffs: line numbers, sign, margin, text. Nothing is cut; long lines go on below themselves. */
import { countOf } from '../../view/format.ts';
import { cells, chop, pad } from './cells.ts';
import { fit, type Look } from './look.ts';
import { concat, dim, line, own, repeat, SIGN, theirLines, theirs, type Shown } from './shown.ts';

type DiffLine = { readonly sign: ' ' | '-' | '+'; readonly number: number; readonly text: string };
type Part =
  | { readonly kind: 'line'; readonly line: DiffLine }
  | { readonly kind: 'equal'; readonly count: number }
  | { readonly kind: 'no-newline' };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NUMBER_CELLS_MIN = 3;

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
const partOf = (raw: string, hunk: Hunk): Part | undefined => {
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
const partsOf = (patch: string): Part[] | undefined => {
  const parts: Part[] = [];
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

const MARGIN = SIGN.margin;

const diffLine = ({ sign, number, text }: DiffLine, width: number, look: Look): Shown[] => {
  const [shown = theirs('')] = theirLines(text);
  const colour = sign === '+' ? 'add' : 'del';
  const tint = (piece: Shown): Shown => (sign === ' ' ? piece : piece.as(colour));
  const lead = line`  ${dim(pad(theirs(number), width, 'right'))}  ${tint(theirs(sign))} ${MARGIN} `;
  const below = line`  ${repeat(' ', width)}    ${MARGIN} `;
  const room = Math.max(20, look.columns - cells(lead));
  const pieces = look.terminal ? chop(fit(shown, look), room) : [shown];
  return pieces.map((piece, index) => concat(index === 0 ? lead : below, tint(piece)));
};

/** The lines of a patch; a patch that cannot be read as one is shown as it is, and said to be. */
export const diffLines = (patch: string, look: Look): Shown[] => {
  const parts = partsOf(patch);
  if (parts === undefined) {
    const raw = theirLines(patch).map((shown) => line`  ${SIGN.margin} ${shown}`);
    return [line`  ${SIGN.wait} not a well-formed patch, shown as it is`, ...raw];
  }
  const numbers = parts.map((part) => (part.kind === 'line' ? part.line.number : 0));
  const width = Math.max(NUMBER_CELLS_MIN, String(Math.max(0, ...numbers)).length);
  return parts.flatMap((part) => {
    switch (part.kind) {
      case 'line':
        return diffLine(part.line, width, look);
      case 'equal':
        return part.count === 0
          ? []
          : [dim(line`  ${repeat(' ', width - 1)}… ${countOf(part.count, 'equal line')}`)];
      case 'no-newline':
        return [dim(line`  ${repeat(' ', width)}    ${own('no line feed at the end')}`)];
      default:
        return part satisfies never;
    }
  });
};
