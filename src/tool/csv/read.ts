import { z } from 'zod';
import { tool, ToolError, type OutputLabels, type Tool } from '../tool.ts';
import { counted, quoted } from '../files/fault.ts';
import type { Folder } from '../files/folder.ts';
import { encodingName } from '../files/text.ts';
import { delimiterName } from './dialect.ts';
import { readTable, type Table } from './table.ts';

/** Rows of one answer. */
export const CSV_ROWS_MAX = 1000;
/** Characters (UTF-16 units) of the cells of one answer. */
export const CSV_CHARS_MAX = 100_000;

export const Delimiter: z.ZodEnum<{ ',': ','; ';': ';'; '\t': '\t'; '|': '|' }> = z.enum([
  ',',
  ';',
  '\t',
  '|',
]);

const Input = z.strictObject({
  path: z.string().describe('CSV file to read, from the folder down'),
  from: z.int().min(1).optional().describe('First row, counted from 1 without the header. Default 1'),
  rows: z.int().min(1).max(CSV_ROWS_MAX).optional().describe(`Rows to read. Default ${CSV_ROWS_MAX}`),
  delimiter: Delimiter.optional().describe('Left out: found out from the file'),
  header: z.boolean().optional().describe('Whether the first row names the columns. Default true'),
});

/** Cells by column. Made of own properties, so that a column may be called anything. */
const cellsOf = (table: Table, at: number): Record<string, string> =>
  Object.fromEntries(
    (table.rows[at]?.fields ?? []).map(({ value }, column) => [table.columns[column] ?? '', value]),
  );

/**
 * Reads a table. Result {path, note, delimiter, encoding, columns, rowCount, from, rows: [{column: text}],
 * next?, sha256}; `next` is the first row left out. A row shorter than the header lacks its last columns.
 */
export const readCsvTool = (folder: Folder, name: string, labels: OutputLabels): Tool =>
  tool({
    name,
    description:
      'Read a CSV file as rows of text. Delimiter, encoding and byte order mark are found out and reported; no value is converted. ' +
      `Up to ${counted(CSV_ROWS_MAX)} rows an answer; "next" is the row to go on from.`,
    inputSchema: Input,
    effect: 'none',
    labels,
    execute: async ({ path, from = 1, rows: limit = CSV_ROWS_MAX, delimiter, header }) => {
      const file = await folder.read(path);
      const table = readTable(file, { delimiter, header });
      const rowCount = table.rows.length;
      if (from > Math.max(1, rowCount))
        throw new ToolError(
          `${quoted(file.path)} has ${counted(rowCount)} rows; row ${counted(from)} is not there.`,
          {
            code: 'row-not-found',
            details: { path: file.path, rowCount },
          },
        );
      const rows: Record<string, string>[] = [];
      let chars = 0;
      for (let at = from - 1; at < Math.min(rowCount, from - 1 + limit); at += 1) {
        const cells = cellsOf(table, at);
        for (const [column, value] of Object.entries(cells)) chars += column.length + value.length;
        if (chars > CSV_CHARS_MAX && rows.length > 0) break;
        rows.push(cells);
      }
      const next = from + rows.length;
      return {
        path: file.path,
        note: table.notes.join(', '),
        delimiter: delimiterName(table.dialect.delimiter),
        encoding: encodingName(table.file),
        columns: table.columns,
        rowCount,
        from,
        rows,
        ...(next <= rowCount && { next }),
        sha256: file.sha256,
      };
    },
  });
