/**
 * A process that drives one recorded conversation and ends by SIGKILL at the n-th moment at which that hurts: before
 * an append to the log, after it, or after a write to the airline's database that the log does not know of yet.
 * Started again with the same folder it goes on. Prints the verdict when the conversation has ended.
 *
 * `commit` instead of a number is the first moment of the last kind.
 *
 *   node examples/airline/mortal.ts DATA FOLDER ID N|commit
 */
import { flushCompileCache } from 'node:module';
import type { LogStore } from '../../src/index.ts';
import { loadAirline } from './recording.ts';
import { Stage } from './stage.ts';

const [data = '', folder = '', id = '', death = ''] = process.argv.slice(2);
let left = Number(death);

const die = (): void => void process.kill(process.pid, 'SIGKILL');

const moment = (): void => {
  left--;
  if (left === 0) die();
};

/** The log, with a moment before and after each append. */
const mortalLog = (log: LogStore): LogStore => ({
  name: log.name,
  append: async (append) => {
    moment();
    await log.append(append);
    moment();
  },
  read: (session, from, to) => log.read(session, from, to),
  head: (session) => log.head(session),
  blob: (digest) => log.blob(digest),
  sessions: (query) => log.sessions(query),
  counts: () => log.counts(),
  claim: (request) => log.claim(request),
  renew: (session, epoch, until) => log.renew(session, epoch, until),
  release: (session, epoch) => log.release(session, epoch),
  changes: (listener) => log.changes(listener),
  close: () => log.close(),
});

flushCompileCache();
const airline = loadAirline(data);
const recordings = airline.recordings.filter((recording) => recording.id === id);
const stage = await Stage.open(airline, {
  recordings,
  folder,
  log: mortalLog,
  afterCommit: death === 'commit' ? die : moment,
});
for await (const { verdict } of stage.playAll()) process.stdout.write(JSON.stringify(verdict));
await stage.close();
