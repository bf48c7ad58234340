/** Holds every golden log against the source that lies here; for tests that plant a change in a copy of it. */
import { goldens, problems } from './golden.ts';

let wrong = 0;
for (const golden of goldens())
  for (const problem of await problems(golden)) {
    wrong++;
    process.stdout.write(`${golden.name}: ${problem}\n`);
  }
process.exitCode = wrong > 0 ? 1 : 0;
