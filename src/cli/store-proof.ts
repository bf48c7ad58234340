/** Everything that can be proved of a session, a store or a bundle, with what this project knows of adapters. */
import { isOnrecordError } from '../errors.ts';
import { verifyBundle } from '../bundle/bundle-store.ts';
import { examinePostgres } from '../log/postgres-examination.ts';
import { isPostgres } from '../log/postgres-place.ts';
import { examineDatabase, listedIn, type ListedSession, type StoreFlaw } from '../log/sqlite-examination.ts';
import type { LogStore } from '../log/store.ts';
import { neutralEncoder } from '../model/neutral.ts';
import { verify, type Verified, type VerifyOptions } from '../replay/verify.ts';
import { PROGRAM } from '../worker/program.ts';
import type { Cli } from './cli.ts';
import type { NamedRecord } from './named-record.ts';
import { encodersOf } from './proof.ts';
import { line } from './terminal/shown.ts';

/** How decisions are made again. A project that cannot be loaded does not keep a record from being proved. */
export const replayOf = async (cli: Cli): Promise<VerifyOptions['replay']> => {
  try {
    return { encoderOf: await encodersOf(cli), program: PROGRAM };
  } catch (error) {
    if (!isOnrecordError(error)) throw error;
    cli.screen.note(
      line`The agents could not be loaded (${error.code}): only requests of scripted models are made again.`,
    );
    return {
      encoderOf: ({ model }) => (model.provider === 'scripted' ? neutralEncoder : undefined),
      program: PROGRAM,
    };
  }
};

/** One session or bundle. Throws `session-not-found`. */
export const prove = async (cli: Cli, named: NamedRecord): Promise<Verified> => {
  const { store, session, bundle } = named;
  const replay = await replayOf(cli);
  if (bundle) return verifyBundle(bundle, store, { replay });
  const listed = (await listedNow(cli)).find((row) => row.session === session);
  return verify(store, session, { replay, listed });
};

export type StoreProof = {
  readonly flaws: readonly StoreFlaw[];
  readonly sessions: readonly ListedSession[];
};

const listedNow = async (cli: Cli): Promise<readonly ListedSession[]> => {
  const named = await cli.storeNamed();
  if (!isPostgres(named)) return listedIn(named);
  return (await examinePostgres(named, { blobs: false })).sessions;
};

/** The store itself and all that it lists; a file that SQLite cannot even open has no sessions. */
export const examineStore = async (cli: Cli): Promise<StoreProof> => {
  const named = await cli.storeNamed();
  return isPostgres(named) ? examinePostgres(named) : examineDatabase(named);
};

/** One of the sessions that were listed: damage of whatever kind is a finding, never the end of the others. */
export const proveListed = async (
  store: LogStore,
  listed: ListedSession,
  replay: VerifyOptions['replay'],
): Promise<Verified> => {
  try {
    return await verify(store, listed.session, { replay, listed });
  } catch (error) {
    const message = `It cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return unreadable(listed.session, message);
  }
};

const unreadable = (session: string, message: string): Verified => ({
  session,
  events: 0,
  blobs: 0,
  requests: 0,
  decisions: 0,
  removed: { events: 0, blobs: 0, requests: 0 },
  head: '' as Verified['head'],
  findings: [{ seq: 0, kind: 'unreadable', message }],
});
