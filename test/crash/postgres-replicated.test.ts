/** Several servers in one URL, and what `replicated` is worth where a server comes back that should not be believed. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import { PostgresLog, type PostgresOptions } from '../../src/log/postgres.ts';
import { WATCH_MS } from '../../src/log/postgres-primary.ts';
import { STANDBY_MS } from '../../src/log/postgres-schema.ts';
import type { LogStore } from '../../src/log/store.ts';
import { sealed } from '../kit/chain.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { askServer, makeSynchronous, promote, receiverOf } from '../kit/replication.ts';
import { soon } from './children/stage.ts';

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;

/** Waits that are long on purpose, made short. */
const hurried: Clock = {
  ...systemClock,
  after: (ms, callback, background) =>
    systemClock.after(ms === STANDBY_MS || ms === WATCH_MS ? 200 : ms, callback, background),
};

const both = (url: string, first: PostgresServer, second: PostgresServer): string =>
  url.replace(`127.0.0.1:${first.port}`, `127.0.0.1:${first.port},127.0.0.1:${second.port}`);

/** Appends to a new session, again for as long as the store asks for that. */
const put = async (store: LogStore, session: string): Promise<void> => {
  const events = sealed(session, ['a']);
  for (let again = false; ; again = true)
    try {
      return await store.append({ session, expected: 0, events, again });
    } catch (error) {
      if ((error as { next?: unknown }).next !== 'retry') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
};

const sessionsOn = (server: PostgresServer, schema: string): Promise<string> =>
  askServer(server, `SELECT string_agg(name, ' ' ORDER BY name) FROM ${schema}.session`);

const schemaOf = (url: string): string => new URL(url).searchParams.get('schema') ?? '';

describe.skipIf(reason !== undefined)(`several hosts in one URL${skipped}`, { timeout: 120_000 }, () => {
  test('work goes to whoever is the primary, and never back to one that was', async () => {
    const first = await PostgresServer.start();
    const url = await first.store();
    const second = await first.standby();
    onTestFinished(async () => {
      await first.stop();
      await second.stop();
    });
    const options: PostgresOptions = { clock: hurried };
    const store = await openPostgres(both(url, first, second), options);
    await put(store, 'before');
    await soon('the standby has it', async () =>
      (await sessionsOn(second, schemaOf(url)).catch(() => '')).includes('before'),
    );
    // The standby first in the URL: it is not written to for that.
    const other = await openPostgres(
      both(url, first, second).replace(/127\S+?\//, `127.0.0.1:${second.port},127.0.0.1:${first.port}/`),
      options,
    );
    await put(other, 'behind');
    // Promoted while the first one lives and believes to be the primary still: the worst an operator can do.
    await soon('the standby has it', async () =>
      (await sessionsOn(second, schemaOf(url))).includes('behind'),
    );
    await promote(second);
    // Each process looks for itself: that one has left says nothing of the other.
    for (const [name, log] of [
      ['probe', store],
      ['other', other],
    ] as const)
      await soon('who was on the first one has left it', async () => {
        await put(log, `${name}${Math.random()}`);
        return (await sessionsOn(second, schemaOf(url))).includes(name);
      });
    const left = await sessionsOn(first, schemaOf(url));
    for (let i = 0; i < 5; i++) await put(store, `after${i}`);
    for (let i = 5; i < 10; i++) await put(other, `after${i}`);
    expect(await sessionsOn(first, schemaOf(url))).toBe(left);
    // All connections break, and a process comes that has seen nothing: both find the newer one.
    await askServer(
      second,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'onrecord%'`,
    );
    await put(store, 'reconnected');
    await put(await openPostgres(both(url, first, second), options), 'newcomer');
    expect(await sessionsOn(first, schemaOf(url))).toBe(left);
    // The newer one is away: whoever knows of it waits for it, and does not take the first one for it.
    await second.crash();
    const refused = await store
      .append({ session: 'x', expected: 0, events: sealed('x', ['a']) })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      next: 'retry',
      code: expect.stringMatching(/^store-(unavailable|read-only)$/),
    });
    let earlier: unknown;
    await soon('the first one is found, and refused', async () => {
      earlier = await store.head('before').catch((error: unknown) => error);
      // A connection to the newer one may have to end first.
      return (earlier as { code?: unknown } | undefined)?.code !== 'store-unavailable';
    });
    expect(earlier).toMatchObject({
      code: 'store-read-only',
      message: expect.stringContaining('a standby was promoted'),
    });
    expect(await sessionsOn(first, schemaOf(url))).toBe(left);
    await second.run();
    await put(store, 'back');
    expect(await sessionsOn(second, schemaOf(url))).toContain('back');
  });

  test('where no primary is among them, each is said with what it is', async () => {
    const first = await PostgresServer.start();
    const url = await first.store();
    const second = await first.standby();
    onTestFinished(async () => {
      await first.stop();
      await second.stop();
    });
    await first.crash();
    await expect(PostgresLog.open(both(url, first, second))).rejects.toMatchObject({
      code: 'store-unavailable',
      message: `No primary of ${both(url, first, second)} can be reached: 127.0.0.1:${first.port} does not answer (ECONNREFUSED), 127.0.0.1:${second.port} is a standby.`,
    });
  });
});

describe.skipIf(reason !== undefined)(`durability "replicated"${skipped}`, { timeout: 120_000 }, () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let url: string;

  beforeAll(async () => {
    if (reason !== undefined) return;
    primary = await PostgresServer.start();
    url = await primary.store();
    standby = await primary.standby();
    await makeSynchronous(primary);
  }, 180_000);
  afterAll(async () => {
    await primary?.stop();
    await standby?.stop();
  });

  const waiting = async (): Promise<boolean> =>
    (await askServer(primary, `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)) !== '0';

  test('does not start where the standby that is named confirms nothing', async () => {
    const receiver = await receiverOf(standby);
    process.kill(receiver, 'SIGSTOP');
    try {
      await expect(PostgresLog.open(url, { durability: 'replicated', clock: hurried })).rejects.toMatchObject(
        {
          code: 'store-unavailable',
          next: 'retry',
          message: expect.stringContaining('names a synchronous standby, and none has confirmed a commit'),
        },
      );
    } finally {
      process.kill(receiver, 'SIGCONT');
    }
    await (await PostgresLog.open(url, { durability: 'replicated' })).close();
  });

  test('what came back unconfirmed from a crash is not acknowledged, nor shown, before the standby has it', async () => {
    const store = await openPostgres(url, { durability: 'replicated' });
    await put(store, 'confirmed');
    const receiver = await receiverOf(standby);
    process.kill(receiver, 'SIGSTOP');
    const events = sealed('unclear', ['a']);
    const first = store.append({ session: 'unclear', expected: 0, events }).catch((error: unknown) => error);
    await soon('it waits for the standby', waiting);
    // The primary dies with the commit on its own disk alone, and comes back: there it is, for everybody to see.
    await primary.crash();
    await primary.run();
    expect(await sessionsOn(primary, schemaOf(url))).toContain('unclear');
    expect(await first).toMatchObject({ next: 'retry' });
    let acknowledged = false;
    const again = put(store, 'unclear').then(() => void (acknowledged = true));
    let seen: unknown;
    const read = store.head('unclear').then(
      (head) => (seen = head),
      () => undefined,
    );
    await soon(
      'somebody waits for the standby, or is told without it',
      async () => acknowledged || seen !== undefined || (await waiting()),
    );
    expect([acknowledged, seen]).toEqual([false, undefined]);
    process.kill(receiver, 'SIGCONT');
    await again;
    await read;
    // On its disk; its readers see it a little later.
    await soon('the standby shows it', async () =>
      (await sessionsOn(standby, schemaOf(url))).includes('unclear'),
    );
  });
});
