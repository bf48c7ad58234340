/**
 * From nothing to the first durable step. Usage: cold-process.ts FOLDER raw, or FOLDER BUILD with the folder of a build.
 * Ends itself as soon as the turn of a model and the result of a tool are on the disk.
 */
import { join } from 'node:path';
import type * as Index from '../src/index.ts';
import type * as Neutral from '../src/model/neutral.ts';
import { madeAgent } from './made-agent.ts';
import { QUESTION, resultAt, turnAt } from './work.ts';

const [folder = '', build = 'raw'] = process.argv.slice(2);

const raw = async (): Promise<void> => {
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(join(folder, 'floor.db'));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE event (run TEXT, seq INTEGER, kind TEXT, body TEXT, UNIQUE (run, seq))');
  const insert = db.prepare('INSERT INTO event (run, seq, kind, body) VALUES (?, ?, ?, ?)');
  insert.run('cold', 0, 'turn', JSON.stringify(turnAt(0)));
  insert.run('cold', 1, 'result', JSON.stringify(resultAt(0)));
};

const product = async (): Promise<void> => {
  const [index, neutral] = (await Promise.all([
    import(join(build, 'index.js')),
    import(join(build, 'model', 'neutral.js')),
  ])) as [typeof Index, typeof Neutral];
  const { promise, resolve } = Promise.withResolvers<void>();
  const { defineAgent, tool, openRuntime, SqliteLog } = index;
  const agent = madeAgent(
    { defineAgent, tool, encoder: neutral.neutralEncoder },
    // The model is asked again: what came before is durable.
    { steps: () => 2, began: (step) => (step === 1 ? resolve() : undefined) },
  );
  const runtime = await openRuntime({ store: new SqliteLog(join(folder, 'log.db')), agents: [agent] });
  await runtime.send({ agent: agent.definition.name, message: QUESTION });
  await promise;
};

await (build === 'raw' ? raw() : product());
process.exit(0);
