/** What `npm run demo` shows where nobody can be asked, and that it shows it again. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../kit/folder.ts';
import { treeOf } from './office.ts';

/** The demo pauses for whoever reads it, and is run twice. */
const PATIENCE = { timeout: 240_000 };

type Ended = { readonly code: number; readonly out: string; readonly err: string };

const demo = (folder: string): Promise<Ended> =>
  new Promise((resolve) => {
    const script = join(import.meta.dirname, '../../scripts/demo.ts');
    execFile(process.execPath, [script, '--folder', folder], (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });

test(
  'the job runs, is approved as announced, proves itself, and ends with 0; a second time, too',
  PATIENCE,
  async () => {
    const folder = join(tempFolder(), 'demo');
    for (const time of [1, 2]) {
      const { code, out, err } = await demo(folder);
      expect({ time, code, err: err.includes('✗') }).toEqual({ time, code: 0, err: false });
      const inOrder = [
        'waits for 2 decisions',
        'So the demo approves both',
        'Approved: calendar.move',
        'Approved: mail.draft',
        'is done.',
        '2026-12-04, 10:00 to 11:00 (Europe/Vienna)',
        'Subject: Site review moved to Friday 4 December',
        '# HJ-204, 27 November 2026',
        'proves itself',
        'Replay is identical',
        'npx onrecord show s_',
      ];
      const places = inOrder.map((words) => out.indexOf(words));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
    const kept = Object.keys(treeOf(folder)).filter((path) => path.includes('/drafts/'));
    expect(kept, 'the second time began anew').toHaveLength(1);
  },
);

test('a folder that the demo did not make is left alone', PATIENCE, async () => {
  const folder = join(tempFolder(), 'mine');
  mkdirSync(folder);
  writeFileSync(join(folder, 'letter.txt'), 'keep');
  const { code, err } = await demo(folder);
  expect(code).not.toBe(0);
  expect(err).toContain('folder-not-empty');
  expect(readFileSync(join(folder, 'letter.txt'), 'utf8')).toBe('keep');
});
