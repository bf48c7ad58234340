/** Which databases the PostgreSQL store works with, and how it refuses the others. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bucketOf } from '../../src/log/postgres-batch.ts';
import { POSTGRES_FORMAT } from '../../src/log/postgres-migrations.ts';
import { isPostgres, maskedStore, postgresPlace } from '../../src/log/postgres-place.ts';
import { migratePostgres } from '../../src/log/postgres-schema.ts';
import { PostgresLog } from '../../src/log/postgres.ts';
import { soon } from '../crash/children/stage.ts';
import { blobOf, grow, sealed } from '../kit/chain.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

/** For tests that start a server of their own. */
const SERVER_STARTS_MS_MAX = 120_000;

/** Runs statements beside the store, as an operator would. */
const operate = async (
  text: string,
  url: string = server.url,
): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly Record<string, unknown>[] = [];
    for (const one of text.split(';').filter((part) => part.trim() !== ''))
      ({ rows } = await client.query<Record<string, unknown>>(one));
    return rows;
  } finally {
    await client.end();
  }
};

const schemaOf = (url: string): string => postgresPlace(url).schema;

describe('a PostgreSQL URL', () => {
  test('is shown without its password, wherever that stands', () => {
    expect(maskedStore('postgres://ada:s3cret@db:5433/log')).toBe('postgres://ada:***@db:5433/log');
    expect(maskedStore('postgres://db/log?user=ada&password=s3cret')).not.toContain('s3cret');
    expect(maskedStore('postgres://ada:s3/cret@db:port/log')).toBe('postgres://***');
    expect(maskedStore('postgres://ada:s3cret@a:1,b/log?password=s3cret')).toBe(
      'postgres://ada:***@a:1,b/log?password=***',
    );
    expect(maskedStore('/var/log.db')).toBe('/var/log.db');
  });

  test('may name several hosts: all else holds for each of them', () => {
    expect(
      postgresPlace(
        'postgresql://ada:s3@a.example,[::1]:5433/log?schema=s1&sslmode=require&target_session_attrs=read-write',
      ),
    ).toEqual({
      urls: [
        'postgresql://ada:s3@a.example/log?sslmode=require',
        'postgresql://ada:s3@[::1]:5433/log?sslmode=require',
      ],
      schema: 's1',
      shown:
        'postgresql://ada:***@a.example,[::1]:5433/log?schema=s1&sslmode=require&target_session_attrs=read-write',
    });
  });

  test.each([
    'postgres://ada:s3cret@a:1,b:x/log',
    'postgres://ada:s3cret@a:1,,b:2/log',
    'postgres://ada:s3@cret@a:1,b:2/log',
    'postgres://ada:s3cret@a:1,b:2/log?target_session_attrs=any',
    'postgres://ada:s3cret@db/log?schema=Robert"; DROP',
    'postgres://ada:s3cret@db/log?schema=pg_catalog',
  ])('that cannot be one is refused without its password: %s', (url) => {
    expect(isPostgres(url)).toBe(true);
    let thrown: unknown;
    try {
      postgresPlace(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'store-url-invalid' });
    expect(String(thrown)).not.toContain('s3cret');
  });
});

describe.skipIf(reason !== undefined)(`PostgresLog: migrations${skipped}`, () => {
  test('of eight at once one makes the tables and the others find them', async () => {
    const url = server.unmigrated();
    const done = await Promise.all(Array.from({ length: 8 }, () => migratePostgres(url)));
    expect(done.filter(({ from }) => from === 0)).toHaveLength(1);
    expect(done.filter(({ from }) => from === POSTGRES_FORMAT)).toHaveLength(7);
    await grow(await openPostgres(url), 's', ['a']);
  });

  test('a database without tables is an answer that says how they are made, and none are made', async () => {
    const url = server.unmigrated();
    await expect(PostgresLog.open(url)).rejects.toMatchObject({
      code: 'store-not-migrated',
      hint: 'onrecord migrate',
    });
    const [row] = await operate(`SELECT to_regnamespace('${schemaOf(url)}') AS found`);
    expect(row).toEqual({ found: null });
  });

  test.each([
    ['newer', POSTGRES_FORMAT + 1, 'store-too-new'],
    ['older', POSTGRES_FORMAT - 1, POSTGRES_FORMAT === 1 ? 'store-not-migrated' : 'store-too-old'],
  ])('a %s format is refused', async (_, format, code) => {
    const url = await server.store();
    await operate(`UPDATE ${schemaOf(url)}.onrecord_format SET format = ${format}`);
    await expect(PostgresLog.open(url)).rejects.toMatchObject({ code });
  });

  test('a newer format is not touched by a migration, and ends the work of a program that ran before it', async () => {
    const url = await server.store();
    const store = await openPostgres(url);
    await grow(store, 's', ['a']);
    await operate(`UPDATE ${schemaOf(url)}.onrecord_format SET format = ${POSTGRES_FORMAT + 1}`);
    await expect(migratePostgres(url)).rejects.toMatchObject({ code: 'store-too-new' });
    await operate(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'onrecord writer'`,
    );
    const append = { session: 't', expected: 0, events: sealed('t', ['a']) };
    const codes: unknown[] = [];
    // The first one meets the end of its connection.
    for (let i = 0; i < 2; i++)
      await store.append(append).catch((error: unknown) => codes.push((error as { code: string }).code));
    expect(codes.at(-1)).toBe('store-too-new');
  });

  test('a schema of another program is refused and not touched', async () => {
    const url = server.unmigrated();
    const schema = schemaOf(url);
    await operate(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.letters (text text)`);
    await expect(migratePostgres(url)).rejects.toMatchObject({ code: 'store-not-ours' });
    await expect(PostgresLog.open(url)).rejects.toMatchObject({ code: 'store-not-ours' });
    const found = await operate(
      `SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace`,
    );
    expect(found).toEqual([{ relname: 'letters' }]);
  });

  test('a migration that fails in the middle leaves nothing', async () => {
    const url = server.unmigrated();
    await operate('CREATE ROLE poor LOGIN; GRANT CREATE ON DATABASE postgres TO poor');
    // The step itself is refused: this role may not write functions in the language that the step needs.
    await operate('REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC');
    onTestFinished(async () => void (await operate('GRANT USAGE ON LANGUAGE plpgsql TO PUBLIC')));
    await expect(migratePostgres(url.replace('onrecord@', 'poor@'))).rejects.toMatchObject({
      code: 'store-refused',
    });
    const [row] = await operate(`SELECT to_regnamespace('${schemaOf(url)}') AS found`);
    expect(row).toEqual({ found: null });
  });

  test('both sides put a session into the same bucket', async () => {
    const schema = schemaOf(await server.store());
    const names = ['s', 'control', 'żółć 😀', 's_0123456789ABCDEFGHJK'];
    for (const name of names) {
      const [row] = await operate(`SELECT ${schema}.bucket_of('${name}') AS bucket`);
      expect(row).toEqual({ bucket: bucketOf(name) });
    }
  });
});

const noOpenssl = spawnSync('openssl', ['version']).status !== 0;

describe.skipIf(reason !== undefined || noOpenssl)(
  `PostgresLog: TLS${noOpenssl ? ' (skipped: openssl makes the certificate)' : skipped}`,
  { timeout: SERVER_STARTS_MS_MAX },
  () => {
    test('a server is taken by its certificate, and refused under another name', async () => {
      const own = await PostgresServer.start();
      try {
        const [key, cert] = [join(own.data, 'server.key'), join(own.data, 'server.crt')];
        const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
        const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
        expect(spawnSync('openssl', [...made, '-keyout', key, '-out', cert]).status).toBe(0);
        own.own(key, cert);
        await operate('ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf()', own.url);
        // The server has only been told to look at its settings.
        await soon('it has', async () => (await operate('SHOW ssl', own.url))[0]?.['ssl'] === 'on');
        const plain = await own.store();
        const checked = `${plain}&sslmode=verify-full&sslrootcert=${encodeURIComponent(cert)}`;
        const store = await PostgresLog.open(checked.replace('127.0.0.1', 'localhost'));
        await grow(store, 's', ['a']);
        const encrypted = `SELECT count(*)::int AS n FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
          WHERE application_name LIKE 'onrecord%' AND NOT ssl`;
        expect(await operate(encrypted, own.url)).toEqual([{ n: 0 }]);
        await store.close();
        const refused = { code: 'store-refused', next: 'ask-a-person' };
        await expect(PostgresLog.open(checked)).rejects.toMatchObject(refused);
        await expect(PostgresLog.open(checked.replace('.crt', '.none'))).rejects.toMatchObject(refused);
        await expect(PostgresLog.open(`${server.url}?sslmode=require`)).rejects.toMatchObject(refused);
      } finally {
        await own.stop();
      }
    });
  },
);

describe.skipIf(reason !== undefined)(`PostgresLog: servers that cannot keep a promise${skipped}`, () => {
  test('“replicated” is refused without a synchronous standby, and says what to set', async () => {
    const url = await server.store();
    const opened = PostgresLog.open(url, { durability: 'replicated' });
    await expect(opened).rejects.toMatchObject({ code: 'store-not-replicated', next: 'ask-a-person' });
    await expect(opened).rejects.toThrow(/synchronous_standby_names/);
  });

  test('a default that acknowledges before a commit is safe does not reach the store', async () => {
    const url = await server.store();
    await operate('ALTER DATABASE postgres SET synchronous_commit = off');
    onTestFinished(async () => void (await operate('ALTER DATABASE postgres RESET synchronous_commit')));
    const [before] = await operate(`SELECT current_setting('synchronous_commit') AS level`);
    expect(before).toEqual({ level: 'off' });
    const schema = schemaOf(url);
    await operate(`CREATE TABLE ${schema}.seen (level text DEFAULT current_setting('synchronous_commit'))`);
    // Each event that is written notes under which level that was.
    await operate(
      `CREATE RULE look AS ON INSERT TO ${schema}.event DO ALSO INSERT INTO ${schema}.seen DEFAULT VALUES`,
    );
    await grow(await openPostgres(url), 's', ['a']);
    expect(await operate(`SELECT level FROM ${schema}.seen`)).toEqual([{ level: 'on' }]);
  });

  test('a primary set to read-only is a fault that passes', async () => {
    const store = await openPostgres(await server.store());
    const events = await grow(store, 's', ['a']);
    await operate('ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()');
    const more = {
      session: 's',
      expected: 1,
      events: sealed('s', ['b'], { from: 2, ...(events[0] && { prev: events[0].hash }) }),
    };
    let [tried, fault]: [number, unknown] = [0, undefined];
    await soon('the server refuses to write', async () => {
      await grow(store, `t${++tried}`, ['a']).catch((error: unknown) => (fault = error));
      return fault !== undefined;
    });
    expect(fault).toMatchObject({ code: 'store-read-only', next: 'retry' });
    await operate(
      'SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()',
    );
    let [written, again] = [false, false];
    await soon('it is written', async () => {
      await store.append({ ...more, again }).then(
        () => (written = true),
        () => (again = true),
      );
      return written;
    });
    expect(await store.read('s')).toHaveLength(2);
  });

  test('a server without a free connection says so', async () => {
    const url = await server.store();
    await operate(`CREATE ROLE few LOGIN CONNECTION LIMIT 0; GRANT USAGE ON SCHEMA ${schemaOf(url)} TO few`);
    await expect(PostgresLog.open(url.replace('onrecord@', 'few@'))).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('no connection left') as unknown,
    });
  });

  test('a database that is not there is refused', async () => {
    await expect(PostgresLog.open(server.url.replace('/postgres', '/nowhere'))).rejects.toMatchObject({
      code: 'store-refused',
      next: 'ask-a-person',
    });
  });

  test('nothing is read from a standby', { timeout: SERVER_STARTS_MS_MAX }, async () => {
    const standby = await PostgresServer.start();
    try {
      const url = await standby.store();
      await standby.halt();
      // A server that is told so is a standby; this one follows nobody and answers readers.
      writeFileSync(join(standby.data, 'standby.signal'), '');
      await standby.run();
      await expect(PostgresLog.open(url)).rejects.toMatchObject({
        code: 'store-read-only',
        message: expect.stringContaining('is a standby') as unknown,
      });
    } finally {
      await standby.stop();
    }
  });

  const mounts = spawnSync('unshare', ['--mount', 'true']).status === 0 && process.getuid?.() === 0;
  test.skipIf(!mounts)(
    `a full disk is a fault that passes${mounts ? '' : ' (skipped: a small disk needs the right to mount)'}`,
    { timeout: SERVER_STARTS_MS_MAX },
    async () => {
      const disk = mkdtempSync(join(tmpdir(), 'onrecord-disk-'));
      const options = ['-t', 'tmpfs', '-o', 'size=4m,uid=65534,gid=65534', 'tmpfs', disk];
      expect(spawnSync('mount', options).status).toBe(0);
      const own = await PostgresServer.start();
      try {
        const url = await own.store();
        const schema = schemaOf(url);
        await operate(`CREATE TABLESPACE small LOCATION '${disk}'`, own.url);
        await operate(`ALTER TABLE ${schema}.blob SET TABLESPACE small`, own.url);
        const store = await PostgresLog.open(url);
        const [first] = await grow(store, 's', ['a']);
        const noise = Array.from({ length: 100 }, () => crypto.getRandomValues(new Uint8Array(60_000)));
        const big = blobOf(Buffer.concat(noise));
        const append = {
          session: 's',
          expected: 1,
          events: sealed('s', ['b'], { from: 2, ...(first && { prev: first.hash }) }),
        };
        await expect(store.append({ ...append, blobs: [big] })).rejects.toMatchObject({
          code: 'store-full',
          next: 'retry',
        });
        expect((await store.head('s'))?.seq).toBe(1);
        expect(await store.blob(big.digest)).toBeUndefined();
        await store.append({ ...append, again: true });
        await store.close();
      } finally {
        await own.stop();
        spawnSync('umount', [disk]);
        rmSync(disk, { recursive: true, force: true });
      }
      expect(existsSync(disk)).toBe(false);
    },
  );
});
