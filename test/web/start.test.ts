/** `npm start` where nobody watches: it shows what it would serve and ends; with `--stay` it serves until it is told. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../kit/folder.ts';

type Ended = { readonly code: number; readonly out: string; readonly err: string };

const SCRIPT = join(import.meta.dirname, '../../scripts/start.ts');

const started = (folder: string): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [SCRIPT, '--folder', folder, '--port', '0'],
      (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
      },
    );
    child.stdin?.end();
  });

test('without a terminal it has a session wait, serves the page, says what to do, and ends with 0; again, too', async () => {
  const folder = join(tempFolder(), 'window');
  const first = await started(folder);
  expect(first).toMatchObject({ code: 0 });
  expect(first.out).toContain('The inbox assistant is at its job');
  expect(first.out).toMatch(/Open http:\/\/127\.0\.0\.1:\d+\/sign-in#[\w-]{43} /);
  expect(first.out).toContain('The page is served');
  expect(first.out).toContain('npm start -- --stay');
  const second = await started(folder);
  expect(second).toMatchObject({ code: 0 });
  // The session of the first time waits still.
  expect(second.out).not.toContain('The inbox assistant is at its job');
  expect(second.out).toContain('A session waits for you');
});
