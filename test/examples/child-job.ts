/**
 * A process that does an example's job and kills itself (SIGKILL: no handler, no flush) at one commit.
 * Usage: child-job.ts EXAMPLE FOLDER COMMIT before|after
 * Prints the number of the last commit where it was not killed.
 */
import type { SqliteLog } from '../../src/log/sqlite.ts';
import { EXAMPLES, Office, type ExampleName } from './office.ts';

const [name = '', folder = '', commit = '0', moment = 'before'] = process.argv.slice(2);

const isExample = (value: string): value is ExampleName => Object.hasOwn(EXAMPLES, value);
if (!isExample(name)) throw new Error(`No example is called ${name}.`);

let commits = 0;
const fatal = (store: SqliteLog): SqliteLog => {
  const append = store.append.bind(store);
  store.append = async (batch) => {
    commits += 1;
    const last = commits === Number(commit);
    if (last && moment === 'before') process.kill(process.pid, 'SIGKILL');
    const appended = await append(batch);
    if (last && moment === 'after') process.kill(process.pid, 'SIGKILL');
    return appended;
  };
  return store;
};

const office = await Office.open(name, { folder, log: fatal });
await office.play();
await office.close();
process.stdout.write(`${commits}\n`);
