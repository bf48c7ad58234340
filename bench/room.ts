/** What a room costs at each level: cold, warm and in a burst, beside the start of a bare Node and of a bare runsc. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOnrecordError } from '../src/errors.ts';
import { LEVELS, type Engine, type Level } from '../src/room/level.ts';
import { openRooms, type Rooms } from '../src/room/rooms.ts';
import { inFolder } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { spreadOf } from './sample.ts';
import { figure, spread, type Table } from './table.ts';

/** A round is short, and the machine is noisy. */
const TRIES_PER_ROUND = 8;
const BURST = 8;
const CODE = 'return input.map((n) => n * 2).filter((n) => n > 2)';
const INPUT = '[1,2,3]';
const VALUE = '[4,6]';

type LevelTimes = {
  readonly level: Level;
  readonly cold: readonly number[];
  readonly warm: readonly number[];
  readonly burst: readonly number[];
  /** PSS of a waiting room's processes, MiB. */
  readonly memoryMb: number;
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const runOnce = async (rooms: Rooms): Promise<void> => {
  const job = { code: CODE, input: INPUT, files: new Map(), clockMs: 0, seed: '', tools: [], answers: [] };
  const { end } = await rooms.run(job, new AbortController().signal);
  if (end.kind !== 'done' || end.value !== VALUE) throw new Error(`A room gave ${JSON.stringify(end)}.`);
};

const bareNode = (): Promise<number> =>
  timed(() => once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore', env: {} }), 'close'));

const withRooms = async <T>(
  options: {
    readonly level: Level;
    readonly engine?: Engine;
    readonly warm: number;
    readonly folder: string;
  },
  use: (rooms: Rooms) => Promise<T>,
): Promise<T> => {
  const rooms = await openRooms(options);
  try {
    return await use(rooms);
  } finally {
    await rooms.close();
  }
};

/** Proportional memory of all processes whose command line names a text. */
const memoryOf = (text: string): number => {
  let kib = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid)))
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)) continue;
      kib += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      // It ended meanwhile.
    }
  return kib / 1024;
};

const measureLevel = async (level: Level, folder: string, tries: number): Promise<LevelTimes> => {
  const cold = await withRooms({ level, warm: 0, folder }, async (rooms) => {
    const times: number[] = [];
    for (let i = 0; i < tries; i++) times.push(await timed(() => runOnce(rooms)));
    return times;
  });
  return withRooms({ level, warm: 1, folder }, async (rooms) => {
    const warm: number[] = [];
    let memoryMb = 0;
    for (let i = 0; i < tries; i++) {
      await rooms.warm();
      if (process.platform === 'linux')
        memoryMb = memoryOf(level === 'gvisor' ? `room-${process.pid}-` : join(folder, 'guest-'));
      warm.push(await timed(() => runOnce(rooms)));
    }
    await rooms.warm();
    const burst = await Promise.all(Array.from({ length: BURST }, () => timed(() => runOnce(rooms))));
    return { level, cold, warm, burst, memoryMb };
  });
};

/** A cold gVisor room whose guest is Node alone: the start of runsc and of Node in it. */
const bareRunsc = (folder: string, tries: number): Promise<readonly number[]> =>
  withRooms({ level: 'gvisor', engine: 'node', warm: 0, folder }, async (rooms) => {
    const times: number[] = [];
    for (let i = 0; i < tries; i++) times.push(await timed(() => runOnce(rooms)));
    return times;
  });

/** Undefined where gVisor does not work here, which is said. */
const whereItWorks = async <T>(
  progress: Plan['progress'],
  work: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (!isOnrecordError(error) || error.code !== 'room-unavailable') throw error;
    progress(`no rooms of level gvisor: ${error.message}`);
    return undefined;
  }
};

export const measureRooms = async ({ rounds, scratch, progress }: Plan): Promise<Measured> => {
  const tries = rounds * TRIES_PER_ROUND;
  return inFolder(scratch, async (folder) => {
    progress('the start of a bare Node');
    const node: number[] = [];
    for (let i = 0; i < tries; i++) node.push(await bareNode());
    progress('the start of a bare runsc');
    const runsc = await whereItWorks(progress, () => bareRunsc(folder, tries));
    const levels: LevelTimes[] = [];
    for (const level of LEVELS) {
      progress(`rooms of level ${level}`);
      const times = await whereItWorks(progress, () => measureLevel(level, folder, tries));
      if (times) levels.push(times);
    }
    return { tables: [tableOf(node, runsc, levels)], data: { node, runsc, levels } };
  });
};

const tableOf = (
  node: readonly number[],
  runsc: readonly number[] | undefined,
  levels: readonly LevelTimes[],
): Table => ({
  title: 'A program in a room',
  columns: ['what', 'cold ms', 'warm ms', `burst of ${BURST}: last ms`, 'memory MB'],
  rows: [
    ['node -e 0', spread(spreadOf(node)), '', '', ''],
    ...(runsc ? [['runsc with Node', spread(spreadOf(runsc)), '', '', '']] : []),
    ...levels.map(({ level, cold, warm, burst, memoryMb }) => [
      `room ${level}`,
      spread(spreadOf(cold)),
      spread(spreadOf(warm)),
      figure(Math.max(...burst)),
      figure(memoryMb),
    ]),
  ],
  note:
    'Median with least and greatest. Cold: from nothing to the answer. Warm: the room waits already. Burst: so many ' +
    'programs at once over one warm room. Memory: what a waiting room takes, shared pages in proportion.',
});
