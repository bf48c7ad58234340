/**
 * Plays a recorded conversation in processes that are killed at random moments, each going on where the one before
 * it was ended, until the conversation is over:
 *
 *   node examples/airline/crash.ts [--only ID] [--seed N] [--data FOLDER]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { playKilled } from './killed.ts';
import { DATA_FOLDER, DATA_HELP, missingFiles } from './recording.ts';

const EXIT_DIFFERS = 1;
const EXIT_USAGE = 2;
const SEEDS = 2 ** 31;

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, seed: { type: 'string' }, data: { type: 'string' } },
  });
  const { only: id = 'airline-t13-r0', data = DATA_FOLDER } = values;
  if (missingFiles(data).length > 0) {
    process.stderr.write(`Not found in "${data}": ${missingFiles(data).join(', ')}.\n${DATA_HELP}\n`);
    return EXIT_USAGE;
  }
  const seed = Number(values.seed ?? Math.floor(Math.random() * SEEDS));
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-airline-'));
  try {
    const { verdict, deaths } = await playKilled({ data, folder, id }, seed);
    const { calls, sameResults, took, problems } = verdict;
    process.stdout.write(
      `${id} with seed ${seed}: killed ${deaths} times, ${verdict.restarted} calls started again, ${sameResults} of ${calls} results as recorded, ` +
        `${took} writes took effect. ${problems.length === 0 ? 'It reproduces.' : problems.join('\n')}\n`,
    );
    return problems.length === 0 ? 0 : EXIT_DIFFERS;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

process.exitCode = await main();
