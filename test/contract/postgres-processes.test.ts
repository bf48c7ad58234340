/** What the PostgreSQL store promises beyond the contract: other processes, a server that dies, a wire that is cut. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { genesis } from '../../src/event/envelope.ts';
import { LOOK_MS, REPAIR_MS } from '../../src/log/postgres-control.ts';
import { StorageError, type Append, type LogStore } from '../../src/log/store.ts';
import { soon } from '../crash/children/stage.ts';
import { grow, OWNER_A, OWNER_B, sealed } from '../kit/chain.ts';
import { startChild } from '../kit/child.ts';
import { calm } from '../kit/clock.ts';
import { CutWire } from '../kit/cut-wire.ts';
import { expectChain } from '../kit/expect-chain.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';

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
    const [one, other] = [await openPostgres(url), await openPostgres(url)];
    const told: unknown[] = [];
    one.changes((change) => told.push(change));
    await grow(other, 's', ['a', 'b']);
    const began = performance.now();
    await soon('the change is told', () => told.length > 0);
    expect(told).toEqual([{ session: 's', head: 2 }]);
    expect(performance.now() - began).toBeLessThan(REPAIR_MS);
  });

  test('a commit that nobody was told of is found by a look', async () => {
    const url = await server.store();
    const [one, other] = [await openPostgres(url), await openPostgres(url)];
    const { Client } = await import('pg');
    const client = new Client(server.url);
    await client.connect();
    const told: unknown[] = [];
    one.changes((change) => told.push(change));
    // Its notifications are lost with its control connection.
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'onrecord control'",
    );
    await client.end();
    await grow(other, 's', ['a']);
    await soon('somebody is told', () => told.length > 0);
    expect(told[0]).toBeUndefined();
  });

  test('a lease of a process that was killed is free within two seconds; of one that lives it is not', async () => {
    const url = await server.store();
    const store = await openPostgres(url);
    await grow(store, 's', ['a']);
    const child = startChild('child-owner.ts', [url, 's']);
    await child.line((line) => line === 'claimed 1');
    let freed = 0;
    store.changes((change) => (freed += change === undefined ? 1 : 0));
    await calm(200);
    for (let i = 0; i < 3; i++) {
      const before = performance.now();
      await soon('time to be looked at passes', () => performance.now() - before > LOOK_MS);
      expect(await claimBy(store, OWNER_B)).toMatchObject({ won: false });
    }
    await child.kill();
    const killed = performance.now();
    await soon('it is free', async () => (await claimBy(store, OWNER_B)).won);
    const ms = performance.now() - killed;
    console.log(`lease of a killed process was taken after ${Math.round(ms)} ms`);
    expect(ms).toBeLessThan(2000);
    expect(freed).toBeGreaterThan(0);
  });
});

describe.skipIf(reason !== undefined)(`PostgresLog: a server that dies${skipped}`, () => {
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
});

const over = async (answerMs: number): Promise<{ wire: CutWire; store: LogStore; direct: LogStore }> => {
  const wire = await CutWire.to(server.port);
  const url = await server.store();
  const far = url.replace(`:${server.port}`, `:${wire.port}`);
  return { wire, store: await openPostgres(far, { answerMs }), direct: await openPostgres(url) };
};

describe.skipIf(reason !== undefined)(`PostgresLog: a wire that is cut or frozen${skipped}`, () => {
  test('an append whose answer never came is unclear; sent again it is known and there once', async () => {
    const { wire, store, direct } = await over(300);
    const append = { session: 's', expected: 0, events: sealed('s', ['a', 'b']) };
    wire.holdAnswers();
    await expect(store.append(append)).rejects.toMatchObject({ code: 'store-unavailable', next: 'retry' });
    await soon('the server has written it', async () => (await direct.head('s')) !== undefined);
    wire.letThrough();
    await store.append({ ...append, again: true });
    expect(await direct.read('s')).toEqual(append.events);
  });

  test('an append that never reached the server is written when it is sent again', async () => {
    const { wire, store, direct } = await over(5000);
    await grow(store, 's', ['a']);
    const [first] = await direct.read('s');
    const events = sealed('s', ['b'], { from: 2, ...(first && { prev: first.hash }) });
    wire.cut();
    await insist(store, { session: 's', expected: 1, events });
    expect(await expectChain(direct, 's')).toEqual(['a', 'b']);
  });

  test('all that was under way is answered at once when the wire is cut, and all goes on after it', async () => {
    const { wire, store } = await over(60_000);
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
    const { wire, store, direct } = await over(5000);
    await grow(store, 's', ['a']);
    direct.changes(() => undefined);
    store.changes(() => undefined);
    expect(await claimBy(store)).toMatchObject({ won: true });
    for (let i = 0; i < 3; i++) {
      wire.cut();
      const cut = performance.now();
      await soon('the look after it', () => performance.now() - cut > 3 * LOOK_MS);
    }
    expect(await claimBy(direct, OWNER_B)).toMatchObject({ won: false });
  });
});
