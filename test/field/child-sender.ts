/**
 * A process that drives one call without a key. Usage: child-sender.ts STORE WORLD. The call is made in the world, which
 * is a file, and brings its result when a line comes in.
 */
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { childStore } from '../kit/child-store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { sender } from './sender.ts';

const [where = '', world = ''] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const agent = sender(async () => {
  appendFileSync(world, 'sent\n');
  say('sent');
  await once(process.stdin, 'data');
  return 'sent once';
});
const runtime = await openRuntime({ store: await childStore(where), agents: [agent] });
const { session } = await runtime.send({ agent: 'sender', key: 'k', message: 'go' });
say(`session ${session}`);
