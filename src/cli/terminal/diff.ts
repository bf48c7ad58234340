/** Unified diffs: line numbers, sign, margin, text. Nothing is cut; long lines go on below themselves. */
import { countOf } from '../../view/format.ts';
import { patchParts, type PatchLine } from '../../view/patch.ts';
import { cells, chop, pad } from './cells.ts';
import { fit, type Look } from './look.ts';
import { concat, dim, line, own, repeat, SIGN, theirLines, theirs, type Shown } from './shown.ts';

const NUMBER_CELLS_MIN = 3;

const MARGIN = SIGN.margin;

const diffLine = ({ sign, number, text }: PatchLine, width: number, look: Look): Shown[] => {
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
  const parts = patchParts(patch);
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
