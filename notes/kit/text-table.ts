/** Rows of text in columns, left or, where a cell of the first row begins with ">", right. */
export const textTable = (rows: readonly (readonly string[])[]): string => {
  const right = new Set((rows[0] ?? []).flatMap((cell, i) => (cell.startsWith('>') ? [i] : [])));
  const cells = rows.map((row, n) => row.map((cell, i) => (n === 0 && right.has(i) ? cell.slice(1) : cell)));
  const widths = (cells[0] ?? []).map((_, i) => Math.max(...cells.map((row) => width(row[i]))));
  return cells
    .map((row) =>
      row
        .map((cell, i) => {
          const space = ' '.repeat((widths[i] ?? 0) - width(cell));
          return right.has(i) ? space + cell : cell + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const width = (cell: string | undefined): number => Array.from(cell ?? '').length;
