/** The one writer of delimited text: quoting, the formula guard, CRLF. */
import { guarded, hidesFormula, isFormula } from './guard.ts';

export type FieldFormat = {
  readonly delimiter: string;
  /** Quote although it is not needed. */
  readonly quote?: boolean;
};

const needsQuotes = (value: string, delimiter: string): boolean =>
  value.includes(delimiter) || /["\r\n]|^\s|\s$/u.test(value) || hidesFormula(value);

/** One field as it stands in the file. */
export const formatField = (value: string, { delimiter, quote = false }: FieldFormat): string =>
  quote || needsQuotes(value, delimiter) ? `"${value.replaceAll('"', '""')}"` : value;

/** A row without its line end. A single empty field is quoted: a blank line is no row. */
export const formatRow = (values: readonly string[], format: FieldFormat): string => {
  const alone = values.length === 1 && values[0] === '';
  return values
    .map((value) => formatField(value, alone ? { ...format, quote: true } : format))
    .join(format.delimiter);
};

export type CsvTextOptions = {
  /** One character. Default ",". */
  readonly delimiter?: string;
  /** Columns, by the names in the first row, whose cells may be formulas. */
  readonly allowFormulas?: readonly string[];
};

/**
 * A table as CSV text, the first row being the header: CRLF, quoted where needed, cells that a spreadsheet
 * would run made text by an apostrophe. Every export of this program goes through here.
 */
export const csvText = (rows: readonly (readonly string[])[], options: CsvTextOptions = {}): string => {
  const { delimiter = ',', allowFormulas = [] } = options;
  const free = new Set((rows[0] ?? []).flatMap((name, at) => (allowFormulas.includes(name) ? [at] : [])));
  const cell = (value: string, at: number, isHeader: boolean): string => {
    if (!isFormula(value) || (free.has(at) && !isHeader)) return value;
    return guarded(value);
  };
  return rows
    .map((row, at) => {
      const values = row.map((value, column) => cell(value, column, at === 0));
      if (values.length === 1) return formatRow(values, { delimiter });
      return values
        .map((value, column) => formatField(value, { delimiter, quote: value !== row[column] }))
        .join(delimiter);
    })
    .map((line) => `${line}\r\n`)
    .join('');
};
