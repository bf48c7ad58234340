/** Attacks as tests: each in a room of its own, with something planted for it to find, and what came of it kept. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Attack } from '../../src/room/attack.ts';
import type { Level } from '../../src/room/level.ts';
import { attackOnce, Bait, KEY_FILE, roomsForAttacks, sameRooms } from '../../src/room/proof.ts';
import type { Rooms } from '../../src/room/rooms.ts';
import { expectNothingLeft, roomFolder } from './rooms.ts';

/** More than the clock of any room and its start. */
export const ATTACK_MS = 120_000;

/** `tried` is told what came through, or undefined. */
export const attacked = (
  level: Level,
  attacks: readonly Attack[],
  tried: Map<string, string | undefined> = new Map(),
): void => {
  for (const some of sameRooms(attacks))
    describe(`${some.length} of them`, () => {
      inRooms(level, some, tried);
    });
};

const inRooms = (level: Level, attacks: readonly Attack[], tried: Map<string, string | undefined>): void => {
  const engine = attacks[0]?.engine ?? 'quickjs';
  let rooms: Rooms;
  let bait: Bait;
  beforeAll(async () => {
    bait = await Bait.plant();
    rooms = await roomsForAttacks(level, attacks, { engine, folder: roomFolder });
  }, ATTACK_MS);
  afterAll(async () => {
    await rooms.close();
    expect(readdirSync(bait.canary.folder).toSorted()).toEqual([KEY_FILE, 'log.db']);
    bait.take();
    await expectNothingLeft(roomFolder);
  });
  test.each(attacks.map((attack) => [attack.name, attack] as const))(
    '%s',
    async (_, attack) => {
      const { wrong } = await attackOnce(rooms, attack, bait);
      tried.set(attack.name, wrong);
      expect(wrong).toBeUndefined();
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    },
    ATTACK_MS,
  );
};
