/** npm run bench: what a step, a session and an opening cost, beside the floor that storage itself sets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureDoor } from './door.ts';
import { machineLines, machineOf } from './machine.ts';
import { measureMany } from './many.ts';
import { measureOpening } from './opening.ts';
import { readOptions, USAGE, type Options, type PartName } from './options.ts';
import type { Measured, Plan } from './part.ts';
import { resultsPage } from './results.ts';
import { measureSteps } from './steps.ts';
import { asText, type Table } from './table.ts';
import { measureReplay } from './replay.ts';
import { measureRooms } from './room.ts';
import { measureWaiting } from './waiting.ts';

const MEASURES: Readonly<Record<PartName, (plan: Plan) => Promise<Measured>>> = {
  steps: measureSteps,
  many: measureMany,
  opening: measureOpening,
  waiting: measureWaiting,
  replay: measureReplay,
  room: measureRooms,
  door: measureDoor,
};

const RESULTS = join(import.meta.dirname, 'RESULTS.md');

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const progress = (what: string): void => void process.stderr.write(`measuring ${what}\n`);

const measure = async (options: Options, scratch: string): Promise<void> => {
  const { steps, rounds } = options;
  const tables: Table[] = [];
  const data: Partial<Record<PartName, object>> = {};
  for (const part of options.parts) {
    const measured = await MEASURES[part]({ steps, rounds, scratch, progress });
    for (const table of measured.tables) say(`\n${asText(table)}`);
    tables.push(...measured.tables);
    data[part] = measured.data;
  }
  const machine = machineOf(scratch);
  const command = ['npm run bench --', ...commandWords(options)].join(' ');
  const day = new Date().toISOString().slice(0, 10);
  say(`\n${machineLines(machine).join('\n')}`);
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ command, day, machine, data }));
  if (options.save) writeFileSync(RESULTS, resultsPage({ machine, day, command, tables }));
};

/** The command without the names of this machine's folders. */
const commandWords = ({ steps, rounds, parts }: Options): readonly string[] => [
  `--steps ${steps.join(',')}`,
  `--reps ${rounds}`,
  `--parts ${parts.join(',')}`,
  '--save',
];

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exitCode = 2;
}
if (options) {
  const scratch = mkdtempSync(join(options.folder ?? tmpdir(), 'onrecord-bench-'));
  try {
    await measure(options, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
