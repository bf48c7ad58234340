/** The built-in CSV tools: read, write and update tables inside one folder. */
import type { Tool } from '../tool.ts';
import { folderLabels, folderOf, type FolderToolOptions } from '../files/tools.ts';
import { readCsvTool } from './read.ts';
import { updateCsvTool } from './update.ts';
import { writeCsvTool } from './write.ts';

export type CsvToolOptions = FolderToolOptions & {
  /**
   * Columns whose cells may be formulas. The operator's choice and not an argument of the tools: text that
   * a model read somewhere must not be able to switch the guard off.
   */
  readonly allowFormulas?: readonly string[];
};

/**
 * csv.read, csv.write and csv.update, confined as the file tools are. Writes are `reconcilable`; an update is
 * shown cell by cell and leaves every other byte of the file as it was.
 *
 * Errors for the model beside those of the file tools: csv-malformed, csv-empty, csv-too-large, row-not-found,
 * row-width, unknown-column, where-empty, no-row-matched, rows-not-expected, cell-set-twice, row-too-short,
 * update-changes-nothing.
 */
export const csvTools = (options: CsvToolOptions): readonly Tool[] => {
  const folder = folderOf(options);
  const prefix = options.prefix ?? 'csv';
  const allowFormulas = options.allowFormulas ?? [];
  const reading = [readCsvTool(folder, `${prefix}.read`, folderLabels(options))];
  if (options.readOnly ?? folder.readOnly) return reading;
  return [
    ...reading,
    writeCsvTool(folder, `${prefix}.write`, allowFormulas),
    updateCsvTool(folder, `${prefix}.update`, allowFormulas),
  ];
};
