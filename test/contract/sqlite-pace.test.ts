/** When the SQLite store commits, how its write-ahead log grows, and how seldom it looks at its folder. */
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { FOLDER_LOOK_MS } from '../../src/log/placement.ts';
import { COMMITS_MS } from '../../src/log/lone-writer.ts';
import { GROW_AFTER_COMMITS, type SqliteLog } from '../../src/log/sqlite.ts';
import { growLog, LOG_BYTES, openDatabase } from '../../src/log/sqlite-open.ts';
import { grow } from '../kit/chain.ts';
import { expectChain } from '../kit/expect-chain.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';

/** A store whose time stands still until it is told otherwise. */
const openStill = (file = tempFile()): { readonly store: SqliteLog; readonly pass: (ms: number) => void } => {
  let now = 0;
  const store = openSqlite(file, { clock: { ...systemClock, monotonic: () => now } });
  return { store, pass: (ms) => void (now += ms) };
};

/** Whether the event loop turned before it was done: all else in the process had its turn. */
const turnsBefore = async (work: Promise<unknown>): Promise<boolean> => {
  let turned = false;
  setImmediate(() => (turned = true));
  await work;
  return turned;
};

const logBytes = (file: string): number => statSync(`${file}-wal`).size;

describe('a commit', () => {
  test('follows at once where one session writes alone, but lets all else have its turn in between', async () => {
    const { store, pass } = openStill();
    expect(await turnsBefore(grow(store, 's', ['a']))).toBe(true);
    for (const text of ['b', 'c', 'd']) expect(await turnsBefore(grow(store, 's', [text]))).toBe(false);
    pass(COMMITS_MS);
    expect(await turnsBefore(grow(store, 's', ['e']))).toBe(true);
    expect(await turnsBefore(grow(store, 's', ['f']))).toBe(false);
    expect(await expectChain(store, 's')).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('waits for the others where several sessions write', async () => {
    const { store } = openStill();
    await grow(store, 's', ['a']);
    expect(await turnsBefore(grow(store, 't', ['a']))).toBe(true);
    expect(await turnsBefore(grow(store, 's', ['b']))).toBe(true);
    expect(await turnsBefore(grow(store, 's', ['c']))).toBe(false);
    await Promise.all([grow(store, 's', ['d']), grow(store, 't', ['b'])]);
    expect(await turnsBefore(grow(store, 's', ['e']))).toBe(true);
  });
});

describe('the write-ahead log', () => {
  test('has its full length once a store is written to again and again, and holds what it held', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    const texts = Array.from({ length: GROW_AFTER_COMMITS + 20 }, (_, i) => `${i}`);
    const early = texts.slice(0, GROW_AFTER_COMMITS - 1);
    for (const text of early) await grow(store, 's', [text]);
    expect(logBytes(file)).toBeLessThan(LOG_BYTES / 4);
    for (const text of texts.slice(early.length)) await grow(store, 's', [text]);
    expect(logBytes(file)).toBeGreaterThanOrEqual(LOG_BYTES);
    const length = logBytes(file);
    expect(await expectChain(openSqlite(file), 's')).toEqual(texts);
    for (let i = 0; i < 50; i++) await grow(store, 's', ['x'.repeat(3000)]);
    expect(logBytes(file)).toBe(length);
    const db = new DatabaseSync(file);
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(db.prepare('SELECT count(*) AS blobs FROM blob').get()).toEqual({ blobs: 0 });
    db.close();
  });

  test('stays as it is where another one writes just then', () => {
    const file = tempFile();
    const [db, other] = [openDatabase(file, 'full'), openDatabase(file, 'full')];
    const cache = db.prepare('PRAGMA cache_size').get();
    other.exec('BEGIN IMMEDIATE');
    growLog(db, file);
    expect(logBytes(file)).toBeLessThan(LOG_BYTES / 4);
    other.exec('COMMIT');
    expect(db.isTransaction).toBe(false);
    expect(db.prepare('PRAGMA cache_size').get()).toEqual(cache);
    growLog(db, file);
    expect(logBytes(file)).toBeGreaterThanOrEqual(LOG_BYTES);
    expect(db.isTransaction).toBe(false);
    for (const one of [db, other]) one.close();
  });
});

test('a store that is gone is no reason to fail for the length of its log', () => {
  const file = tempFile();
  const db = openDatabase(file, 'full');
  for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`);
  growLog(db, file);
  expect(db.isTransaction).toBe(false);
  db.close();
});

describe('a store in a folder that stood still', () => {
  const STILL_MS = 60;

  test('notices at once that its file is gone, without a look at the way to its folder', async () => {
    const file = tempFile();
    const { store, pass } = openStill(file);
    await grow(store, 's', ['a']);
    pass(STILL_MS);
    for (const text of ['b', 'c']) await grow(store, 's', [text]);
    renameSync(file, `${file}.away`);
    await expect(grow(store, 's', ['d'])).rejects.toMatchObject({ code: 'store-replaced' });
    renameSync(`${file}.away`, file);
    await grow(store, 's', ['d']);
    expect(await expectChain(store, 's')).toEqual(['a', 'b', 'c', 'd']);
  });

  test('notices soon that a folder further up was moved: what was acknowledged went along', async () => {
    const above = join(tempFolder(), 'above');
    const folder = join(above, 'store');
    mkdirSync(folder, { recursive: true });
    const { store, pass } = openStill(join(folder, 'log.db'));
    await grow(store, 's', ['a']);
    pass(STILL_MS);
    for (const text of ['b', 'c']) await grow(store, 's', [text]);
    renameSync(above, `${above}.away`);
    await grow(store, 's', ['d']);
    expect(await expectChain(openSqlite(join(`${above}.away`, 'store', 'log.db')), 's')).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    pass(FOLDER_LOOK_MS);
    await expect(grow(store, 's', ['e'])).rejects.toMatchObject({ code: 'store-replaced' });
    renameSync(`${above}.away`, above);
    await grow(store, 's', ['e']);
    expect(await expectChain(store, 's')).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});
