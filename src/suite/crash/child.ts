/**
 * One process of a real crash run: child.ts SCENARIO FOLDER KILLS. Boundaries are counted over all processes of
 * the run, in a file that is written before the kill.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteLog } from '../../log/sqlite.ts';
import { play } from './play.ts';
import { readScenario } from './scenario.ts';

const [path = '', folder = '', kills = ''] = process.argv.slice(2);
const counter = join(folder, 'boundaries');
const kill = kills.split(',').map(Number);
let count = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) : 0;

const scenario = await readScenario(path);
const store = new SqliteLog(join(folder, 'log.db'));
const ending = await play({
  scenario,
  store,
  folder,
  faults: {
    reach: async () => {
      count++;
      if (!kill.includes(count)) return;
      writeFileSync(counter, String(count));
      process.kill(process.pid, 'SIGKILL');
      // The signal ends the process before anything that follows.
      await new Promise(() => undefined);
    },
  },
});
process.stdout.write(JSON.stringify(ending), () => process.exit(0));
