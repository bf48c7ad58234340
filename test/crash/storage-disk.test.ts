/** Real disks that are full, read-only, locked, moved or gone: nothing is begun that is not written, nothing is lost. */
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SqliteLog } from '../../src/log/sqlite.ts';
import type { StorageFault } from '../../src/log/store.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { startChild } from '../kit/child.ts';
import { grow, sealed } from '../kit/chain.ts';
import { FakeClock, seededRandom, turn, until } from '../kit/clock.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';
import { CAN_MOUNT, Disk } from './children/disk.ts';
import { eventsOf, expectFault, expectProof, Scene, soon, typesOf } from './children/stage.ts';
import { trio } from './children/trio.ts';

const MIB = 1024 * 1024;

type InHand = {
  readonly runtime: Runtime;
  readonly session: string;
  readonly told: readonly string[];
  /** The model answers now. */
  readonly answer: () => void;
};

/** A session whose request is with the model. */
const asked = async (scene: Scene): Promise<InHand> => {
  const gate = Promise.withResolvers<void>();
  const { runtime, told } = await scene.here({ model: () => gate.promise });
  const { session } = await runtime.send({ agent: 'trio', key: 'k', message: 'Do all three.' });
  await soon('the model is asked', () => told.length === 1);
  return { runtime, session, told, answer: gate.resolve };
};

const expectWaits = async ({ runtime, told }: InHand, fault: StorageFault): Promise<void> => {
  await soon(`the fault ${fault}`, () => runtime.storageFault?.fault === fault);
  expect(told).toEqual(['model 1.1#1']);
};

const expectGoesOn = async ({ runtime, session, told }: InHand): Promise<void> => {
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(runtime.storageFault).toBeUndefined();
  const events = await expectProof(runtime.store, session);
  expect(events.filter((event) => event.type === 'driver.changed')).toEqual([]);
  expect(told.map((line) => line.split(' ')[0])).toEqual(['model', 'fast', 'fast', 'slow', 'model']);
};

describe.skipIf(!CAN_MOUNT)('a full disk', () => {
  test('with a response in hand: no effect, the session waits, and goes on when there is room', async () => {
    const disk = new Disk(4 * MIB);
    const inHand = await asked(new Scene('once', disk.folder));
    const head = await inHand.runtime.store.head(inHand.session);
    disk.fill();
    inHand.answer();
    await expectWaits(inHand, 'full');
    expect(await inHand.runtime.store.head(inHand.session)).toEqual(head);
    await expect(inHand.runtime.send({ session: inHand.session, message: 'More.' })).rejects.toMatchObject({
      code: 'store-full',
      next: 'retry',
    });
    await expect(
      inHand.runtime.send({ agent: 'trio', key: 'other', message: 'More.' }),
    ).rejects.toMatchObject({
      code: 'store-full',
    });
    disk.empty();
    await expectGoesOn(inHand);
    const accepted = (await typesOf(inHand.runtime.store, inHand.session)).filter(
      (type) => type === 'turn.accepted',
    );
    expect(accepted).toHaveLength(1);
    expect(await inHand.runtime.sessions()).toHaveLength(1);
  });

  test('with a result in hand: the tool is not run again', async () => {
    const disk = new Disk(4 * MIB);
    const slow = Promise.withResolvers<string>();
    const { runtime, told } = await new Scene('once', disk.folder).here({ slow: () => slow.promise });
    const { session } = await runtime.send({ agent: 'trio', key: 'k', message: 'Do all three.' });
    await soon(
      'two results',
      async () =>
        (await typesOf(runtime.store, session)).filter((type) => type === 'call.result').length === 2,
    );
    disk.fill();
    slow.resolve('slow 3');
    await soon('the store is full', () => runtime.storageFault?.fault === 'full');
    disk.empty();
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(told.filter((line) => line.startsWith('slow'))).toHaveLength(1);
    await expectProof(runtime.store, session);
  });

  test('a process that is killed while it waits: the next one finds a log that proves itself', async () => {
    const disk = new Disk(4 * MIB);
    const scene = new Scene('once', disk.folder);
    const server = await scene.serve({ modelWaits: true, world: join(tempFolder(), 'world') });
    await server.line((line) => line === 'model 1.1#1');
    disk.fill();
    server.say('settle');
    await expectFault(server, 'full');
    await server.kill();
    disk.empty();
    const { runtime, told } = await scene.here();
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'done' });
    await expectProof(runtime.store, server.session);
    expect(told.map((line) => line.split(' ')[0])).toEqual(['model', 'fast', 'fast', 'slow', 'model']);
  });

  test('a store that cannot be made says so, and can be made when there is room', async () => {
    const disk = new Disk(256 * 1024);
    disk.fill();
    const file = join(disk.folder, 'log.db');
    expect(() => new SqliteLog(file)).toThrow(expect.objectContaining({ code: 'store-full' }));
    disk.empty();
    const store = openSqlite(file);
    await grow(store, 's', ['a']);
    expect(await store.head('s')).toMatchObject({ seq: 1 });
  });

  test('one append that does not fit takes no other with it', async () => {
    const disk = new Disk(MIB);
    const store = openSqlite(join(disk.folder, 'log.db'));
    await grow(store, 'small', ['a']);
    // Random, so that it cannot be packed.
    const large = Buffer.from(seededRandom(1).bytes(2 * MIB)).toString('base64');
    const refused = store.append({ session: 'large', expected: 0, events: sealed('large', [large]) });
    const kept = grow(store, 'small', ['b']);
    await expect(refused).rejects.toMatchObject({ code: 'store-full' });
    await kept;
    expect(await store.head('small')).toMatchObject({ seq: 2 });
    expect(await store.head('large')).toBeUndefined();
  });
});

describe.skipIf(!CAN_MOUNT)('a read-only disk', () => {
  test('a store is refused with words and can be opened when it is writable again', async () => {
    const disk = new Disk(4 * MIB);
    const file = join(disk.folder, 'log.db');
    const store = new SqliteLog(file);
    await grow(store, 's', ['a']);
    await store.close();
    disk.readOnly();
    expect(() => new SqliteLog(file)).toThrow(
      expect.objectContaining({
        code: 'store-read-only',
        message: expect.stringContaining('for writing') as string,
      }),
    );
    expect(() => new SqliteLog(join(disk.folder, 'new.db'))).toThrow(
      expect.objectContaining({ code: 'store-read-only' }),
    );
    disk.writable();
    expect(await openSqlite(file).head('s')).toMatchObject({ seq: 1 });
  });
});

const CAN_LIMIT = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;
if (!CAN_LIMIT) console.warn('SKIPPED: the test of a file size limit. It needs prlimit from util-linux.');

test.skipIf(!CAN_LIMIT)('a limit of file sizes (EFBIG) is waited for like a full disk', async () => {
  const scene = new Scene('once');
  const server = await scene.serve({ modelWaits: true });
  await server.line((line) => line === 'model 1.1#1');
  const limit = (bytes: string): void => {
    const { status, stderr } = spawnSync(
      'prlimit',
      [`--pid=${server.process.pid}`, `--fsize=${bytes}:unlimited`],
      { encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(stderr);
  };
  limit(String(statSync(`${scene.file}-wal`).size));
  server.say('settle');
  await expectFault(server, 'io');
  expect(scene.world).toEqual(['model 1.1#1']);
  limit('unlimited');
  await server.line((line) => line.endsWith(' turn.ended'));
  expect(scene.world.map((line) => line.split(' ')[0])).toEqual(['model', 'fast', 'fast', 'slow', 'model']);
  await expectProof(openSqlite(scene.file), server.session);
});

/** A request is with the model, and another process holds the lock of the store. */
const locked = async (
  busyMs: number,
): Promise<InHand & { clock: FakeClock; unlock: () => Promise<void> }> => {
  const file = tempFile();
  const clock = new FakeClock();
  const told: string[] = [];
  const gate = Promise.withResolvers<void>();
  const agent = trio({ kind: 'once', tell: (line) => told.push(line), model: () => gate.promise });
  const store = new SqliteLog(file, { clock, busyMs });
  const runtime = await openRuntime({ store, agents: [agent], clock });
  onTestFinished(async () => {
    const closed = runtime.close({ drainMs: 0 });
    clock.advance(0);
    await closed;
  });
  const { session } = await runtime.send({ agent: 'trio', key: 'k', message: 'Do all three.' });
  await until('the model is asked', () => told.length === 1);
  const locker = startChild('child-locker.ts', [file]);
  await locker.line((line) => line === 'locked');
  const unlock = async (): Promise<void> => {
    locker.say('go');
    await locker.line((line) => line === 'unlocked');
  };
  return { runtime, session, told, answer: gate.resolve, clock, unlock };
};

describe('a lock of another process', () => {
  test('for 6 seconds, within the patience of the store: a pause and nothing else', async () => {
    const inHand = await locked(30_000);
    inHand.answer();
    for (let i = 0; i < 300; i++) {
      await turn();
      inHand.clock.advance(20);
    }
    expect(inHand.clock.monotonic()).toBe(6000);
    expect(inHand.told).toEqual(['model 1.1#1']);
    expect(inHand.runtime.storageFault).toBeUndefined();
    await inHand.unlock();
    const rest = expectGoesOn(inHand);
    for (let i = 0; i < 20; i++) {
      inHand.clock.advance(20);
      await turn();
    }
    await rest;
  });

  test('for longer than its patience: the session waits and says so, nothing is lost, the model is asked once', async () => {
    const inHand = await locked(100);
    inHand.answer();
    await until('the fault is said', () => {
      inHand.clock.advance(20);
      return inHand.runtime.storageFault?.fault === 'busy';
    });
    for (let i = 0; i < 1000; i++) {
      await turn();
      inHand.clock.advance(20);
    }
    expect(inHand.told).toEqual(['model 1.1#1']);
    expect(inHand.runtime.storageFault?.fault).toBe('busy');
    await inHand.unlock();
    let done = false;
    const rest = expectGoesOn(inHand).finally(() => (done = true));
    await until('the session is done', () => (inHand.clock.advance(50), done));
    await rest;
  });
});

describe('the file underneath', () => {
  test('moved away with a response in hand: it is waited for, and all goes on when it is back', async () => {
    const scene = new Scene('once');
    const inHand = await asked(scene);
    renameSync(scene.file, `${scene.file}.away`);
    inHand.answer();
    await expectWaits(inHand, 'replaced');
    expect(inHand.runtime.storageFault?.message).toContain('was moved, deleted or replaced');
    renameSync(`${scene.file}.away`, scene.file);
    await expectGoesOn(inHand);
  });

  test.each(['', '-wal'])('deleted (log.db%s): no effect, no acknowledgement', async (part) => {
    const scene = new Scene('once');
    const inHand = await asked(scene);
    rmSync(`${scene.file}${part}`);
    inHand.answer();
    await expectWaits(inHand, 'replaced');
    await expect(inHand.runtime.send({ session: inHand.session, message: 'More.' })).rejects.toMatchObject({
      code: 'store-replaced',
    });
    expect(existsSync(`${scene.file}${part}`)).toBe(false);
  });

  test('its folder replaced by a link that leads nowhere', async () => {
    const folder = join(tempFolder(), 'store');
    const store = openSqlite(join(folder, 'log.db'));
    await grow(store, 's', ['a']);
    renameSync(folder, `${folder}.away`);
    symlinkSync(folder, folder);
    await expect(grow(store, 's', ['b'])).rejects.toMatchObject({ code: 'store-replaced' });
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await grow(store, 's', ['b']);
    expect(await store.head('s')).toMatchObject({ seq: 2 });
  });

  test('replaced by another store while many append: each acknowledged event is in the file that it was put in', async () => {
    const file = tempFile();
    const store = openSqlite(file);
    await grow(store, 's', ['first']);
    const kept: number[] = [1];
    let refused = 0;
    const flood = (async (): Promise<void> => {
      for (let i = 0; refused === 0; i++)
        await grow(store, 's', [`${i}`]).then(
          ([event]) => void (event && kept.push(event.seq)),
          () => void refused++,
        );
    })();
    await until('some are kept', () => kept.length > 20);
    for (const part of ['', '-wal', '-shm']) renameSync(`${file}${part}`, `${file}.away${part}`);
    const other = openSqlite(file);
    await grow(other, 't', ['of the other']);
    await flood;
    expect((await other.sessions()).map((row) => row.session)).toEqual([]);
    expect(await other.head('s')).toBeUndefined();
    const away = await eventsOf(openSqlite(`${file}.away`), 's');
    expect(away.map((event) => event.seq)).toEqual(expect.arrayContaining(kept));
  });
});
