/** How a table is written: found out from the text, and said to whoever reads it. */
import { ToolError } from '../tool.ts';
import { isBlank, scanRows, type Row } from './scan.ts';

/** In the order in which equal guesses are preferred. */
export const DELIMITERS: readonly string[] = [',', ';', '\t', '|'];
/** Rows that a guess looks at. */
const SAMPLE_ROWS = 100;

export type Dialect = {
  /** One character. */
  readonly delimiter: string;
  /** `given` by the caller, `stated` by a first line "sep=;", `guessed`, or `none` seen: one column. */
  readonly source: 'given' | 'stated' | 'guessed' | 'none';
  /** Other delimiters that would have fitted every row of the sample. */
  readonly alternatives: readonly string[];
  readonly crEndsRow: boolean;
  /** Where the table begins: after a line "sep=;". */
  readonly from: number;
};

/** The delimiter for people. */
export const delimiterName = (delimiter: string): string => (delimiter === '\t' ? 'tab' : delimiter);

const crEndsRows = (text: string): boolean => {
  let quoted = false;
  let cr = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') quoted = !quoted;
    else if (!quoted && char === '\n') return false;
    else if (!quoted && char === '\r') cr = true;
  }
  return cr;
};

type Guess = { readonly delimiter: string; readonly width: number; readonly fit: number };

/** How well a delimiter fits: the share of rows that are as wide as the first one, if that is over 1. */
const tryDelimiter = (
  text: string,
  delimiter: string,
  dialect: Pick<Dialect, 'crEndsRow' | 'from'>,
): Guess => {
  let rows: readonly Row[];
  try {
    rows = scanRows(text, { delimiter, ...dialect, rowsMax: SAMPLE_ROWS }).filter((row) => !isBlank(row));
  } catch (error) {
    if (error instanceof ToolError) return { delimiter, width: 0, fit: 0 };
    throw error;
  }
  const width = rows[0]?.fields.length ?? 0;
  if (width < 2) return { delimiter, width, fit: 0 };
  const same = rows.filter(({ fields }) => fields.length === width).length;
  return { delimiter, width, fit: same / rows.length };
};

const SEP_LINE = /^sep=([^"\r\n])(?:\r\n|\n|\r)/iu;

/** The dialect of a text. `delimiter` is what the caller said, if anything. */
export const dialectOf = (text: string, delimiter?: string): Dialect => {
  const crEndsRow = crEndsRows(text);
  const sep = SEP_LINE.exec(text);
  const from = sep?.[0].length ?? 0;
  if (delimiter !== undefined) return { delimiter, source: 'given', alternatives: [], crEndsRow, from };
  const stated = sep?.[1];
  if (stated !== undefined) return { delimiter: stated, source: 'stated', alternatives: [], crEndsRow, from };
  const guesses = DELIMITERS.map((one) => tryDelimiter(text, one, { crEndsRow, from })).toSorted(
    (a, b) => b.fit - a.fit || b.width - a.width,
  );
  const [best] = guesses;
  if (!best || best.fit === 0) return { delimiter: ',', source: 'none', alternatives: [], crEndsRow, from };
  const alternatives = guesses.slice(1).filter(({ fit }) => fit === 1);
  return {
    delimiter: best.delimiter,
    source: 'guessed',
    alternatives: best.fit === 1 ? alternatives.map((guess) => guess.delimiter) : [],
    crEndsRow,
    from,
  };
};
