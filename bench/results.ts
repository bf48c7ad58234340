/** The page that `npm run bench -- --save` writes. */
import { machineLines, type Machine } from './machine.ts';
import { asMarkdown, type Table } from './table.ts';

export type Page = {
  readonly machine: Machine;
  /** Day of the measurement, YYYY-MM-DD. */
  readonly day: string;
  /** As typed. */
  readonly command: string;
  readonly tables: readonly Table[];
};

export const resultsPage = ({ machine, day, command, tables }: Page): string =>
  [
    '# Measurements',
    '',
    `Written by \`${command}\` on ${day}.`,
    ...machineLines(machine),
    '',
    'The floor is raw node:sqlite in the same minute on the same disk: WAL, synchronous=FULL, one INSERT in its own commit',
    'for the turn of the model and one for the result of the tool, nothing else. The product does the same work through',
    'its public API with its SQLite store and the same promise. A step is a turn with 300 bytes of text and a call with',
    'about 190 bytes of arguments, and a result of about 1 KB. Every measurement is a fresh process with a fresh store,',
    'after 30 steps in another session; both sides take turns. Read ratios and CPU time: times change with the disk and',
    'with whatever else the machine does.',
    ...tables.flatMap((table) => ['', asMarkdown(table)]),
    '',
  ].join('\n');
