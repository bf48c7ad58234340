/**
 * Delimited text, taken apart without losing where anything was: each field knows its place in the text, so
 * that one cell can be replaced and every other character stays. Quoting as in RFC 4180; what that does not
 * allow is refused with its line, never guessed at.
 */
import { ToolError } from '../tool.ts';
import { counted } from '../files/fault.ts';
import { lineAt } from '../files/lines.ts';

/** Fields of a file at most: each one takes memory. */
export const CSV_CELLS_MAX = 2_000_000;

export type Field = {
  /** Positions in the text, quotes included. */
  readonly start: number;
  readonly end: number;
  /** Without quotes, doubled ones made single. */
  readonly value: string;
  readonly quoted: boolean;
};

export type Row = {
  readonly fields: readonly Field[];
  /** The line end that closes the row; "" for a last row without one. */
  readonly lineEnd: string;
};

export type ScanOptions = {
  /** One character. */
  readonly delimiter: string;
  /** Whether a lone CR ends a row, as in files of old Macs. Otherwise it is a character of its field. */
  readonly crEndsRow: boolean;
  /** Where to begin. Default 0. */
  readonly from?: number;
  /** Stop after so many rows. */
  readonly rowsMax?: number;
};

const QUOTE = '"';

const malformed = (text: string, position: number, says: string): ToolError => {
  const line = lineAt(text, position);
  return new ToolError(
    `The table is malformed in line ${counted(line)}: ${says}. Correct it with the file tools, or name another delimiter.`,
    { code: 'csv-malformed', details: { line } },
  );
};

const lineEndAt = (text: string, position: number, crEndsRow: boolean): string => {
  if (text[position] === '\n') return '\n';
  if (text[position] !== '\r') return '';
  if (text[position + 1] === '\n') return '\r\n';
  return crEndsRow ? '\r' : '';
};

const quotedField = (text: string, start: number): Field => {
  let at = start + 1;
  for (;;) {
    const close = text.indexOf(QUOTE, at);
    if (close === -1) throw malformed(text, start, 'a quote is opened and never closed');
    if (text[close + 1] !== QUOTE) {
      const value = text.slice(start + 1, close).replaceAll('""', QUOTE);
      return { start, end: close + 1, value, quoted: true };
    }
    at = close + 2;
  }
};

const plainField = (text: string, start: number, options: ScanOptions): Field => {
  let end = start;
  while (
    end < text.length &&
    text[end] !== options.delimiter &&
    lineEndAt(text, end, options.crEndsRow) === ''
  )
    end += 1;
  return { start, end, value: text.slice(start, end), quoted: false };
};

/** All rows in order, blank lines included (one empty field, not quoted). Throws `csv-malformed`, `csv-too-large`. */
export const scanRows = (text: string, options: ScanOptions): readonly Row[] => {
  const rows: Row[] = [];
  let fields: Field[] = [];
  let cells = 0;
  let at = options.from ?? 0;
  while (at < text.length || fields.length > 0) {
    const field = text[at] === QUOTE ? quotedField(text, at) : plainField(text, at, options);
    fields.push(field);
    cells += 1;
    if (cells > CSV_CELLS_MAX)
      throw new ToolError(
        `The table has more than ${counted(CSV_CELLS_MAX)} cells, the limit of this tool.`,
        {
          code: 'csv-too-large',
        },
      );
    at = field.end;
    if (text[at] === options.delimiter) {
      at += 1;
      continue;
    }
    const lineEnd = lineEndAt(text, at, options.crEndsRow);
    if (lineEnd === '' && at < text.length)
      throw malformed(text, at, `after a closing quote comes ${JSON.stringify(text[at])}`);
    rows.push({ fields, lineEnd });
    if (rows.length === options.rowsMax) return rows;
    fields = [];
    at += lineEnd.length;
  }
  return rows;
};

/** A line with nothing on it. It is not a row of the table. */
export const isBlank = ({ fields }: Row): boolean =>
  fields.length === 1 && fields[0]?.value === '' && !fields[0].quoted;
