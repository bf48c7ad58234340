/**
 * Plays recorded conversations of an airline's help desk through the runtime, and says which of them reproduce:
 *
 *   node examples/airline/run.ts [--only ID] [--store FOLDER] [--data FOLDER]
 */
import { parseArgs } from 'node:util';
import { DATA_FOLDER, DATA_HELP, loadAirline, missingFiles, type Airline } from './recording.ts';
import { Stage } from './stage.ts';
import type { Verdict } from './verdict.ts';

const EXIT_NOT_ALL = 1;
const EXIT_USAGE = 2;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const HEADER = 'conversation     turns  requests  calls  same bytes  writes ok  writes refused  verdict';

const row = (verdict: Verdict): string => {
  const { id, turns, requests, calls, sameBytes, executed, took, problems } = verdict;
  const cells = [
    id.padEnd(15),
    String(turns).padStart(6),
    String(requests).padStart(9),
    String(calls).padStart(6),
    `${sameBytes}/${calls}`.padStart(11),
    String(took).padStart(10),
    String(executed - took).padStart(15),
  ];
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return `${cells.join(' ')}  ${first === undefined ? 'reproduces' : `differs: ${first}${more}`}`;
};

const total = (verdicts: readonly Verdict[], field: 'calls' | 'sameResults' | 'sameBytes' | 'took'): number =>
  verdicts.reduce((sum, verdict) => sum + verdict[field], 0);

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, store: { type: 'string' }, data: { type: 'string' } },
  });
  const data = values.data ?? DATA_FOLDER;
  const missing = missingFiles(data);
  if (missing.length > 0) {
    process.stderr.write(`Not found in "${data}": ${missing.join(', ')}.\n${DATA_HELP}\n`);
    return EXIT_USAGE;
  }
  const airline = loadAirline(data);
  const recordings = airline.recordings.filter(({ id }) => values.only === undefined || id === values.only);
  if (recordings.length === 0) {
    process.stderr.write(
      `No conversation is called "${values.only}". They are called like airline-t13-r0.\n`,
    );
    return EXIT_USAGE;
  }
  const verdicts = await play(airline, recordings, values.store);
  const right = verdicts.filter(({ problems }) => problems.length === 0).length;
  const calls = total(verdicts, 'calls');
  say(
    `${total(verdicts, 'sameResults')} of ${calls} results are the recorded ones, ` +
      `${total(verdicts, 'sameBytes')} byte for byte; ${total(verdicts, 'took')} writes took effect.`,
  );
  say(`${right} of ${recordings.length} conversations reproduce`);
  return right === recordings.length ? 0 : EXIT_NOT_ALL;
};

const play = async (
  airline: Airline,
  recordings: Airline['recordings'],
  folder: string | undefined,
): Promise<readonly Verdict[]> => {
  const stage = await Stage.open(airline, { recordings, ...(folder !== undefined && { folder }) });
  const verdicts: Verdict[] = [];
  say(HEADER);
  for await (const { verdict } of stage.playAll()) {
    verdicts.push(verdict);
    say(row(verdict));
    if (process.stderr.isTTY) process.stderr.write(`${verdicts.length} of ${recordings.length}\r`);
  }
  await stage.close();
  return verdicts;
};

process.exitCode = await main();
