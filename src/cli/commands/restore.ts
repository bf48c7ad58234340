/** onrecord restore: a backup in the place of the store; what was there is kept beside it. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { replaceStore } from '../../log/sqlite-backup.ts';
import { countOf } from '../../view/format.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { syncFolder } from '../output-file.ts';
import { withProvedCopy } from '../store-copy.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'Puts a backup in the place of the store, after it has been checked; keeps the old store.',
  arguments: [{ name: 'file', description: 'a backup, or another store', required: true }],
  options: [],
  example: 'onrecord restore /backup/log-2026-11-29.db',
  exits: [EXIT.done, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, { args }) {
    const [name = ''] = args;
    const from = resolve(cli.cwd, name);
    if (!existsSync(from))
      throw badInput('file-not-readable', `There is no file "${name}". Nothing was changed.`, { file: name });
    const path = await cli.storePath();
    if (from === path)
      throw badInput('usage', `"${name}" is the store itself. Nothing was changed.`, { file: name });
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const aside = `${path}.replaced-${stamp(systemClock.now())}`;
    const { sessions, events, replaced } = await withProvedCopy(cli, { from, near: path }, async (copy) => {
      const handle = openSync(copy.path, 'r+');
      fsyncSync(handle);
      closeSync(handle);
      const there = replaceStore(path, copy.path, aside);
      syncFolder(path);
      return { ...copy, replaced: there };
    });
    const kept = replaced ? basename(aside) : undefined;
    if (cli.screen.jsonMode)
      cli.screen.json({ store: path, sessions, events, kept: replaced ? aside : null });
    else
      cli.screen.out(
        line`${SIGN.ok} The store is ${whole(name)} now: ${countOf(sessions, 'session')}, ${countOf(events, 'event')}, all whole.`,
        ...(kept === undefined ? [] : [line`  The old one is kept beside it: ${whole(kept)}`]),
      );
    return EXIT.done;
  },
};

/** `20261129T140238123Z`: sorts, and is a file name everywhere. */
const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:.]/g, '');
