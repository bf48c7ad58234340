/** A table as aligned text for a terminal, or as Markdown. */
import type { Spread } from './sample.ts';

export type Table = {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What the columns mean, one sentence or a few. */
  readonly note: string;
};

/** Three significant digits are more than such measurements hold. */
export const figure = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
};

export const spread = ({ median, min, max }: Spread): string =>
  `${figure(median)} (${figure(min)}–${figure(max)})`;

export const count = (value: number): string => value.toLocaleString('en-US');

const widths = ({ columns, rows }: Table): readonly number[] =>
  columns.map((column, i) => Math.max(column.length, ...rows.map((row) => (row[i] ?? '').length)));

/** The first column reads from the left, numbers stand on the right. */
const aligned = (cells: readonly string[], wide: readonly number[]): readonly string[] =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(wide[i] ?? 0) : cell.padStart(wide[i] ?? 0)));

export const asText = (table: Table): string => {
  const wide = widths(table);
  const lines = [table.columns, ...table.rows].map((row) => `  ${aligned(row, wide).join('   ')}`);
  return [table.title, ...lines, `  ${table.note}`].join('\n');
};

export const asMarkdown = (table: Table): string => {
  const wide = widths(table);
  const row = (cells: readonly string[]): string => `| ${aligned(cells, wide).join(' | ')} |`;
  const rule = wide.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [
    `### ${table.title}`,
    '',
    row(table.columns),
    row(rule),
    ...table.rows.map(row),
    '',
    table.note,
  ].join('\n');
};
