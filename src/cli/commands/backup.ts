/** onrecord backup: a copy of the store as it is now, while others go on writing. */
import { closeSync, copyFileSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { countOf, formatBytes } from '../../view/format.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { isGiven } from '../given.ts';
import { faultOf, partOf, putInPlace, refuseExisting, type OutputFile } from '../output-file.ts';
import { openRecord } from '../record.ts';
import { withProvedCopy } from '../store-copy.ts';
import { command } from '../terminal/command.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'Copies the store to a file, while it is in use, and checks the copy.',
  arguments: [{ name: 'file', description: 'where the copy is put', required: true }],
  options: [{ flags: '--force', description: 'write over a file that is there' }],
  example: 'onrecord backup /backup/log-2026-11-29.db',
  exits: [EXIT.done, EXIT.usage, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const [name = ''] = input.args;
    const file = { name, force: isGiven(input, 'force') };
    const path = resolve(cli.cwd, name);
    refuseExisting(path, file);
    await openRecord(cli);
    const store = await cli.storePath();
    const done = await withProvedCopy(cli, { from: store, near: store }, async (copy) => {
      moveTo(path, copy.path, file);
      return copy;
    });
    const bytes = statSync(path).size;
    const { sessions, events } = done;
    if (cli.screen.jsonMode) cli.screen.json({ file: name, bytes, sessions, events });
    else
      cli.screen.out(
        line`${SIGN.ok} ${whole(name)}: ${formatBytes(bytes)}, ${countOf(sessions, 'session')}, ${countOf(events, 'event')}, all whole.`,
      );
    cli.screen.next({ command: command('restore', name), note: line`put it back` });
    return EXIT.done;
  },
};

/** Another disk may be meant: the bytes are copied beside their place and then take it in one step. */
const moveTo = (path: string, copy: string, file: OutputFile): void => {
  const part = partOf(path);
  try {
    copyFileSync(copy, part);
    const handle = openSync(part, 'r+');
    fsyncSync(handle);
    closeSync(handle);
    putInPlace(part, path, file);
  } catch (cause) {
    throw faultOf(cause, file.name);
  } finally {
    rmSync(part, { force: true });
  }
};
