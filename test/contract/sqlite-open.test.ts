/** New stores that several make at once: nobody is refused, and nobody takes it for somebody else's. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const STORES = 150;
const THREADS = 4;

test('several that open the same new store at once all open it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-open-'));
  const shared = new SharedArrayBuffer(STORES * Int32Array.BYTES_PER_ELEMENT);
  const workers = Array.from(
    { length: THREADS },
    () =>
      new Worker(new URL('child-opener.ts', import.meta.url), {
        workerData: { shared, folder, threads: THREADS },
      }),
  );
  const wrong = await Promise.all(
    workers.map(async (worker) => (await once(worker, 'message')) as [string[]]),
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
  rmSync(folder, { recursive: true });
  expect(wrong.flat(2)).toEqual([]);
}, 120_000);
