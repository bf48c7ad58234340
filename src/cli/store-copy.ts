/** A copy of a store that was proved whole, ready to be put in its place. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { OnrecordError } from '../errors.ts';
import { examineDatabase } from '../log/sqlite-examination.ts';
import { copyStore } from '../log/sqlite-backup.ts';
import { SqliteLog } from '../log/sqlite.ts';
import type { Cli } from './cli.ts';
import { overNames } from './proof.ts';
import { proveListed, replayOf } from './store-proof.ts';

export type ProvedCopy = {
  readonly path: string;
  readonly sessions: number;
  readonly events: number;
};

/** Copies `from` beside `near` and hands it to `use`; the copy is gone afterwards. Throws `store-copy-damaged`. */
export const withProvedCopy = async <T>(
  cli: Cli,
  { from, near }: { readonly from: string; readonly near: string },
  use: (copy: ProvedCopy) => Promise<T>,
): Promise<T> => {
  const path = `${near}.${randomUUID().slice(0, 8)}.part`;
  try {
    copyStore(from, path);
    return await use(await proved(cli, from, path));
  } finally {
    for (const more of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${more}`, { force: true });
  }
};

const proved = async (cli: Cli, from: string, path: string): Promise<ProvedCopy> => {
  const { flaws, sessions } = examineDatabase(path);
  const [flaw] = flaws;
  if (flaw) throw damaged(from, flaw.message);
  const replay = await replayOf(cli);
  const store = new SqliteLog(path);
  let events = 0;
  try {
    await overNames(cli, sessions, async (listed) => {
      const found = await proveListed(store, listed, replay);
      events += found.events;
      const [first] = found.findings;
      if (first) throw damaged(from, `session ${listed.session}: ${first.message}`);
      return { wrong: false };
    });
  } finally {
    await store.close();
  }
  if (cli.interrupt.signal.aborted) throw interrupted();
  return { path, sessions: sessions.length, events };
};

const damaged = (from: string, what: string): OnrecordError =>
  new OnrecordError(`The copy of ${from} does not prove itself: ${what} Nothing was put in place.`, {
    code: 'store-copy-damaged',
    next: 'corrupt',
    details: { from },
    hint: 'onrecord verify --all',
  });

const interrupted = (): OnrecordError =>
  new OnrecordError('Interrupted while the copy was checked. Nothing was put in place.', {
    code: 'interrupted',
    next: 'retry',
  });
