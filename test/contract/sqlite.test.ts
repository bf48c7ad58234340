/** What the SQLite store promises beyond the contract: other processes, other files, other disks. */
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { APPLICATION_ID, MIGRATIONS, STORE_FORMAT } from '../../src/log/migrations.ts';
import type { StoredEvent } from '../../src/event/envelope.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import type { Claim, LogStore } from '../../src/log/store.ts';
import { startChild } from '../kit/child.ts';
import { blobOf, grow, OWNER_A, sealed } from '../kit/chain.ts';
import { FakeClock, until } from '../kit/clock.ts';
import { expectChain } from '../kit/expect-chain.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';

const claim = (store: LogStore, session: string): Promise<Claim> =>
  store.claim({ session, owner: OWNER_A, now: 0, leaseMs: 1000, isGone: () => false });

afterEach(() => void vi.restoreAllMocks());

describe('SqliteLog: several processes on one file', { timeout: 120_000 }, () => {
  test('they append to one session and to their own; every acknowledged event is there once', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    const shared = [
      startChild('child-writer.ts', [file, 's', '60']),
      startChild('child-writer.ts', [file, 's', '60']),
    ];
    const own = startChild('child-writer.ts', [file, 'own', '60']);
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

  test('they create one file at the same moment', async () => {
    const file = tempFile();
    const children = Array.from({ length: 4 }, (_, i) => startChild('child-writer.ts', [file, `s${i}`, '3']));
    await Promise.all(children.map((child) => child.done()));
    const store = openSqlite(file);
    for (const i of children.keys()) expect(await expectChain(store, `s${i}`)).toHaveLength(3);
  });

  test('one reads and writes while others come and go', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    await grow(store, 's', ['first']);
    const done = Promise.all(
      [0, 1].map(async (lane) => {
        for (let i = 0; i < 4; i++) await startChild('child-writer.ts', [file, `s${lane}`, '2']).done();
      }),
    ).then(() => 'over');
    let writes = 0;
    for (let over = false; !over;) {
      await grow(store, 's', [`${++writes}`]);
      expect((await store.read('s', 1, 1)).length).toBe(1);
      over = (await Promise.race([done, new Promise((resolve) => setImmediate(resolve, ''))])) === 'over';
    }
    expect(await expectChain(store, 's')).toHaveLength(writes + 1);
    expect(await expectChain(store, 's0')).toHaveLength(8);
  });

  test('commits of another process wake whoever listens here', async () => {
    const file = tempFile();
    const clock = new FakeClock();
    const store = openSqlite(file, { clock });
    await grow(store, 's', ['first']);
    const told: unknown[] = [];
    store.changes((change) => told.push(change));
    await startChild('child-writer.ts', [file, 's', '1']).done();
    expect(told).toEqual([]);
    clock.advance(1000);
    expect(told).toEqual([undefined]);
  });

  test('a lock of another process is waited for, and the event loop goes on meanwhile', async () => {
    const file = tempFile();
    const clock = new FakeClock();
    const store = openSqlite(file, { clock, busyMs: 1000 });
    await grow(store, 's', ['first']);
    const locker = startChild('child-locker.ts', [file]);
    await locker.line((line) => line === 'locked');
    let kept = false;
    const append = grow(store, 's', ['second']).then(() => (kept = true));
    await until('the store waits', () => clock.pending > 0);
    expect(kept).toBe(false);
    locker.say('go');
    await locker.line((line) => line === 'unlocked');
    clock.advance(100);
    await append;
    expect((await store.head('s'))?.seq).toBe(2);
  });

  test('a lock held longer than the busy wait is an answer, and changes nothing', async () => {
    const file = tempFile();
    const clock = new FakeClock();
    const store = openSqlite(file, { clock, busyMs: 1000 });
    const [first] = await grow(store, 's', ['first']);
    const locker = startChild('child-locker.ts', [file]);
    await locker.line((line) => line === 'locked');
    const refusals: unknown[] = [];
    const append = {
      session: 's',
      expected: 1,
      events: sealed('s', ['second'], { from: 2, ...(first && { prev: first.hash }) }),
    };
    void store.append(append).catch((error: unknown) => refusals.push(error));
    const owner = { id: 'a', host: 'h', boot: 'b', pid: 1, started: '1' };
    void store
      .claim({ session: 's', owner, now: 0, leaseMs: 1, isGone: () => false })
      .catch((error: unknown) => refusals.push(error));
    await until('both are refused', () => {
      clock.advance(20);
      return refusals.length === 2;
    });
    expect(clock.monotonic()).toBeLessThan(3000);
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'store-busy', next: 'retry' });
    locker.say('go');
    await locker.line((line) => line === 'unlocked');
    expect((await store.head('s'))?.seq).toBe(1);
    await store.append(append);
    expect((await store.head('s'))?.seq).toBe(2);
  });

  test('after SIGKILL in mid-stream the file holds a prefix with every acknowledged event', async () => {
    const file = tempFile();
    const child = startChild('child-writer.ts', [file, 's', '1000000']);
    await child.line((line) => line.startsWith('ack 200 '));
    await child.kill();
    const acknowledged = child.lines.filter((line) => line.startsWith('ack ')).length;
    const store = openSqlite(file);
    const texts = await expectChain(store, 's');
    expect(texts.length).toBeGreaterThanOrEqual(acknowledged);
    expect(texts.length).toBeLessThanOrEqual(acknowledged + 1);
    expect(texts.map((text) => Number(text.split(' ')[1]))).toEqual(texts.map((_, i) => i + 1));
    await grow(store, 's', ['goes on']);
  });
});

describe('SqliteLog: two connections', () => {
  test('heads, epochs and gates that the other one has moved are seen by the next append', async () => {
    const file = tempFile();
    const [one, other] = [openSqlite(file), openSqlite(file)];
    await grow(one, 's', ['a']);
    await grow(other, 's', ['b']);
    const [third] = await grow(one, 's', ['c']);
    const next = (text: string): readonly StoredEvent[] =>
      sealed('s', [text], { from: 4, ...(third && { prev: third.hash }) });
    const append = { session: 's', expected: 3, events: next('d') };

    await grow(other, 'control', ['closed']);
    const given = { session: 'control', head: 0 };
    await expect(one.append({ ...append, given })).rejects.toMatchObject({ code: 'append-conflict' });
    expect(await claim(other, 's')).toMatchObject({ won: true, epoch: 1 });
    await expect(one.append({ ...append, epoch: 0 })).rejects.toMatchObject({ code: 'append-fenced' });
    await one.append({ ...append, epoch: 1, given: { session: 'control', head: 1 } });

    await grow(other, 's', ['e']);
    const late = { ...append, expected: 4, epoch: 1 };
    await expect(one.append(late)).rejects.toMatchObject({ code: 'append-conflict' });
    expect(await expectChain(one, 's')).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('SqliteLog: files of earlier formats', () => {
  test('a store of each earlier format is brought up to date with its sessions as they were', async () => {
    const whole = tempFile();
    const now = new SqliteLog(whole);
    const events = await grow(now, 's', ['a', 'b', 'c']);
    await now.close();
    for (let format = 1; format < STORE_FORMAT; format++) {
      const file = tempFile();
      const db = new DatabaseSync(file);
      for (const step of MIGRATIONS.slice(0, format)) db.exec(step);
      db.exec(
        `ATTACH '${whole}' AS whole; INSERT INTO session (id, name, epoch) SELECT id, name, epoch FROM whole.session`,
      );
      const insert = db.prepare('INSERT INTO event (session, seq, hash, body) VALUES (1, ?, unhex(?), ?)');
      for (const { seq, hash, body } of events) insert.run(seq, hash, body);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${format}`);
      db.close();
      const store = openSqlite(file);
      expect(await store.read('s')).toEqual(events);
      await store.append({
        session: 'f',
        expected: 2,
        fork: { parent: 's', seq: 2 },
        events: sealed('f', ['x'], { from: 3, ...(events[1] && { prev: events[1].hash }) }),
      });
      expect(await store.read('f')).toHaveLength(3);
      await grow(store, 's', ['d']);
      expect(await store.read('s')).toHaveLength(4);
    }
  });
});

describe('SqliteLog: files that are not its own', () => {
  test('a newer format is refused and not touched', async () => {
    const file = tempFile();
    const store = new SqliteLog(file);
    await grow(store, 's', ['a']);
    await store.close();
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA user_version = ${STORE_FORMAT + 1}; PRAGMA journal_mode = DELETE`);
    db.close();
    const before = readFileSync(file);
    expect(() => new SqliteLog(file)).toThrow(
      expect.objectContaining({
        code: 'store-too-new',
        details: expect.objectContaining({ format: STORE_FORMAT + 1 }) as unknown,
      }),
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('a database of another program is refused and not touched', () => {
    const file = tempFile();
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE letters (text); INSERT INTO letters VALUES (1)');
    db.close();
    const before = readFileSync(file);
    expect(() => new SqliteLog(file)).toThrow(expect.objectContaining({ code: 'store-not-ours' }));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('an empty database that another program has marked as its own is refused', () => {
    const file = tempFile();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA application_id = 7');
    db.close();
    expect(() => new SqliteLog(file)).toThrow(expect.objectContaining({ code: 'store-not-ours' }));
  });

  test('a text file is said to be damaged and not touched', () => {
    const file = tempFile();
    writeFileSync(file, 'Dear diary, today nothing happened that anybody would want to keep.\n'.repeat(20));
    const before = readFileSync(file);
    expect(() => new SqliteLog(file)).toThrow(expect.objectContaining({ code: 'store-damaged' }));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test.each([
    ['nfs', 0x6969],
    ['cifs, as a signed number', 0xff534d42 | 0],
    ['fuse', 0x65735546],
  ])('a folder on %s is refused before a file is made', (_, type) => {
    const file = join(tempFolder(), 'deep', 'log.db');
    expect(() => new SqliteLog(file, { typeOf: () => type })).toThrow(
      expect.objectContaining({ code: 'store-on-network-folder', next: 'ask-a-person' }),
    );
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });

  test('a local folder is taken', async () => {
    const store = openSqlite(tempFile(), { typeOf: () => 0xef53 });
    await grow(store, 's', ['a']);
    expect(await store.read('s')).toHaveLength(1);
  });
});

describe('SqliteLog: the file underneath', () => {
  test('a lease is written without a sync of its own; whatever happens to it, the next append has one', async () => {
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
    const levels = (): readonly string[] =>
      exec.mock.calls.flatMap(([text]) => /synchronous = (\w+)/.exec(text)?.[1] ?? []);
    const file = tempFile();
    const store = openSqlite(file, { busyMs: 0 });
    await grow(store, 's', ['a']);
    expect(levels()).toEqual(['FULL']);
    expect(await claim(store, 's')).toMatchObject({ won: true });
    expect(levels()).toEqual(['FULL', 'NORMAL', 'FULL']);
    await expect(claim(store, 'nobody')).rejects.toMatchObject({ code: 'session-not-found' });
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(claim(store, 's')).rejects.toMatchObject({ code: 'store-busy' });
    other.exec('COMMIT');
    other.close();
    expect(levels().at(-1)).toBe('FULL');
    await grow(store, 't', ['a']);
    const before = levels().length;
    // A session that has the store to itself writes at once; these two wait for the event loop, and share a commit.
    await Promise.all([claim(store, 's'), grow(store, 's', ['b'])]);
    expect(levels()).toHaveLength(before);
  });

  test('nothing is acknowledged in a file that was moved away, and all goes on when it is back', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    await grow(store, 's', ['a']);
    renameSync(file, `${file}.away`);
    await expect(grow(store, 's', ['b'])).rejects.toMatchObject({ code: 'store-replaced' });
    renameSync(`${file}.away`, file);
    await grow(store, 's', ['b']);
    expect(await expectChain(store, 's')).toEqual(['a', 'b']);
  });

  test.each(['', '-wal'])(
    'that its log.db%s was moved is noticed at once in a folder that stood still for long',
    async (part) => {
      const file = tempFile();
      let passed = 0;
      const store = openSqlite(file, { clock: { ...systemClock, monotonic: () => (passed += 1000) } });
      for (const text of ['a', 'b', 'c']) await grow(store, 's', [text]);
      renameSync(`${file}${part}`, `${file}.away`);
      for (let i = 0; i < 3; i++)
        await expect(grow(store, 's', ['d'])).rejects.toMatchObject({ code: 'store-replaced' });
      renameSync(`${file}.away`, `${file}${part}`);
      for (const text of ['d', 'e', 'f']) await grow(store, 's', [text]);
      renameSync(`${file}${part}`, `${file}.away`);
      await expect(grow(store, 's', ['g'])).rejects.toMatchObject({ code: 'store-replaced' });
      renameSync(`${file}.away`, `${file}${part}`);
      expect(await expectChain(store, 's')).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    },
  );

  test('nothing is acknowledged in a file that was replaced by another one', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    const [first] = await grow(store, 's', ['a']);
    for (const part of ['', '-wal', '-shm']) renameSync(`${file}${part}`, `${file}.away${part}`);
    const other = openSqlite(file);
    await grow(other, 't', ['of the other']);
    const events = sealed('s', ['b'], { from: 2, ...(first && { prev: first.hash }) });
    await expect(store.append({ session: 's', expected: 1, events })).rejects.toMatchObject({
      code: 'store-replaced',
    });
    expect((await other.sessions()).length).toBe(0);
    expect(await other.head('s')).toBeUndefined();
    expect(await expectChain(other, 't')).toEqual(['of the other']);
  });

  test('what was acknowledged is in a copy of file and WAL', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    await grow(store, 's', ['a', 'b'.repeat(10_000)]);
    const copy = `${file}.copy`;
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    expect(await expectChain(openSqlite(copy), 's')).toEqual(['a', 'b'.repeat(10_000)]);
  });

  test('a body that compresses takes less room, and a blob is kept once', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    const blob = blobOf(Buffer.alloc(1_000_000, 'onrecord '));
    for (const session of ['a', 'b', 'c'])
      await store.append({
        session,
        expected: 0,
        events: sealed(session, ['x'.repeat(500_000)]),
        blobs: [blob],
      });
    await store.close();
    expect(readFileSync(file).length).toBeLessThan(200_000);
  });

  test('a session that was refused in one transaction can be created in the next', async () => {
    const store = openSqlite(tempFile());
    const wrong = sealed('s', ['a'], { from: 3 });
    await expect(store.append({ session: 's', expected: 2, events: wrong })).rejects.toMatchObject({
      code: 'append-conflict',
    });
    await grow(store, 's', ['a']);
    expect(await expectChain(store, 's')).toEqual(['a']);
  });
});
