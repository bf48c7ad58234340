/**
 * Cells of a table, set; rows, appended. Only the characters of those cells are replaced: quotes, delimiters,
 * line ends, byte order mark and encoding of everything else stay as they were.
 */
import { z } from 'zod';
import type { CellChange } from '../preview.ts';
import { ToolError, type Tool } from '../tool.ts';
import { changeTool } from '../files/change.ts';
import { counted, quoted, tooLarge } from '../files/fault.ts';
import { FILE_BYTES_MAX, type Folder } from '../files/folder.ts';
import { spliceText, type Splice } from '../files/text.ts';
import { formatField, formatRow } from './format.ts';
import { guarded } from './guard.ts';
import { Delimiter } from './read.ts';
import { isBlank } from './scan.ts';
import { columnAt, readTable, type Table } from './table.ts';
import { guardWarning } from './write.ts';

const UPDATES_MAX = 1000;
const APPENDED_ROWS_MAX = 10_000;
/** Row numbers that an error lists. */
const ROWS_NAMED_MAX = 10;

const Cells = z.record(z.string(), z.string());

const Input = z.strictObject({
  path: z.string().describe('CSV file to change, from the folder down'),
  updates: z
    .array(
      z.strictObject({
        where: Cells.describe('Column: exact text. All must match for a row to be changed'),
        set: Cells.describe('Column: new text'),
        expect: z.int().min(1).optional().describe('How many rows must match. Default 1'),
      }),
    )
    .max(UPDATES_MAX)
    .optional(),
  append: z
    .array(Cells)
    .max(APPENDED_ROWS_MAX)
    .optional()
    .describe('New rows at the end, by column; columns left out stay empty'),
  delimiter: Delimiter.optional().describe('Left out: found out from the file'),
  header: z.boolean().optional().describe('Whether the first row names the columns. Default true'),
});

type Cell = Readonly<Record<string, string>>;
export type Update = { readonly where: Cell; readonly set: Cell; readonly expect?: number | undefined };
export type TableChange = {
  readonly updates?: readonly Update[] | undefined;
  readonly append?: readonly Cell[] | undefined;
  /** Columns whose new cells may be formulas. */
  readonly allowFormulas?: readonly string[];
};

export type TableChanged = {
  readonly bytes: Uint8Array;
  readonly changes: readonly CellChange[];
  readonly newRows: number;
  readonly untouchedRows: number;
  /** Cells that got an apostrophe. */
  readonly guarded: number;
};

/** Rows by the text of a column, made when a column is first asked for. */
type RowIndex = (column: number, value: string) => readonly number[];

const indexOf = (table: Table): RowIndex => {
  const columns = new Map<number, Map<string, number[]>>();
  return (column, value) => {
    let index = columns.get(column);
    if (!index) {
      index = Map.groupBy(table.rows.keys(), (row) => table.rows[row]?.fields[column]?.value ?? '');
      columns.set(column, index);
    }
    return index.get(value) ?? [];
  };
};

const matching = (table: Table, index: RowIndex, { where, expect = 1 }: Update): readonly number[] => {
  const wanted = Object.entries(where).map(([name, value]) => [columnAt(table, name), value] as const);
  const named = Object.entries(where)
    .map(([name, value]) => `${quoted(name)} = ${quoted(value)}`)
    .join(' and ');
  const [first] = wanted;
  if (!first)
    throw new ToolError('"where" names no column and would match every row. Name at least one.', {
      code: 'where-empty',
    });
  const found = index(...first).filter((at) =>
    wanted.every(([column, value]) => table.rows[at]?.fields[column]?.value === value),
  );
  if (found.length === 0)
    throw new ToolError(`No row has ${named}. Values are compared as exact text; read the rows again.`, {
      code: 'no-row-matched',
    });
  if (found.length !== expect) {
    const rows = found.slice(0, ROWS_NAMED_MAX).map((at) => at + 1);
    throw new ToolError(
      `${counted(found.length)} rows have ${named}, and ${expect} ${expect === 1 ? 'was' : 'were'} expected: row ${rows.join(', ')}${found.length > rows.length ? ' and further ones' : ''}. Add a column to "where", or set "expect" to ${found.length}.`,
      { code: 'rows-not-expected', details: { matched: found.length, expect, rows } },
    );
  }
  return found;
};

/** New texts by row and column, each cell at most once. */
class Assignments {
  readonly #cells = new Map<number, Map<number, string>>();
  /** A value that names the row for people: what it was found by. */
  readonly keys = new Map<number, string>();

  set(row: number, column: number, value: string): void {
    const cells = this.#cells.get(row) ?? new Map<number, string>();
    const other = cells.get(column);
    if (other !== undefined && other !== value)
      throw new ToolError(
        `Two updates set the same cell of row ${counted(row + 1)} to different texts. Keep one.`,
        {
          code: 'cell-set-twice',
          details: { row: row + 1 },
        },
      );
    cells.set(column, value);
    this.#cells.set(row, cells);
  }

  /** In the order of the file. */
  *all(): Generator<{ row: number; column: number; value: string }> {
    for (const [row, cells] of [...this.#cells].toSorted(([a], [b]) => a - b))
      for (const [column, value] of [...cells].toSorted(([a], [b]) => a - b)) yield { row, column, value };
  }
}

const assign = (table: Table, updates: readonly Update[], final: Final): Assignments => {
  const assignments = new Assignments();
  const index = indexOf(table);
  for (const update of updates) {
    const set = Object.entries(update.set).map(
      ([name, value]) => [columnAt(table, name), final(name, value)] as const,
    );
    for (const row of matching(table, index, update)) {
      const key = Object.values(update.where)[0];
      if (key !== undefined && !assignments.keys.has(row)) assignments.keys.set(row, key);
      for (const [column, value] of set) assignments.set(row, column, value);
    }
  }
  return assignments;
};

/** The text that a cell really gets. */
type Final = (column: string, value: string) => string;

const setCells = (table: Table, assignments: Assignments): { splices: Splice[]; changes: CellChange[] } => {
  const splices: Splice[] = [];
  const changes: CellChange[] = [];
  for (const { row, column, value } of assignments.all()) {
    const fields = table.rows[row]?.fields ?? [];
    const field = fields[column];
    const name = table.columns[column] ?? '';
    if (!field)
      throw new ToolError(
        `Row ${counted(row + 1)} has ${fields.length} fields and none for the column ${quoted(name)}. Correct the row with the file tools first.`,
        { code: 'row-too-short', details: { row: row + 1, column: name } },
      );
    if (field.value === value) continue;
    // A lone cell that is emptied stays a row.
    const quote = field.quoted || value.startsWith("'") || (value === '' && fields.length === 1);
    const text = formatField(value, { delimiter: table.dialect.delimiter, quote });
    splices.push({ start: field.start, end: field.end, text });
    const key = assignments.keys.get(row);
    changes.push({
      row: row + 1,
      ...(key !== undefined && { key }),
      column: name,
      before: field.value,
      after: value,
    });
  }
  return { splices, changes };
};

/** New rows at the end, written as the last row is: quotes everywhere if it has them, a last line end if it has one. */
const appendRows = (
  table: Table,
  append: readonly Cell[],
  final: Final,
): { splice: Splice; changes: CellChange[] } => {
  const { delimiter } = table.dialect;
  const last = table.lines.at(-1);
  const model = table.rows.at(-1) ?? table.lines.find((line) => !isBlank(line));
  const quote = model?.fields.every((field) => field.quoted) ?? false;
  const lineEnd = table.lines.findLast((line) => line.lineEnd !== '')?.lineEnd ?? '\r\n';
  const width = table.lines.find((line) => !isBlank(line))?.fields.length ?? 1;
  const changes: CellChange[] = [];
  const rows = append.map((cells, at) => {
    const values: string[] = Array.from({ length: width }, () => '');
    for (const [name, value] of Object.entries(cells)) {
      values[columnAt(table, name)] = final(name, value);
    }
    for (const [column, value] of values.entries())
      changes.push({
        row: table.rows.length + at + 1,
        column: table.columns[column] ?? '',
        after: value ?? '',
      });
    return formatRow(
      Array.from(values, (value) => value ?? ''),
      { delimiter, quote },
    );
  });
  const end = table.file.text.length;
  const text = last?.lineEnd === '' ? rows.map((row) => lineEnd + row) : rows.map((row) => row + lineEnd);
  return { splice: { start: end, end, text: text.join('') }, changes };
};

/**
 * The table's bytes after the change. Throws `unknown-column`, `where-empty`, `no-row-matched`,
 * `rows-not-expected`, `cell-set-twice`, `row-too-short`, `update-changes-nothing`, `text-not-encodable`.
 */
export const changeTable = (table: Table, change: TableChange): TableChanged => {
  const { updates = [], append = [], allowFormulas = [] } = change;
  const final: Final = (column, value) => (allowFormulas.includes(column) ? value : guarded(value));
  const { splices, changes } = setCells(table, assign(table, updates, final));
  const touched = new Set(changes.map(({ row }) => row)).size;
  const added = append.length > 0 ? appendRows(table, append, final) : undefined;
  if (splices.length === 0 && !added)
    throw new ToolError('Every cell has that text already. Nothing is to be changed.', {
      code: 'update-changes-nothing',
    });
  const asked = [...updates.map(({ set }) => set), ...append].flatMap((cells) => Object.entries(cells));
  return {
    bytes: spliceText(table.file, added ? [...splices, added.splice] : splices),
    changes: [...changes, ...(added?.changes ?? [])],
    newRows: append.length,
    untouchedRows: table.rows.length - touched,
    guarded: asked.filter(([column, value]) => final(column, value) !== value).length,
  };
};

/**
 * Sets cells and appends rows. `reconcilable`; result {path, sha256, bytes, created, cells, newRows, guarded}.
 */
export const updateCsvTool = (folder: Folder, name: string, allowFormulas: readonly string[]): Tool =>
  changeTool({
    folder,
    name,
    description:
      'Set cells of a CSV file, and append rows. Rows are found by exact text in columns; everything else in the file stays ' +
      'byte for byte. Values are text as it shall stand in the file. Cells that a spreadsheet would run get an apostrophe.',
    inputSchema: Input,
    plan: async ({ path, updates, append, delimiter, header }) => {
      const file = await folder.read(path);
      const table = readTable(file, { delimiter, header });
      const done = changeTable(table, { updates, append, allowFormulas });
      if (done.bytes.length > FILE_BYTES_MAX) throw tooLarge(file.path, FILE_BYTES_MAX);
      const { changes, newRows, untouchedRows } = done;
      return {
        place: { path: file.path, file, twins: [], missingFolders: [] },
        after: done.bytes,
        title: 'Change a CSV file',
        blocks: [{ kind: 'cells', path: file.path, changes, newRows, untouchedRows }],
        warnings: guardWarning(done.guarded),
        facts: {
          cells: changes.filter(({ before }) => before !== undefined).length,
          newRows,
          guarded: done.guarded,
        },
      };
    },
  });
