/** Power loss: a WAL that ends anywhere holds a prefix of the log that proves itself, and the store goes on from it. */
import { copyFileSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chainHash, genesis } from '../../src/event/envelope.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { grow } from '../kit/chain.ts';
import { tempFolder } from '../kit/folder.ts';

/** A sector of a disk: what is written at once or not at all. */
const SECTOR_BYTES = 512;
const EVENTS = 4;

test('cut after each sector: a prefix, nothing else, and the next event follows it', async () => {
  const folder = tempFolder();
  const file = join(folder, 'log.db');
  const store = new SqliteLog(file);
  for (let i = 1; i <= EVENTS; i++) await grow(store, 's', [`${i} ${'x'.repeat(i % 3 === 0 ? 5000 : 50)}`]);
  const whole = await store.read('s');
  const db = join(folder, 'taken.db');
  copyFileSync(file, db);
  copyFileSync(`${file}-wal`, `${db}-wal`);
  await store.close();

  const bytes = readFileSync(`${db}-wal`).length;
  const heads = new Set<number>();
  const cut = join(folder, 'cut.db');
  const lengths = Array.from({ length: Math.ceil(bytes / SECTOR_BYTES) + 1 }, (_, i) => i * SECTOR_BYTES);
  for (const length of lengths) {
    copyFileSync(db, cut);
    copyFileSync(`${db}-wal`, `${cut}-wal`);
    truncateSync(`${cut}-wal`, Math.min(length, bytes));
    const reopened = new SqliteLog(cut, { durability: 'normal' });
    const head = await reopened.head('s');
    const events = head ? await reopened.read('s') : [];
    expect(events).toEqual(whole.slice(0, events.length));
    const [next] = await grow(reopened, 's', ['after the cut']);
    expect(next?.seq).toBe(events.length + 1);
    expect(next?.hash).toBe(chainHash(events.at(-1)?.hash ?? genesis('s'), next?.body ?? ''));
    await reopened.close();
    heads.add(events.length);
  }
  // Every prefix has come about, from nothing to all.
  expect([...heads].sort((a, b) => a - b)).toEqual(Array.from({ length: EVENTS + 1 }, (_, i) => i));
}, 120_000);
