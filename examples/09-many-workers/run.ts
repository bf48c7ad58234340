/** Two workers over one PostgreSQL share twelve orders; the first to begin is killed in the middle of its work. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openRuntime } from '../../src/index.ts';
import { PostgresLog } from '../../src/postgres.ts';
import config, { PRINTER } from './onrecord.config.ts';

const ORDERS = 12;
const LOOK_MS = 20;
const DEADLINE_MS = 120_000;
const CONSOLE = join(import.meta.dirname, '../../bin/onrecord.js');

const startWorker = async (): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [CONSOLE, 'worker', '--sessions', '3'], {
    // What a worker logs is for its operator.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (child.stdout) await once(child.stdout, 'data');
  return child;
};

/** The keys that a worker wrote a line about. */
const keys = (word: 'begins' | 'printed', worker?: ChildProcess): readonly string[] =>
  (existsSync(PRINTER) ? readFileSync(PRINTER, 'utf8').split('\n') : []).flatMap((line) => {
    const [who, what, key = ''] = line.split(' ');
    return what === word && (worker === undefined || who === String(worker.pid)) ? [key] : [];
  });

/** Begun by a worker, and not printed by it. */
const inHand = (worker: ChildProcess): readonly string[] => {
  const printed = new Set(keys('printed', worker));
  return keys('begins', worker).filter((key) => !printed.has(key));
};

const firstToBegin = async (workers: readonly ChildProcess[]): Promise<ChildProcess> => {
  const ends = Date.now() + DEADLINE_MS;
  while (Date.now() < ends) {
    const first = workers.find((worker) => inHand(worker).length > 0);
    if (first) return first;
    await pause(LOOK_MS);
  }
  throw new Error('Nothing happened for two minutes.');
};

const store = process.env['ONRECORD_STORE'];
if (store === undefined) throw new Error('Set ONRECORD_STORE to the postgres:// URL of a database.');
const runtime = await openRuntime({
  store: await PostgresLog.open(store),
  agents: config.agents,
  drive: false,
});
const workers = [await startWorker(), await startWorker()];
console.log('two workers are there');

const orders = Array.from({ length: ORDERS }, (_, at) => `A-${at + 1}`);
const sent = await Promise.all(
  orders.map((order) => runtime.send({ agent: 'packer', message: `Order ${order}.`, key: order })),
);

const first = await firstToBegin(workers);
first.kill('SIGKILL');
await once(first, 'exit');
const left = inHand(first);
console.log('the first one was killed with labels half printed');

await Promise.all(
  sent.map(async ({ session }) => {
    for await (const { type } of runtime.follow(session)) if (type === 'turn.ended') return;
  }),
);
const printed = new Set(keys('printed'));
const both = workers.every((worker) => keys('begins', worker).length > 0);
console.log(`${sent.length} orders, ${printed.size} labels; both workers printed some: ${both}`);
const second = workers.find((worker) => worker !== first);
const begun = new Set(keys('begins', second));
console.log(`the second one printed what the first had begun: ${left.every((key) => begun.has(key))}`);

if (second?.kill('SIGTERM')) await once(second, 'exit');
await runtime.close();
