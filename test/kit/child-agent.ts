/**
 * A process that runs an agent over a SQLite store and stops for ever at a named point, until it is killed.
 * Usage: child-agent.ts FILE WORLD STOP. WORLD is a file to which each execution in the world is appended.
 * STOP: "model" (the model was asked and says nothing), "tools" (every tool has acted and says nothing, but for
 * the read "quick"), "asked" (the call waits for a person), or "none".
 */
import { appendFileSync } from 'node:fs';
import { childStore } from './child-store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { chores } from './chores.ts';

const [file = '', world = '', stop = ''] = process.argv.slice(2);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const agent = chores({
  policy: stop === 'asked' ? 'ask' : 'run',
  act: (line) => {
    appendFileSync(world, `${line}\n`);
    say(line);
    return stop === 'tools' && !line.startsWith('quick')
      ? new Promise(() => undefined)
      : Promise.resolve(`${line} done`);
  },
  model: (line) => {
    appendFileSync(world, `${line}\n`);
    say(line);
    return stop === 'model' ? new Promise(() => undefined) : Promise.resolve();
  },
});
const runtime = await openRuntime({ store: await childStore(file), agents: [agent] });
const { session } = await runtime.send({ agent: 'chores', key: 'k', message: 'Do the chores.' });
say(`session ${session}`);
for await (const event of runtime.follow(session)) say(`event ${event.seq} ${event.type}`);
