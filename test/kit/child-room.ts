/**
 * A process with rooms of its own: `attacks` proves a level and says what came of it; `loop` runs a program that does
 * not end, says so, and waits to be killed.
 *
 *   node child-room.ts attacks|loop LEVEL FOLDER
 */
import type { Level } from '../../src/room/level.ts';
import { proveLevel } from '../../src/room/proof.ts';
import { openRooms } from '../../src/room/rooms.ts';
import { calm } from './clock.ts';
import { jobOf } from './rooms-job.ts';

const [, , what, level, folder = ''] = process.argv;
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

if (what === 'attacks') {
  const { rooms, outcomes } = await proveLevel(level as Level, { folder });
  say({ rooms, outcomes: outcomes.map(({ attack, wrong }) => ({ attack, wrong })) });
} else {
  const rooms = await openRooms({
    level: level as Level,
    folder,
    limits: { ticks: 200_000, wallMs: 60_000 },
  });
  await rooms.warm();
  const run = rooms.run(jobOf('for (;;);'), new AbortController().signal);
  await calm();
  await rooms.warm();
  say({ running: true });
  await run;
}
