/** Levels, warm rooms, and that nothing is left behind, whoever is killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Level } from '../../src/room/level.ts';
import { openRooms, type Rooms } from '../../src/room/rooms.ts';
import { calm } from '../kit/clock.ts';
import { openSqlite, tempFolder } from '../kit/folder.ts';
import {
  expectNothingLeft,
  jobOf,
  levelsHere,
  openTestRooms,
  processesNaming,
  roomFolder,
  runFolders,
  runIn,
} from '../kit/rooms.ts';

const levels = await levelsHere();
const KILL_MS = 180_000;
/** What ends a program here is never how slow the machine is. */
const WALL_MS = 60_000;

/** What the command lines of a room's processes hold. */
const roomName = (level: Level): string =>
  level === 'gvisor' ? `room-${process.pid}-` : join(roomFolder, 'guest-');

/** All that a room's process is given; runsc adds what it hands to its own sandbox. */
const GIVEN_VARIABLES = ['PATH'];

const variablesOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => entry.split('=')[0] ?? '');

const openFilesOf = (pid: number): readonly string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });

/** What is found of a process; undefined where it ended meanwhile, as one of a room before may. */
const lookAt = <T>(pid: number, find: (pid: number) => T): T | undefined => {
  try {
    return find(pid);
  } catch (error) {
    if (existsSync(`/proc/${pid}/fd`)) throw error;
    return undefined;
  }
};

/** The others of a room may be gone with the first one. */
const killHard = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const pidsOf = (level: Level): readonly number[] =>
  processesNaming(roomName(level)).map((line) => Number(line.split(' ')[0]));

const MEMORY_BLOCK_BYTES = 4 * 1024 * 1024;

/** Reads all that a process has in memory of its own. */
const memoryHolds = (pid: number, text: string): boolean => {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from !== '' && rangeHolds(memory, Number(`0x${from}`), Number(`0x${to}`), text)) return true;
    }
    return false;
  } finally {
    closeSync(memory);
  }
};

const rangeHolds = (memory: number, from: number, to: number, text: string): boolean => {
  const block = Buffer.alloc(MEMORY_BLOCK_BYTES);
  for (let at = from; at < to; at += MEMORY_BLOCK_BYTES - text.length)
    try {
      const read = readSync(memory, block, 0, Math.min(block.length, to - at), at);
      if (block.subarray(0, read).includes(text)) return true;
    } catch {
      // Reserved and never used: there is nothing to read.
      return false;
    }
  return false;
};

const opened = async (level: Level, warm = 1): Promise<Rooms> => {
  const rooms = await openTestRooms({ level, warm, limits: { wallMs: WALL_MS } });
  onTestFinished(() => rooms.close());
  return rooms;
};

// A file where the folder should be: no level can be prepared, as on a machine without runsc.
const broken = (): string => {
  const folder = join(tempFolder(), 'rooms');
  writeFileSync(folder, '');
  return folder;
};

describe('levels', () => {
  test('auto takes gvisor where a program runs at it; else wasm, and says why, aloud', async () => {
    const said: string[] = [];
    const rooms = await openTestRooms({ level: 'auto', onFallback: (message) => said.push(message) });
    await rooms.close();
    expect(rooms.facts.level).toBe(levels.includes('gvisor') ? 'gvisor' : 'wasm');
    expect(said).toHaveLength(levels.includes('gvisor') ? 0 : 1);
  });

  test('a level that does not work is named, and nothing falls back silently', async () => {
    await expect(openRooms({ level: 'gvisor', folder: broken() })).rejects.toThrow(/EEXIST|ENOTDIR|runsc/);
    await expect(openRooms({ require: 'gvisor', folder: broken() })).rejects.toThrow(/EEXIST|ENOTDIR|runsc/);
  });

  test.skipIf(!levels.includes('gvisor'))(
    'two sets of rooms are opened at one moment, as two tools of an agent do',
    async () => {
      const both = await Promise.all(
        (['quickjs', 'node'] as const).map((engine) => openTestRooms({ level: 'gvisor', engine, warm: 0 })),
      );
      const runs = await Promise.all(both.map((rooms) => runIn(rooms, 'return 6 * 7')));
      await Promise.all(both.map((rooms) => rooms.close()));
      expect(runs.map(({ end }) => end.kind === 'done' && end.value)).toEqual(['42', '42']);
    },
    KILL_MS,
  );

  test.skipIf(!levels.includes('gvisor'))(
    'auto falls back aloud, require fails closed, where runsc runs nothing',
    async () => {
      // A root without a Node in it: runsc is here and starts, and a program does not run. Looking for a file would not do.
      const folder = tempFolder();
      const first = await openRooms({ level: 'gvisor', folder });
      await first.close();
      const root = readdirSync(folder).find((name) => name.startsWith('root-')) ?? '';
      rmSync(join(folder, root, 'bin', 'node'));
      const said: string[] = [];
      const rooms = await openRooms({ folder, onFallback: (message) => said.push(message) });
      await rooms.close();
      expect(rooms.facts.level).toBe('wasm');
      expect(said).toEqual([expect.stringMatching(/level wasm: gvisor does not work here.*node/s)]);
      await expect(openRooms({ folder, require: 'gvisor' })).rejects.toMatchObject({
        code: 'room-unavailable',
      });
      await expect(openRooms({ folder, engine: 'node' })).rejects.toMatchObject({ code: 'room-unavailable' });
    },
    KILL_MS,
  );

  test.each([
    [{ level: 'node' as Level }, /none of auto, gvisor, wasm/],
    [{ level: 'wasm', require: 'gvisor' }, /only one can hold/],
    [{ level: 'wasm', engine: 'node' }, /only at level gvisor/],
    [{ warm: 9 }, /from 0 to 8/],
    [{ limits: { ticks: 0 } }, /ticks is 0/],
    [{ limits: { speed: 1 } as object }, /no room limit called "speed"/],
  ] as const)('%o is refused', async (options, message) => {
    await expect(openRooms({ folder: roomFolder, ...options })).rejects.toThrow(message);
  });
});

describe.each(levels)('rooms of level %s', (level) => {
  test(
    'one job, one room: nothing is left for the next, and a burst over the warm ones is answered',
    async () => {
      const rooms = await opened(level);
      await rooms.warm();
      const code = 'const before = globalThis.left ?? 0; globalThis.left = input; return [before, input]';
      const runs = await Promise.all(
        Array.from({ length: 5 }, (_, i) => runIn(rooms, code, { input: String(i) })),
      );
      expect(runs.map(({ end }) => end.kind === 'done' && end.value)).toEqual([
        '[0,0]',
        '[0,1]',
        '[0,2]',
        '[0,3]',
        '[0,4]',
      ]);
    },
    KILL_MS,
  );

  test(
    'what bounded a run stands in its record',
    async () => {
      const rooms = await opened(level, 0);
      const { record } = await runIn(rooms, 'return 1');
      expect(record).toMatchObject({
        level,
        engine: 'quickjs',
        engineVersion: 'quickjs-wasi 3.7.0, QuickJS-ng 0.18.0',
        programDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        guestDigest: rooms.facts.guestDigest,
        seed: 'seed',
        limits: rooms.limits,
      });
      expect(record.runsc === undefined).toBe(level === 'wasm');
    },
    KILL_MS,
  );

  test(
    'a run that nobody wants any more is stopped',
    async () => {
      const rooms = await opened(level);
      await rooms.warm();
      const abort = new AbortController();
      const run = rooms.run(jobOf('for (;;);'), abort.signal);
      abort.abort();
      expect((await run).end).toMatchObject({ kind: 'failed', why: 'stopped' });
    },
    KILL_MS,
  );

  test(
    'a warm room that was killed is replaced, not used',
    async () => {
      const rooms = await opened(level);
      await rooms.warm();
      for (const pid of pidsOf(level)) killHard(pid);
      expect((await runIn(rooms, 'return 1')).end).toMatchObject({ kind: 'done', value: '1' });
    },
    KILL_MS,
  );

  test(
    'no credential of this process is in a room: not in its environment, its open files or its memory',
    async () => {
      const secret = `planted-${process.pid}-${performance.now()}`;
      const folder = tempFolder();
      openSqlite(join(folder, 'log.db'));
      vi.stubEnv('PLANTED_KEY', secret);
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(openFilesOf(process.pid).some((path) => path.startsWith(folder))).toBe(true);
      writeFileSync(join(folder, 'key.txt'), secret);
      const rooms = await opened(level);
      await rooms.warm();
      const looked = pidsOf(level).flatMap(
        (pid) =>
          lookAt(pid, () => ({
            variables: variablesOf(pid).filter((name) => !GIVEN_VARIABLES.includes(name)),
            files: openFilesOf(pid).filter((path) => path.startsWith(folder)),
            holdsSecret: memoryHolds(pid, secret),
          })) ?? [],
      );
      expect(looked.length).toBeGreaterThan(0);
      for (const found of looked) expect(found).toEqual({ variables: [], files: [], holdsSecret: false });
      expect(memoryHolds(process.pid, secret)).toBe(true);
    },
    KILL_MS,
  );

  test(
    'nothing is left after close, with a program at work',
    async () => {
      const rooms = await openTestRooms({ level });
      await rooms.warm();
      const run = runIn(rooms, 'for (;;);');
      await calm();
      await rooms.close();
      expect((await run).end.kind).toBe('failed');
      await expectNothingLeft(roomFolder);
    },
    KILL_MS,
  );

  test(
    'nothing is left after SIGKILL of the runtime, with a program at work and a room that waits',
    async () => {
      const folder = tempFolder();
      const child = await looping(level, folder);
      expect(processesNaming(folder).length).toBeGreaterThan(1);
      child.kill('SIGKILL');
      await once(child, 'close');
      await expectNothingLeft(folder);
    },
    KILL_MS,
  );

  test(
    'what is left where the watcher was killed too goes with the next start',
    async () => {
      const folder = tempFolder();
      const stale = join(folder, 'run-999999999-abc');
      mkdirSync(stale);
      expect(runFolders(folder)).toHaveLength(1);
      const rooms = await openRooms({ level, folder });
      await rooms.close();
      await expectNothingLeft(folder);
    },
    KILL_MS,
  );
});

const looping = async (level: Level, folder: string): Promise<ChildProcess> => {
  const program = join(import.meta.dirname, '..', 'kit', 'child-room.ts');
  const child = spawn(process.execPath, [program, 'loop', level, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
};
