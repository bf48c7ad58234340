/** A thread that opens each of many new stores at the very moment at which other threads do. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../src/log/sqlite-open.ts';

const { shared, folder, threads } = workerData as {
  readonly shared: SharedArrayBuffer;
  readonly folder: string;
  readonly threads: number;
};
const arrived = new Int32Array(shared);
const wrong: string[] = [];
for (let n = 0; n < arrived.length; n++) {
  Atomics.add(arrived, n, 1);
  while (Atomics.load(arrived, n) < threads);
  try {
    openDatabase(join(folder, `${n}.db`), 'full').close();
  } catch (error) {
    wrong.push(String(error));
  }
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
parentPort?.postMessage(wrong);
