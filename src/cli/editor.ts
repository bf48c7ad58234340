/** The person's own editor on a text of ours. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { badInput } from '../errors.ts';

const EDITOR_DEFAULT = 'vi';

/**
 * Opens $VISUAL, $EDITOR or vi and answers what was saved. The file lies in a folder that only its owner can
 * read, and is gone afterwards. Throws `editor-failed`.
 */
export const editText = async (name: string, text: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'onrecord-'));
  const file = join(folder, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    await run(env['VISUAL'] || env['EDITOR'] || EDITOR_DEFAULT, file);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** The editor may be a command line with options, as in "code --wait": the shell takes it apart. */
const run = (editor: string, file: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit' });
    const failed = (why: string): void =>
      reject(
        badInput('editor-failed', `The editor "${editor}" ${why}. Set EDITOR to another one.`, { editor }),
      );
    child.on('error', () => failed('could not be started'));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else failed(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
    });
  });
