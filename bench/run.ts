/** npm run bench: what a step, a session and an opening cost, beside the floor that storage itself sets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureCold } from './cold.ts';
import { measureDoor } from './door.ts';
import { machineLines, machineOf } from './machine.ts';
import { measureMany } from './many.ts';
import { measureOpening } from './opening.ts';
import { readOptions, USAGE, type Options, type PartName } from './options.ts';
import { measurePage } from './page.ts';
import type { Measured, Plan } from './part.ts';
import { measurePeers, requireHarness } from './peers.ts';
import { measurePostgres } from './postgres.ts';
import { measureReplay } from './replay.ts';
import { saveResults, type PartResult } from './results.ts';
import { measureRooms } from './room.ts';
import { measureSteps } from './steps.ts';
import { asText } from './table.ts';
import { measureWaiting } from './waiting.ts';
import { measureWorkers } from './workers.ts';

const MEASURES: Readonly<Record<PartName, (plan: Plan) => Promise<Measured>>> = {
  steps: measureSteps,
  many: measureMany,
  postgres: measurePostgres,
  workers: measureWorkers,
  cold: measureCold,
  opening: measureOpening,
  replay: measureReplay,
  door: measureDoor,
  page: measurePage,
  waiting: measureWaiting,
  room: measureRooms,
  peers: measurePeers,
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const progress = (what: string): void => void process.stderr.write(`measuring ${what}\n`);

const measure = async (options: Options, scratch: string): Promise<void> => {
  const { steps, rounds, peers } = options;
  const results: Partial<Record<PartName, PartResult>> = {};
  const day = new Date().toISOString().slice(0, 10);
  for (const part of options.parts) {
    const began = performance.now();
    const measured = await MEASURES[part]({ steps, rounds, scratch, progress, peers });
    for (const table of measured.tables) say(`\n${asText(table)}`);
    const { tables, plots = [], data } = measured;
    results[part] = {
      command: commandFor(part, options),
      day,
      machine: machineOf(scratch),
      tables,
      plots,
      data,
    };
    progress(`"${part}" took ${Math.round((performance.now() - began) / 1000)} s`);
    // Part by part: one that fails loses no other.
    if (options.save) saveResults(import.meta.dirname, { [part]: results[part] });
  }
  say(`\n${machineLines(machineOf(scratch)).join('\n')}`);
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(results));
};

/** The command for one part, without the names of this machine's folders. */
const commandFor = (part: PartName, { steps, rounds, peers }: Options): string => {
  if (part === 'peers') return ['npm run bench -- --vs --parts peers', ...peers].join(' ');
  const lengths = part === 'steps' || part === 'opening' ? [`--steps ${steps.join(',')}`] : [];
  return ['npm run bench --', ...lengths, `--reps ${rounds}`, `--parts ${part}`].join(' ');
};

let options: Options | undefined;
try {
  const asked = readOptions(process.argv.slice(2));
  if (asked.parts.includes('peers')) requireHarness();
  options = asked;
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
