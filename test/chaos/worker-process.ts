/**
 * One worker of the chaos run: `worker-process.ts URL FOLDER PLANT`. It writes down each append that was acknowledged to
 * it, with its epoch, before it goes on. PLANT "fencing" is the bug to be found: its appends carry no epoch, and it
 * believes that it still has every lease.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresLog } from '../../src/log/postgres.ts';
import type { Append, LogStore } from '../../src/log/store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { PgBossDispatcher } from '../../src/worker/pg-boss-dispatcher.ts';
import { chaosAgent } from './agent.ts';

/** One acknowledged append. */
export type Acknowledged = {
  readonly session: string;
  readonly events: readonly (readonly [seq: number, hash: string])[];
  readonly epoch?: number;
};

const [url = '', folder = '', plant = ''] = process.argv.slice(2);
const store = await PostgresLog.open(url);

const written = (append: Append): void => {
  const { session, events, epoch } = append;
  const said: Acknowledged = {
    session,
    events: events.map(({ seq, hash }) => [seq, hash] as const),
    ...(epoch !== undefined && { epoch }),
  };
  appendFileSync(join(folder, `acknowledged-${process.pid}`), `${JSON.stringify(said)}\n`);
};

const withoutEpoch = (append: Append): Append => {
  const { epoch, ...rest } = append;
  return epoch === undefined ? append : rest;
};

const watched: LogStore = {
  name: store.name,
  append: async (append) => {
    await store.append(plant === 'fencing' ? withoutEpoch(append) : append);
    written(append);
  },
  read: (...asked) => store.read(...asked),
  head: (session) => store.head(session),
  blob: (digest) => store.blob(digest),
  sessions: (query) => store.sessions(query),
  counts: () => store.counts(),
  claim: (request) => store.claim(request),
  renew: async (...asked) => (await store.renew(...asked)) || plant === 'fencing',
  release: (...asked) => store.release(...asked),
  changes: (listener) => store.changes(listener),
  leasesAtRisk: (listener) => store.leasesAtRisk(listener),
  close: () => store.close(),
};

const say = (message: string, data?: object): void => {
  process.stderr.write(`${JSON.stringify({ message, ...data })}\n`);
};

const runtime = await openRuntime({
  store: watched,
  agents: [chaosAgent(join(folder, 'world'))],
  dispatcher: new PgBossDispatcher(url),
  // As if each were on a machine of its own: nobody can look whether another process lives.
  isGone: () => false,
  log: { info: say, warn: say },
});
process.stdout.write(`ready ${runtime.ownerId}\n`);
process.once('SIGTERM', () => {
  runtime.close({ drainMs: 2000 }).then(
    () => process.exit(0),
    (error: unknown) => {
      say(String(error));
      process.exit(1);
    },
  );
});
// What it was started by is gone: nobody would end it.
process.stdin.on('end', () => process.exit(0)).resume();
