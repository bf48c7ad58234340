/**
 * The primary is killed under load and its standby takes its place. With a synchronous standby nothing that was
 * acknowledged is lost. The same with an asynchronous one must find a loss: it proves that this test can see one.
 */
import { describe, expect, test } from 'vitest';
import { isOnrecordError } from '../../src/errors.ts';
import { genesis } from '../../src/event/envelope.ts';
import { PostgresLog } from '../../src/log/postgres.ts';
import { ConflictError, StorageError, type LogStore } from '../../src/log/store.ts';
import { sealed } from '../kit/chain.ts';
import { calm } from '../kit/clock.ts';
import { CutWire } from '../kit/cut-wire.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { askServer, makeSynchronous, promote, receiverOf } from '../kit/replication.ts';
import { soon } from './children/stage.ts';

const LANES = 8;

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;

type Load = {
  readonly acknowledged: ReadonlyMap<string, readonly string[]>;
  count(): number;
  stop(): Promise<void>;
};

/** Appends in lanes, each on a session of its own; what was acknowledged is remembered by its hash. */
const load = (store: LogStore): Load => {
  const acknowledged = new Map<string, string[]>();
  let running = true;
  const lane = async (session: string): Promise<void> => {
    const hashes: string[] = [];
    acknowledged.set(session, hashes);
    let prev = genesis(session);
    for (let again = false; running;) {
      const events = sealed(session, [`${hashes.length}`], { from: hashes.length + 1, prev });
      try {
        await store.append({ session, expected: hashes.length, events, again });
        prev = events[0]?.hash ?? prev;
        hashes.push(prev);
        again = false;
      } catch (error) {
        // What this lane had been told is there is not there any more.
        if (error instanceof ConflictError) return;
        if (!(error instanceof StorageError)) throw error;
        again = true;
        await calm(200);
      }
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, (_, i) => lane(`s${i}`)));
  return {
    acknowledged,
    count: () => [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0),
    stop: async () => {
      running = false;
      await lanes;
    },
  };
};

/** Whether a commit on this primary waits for a standby. */
const isWaitedFor = async (primary: PostgresServer): Promise<boolean> =>
  (await askServer(primary, `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)) !== '0';

/** What is there; that the store cannot say so just now is no loss. */
const hashesOf = async (store: LogStore, session: string): Promise<ReadonlySet<string>> => {
  for (;;)
    try {
      return new Set((await store.read(session)).map(({ hash }) => hash));
    } catch (error) {
      if (isOnrecordError(error) && error.code === 'session-not-found') return new Set();
      if (!(error instanceof StorageError)) throw error;
      await calm(200);
    }
};

type Failover = { readonly acknowledged: number; readonly lost: number; readonly backMs: number };

const failover = async (durability: 'synchronous' | 'asynchronous'): Promise<Failover> => {
  const primary = await PostgresServer.start();
  const url = await primary.store();
  const standby = await primary.standby();
  try {
    await receiverOf(standby);
    if (durability === 'synchronous') {
      await makeSynchronous(primary);
      await (await PostgresLog.open(url, { durability: 'replicated' })).close();
    }
    const wire = await CutWire.to(primary.port);
    const store = await openPostgres(url.replace(`:${primary.port}`, `:${wire.port}`));
    const work = load(store);
    await soon('work goes on', () => work.count() > 300);
    const receiver = await receiverOf(standby);
    process.kill(receiver, 'SIGSTOP');
    const frozen = work.count();
    await soon('the standby is behind', async () =>
      durability === 'synchronous' ? isWaitedFor(primary) : work.count() > frozen + 50,
    );
    await primary.crash();
    const killed = performance.now();
    process.kill(receiver, 'SIGKILL');
    await promote(standby);
    const before = work.count();
    wire.turn(standby.port);
    if (durability === 'synchronous') await soon('work goes on behind it', () => work.count() > before + 100);
    const backMs = performance.now() - killed;
    await work.stop();
    let lost = 0;
    for (const [session, hashes] of work.acknowledged) {
      const there = await hashesOf(store, session);
      lost += hashes.filter((hash) => !there.has(hash)).length;
    }
    return { acknowledged: work.count(), lost, backMs };
  } finally {
    await primary.stop();
    await standby.stop();
  }
};

describe.skipIf(reason !== undefined)(
  `a primary that is killed under load${skipped}`,
  { timeout: 120_000 },
  () => {
    test('with a synchronous standby that was behind: nothing acknowledged is lost', async () => {
      const { acknowledged, lost, backMs } = await failover('synchronous');
      console.log(
        `synchronous: ${acknowledged} acknowledged, ${lost} lost, work went on after ${Math.round(backMs)} ms`,
      );
      expect(lost).toBe(0);
    });

    test('with an asynchronous one the same test finds the loss', async () => {
      const { acknowledged, lost } = await failover('asynchronous');
      console.log(`asynchronous: ${acknowledged} acknowledged, ${lost} lost`);
      expect(lost).toBeGreaterThan(0);
    });
  },
);
