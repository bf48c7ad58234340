/**
 * A process that plays the story with an adapter up to its second request, which is on record and not sent: there it
 * says "built" and stands still until it is killed. Usage: child-captured.ts FILE URL DIALECT.
 */
import { SqliteLog } from '../../src/log/sqlite.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { DIALECTS } from '../model/dialects.ts';
import { keeper } from '../model/keeper.ts';

const [file = '', url = '', name = ''] = process.argv.slice(2);
const dialect = DIALECTS.find((one) => one.name === name);
if (!dialect) throw new Error(`no dialect is called ${name}`);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const next = (): never => {
  throw new Error('a model over a socket asks the server');
};
const runtime = await openRuntime({
  store: new SqliteLog(file),
  agents: [keeper(dialect.model({ url, next }), [])],
  faults: {
    reach: async (point, { what }) => {
      if (point !== 'request.before' || what !== 'request 1.2') return;
      say('built');
      await new Promise(() => undefined);
    },
  },
});
const { session } = await runtime.send({ agent: 'keeper', message: 'Take stock of “bolts”.', key: 'one' });
say(`session ${session}`);
