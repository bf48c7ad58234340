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
  // The last one wakes the others; to go round until it comes would keep it from coming where there are few cores.
  for (let here = Atomics.add(arrived, n, 1) + 1; here < threads; here = Atomics.load(arrived, n))
    Atomics.wait(arrived, n, here);
  Atomics.notify(arrived, n);
  try {
    openDatabase(join(folder, `${n}.db`), 'full').close();
  } catch (error) {
    wrong.push(String(error));
  }
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
parentPort?.postMessage(wrong);
