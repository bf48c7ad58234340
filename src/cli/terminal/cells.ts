/**
 * Width in terminal cells, and what follows from it: cut, pad, wrap. Characters are what a person sees
 * (grapheme clusters), never UTF-16 units.
 */
import { concat, ELLIPSIS, EMPTY, repeat, type Shown } from './shown.ts';

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** East Asian Wide and Fullwidth (UAX #11) beside the emoji, which have a property of their own. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x3247],
  [0x3250, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];

const isWide = (codePoint: number): boolean =>
  codePoint >= 0x1100 && WIDE.some(([from, to]) => codePoint >= from && codePoint <= to);

const EMOJI = /\p{Emoji_Presentation}|\uFE0F|\p{Regional_Indicator}/u;
const COMBINING = /^\p{M}/u;
const ASCII = /^[ -~]*$/;

const cellsOfGrapheme = (grapheme: string): number => {
  if (EMOJI.test(grapheme)) return 2;
  if (isWide(grapheme.codePointAt(0) ?? 0)) return 2;
  return COMBINING.test(grapheme) ? 0 : 1;
};

/** Cells of a text without control characters. */
export const cellsOf = (text: string): number => {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of GRAPHEMES.segment(text)) cells += cellsOfGrapheme(segment);
  return cells;
};

export const cells = (shown: Shown): number => cellsOf(shown.plain);

/** The UTF-16 offset up to which `text` fills at most `limit` cells. */
const offsetAt = (text: string, limit: number): number => {
  if (ASCII.test(text)) return Math.min(text.length, limit);
  let used = 0;
  for (const { segment, index } of GRAPHEMES.segment(text)) {
    used += cellsOfGrapheme(segment);
    if (used > limit) return index;
  }
  return text.length;
};

/** At most `limit` cells; cut text ends in an ellipsis. */
export const cut = (shown: Shown, limit: number, ascii: boolean = false): Shown => {
  if (cells(shown) <= limit) return shown;
  const ellipsis = ascii ? ELLIPSIS.ascii() : ELLIPSIS;
  const room = limit - cells(ellipsis);
  if (room < 0) return shown.slice(0, offsetAt(shown.plain, Math.max(0, limit)));
  const { plain } = shown;
  const kept = plain.slice(0, offsetAt(plain, room)).trimEnd();
  return concat(shown.slice(0, kept.length), ellipsis);
};

export type Align = 'left' | 'right';

/** At least `width` cells. */
export const pad = (shown: Shown, width: number, align: Align = 'left'): Shown => {
  const space = repeat(' ', width - cells(shown));
  return align === 'left' ? concat(shown, space) : concat(space, shown);
};

/** `left`, then `right` ending at `width`; at least two spaces between them. */
export const spread = (left: Shown, right: Shown, width: number): Shown =>
  concat(left, repeat(' ', Math.max(2, width - cells(left) - cells(right))), right);

export type Word = { readonly from: number; readonly to: number; readonly breakable: boolean };

/** Stretches between spaces. A space inside a part that is kept whole is no place to break. */
export const wordsOf = (shown: Shown): Word[] => {
  const words: Word[] = [];
  let at = 0;
  let open: { from: number; breakable: boolean } | undefined;
  const close = (): void => {
    if (open) words.push({ ...open, to: at });
    open = undefined;
  };
  for (const span of shown.spans) {
    const kept = span.whole === true || span.spaces === true;
    if (span.spaces === true) close();
    for (const piece of kept ? [span.text] : (span.text.match(/ +|[^ ]+/gu) ?? [])) {
      if (!kept && piece.startsWith(' ')) close();
      else open ??= { from: at, breakable: true };
      if (open && span.whole === true) open.breakable = false;
      at += piece.length;
    }
    if (span.spaces === true) close();
  }
  close();
  return words;
};

/** What reveal() leaves of one character: a base and a few marks. Keeps breaking a huge word linear. */
const UNITS_PER_CELL_MAX = 16;

export type WrapOptions = {
  /** Spaces before every line but the first. */
  readonly hanging?: number;
  /** Breaks even what is kept whole: no line may be longer, as in blocks with a margin. */
  readonly strict?: boolean;
};

/** Lines of at most `limit` cells, broken at spaces; a word longer than a line is broken unless kept whole. */
export const wrap = (shown: Shown, limit: number, options: WrapOptions = {}): Shown[] => {
  const hanging = Math.min(options.hanging ?? 0, Math.max(0, limit - 1));
  const { plain } = shown;
  if (cellsOf(plain) <= limit) return [shown];
  const lines: Shown[] = [];
  let [start, end] = [0, 0];
  const room = (): number => Math.max(1, limit - (lines.length === 0 ? 0 : hanging));
  const emit = (next: number): void => {
    const piece = shown.slice(start, end);
    lines.push(lines.length === 0 || hanging === 0 ? piece : concat(repeat(' ', hanging), piece));
    [start, end] = [next, next];
  };
  for (const word of wordsOf(shown)) {
    const breakable = word.breakable || options.strict === true;
    if (cellsOf(plain.slice(start, word.to)) <= room()) {
      end = word.to;
      continue;
    }
    const tooLong = cellsOf(plain.slice(word.from, word.to)) > Math.max(1, limit - hanging);
    if (end > start && !(tooLong && breakable)) {
      emit(word.from);
      end = word.to;
      continue;
    }
    if (!breakable) {
      end = word.to;
      continue;
    }
    for (;;) {
      const window = plain.slice(start, Math.min(word.to, start + room() * UNITS_PER_CELL_MAX));
      if (start + window.length === word.to && cellsOf(window) <= room()) break;
      // A character wider than the whole line still has to go somewhere.
      end = start + (offsetAt(window, room()) || offsetAt(window, 2) || 1);
      emit(end);
    }
    end = word.to;
  }
  // Without a word there are spaces alone: a line of them, and the rest is where lines are broken.
  if (end === start) end = Math.min(plain.length, start + room());
  if (end > start) emit(end);
  return lines.length === 0 ? [EMPTY] : lines;
};

/** Pieces of at most `limit` cells with every character, spaces included: for text whose bytes matter. */
export const chop = (shown: Shown, limit: number): Shown[] => {
  const { plain } = shown;
  const room = Math.max(1, limit);
  const pieces: Shown[] = [];
  let start = 0;
  do {
    const window = plain.slice(start, start + room * UNITS_PER_CELL_MAX);
    const end = start + (offsetAt(window, room) || offsetAt(window, 2) || window.length);
    pieces.push(shown.slice(start, end));
    start = end;
  } while (start < plain.length);
  return pieces;
};
