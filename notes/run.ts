/**
 * npm run notes                 every note: its experiment, and its page held against what the run wrote
 * npm run notes -- 2            one of them, or several: -- 2 4
 * npm run notes -- 2 --write    puts the evidence and the quotes where the page is
 *
 * Exit code 0: all is shown that this machine can show, and every page is what its run wrote; 1: something is not;
 * 2: there is no such note.
 */
import { parseArgs } from 'node:util';
import { join, relative } from 'node:path';
import { Bench } from './kit/bench.ts';
import { SIGN } from './kit/findings.ts';
import { ROOT } from './kit/machine.ts';
import { runNote, type Note, type Ran } from './kit/note.ts';
import { NOTES } from './notes.ts';

const EVIDENCE = join(ROOT, '.onrecord', 'notes');

const print = ({ note, findings, stale, evidence }: Ran, seconds: number): void => {
  console.log(`\nNote ${note.number}  notes/${note.name}/README.md  ${seconds.toFixed(1)} s\n`);
  console.log(indented(findings.table()));
  for (const text of findings.asides) console.log(`\n${indented(text)}`);
  console.log(`\n  evidence  ${relative(process.cwd(), evidence)}`);
  for (const { state, what, by } of findings.claims)
    if (state === 'absent') process.stderr.write(`\nNOT SHOWN HERE: ${what}. ${by}\n`);
  for (const sentence of stale) console.log(`\n${SIGN.absent} ${sentence}`);
};

const indented = (text: string): string => text.replaceAll(/^/gm, '  ');

const runAll = async (notes: readonly Note[], write: boolean): Promise<number> => {
  const bench = new Bench();
  let wrong = 0;
  try {
    for (const note of notes) {
      const began = performance.now();
      try {
        const ran = await runNote(note, bench, write ? { write } : { evidence: EVIDENCE });
        print(ran, (performance.now() - began) / 1000);
        if (ran.stale.length > 0) wrong += 1;
      } catch (error) {
        wrong += 1;
        console.log(`\nNote ${note.number}  notes/${note.name}/README.md\n`);
        console.log(indented(`${SIGN.absent} ${error instanceof Error ? error.message : String(error)}`));
      } finally {
        await bench.clear();
      }
    }
  } finally {
    await bench.close();
  }
  return wrong === 0 ? 0 : 1;
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const unknown = positionals.find((number) => !NOTES.some((note) => String(note.number) === number));
if (unknown === undefined) {
  const chosen = NOTES.filter(
    ({ number }) => positionals.length === 0 || positionals.includes(String(number)),
  );
  process.exitCode = await runAll(chosen, values.write);
} else {
  const numbers = NOTES.map(({ number }) => number).join(', ');
  process.stderr.write(
    `There is no note "${unknown}". Notes: ${numbers}. Without a number all of them run.\n`,
  );
  process.exitCode = 2;
}
