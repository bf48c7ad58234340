/** Rooms for tests: which levels this machine has, said aloud where one is missing, and failed where it was required. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect } from 'vitest';
import { isOnrecordError } from '../../src/errors.ts';
import type { RoomJob } from '../../src/room/job.ts';
import type { Level } from '../../src/room/level.ts';
import { jobOf } from './rooms-job.ts';
import { openRooms, tryLevel, type RoomRun, type Rooms, type RoomsOptions } from '../../src/room/rooms.ts';

const isRequired = process.env['ROOM_REQUIRE'] === 'gvisor';

/** Made once for a file of tests, because the root of a room is 150 MB; gone when the file is over. */
export const roomFolder: string = mkdtempSync(join(tmpdir(), 'onrecord-room-test-'));
afterAll(() => rmSync(roomFolder, { recursive: true, force: true }));

const skipped = (what: string, reason: string): undefined => {
  // A file that fails while it is loaded has no afterAll.
  if (isRequired) rmSync(roomFolder, { recursive: true, force: true });
  if (isRequired) throw new Error(`${what} was required and does not work here: ${reason}`);
  process.stderr.write(`NOT SHOWN: ${what}. ${reason}\n`);
  return undefined;
};

/** The levels that tests can be run at. */
export const levelsHere = async (): Promise<readonly Level[]> => {
  const gvisor = await tryLevel('gvisor', { folder: roomFolder });
  if (!isOnrecordError(gvisor)) return ['wasm', 'gvisor'];
  skipped('rooms of level gvisor', gvisor.message);
  return ['wasm'];
};

/** Another user that the tests can become; undefined where they are not root. */
export const otherUser = (what: string): { readonly uid: number; readonly gid: number } | undefined =>
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : skipped(what, 'The tests do not run as root.');

export const openTestRooms = (options: RoomsOptions): Promise<Rooms> =>
  openRooms({ folder: roomFolder, ...options });

export { jobOf };

export const runIn = (rooms: Rooms, code: string, more: Partial<RoomJob> = {}): Promise<RoomRun> =>
  rooms.run(jobOf(code, more), new AbortController().signal);

/** Command lines of processes that name a text. */
export const processesNaming = (text: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(text) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });

/** Folders of processes in a folder of rooms; the parts that rooms share are not counted. */
export const runFolders = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.startsWith('run-'));

const GONE_MS_MAX = 45_000;
const LOOK_MS = 20;

/** Waits until no process names a folder of rooms and no folder of a process is in it; says what is left. */
export const expectNothingLeft = async (folder: string): Promise<void> => {
  const deadline = performance.now() + GONE_MS_MAX;
  const left = (): readonly string[] => [...processesNaming(folder), ...runFolders(folder)];
  while (left().length > 0 && performance.now() < deadline) await setTimeout(LOOK_MS);
  expect(left()).toEqual([]);
};
