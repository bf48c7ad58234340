/**
 * Text that arrives in pieces, such as a model's answer, shown as it comes: wrapped by us, word by word,
 * everything hidden made visible across the borders of pieces. Lines above are never written again.
 */
import { cells, wordsOf, wrap } from './cells.ts';
import { fit, render, type Look } from './look.ts';
import { theirLines, type Shown } from './shown.ts';

export type TextStream = {
  push(piece: string): void;
  /** Shows what is left and ends the line. */
  end(): void;
};

export type TextStreamOptions = {
  readonly look: Look;
  /** Spaces before every line. */
  readonly indent?: number;
  readonly write: (rendered: string) => void;
};

/** A word without end is shown in pieces of this many UTF-16 units. */
const WORD_UNITS_MAX = 400;
/** Kept back from such a piece, so that no character is cut in two. */
const WORD_UNITS_KEPT = 32;

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** May still change with what comes: an imitated mark as in `<12 spaces>`, a run of other spaces. */
const OPEN_END = /(?:<[0-9,]+|[^\P{Zs} ])$/v;

/** Everything up to the last complete word. The spaces after it wait for the word they lead to. */
const completeUpTo = (pending: string): number => {
  const newline = pending.lastIndexOf('\n') + 1;
  let at = pending.length;
  do {
    while (at > newline && pending[at - 1] !== ' ') at--;
    while (at > newline && pending[at - 1] === ' ') at--;
  } while (at > newline && OPEN_END.test(pending.slice(Math.max(newline, at - WORD_UNITS_KEPT), at)));
  if (pending.length - at <= WORD_UNITS_MAX) return at;
  const forced = pending.length - WORD_UNITS_KEPT;
  return isLowSurrogate(pending.charCodeAt(forced)) ? forced - 1 : forced;
};

export const textStream = (options: TextStreamOptions): TextStream => {
  const { look, write, indent = 0 } = options;
  let pending = '';
  let column = 0;
  let lineOpen = false;
  /** Spaces that were said and are only shown when something follows them in their line. */
  let owed = 0;
  const put = (shown: Shown, spaces: number): void => {
    write(`${' '.repeat((lineOpen ? 0 : indent) + spaces)}${render(shown, look)}`);
    lineOpen = true;
    column += spaces + cells(shown);
  };
  const breakLine = (): void => {
    write('\n');
    lineOpen = false;
    column = 0;
    owed = 0;
  };
  const putLine = (shown: Shown): void => {
    const limit = Math.max(1, look.textColumns - indent);
    let end = 0;
    for (const word of wordsOf(shown)) {
      const piece = shown.slice(word.from, word.to);
      const gap = word.from - end + owed;
      end = word.to;
      owed = 0;
      if (column + gap + cells(piece) <= limit) {
        put(piece, gap);
        continue;
      }
      if (column > 0) breakLine();
      wrap(piece, limit, { strict: true }).forEach((part, index) => {
        if (index > 0) breakLine();
        put(part, 0);
      });
    }
    owed += shown.plain.length - end;
  };
  const flush = (text: string): void => {
    theirLines(text, lineOpen).forEach((shown, index) => {
      if (index > 0) breakLine();
      putLine(fit(shown, look));
    });
  };
  return {
    push(piece) {
      pending += piece;
      const complete = completeUpTo(pending);
      if (complete === 0) return;
      flush(pending.slice(0, complete));
      pending = pending.slice(complete);
    },
    end() {
      if (pending !== '') flush(pending);
      pending = '';
      if (lineOpen) breakLine();
    },
  };
};
