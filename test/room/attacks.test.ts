/** Every attack on every level that this machine has, each in a room of its own; outcomes are what attack.ts says. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGE_ATTACKS, SYSTEM_ATTACKS, type Attack } from '../../src/room/attack.ts';
import type { Level } from '../../src/room/level.ts';
import { attackOnce, Bait, roomsForAttacks } from '../../src/room/proof.ts';
import type { Rooms } from '../../src/room/rooms.ts';
import { expectNothingLeft, levelsHere, otherUser, roomFolder } from '../kit/rooms.ts';

const levels = await levelsHere();
const ATTACK_MS = 60_000;

const attacked = (level: Level, attacks: readonly Attack[], engine: 'quickjs' | 'node'): void => {
  let rooms: Rooms;
  let bait: Bait;
  beforeAll(async () => {
    bait = await Bait.plant();
    rooms = await roomsForAttacks(level, { engine, folder: roomFolder });
  });
  afterAll(async () => {
    await rooms.close();
    expect(readdirSync(bait.canary.folder)).toEqual(['log.db']);
    bait.take();
    await expectNothingLeft(roomFolder);
  });
  test.each(attacks.map((attack) => [attack.name, attack] as const))(
    '%s',
    async (_, attack) => {
      const { wrong } = await attackOnce(rooms, attack, bait);
      expect(wrong).toBeUndefined();
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    },
    ATTACK_MS,
  );
};

describe.each(levels)('the language at level %s holds against', (level) => {
  attacked(level, LANGUAGE_ATTACKS, 'quickjs');
});

describe.skipIf(!levels.includes('gvisor'))('gvisor, as this user, holds against a whole Node with', () => {
  attacked('gvisor', SYSTEM_ATTACKS, 'node');
});

const user = levels.includes('gvisor') ? otherUser('rooms of level gvisor without root') : undefined;
/** Without root the language is the same engine again: CI attacks it all the same, `npm test` what the boundary is for. */
const withLanguage = process.env['ROOM_ATTACKS'] === 'all';
const rootless = withLanguage ? [...LANGUAGE_ATTACKS, ...SYSTEM_ATTACKS] : SYSTEM_ATTACKS;
if (user && !withLanguage)
  process.stderr.write('NOT SHOWN: attacks by language without root; ROOM_ATTACKS=all shows them.\n');

describe.skipIf(user === undefined)('gvisor without root', () => {
  test(
    'holds against them',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'onrecord-rootless-'));
      try {
        chownSync(folder, user?.uid ?? 0, user?.gid ?? 0);
        chmodSync(folder, 0o700);
        const program = join(import.meta.dirname, '..', 'kit', 'child-room.ts');
        const child = spawn(
          process.execPath,
          [program, withLanguage ? 'attacks' : 'system-attacks', 'gvisor', folder],
          {
            ...user,
            env: { PATH: '/usr/bin:/bin', HOME: folder },
            stdio: ['ignore', 'pipe', 'inherit'],
          },
        );
        let said = '';
        child.stdout.on('data', (data: Buffer) => (said += data.toString()));
        await new Promise((resolve) => child.once('close', resolve));
        const proof = JSON.parse(said) as {
          readonly rooms: { readonly rootless?: boolean };
          readonly outcomes: readonly { readonly attack: string; readonly wrong?: string }[];
        };
        expect(proof.rooms.rootless).toBe(true);
        expect(proof.outcomes.filter(({ wrong }) => wrong !== undefined)).toEqual([]);
        expect(proof.outcomes).toHaveLength(rootless.length);
        await expectNothingLeft(folder);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    10 * ATTACK_MS,
  );
});
