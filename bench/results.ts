/**
 * What was measured, kept by part in results.json; RESULTS.md and the drawings are made of it. A run that measures
 * some parts replaces these and leaves the others as they are.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineLines, type Machine } from './machine.ts';
import { isPartName, PARTS, type PartName } from './options.ts';
import { drawn, type Plot } from './plot.ts';
import { asMarkdown, type Table } from './table.ts';

export type PartResult = {
  /** As typed. */
  readonly command: string;
  /** Day of the measurement, YYYY-MM-DD. */
  readonly day: string;
  readonly machine: Machine;
  readonly tables: readonly Table[];
  readonly plots: readonly Plot[];
  /** All that was measured, for programs. */
  readonly data: object;
};

export type Results = Readonly<Partial<Record<PartName, PartResult>>>;

const JSON_FILE = 'results.json';
const PAGE_FILE = 'RESULTS.md';
const PLOTS_FOLDER = 'plots';

/** Throws a sentence where the file holds something else than results. */
export const readResults = (folder: string): Results => {
  const file = join(folder, JSON_FILE);
  if (!existsSync(file)) return {};
  const parts = JSON.parse(readFileSync(file, 'utf8')) as Results;
  const unknown = Object.keys(parts).find((name) => !isPartName(name));
  if (unknown !== undefined)
    throw new Error(`${file} holds the part "${unknown}", which is not measured any more.`);
  return parts;
};

export const saveResults = (folder: string, measured: Results): void => {
  const merged: Results = { ...readResults(folder), ...measured };
  const inOrder = Object.fromEntries(
    PARTS.filter((name) => merged[name]).map((name) => [name, merged[name]]),
  );
  writeFileSync(join(folder, JSON_FILE), `${JSON.stringify(inOrder)}\n`);
  writeFileSync(join(folder, PAGE_FILE), resultsPage(inOrder));
  const plots = join(folder, PLOTS_FOLDER);
  mkdirSync(plots, { recursive: true });
  const files = new Map(
    Object.values(inOrder)
      .flatMap((part) => part?.plots ?? [])
      .map((plot) => [`${plot.name}.svg`, drawn(plot)]),
  );
  for (const file of readdirSync(plots)) if (!files.has(file)) rmSync(join(plots, file));
  for (const [file, svg] of files) writeFileSync(join(plots, file), svg);
};

const FLOOR = [
  'The floor is raw node:sqlite in the same minute on the same disk: WAL, synchronous=FULL, one INSERT in its own commit',
  'for the message, for each turn of the model, for each result of the tool and for the answer, nothing else. The product',
  'does the same work through its public API with its SQLite store and the same promise. A step is a turn with 300 bytes',
  'of text and a call with about 190 bytes of arguments, and a result of about 1 KB. Every measurement is a fresh process',
  'with a fresh store, after 30 steps in another session; both sides take turns. Read ratios and CPU time: times change',
  'with the disk and with whatever else the machine does. All numbers are in [results.json](results.json).',
  '',
  'All of it is made by `npm run bench -- --vs --save`, in about 20 minutes where the peers are installed already; what',
  'stands below a part measures that one again.',
];

export const resultsPage = (results: Results): string =>
  [
    '# Measurements',
    '',
    ...FLOOR,
    ...PARTS.flatMap((name) => {
      const part = results[name];
      return part ? partLines(part) : [];
    }),
    '',
  ].join('\n');

const partLines = ({ command, day, machine, tables, plots }: PartResult): readonly string[] => [
  ...tables.flatMap((table) => ['', asMarkdown(table)]),
  ...plots.flatMap(({ name, title }) => ['', `![${title}](${PLOTS_FOLDER}/${name}.svg)`]),
  '',
  `<sub>\`${command}\` on ${day}. ${machineLines(machine).join(' ')}</sub>`,
];
