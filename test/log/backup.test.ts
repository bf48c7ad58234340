/** A backup is one moment of a store that others write to all the while; a restore leaves nobody with a store that is gone. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyStore, replaceStore } from '../../src/log/sqlite-backup.ts';
import { examineDatabase } from '../../src/log/sqlite-examination.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { chainHash, genesis } from '../../src/event/envelope.ts';
import { grow } from '../kit/chain.ts';
import { startChild } from '../kit/child.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';
import { Project } from '../cli/desk-stage.ts';

const acknowledged = (lines: readonly string[]): number =>
  lines.filter((line) => line.startsWith('ack ')).length;

describe('a backup', () => {
  it('beside two processes that write all the while is whole, holds all that was acknowledged before it, and keeps nobody waiting', async () => {
    const path = tempFile();
    const writers = [
      startChild('child-writer.ts', [path, 's', '100000']),
      startChild('child-writer.ts', [path, 'other', '100000']),
    ];
    for (const writer of writers) await writer.line((line) => line.startsWith('ack '));
    const folder = tempFolder();
    const sizes: number[] = [];
    for (let round = 0; round < 8; round++) {
      const before = writers.map(({ lines }) => acknowledged(lines));
      const copy = join(folder, `copy-${round}.db`);
      copyStore(path, copy);
      // The event loop was not turned meanwhile: what is counted now was written while the copy was made, or before.
      await Promise.all(
        writers.map(async (writer, i) =>
          writer.line((line) => line.startsWith('ack ') && acknowledged(writer.lines) > (before[i] ?? 0)),
        ),
      );
      expect(examineDatabase(copy).flaws).toEqual([]);
      const store = new SqliteLog(copy);
      for (const [i, session] of ['s', 'other'].entries()) {
        const events = await store.read(session);
        expect(events.length).toBeGreaterThanOrEqual(before[i] ?? 0);
        let prev = genesis(session);
        for (const [at, event] of events.entries()) {
          expect(event.seq).toBe(at + 1);
          expect(event.hash).toBe(chainHash(prev, event.body));
          prev = event.hash;
        }
        sizes.push(events.length);
      }
      await store.close();
    }
    for (const writer of writers) {
      expect(writer.process.exitCode).toBe(null);
      await writer.kill();
    }
    console.log(`8 copies beside 2 writers, with ${sizes.join(', ')} events`);
  }, 240_000);

  it('on the command line is proved, never put over a file that is there, and leaves nothing behind', async () => {
    const project = new Project();
    const session = await project.session('single');
    const ran = await project.onrecord(['backup', 'copy.db']);
    expect([ran.code, ran.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ copy\.db: .*1 session, \d+ events, all whole\./),
    ]);
    const again = await project.onrecord(['backup', 'copy.db']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('file-exists')]);
    expect((await project.onrecord(['backup', 'copy.db', '--force'])).code).toBe(0);
    expect((await project.onrecord(['verify', session, '--store', 'copy.db'])).code).toBe(0);
    expect((await project.onrecord(['backup', 'no/such/folder/copy.db'])).stderr).toContain(
      'file-not-writable',
    );
    const left = [...readdirSync(project.folder), ...readdirSync(join(project.folder, '.onrecord'))];
    expect(left.filter((name) => name.includes('part'))).toEqual([]);
  }, 240_000);

  it('of a damaged store is not made', async () => {
    const project = new Project();
    await project.session('single');
    const bytes = readFileSync(project.storePath);
    const at = bytes.indexOf('turn.accepted');
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 1;
    writeFileSync(project.storePath, bytes);
    const ran = await project.onrecord(['backup', 'copy.db']);
    expect([ran.code, ran.stderr]).toEqual([7, expect.stringContaining('store-copy-damaged')]);
    expect(existsSync(join(project.folder, 'copy.db'))).toBe(false);
  }, 240_000);
});

describe('a restore', () => {
  it('puts the backup in place and keeps the old store beside it', async () => {
    const project = new Project();
    const first = await project.session('single');
    await project.onrecord(['backup', 'copy.db']);
    const second = await project.session('pair');
    const ran = await project.onrecord(['restore', 'copy.db', '--json']);
    expect(ran.code).toBe(0);
    const { kept } = JSON.parse(ran.stdout) as { kept: string };
    const sessions = (await project.onrecord(['sessions'])).stdout;
    expect([sessions.includes(first), sessions.includes(second)]).toEqual([true, false]);
    expect((await project.onrecord(['sessions', '--store', kept])).stdout).toContain(second);
    // And on it goes, in the store that was restored.
    await project.session('pair');
    expect((await project.onrecord(['verify', '--all'])).stdout).toContain(
      '2 sessions of the store, all whole',
    );
  }, 240_000);

  it('is refused while another process has the store open, and changes nothing then', async () => {
    const path = tempFile();
    const writer = startChild('child-writer.ts', [path, 's', '100000']);
    await writer.line((line) => line.startsWith('ack '));
    const next = join(tempFolder(), 'next.db');
    copyStore(path, next);
    expect(() => replaceStore(path, next, `${path}.old`)).toThrow(
      expect.objectContaining({ code: 'store-in-use' }),
    );
    expect([existsSync(next), existsSync(`${path}.old`)]).toEqual([true, false]);
    const before = acknowledged(writer.lines);
    await writer.line(() => acknowledged(writer.lines) > before + 3);
    await writer.kill();
    const store = openSqlite(path);
    expect((await store.read('s')).length).toBeGreaterThanOrEqual(acknowledged(writer.lines));
  }, 240_000);

  it('is refused while a store of this very process has it open', async () => {
    const path = tempFile();
    const store = openSqlite(path);
    await grow(store, 's', ['one']);
    const next = join(tempFolder(), 'next.db');
    copyStore(path, next);
    expect(() => replaceStore(path, next, `${path}.old`)).toThrow(
      expect.objectContaining({ code: 'store-in-use' }),
    );
    await grow(store, 's', ['two']);
  });

  it('takes the place of a store that is too damaged to be opened, and keeps that, too', async () => {
    const project = new Project();
    const session = await project.session('single');
    await project.onrecord(['backup', 'copy.db']);
    writeFileSync(project.storePath, Buffer.from('no database at all'.repeat(1000)));
    const ran = await project.onrecord(['restore', 'copy.db']);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect((await project.onrecord(['verify', session])).code).toBe(0);
    expect(readdirSync(join(project.folder, '.onrecord')).some((name) => name.includes('replaced'))).toBe(
      true,
    );
  }, 240_000);

  it('in the moment in which a store is opened is noticed: nothing is written into the old file', async () => {
    const path = tempFile();
    await openSqlite(path).close();
    const next = join(tempFolder(), 'next.db');
    copyStore(path, next);
    const typeOf = (): number => {
      replaceStore(path, next, `${path}.old`);
      return 0;
    };
    expect(() => new SqliteLog(path, { typeOf })).toThrow(
      expect.objectContaining({ code: 'store-replaced' }),
    );
    await grow(openSqlite(path), 's', ['one']);
  });

  it('of what is no store, or a damaged one, is refused', async () => {
    const project = new Project();
    const session = await project.session('single');
    await project.onrecord(['backup', 'copy.db']);
    const path = join(project.folder, 'copy.db');
    const bytes = readFileSync(path);
    const at = bytes.indexOf('turn.accepted');
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    expect(await project.onrecord(['restore', 'copy.db'])).toMatchObject({ code: 7 });
    writeFileSync(path, 'hello');
    expect((await project.onrecord(['restore', 'copy.db'])).code).not.toBe(0);
    expect((await project.onrecord(['restore', 'nothing.db'])).stderr).toContain('file-not-readable');
    expect((await project.onrecord(['verify', session])).code).toBe(0);
  }, 240_000);
});
