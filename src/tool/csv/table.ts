/** A file of delimited text as a table: named columns, numbered rows, all values text. */
import { ToolError } from '../tool.ts';
import { counted, quoted } from '../files/fault.ts';
import type { FileContent } from '../files/folder.ts';
import { decodeText, encodingName, type TextFile } from '../files/text.ts';
import { delimiterName, dialectOf, type Dialect } from './dialect.ts';
import { isBlank, scanRows, type Row } from './scan.ts';

/** Columns that an error lists. */
const COLUMNS_NAMED_MAX = 50;

export type Table = {
  readonly path: string;
  readonly file: TextFile;
  readonly dialect: Dialect;
  /** Unique names; "column 4" where the header has none, "name (2)" where it has one twice. */
  readonly columns: readonly string[];
  /** Without the header and without blank lines. Row 1 is rows[0]. */
  readonly rows: readonly Row[];
  /** Everything that ends with a line end, in order: header, rows and blank lines. */
  readonly lines: readonly Row[];
  readonly notes: readonly string[];
};

export type TableOptions = {
  /** One character; left out: guessed. */
  readonly delimiter?: string | undefined;
  /** Whether the first row names the columns. Default true. */
  readonly header?: boolean | undefined;
};

const columnNames = (header: Row | undefined, width: number): readonly string[] => {
  const names: string[] = [];
  const used = new Set(header?.fields.map(({ value }) => value));
  const seen = new Set<string>();
  for (let at = 0; at < width; at += 1) {
    const given = header?.fields[at]?.value ?? '';
    let name = given === '' ? `column ${at + 1}` : given;
    const isFree = (): boolean => !seen.has(name) && (name === given || !used.has(name));
    for (let count = 2; !isFree(); count += 1)
      name = `${given === '' ? `column ${at + 1}` : given} (${count})`;
    seen.add(name);
    names.push(name);
  }
  return names;
};

const plural = (count: number, one: string): string => `${counted(count)} ${one}${count === 1 ? '' : 's'}`;

const dialectNotes = ({ delimiter, source, alternatives }: Dialect): readonly string[] => {
  const name = delimiterName(delimiter);
  if (source === 'none') return ['no delimiter seen, one column'];
  const first =
    source === 'stated' ? `delimiter ${name} stated by the first line` : `delimiter ${name} ${source}`;
  return alternatives.length === 0
    ? [first]
    : [first, `${alternatives.map(delimiterName).join(' and ')} would fit too`];
};

const raggedNote = (rows: readonly Row[], width: number): readonly string[] => {
  const ragged = rows.flatMap(({ fields }, at) => (fields.length === width ? [] : [at + 1]));
  const [first] = ragged;
  if (first === undefined) return [];
  return [
    `${plural(ragged.length, 'row')} with more or fewer than ${width} fields, the first is row ${first}`,
  ];
};

/** Decodes, strips the mark, then splits. Throws `not-text`, `csv-malformed`, `csv-empty`, `csv-too-large`. */
export const readTable = ({ path, bytes }: FileContent, options: TableOptions): Table => {
  const file = decodeText(bytes);
  if (!file)
    throw new ToolError(`${quoted(path)} is not text. Export it as CSV first.`, {
      code: 'not-text',
      details: { path },
    });
  const dialect = dialectOf(file.text, options.delimiter);
  const lines = scanRows(file.text, dialect);
  const full = lines.filter((row) => !isBlank(row));
  const header = options.header === false ? undefined : full[0];
  const rows = header ? full.slice(1) : full;
  if (full.length === 0)
    throw new ToolError(`${quoted(path)} has no row at all. Write it with the write tool.`, {
      code: 'csv-empty',
      details: { path },
    });
  const width = header?.fields.length ?? full[0]?.fields.length ?? 0;
  const widest = rows.reduce((most, { fields }) => Math.max(most, fields.length), width);
  const notes = [
    ...dialectNotes(dialect),
    ...(file.mark.length > 0 ? ['mark removed'] : []),
    ...(file.encoding === 'utf-8' ? [] : [`read as ${encodingName(file)}`]),
    plural(rows.length, 'row'),
    ...(lines.length > full.length ? [plural(lines.length - full.length, 'blank line')] : []),
    ...raggedNote(rows, width),
    'values are text',
  ];
  return { path, file, dialect, columns: columnNames(header, widest), rows, lines, notes };
};

/** The position of a column. Throws `unknown-column`, naming the columns there are. */
export const columnAt = (table: Table, name: string): number => {
  const at = table.columns.indexOf(name);
  if (at !== -1) return at;
  const listed = table.columns.slice(0, COLUMNS_NAMED_MAX).map(quoted).join(', ');
  const more = table.columns.length > COLUMNS_NAMED_MAX ? ' and further ones' : '';
  throw new ToolError(
    `${quoted(table.path)} has no column ${quoted(name)}. Its columns are ${listed}${more}.`,
    {
      code: 'unknown-column',
      details: { column: name, columns: table.columns.slice(0, COLUMNS_NAMED_MAX) },
    },
  );
};
