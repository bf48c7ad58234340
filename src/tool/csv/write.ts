import { z } from 'zod';
import { ToolError, type Tool } from '../tool.ts';
import { changeTool } from '../files/change.ts';
import { showChange } from '../files/diff.ts';
import { counted, quoted, tooLarge } from '../files/fault.ts';
import type { Folder } from '../files/folder.ts';
import { encodeText } from '../files/text.ts';
import { WRITE_BYTES_MAX } from '../files/write.ts';
import { csvText } from './format.ts';
import { isFormula } from './guard.ts';
import { Delimiter } from './read.ts';

/** Rows of a table that a call may write. */
export const CSV_WRITE_ROWS_MAX = 50_000;

const Input = z.strictObject({
  path: z.string().describe('File to create, from the folder down. It must not exist'),
  rows: z
    .array(z.array(z.string()).min(1))
    .min(1)
    .max(CSV_WRITE_ROWS_MAX)
    .describe('Rows of cells, the first one being the header; all as long as the header'),
  delimiter: Delimiter.optional().describe('Default ","'),
  mark: z
    .boolean()
    .optional()
    .describe('Begin with a byte order mark, which some spreadsheets need. Default false'),
});

const checkWidth = (rows: readonly (readonly string[])[]): void => {
  const width = rows[0]?.length ?? 0;
  const odd = rows.findIndex((row) => row.length !== width);
  if (odd !== -1)
    throw new ToolError(
      `Row ${counted(odd)} has ${rows[odd]?.length ?? 0} cells and the header ${width}. Give every row as many cells as the header.`,
      { code: 'row-width', details: { row: odd } },
    );
};

/** How many cells the guard made text. */
export const guardWarning = (count: number): readonly string[] =>
  count === 0
    ? []
    : [
        `${counted(count)} ${count === 1 ? 'cell begins' : 'cells begin'} like a formula and ${count === 1 ? 'gets' : 'get'} an apostrophe, so that no spreadsheet runs it.`,
      ];

/** Creates a CSV file. `reconcilable`; result {path, sha256, bytes, created, rows, guarded}. */
export const writeCsvTool = (folder: Folder, name: string, allowFormulas: readonly string[]): Tool =>
  changeTool({
    folder,
    name,
    description:
      'Create a CSV file from rows of text: CRLF, quoted where needed. Cells that a spreadsheet would run as a formula ' +
      'are stored as text, with an apostrophe in front. To change an existing table use the update tool.',
    inputSchema: Input,
    plan: async ({ path, rows, delimiter = ',', mark = false }) => {
      checkWidth(rows);
      const text = csvText(rows, { delimiter, allowFormulas });
      const after = encodeText(mark ? `\ufeff${text}` : text, 'utf-8');
      if (after.length > WRITE_BYTES_MAX) throw tooLarge(path, WRITE_BYTES_MAX);
      const place = await folder.look(path);
      if (place.file)
        throw new ToolError(`${quoted(place.path)} is there already. Use another name, or the update tool.`, {
          code: 'file-exists',
          details: { path: place.path },
        });
      const header = rows[0] ?? [];
      const guarded = rows
        .flatMap((row, at) =>
          row.filter((_, column) => at === 0 || !allowFormulas.includes(header[column] ?? '')),
        )
        .filter(isFormula).length;
      const { blocks, warnings } = showChange(place.path, undefined, after);
      return {
        place,
        after,
        title: 'Create a CSV file',
        blocks,
        warnings: [...warnings, ...guardWarning(guarded)],
        facts: { rows: rows.length - 1, guarded },
      };
    },
  });
