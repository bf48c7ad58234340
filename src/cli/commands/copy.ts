/** onrecord copy: every session of one store into another one, of whatever kind, proved at the end. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { badInput, OnrecordError } from '../../errors.ts';
import { examinePostgres } from '../../log/postgres-examination.ts';
import { isPostgres, maskedStore } from '../../log/postgres-place.ts';
import { PostgresLog } from '../../log/postgres.ts';
import { examineDatabase, type Examination } from '../../log/sqlite-examination.ts';
import { SqliteLog } from '../../log/sqlite.ts';
import type { LogStore } from '../../log/store.ts';
import { countOf } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { interrupted, overNames } from '../proof.ts';
import { allSessions } from '../record.ts';
import { copySession, parentsFirst } from '../session-copy.ts';
import { proveListed, replayOf } from '../store-proof.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const copy: Command = {
  name: 'copy',
  summary: 'Copies every session of one store into another one, and proves the copy.',
  arguments: [],
  options: [
    { flags: '--from <store>', description: 'a SQLite file or postgres://…' },
    { flags: '--to <store>', description: 'the same; a database has its tables from onrecord migrate' },
  ],
  example: 'onrecord copy --from .onrecord/log.db --to postgres://onrecord@db/onrecord',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const places = { from: placeOf(cli, input, 'from'), to: placeOf(cli, input, 'to') };
    if (places.from === places.to)
      throw badInput('usage', '--from and --to are the same store.', {}, 'onrecord help copy');
    if (!isPostgres(places.from) && !existsSync(places.from))
      throw badInput('usage', `There is no store at ${places.from}.`, { store: places.from });
    // Damage is not carried on.
    const source = sound(await examine(places.from), places.from);
    const from = await openPlace(places.from);
    const to = await openPlace(places.to).catch(async (error: unknown) => {
      await from.close();
      throw error;
    });
    try {
      const rows = new Map((await allSessions(from)).map((row) => [row.session, row]));
      let events = 0;
      await overNames(cli, parentsFirst(source.sessions, rows), async ({ session }) => {
        events += (await copySession({ from, to }, session, rows.get(session))).events;
        return { wrong: false };
      });
      if (cli.interrupt.signal.aborted) return interrupted(cli, 0);
      await prove(cli, { from, to }, places.to);
      const sessions = source.sessions.length;
      const shown = maskedStore(places.to);
      if (cli.screen.jsonMode)
        cli.screen.json({ from: maskedStore(places.from), to: shown, sessions, events });
      else
        cli.screen.out(
          line`${SIGN.ok} ${whole(shown)} has ${countOf(sessions, 'session')} of ${whole(maskedStore(places.from))} now; ${countOf(events, 'event')} copied, all whole.`,
        );
      return EXIT.done;
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  },
};

const placeOf = (cli: Cli, input: Input, name: 'from' | 'to'): string => {
  const given = givenOption(input, name);
  if (given === undefined || given === '')
    throw badInput('usage', `--${name} names no store.`, {}, 'onrecord help copy');
  // "sqlite:" in front is how a path may be told from a URL.
  return isPostgres(given) ? given : resolve(cli.cwd, given.replace(/^sqlite:/, ''));
};

const openPlace = async (place: string): Promise<LogStore> =>
  isPostgres(place) ? PostgresLog.open(place) : new SqliteLog(place);

const examine = async (place: string): Promise<Examination> =>
  isPostgres(place) ? examinePostgres(place) : examineDatabase(place);

const sound = (examination: Examination, place: string): Examination => {
  const [flaw] = examination.flaws;
  if (!flaw) return examination;
  throw new OnrecordError(`${maskedStore(place)} does not prove itself: ${flaw.message}`, {
    code: 'store-copy-damaged',
    next: 'corrupt',
    hint: 'onrecord verify --all',
  });
};

type Stores = { readonly from: LogStore; readonly to: LogStore };

/** The copy proves itself, and ends where the source ends now. */
const prove = async (cli: Cli, { from, to }: Stores, place: string): Promise<void> => {
  const replay = await replayOf(cli);
  const { sessions } = sound(await examine(place), place);
  await overNames(cli, sessions, async (listed) => {
    const source = await from.head(listed.session);
    const [first] = (await proveListed(to, listed, replay)).findings;
    if (first) throw unproved(listed.session, first.message);
    const target = await to.head(listed.session);
    if (source && target && source.hash !== target.hash)
      throw unproved(
        listed.session,
        'it has grown in the source since. Stop what writes there and copy again.',
      );
    return { wrong: false };
  });
};

const unproved = (session: string, what: string): OnrecordError =>
  new OnrecordError(`The copy of session ${session} is not the whole session: ${what}`, {
    code: 'store-copy-damaged',
    next: 'retry',
    details: { session },
  });
