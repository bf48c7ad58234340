/** What the PostgreSQL store promises beyond the contract: other processes, a server that dies, a wire that is cut. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import { genesis } from '../../src/event/envelope.ts';
import { ANSWER_MS } from '../../src/log/postgres-connection.ts';
import { GONE_AFTER_MS, LOOK_MS } from '../../src/log/postgres-control.ts';
import { StorageError, type Append, type LogStore } from '../../src/log/store.ts';
import { soon } from '../crash/children/stage.ts';
import { grow, OWNER_A, OWNER_B, sealed } from '../kit/chain.ts';
import { startChild } from '../kit/child.ts';
import { calm, FakeClock } from '../kit/clock.ts';
import { CutWire } from '../kit/cut-wire.ts';
import { expectChain } from '../kit/expect-chain.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { askServer } from '../kit/replication.ts';

/** Looks that a lease of a killed process may take to be free: a second, of the two in which it is taken over. */
const FREE_MS_MAX = 1000;

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

/** Appends one text, however often it has to be sent, and answers how often that was. */
const insist = async (store: LogStore, append: Append): Promise<number> => {
  for (let sent = 1; ; sent++) {
    try {
      await store.append({ ...append, again: append.again === true || sent > 1 });
      return sent;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      await calm(200);
    }
  }
};

const refusals = (ends: readonly PromiseSettledResult<unknown>[]): readonly string[] =>
  ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as { code: string }).code] : []));

const claimBy = (store: LogStore, owner = OWNER_A): ReturnType<LogStore['claim']> =>
  store.claim({ session: 's', owner, now: 0, leaseMs: 60_000, isGone: () => false });

/** Lets so much time pass for a store; each look that it takes ends before the next one. */
const pass = async (clock: FakeClock, ms: number): Promise<void> => {
  for (let passed = 0; passed < ms; passed += LOOK_MS) {
    clock.advance(LOOK_MS);
    await isLookOver(clock);
  }
};

/** The next one is planned then; all else that a store waits for takes longer. */
const isLookOver = (clock: FakeClock): Promise<void> =>
  soon('the look is over', () => clock.nextIn !== undefined && clock.nextIn <= LOOK_MS);

/** Locks of owners that live, as the server sees it while nobody looks. */
const ownersHeld = async (): Promise<number> =>
  Number(await askServer(server, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted`));

describe.skipIf(reason !== undefined)(`PostgresLog: several processes on one database${skipped}`, () => {
  test('they append to one session and to their own; every acknowledged event is there once', async () => {
    const url = await server.store();
    const store = await openPostgres(url);
    const shared = [0, 1].map(() => startChild('child-writer.ts', [url, 's', '60']));
    const own = startChild('child-writer.ts', [url, 'own', '60']);
    for (let i = 0; i < 30; i++) await grow(store, 'mine', [`${i}`]);
    await Promise.all([...shared, own].map((child) => child.done()));
    const texts = await expectChain(store, 's');
    expect(texts).toHaveLength(120);
    for (const child of shared) {
      const mine = texts.filter((text) => text.startsWith(`${child.process.pid} `));
      expect(mine.map((text) => Number(text.split(' ')[1]))).toEqual(
        Array.from({ length: 60 }, (_, i) => i + 1),
      );
    }
    expect(await expectChain(store, 'own')).toHaveLength(60);
    expect(await expectChain(store, 'mine')).toHaveLength(30);
  });

  test('calls that write the same sessions in other orders wait for each other and never for ever', async () => {
    const url = await server.store();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)));
    const names = Array.from({ length: 12 }, (_, i) => `s${i}`);
    const blobs = names.map((name) => ({ digest: sealed(name, ['x'])[0]?.hash, bytes: Buffer.from(name) }));
    let won = 0;
    const codes: string[] = [];
    for (let round = 0; round < 10; round++)
      await Promise.all(
        stores.map(async (store, lane) => {
          const order = names.toSorted(() => (lane % 2 === 0 ? 1 : -1));
          const ends = await Promise.allSettled(
            order.map((name, i) =>
              store.append({
                session: `${name} ${round}`,
                expected: 0,
                events: sealed(`${name} ${round}`, [`${lane}`]),
                blobs: blobs.flatMap(({ digest, bytes }) => (digest ? [{ digest, bytes }] : [])),
                given: { session: order[(i + 1) % order.length] ?? '', head: 0 },
              }),
            ),
          );
          won += ends.filter(({ status }) => status === 'fulfilled').length;
          codes.push(...refusals(ends));
        }),
      );
    expect(new Set(codes)).toEqual(new Set(['append-conflict']));
    expect(won).toBe(names.length * 10);
  });

  test('a commit of one wakes who listens in the other, with the session and its head', async () => {
    const url = await server.store();
    // Its time stands still: it takes no look at what it may have missed.
    const one = await openPostgres(url, { clock: new FakeClock() });
    const other = await openPostgres(url);
    const told: unknown[] = [];
    one.changes((change) => told.push(change));
    await grow(other, 's', ['a', 'b']);
    await soon('the change is told', () => told.length > 0);
    expect(told).toEqual([{ session: 's', head: 2 }]);
  });

  test('a commit that nobody was told of is found by a look', async () => {
    const url = await server.store();
    const clock = new FakeClock();
    const one = await openPostgres(url, { clock });
    const told: unknown[] = [];
    one.changes((change) => told.push(change));
    const newest = `SELECT pid FROM pg_stat_activity WHERE application_name = 'onrecord control'
      ORDER BY backend_start DESC LIMIT 1`;
    // Its notifications are lost with its control connection, which comes back with the next look.
    await askServer(server, `SELECT pg_terminate_backend((${newest}))`);
    await soon('it has noticed', () => clock.nextIn === 0);
    const [other, witness] = [await openPostgres(url), await openPostgres(url)];
    let heard = 0;
    witness.changes(() => heard++);
    await grow(other, 's', ['a']);
    await soon('who listened was told', () => heard > 0);
    expect(told).toEqual([]);
    clock.advance(0);
    await isLookOver(clock);
    expect(told).toEqual([undefined]);
  });

  test('a lease of a process that was killed is free within a second; of one that lives it is not', async () => {
    const url = await server.store();
    const clock = new FakeClock();
    const store = await openPostgres(url, { clock });
    await grow(store, 's', ['a']);
    const child = startChild('child-owner.ts', [url, 's']);
    await child.line((line) => line === 'claimed 1');
    let freed = 0;
    store.changes((change) => (freed += change === undefined ? 1 : 0));
    for (let i = 0; i < 3; i++) {
      await pass(clock, GONE_AFTER_MS);
      expect(await claimBy(store, OWNER_B)).toMatchObject({ won: false });
    }
    expect(freed).toBe(0);
    await soon('both owners are there', async () => (await ownersHeld()) === 2);
    await child.kill();
    await soon('the server has noticed', async () => (await ownersHeld()) === 1);
    await pass(clock, FREE_MS_MAX);
    expect(await claimBy(store, OWNER_B)).toMatchObject({ won: true });
    expect(freed).toBe(1);
  });
});

describe.skipIf(reason !== undefined)(
  `PostgresLog: a server that dies${skipped}`,
  { timeout: 120_000 },
  () => {
    test('kill -9 under load: nothing acknowledged is lost, and nothing is there twice', async () => {
      const dying = await PostgresServer.start();
      try {
        const store = await openPostgres(await dying.store());
        let running = true;
        let acknowledged = 0;
        let resent = 0;
        const lanes = Array.from({ length: 8 }, async (_, lane) => {
          const session = `s${lane}`;
          let prev = genesis(session);
          let n = 0;
          while (running) {
            const events = sealed(session, [`${n}`, 'x'.repeat(500)], { from: 2 * n + 1, prev });
            if ((await insist(store, { session, expected: 2 * n, events })) > 1) resent++;
            prev = events[1]?.hash ?? prev;
            n++;
            acknowledged++;
          }
          return { session, n };
        });
        for (let crash = 0; crash < 3; crash++) {
          const reached = acknowledged + 200;
          await soon('appends go on', () => acknowledged > reached);
          await dying.crash();
          await dying.run();
        }
        running = false;
        for (const { session, n } of await Promise.all(lanes)) {
          const texts = await expectChain(store, session);
          expect(texts.filter((_, i) => i % 2 === 0)).toEqual(Array.from({ length: n }, (_, i) => `${i}`));
        }
        console.log(`${acknowledged} appends acknowledged over 3 crashes, ${resent} of them sent again`);
        expect(resent).toBeGreaterThan(0);
      } finally {
        await dying.stop();
      }
    });

    test('a server that is not there is an answer with clear words, and the password is not in it', async () => {
      const url = `postgres://ada:geheim@127.0.0.1:1/db`;
      const refused = openPostgres(url);
      await expect(refused).rejects.toMatchObject({ code: 'store-unavailable', next: 'retry' });
      await expect(refused).rejects.toThrow(/postgres:\/\/ada:\*\*\*@127\.0\.0\.1:1\/db cannot be reached/);
      await expect(refused).rejects.not.toThrow(/geheim/);
    });
  },
);

/** A store behind a wire, and the same one beside it. */
const over = async ({
  here = systemClock,
  beside = systemClock,
}: { here?: Clock; beside?: Clock } = {}): Promise<{
  wire: CutWire;
  store: LogStore;
  direct: LogStore;
}> => {
  const wire = await CutWire.to(server.port);
  const url = await server.store();
  const far = url.replace(`:${server.port}`, `:${wire.port}`);
  const direct = await openPostgres(url, { clock: beside });
  return { wire, store: await openPostgres(far, { clock: here }), direct };
};

describe.skipIf(reason !== undefined)(`PostgresLog: a wire that is cut or frozen${skipped}`, () => {
  test('an append whose answer never came is unclear; sent again it is known and there once', async () => {
    const clock = new FakeClock();
    const { wire, store, direct } = await over({ here: clock });
    const append = { session: 's', expected: 0, events: sealed('s', ['a', 'b']) };
    wire.holdAnswers();
    const unanswered = store.append(append);
    await soon('the server has written it', async () => (await direct.head('s')) !== undefined);
    clock.advance(ANSWER_MS);
    await expect(unanswered).rejects.toMatchObject({ code: 'store-unavailable', next: 'retry' });
    wire.letThrough();
    await store.append({ ...append, again: true });
    expect(await direct.read('s')).toEqual(append.events);
  });

  test('an append that never reached the server is written when it is sent again', async () => {
    const { wire, store, direct } = await over();
    await grow(store, 's', ['a']);
    const [first] = await direct.read('s');
    const events = sealed('s', ['b'], { from: 2, ...(first && { prev: first.hash }) });
    wire.cut();
    await insist(store, { session: 's', expected: 1, events });
    expect(await expectChain(direct, 's')).toEqual(['a', 'b']);
  });

  test('all that was under way is answered at once when the wire is cut, and all goes on after it', async () => {
    const { wire, store } = await over();
    // Two connections for readers are made: what is asked of them is under way at once.
    await Promise.all([store.head('s'), store.sessions()]);
    wire.holdAnswers();
    const asked = [
      store.append({ session: 's', expected: 0, events: sealed('s', ['a']) }),
      store.append({ session: 't', expected: 0, events: sealed('t', ['a']) }),
      store.head('s'),
      store.sessions(),
    ];
    await calm(200);
    wire.cut();
    wire.letThrough();
    const ends = await Promise.allSettled(asked);
    expect(refusals(ends)).toEqual(ends.map(() => 'store-unavailable'));
    for (const session of ['s', 't'])
      await insist(store, { session, expected: 0, events: sealed(session, ['a']), again: true });
    expect(await expectChain(store, 's')).toEqual(['a']);
    expect(await expectChain(store, 't')).toEqual(['a']);
  });

  test('a lease outlives a cut of its owner’s wire', async () => {
    const [clock, others] = [new FakeClock(), new FakeClock()];
    const { wire, store, direct } = await over({ here: clock, beside: others });
    await grow(store, 's', ['a']);
    direct.changes(() => undefined);
    store.changes(() => undefined);
    expect(await claimBy(store)).toMatchObject({ won: true });
    for (let i = 0; i < 3; i++) {
      wire.cut();
      await soon('the server has noticed', async () => (await ownersHeld()) === 0);
      await soon('its owner has noticed', () => clock.nextIn === 0);
      // Others see that it is away, not for how long it will be.
      await pass(others, LOOK_MS);
      clock.advance(0);
      await isLookOver(clock);
      expect(await ownersHeld()).toBe(1);
      await pass(others, GONE_AFTER_MS);
    }
    expect(await claimBy(direct, OWNER_B)).toMatchObject({ won: false });
  });
});
