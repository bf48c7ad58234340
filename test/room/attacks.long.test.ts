/** Every attack on gVisor, as root and as another user, and the table in docs/rooms.md made from what came of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LANGUAGE_ATTACKS, SYSTEM_ATTACKS } from '../../src/room/attack.ts';
import { attackTable, withTable } from '../../src/room/attack-table.ts';
import type { Level } from '../../src/room/level.ts';
import { ATTACK_MS, attacked } from '../kit/attacks.ts';
import { expectNothingLeft, levelsHere, otherUser } from '../kit/rooms.ts';

const levels = await levelsHere();
const tried = new Map<Level, Map<string, string | undefined>>(levels.map((level) => [level, new Map()]));

describe.each(levels)('the language at level %s holds against', (level) => {
  attacked(level, LANGUAGE_ATTACKS, tried.get(level));
});

describe.skipIf(!levels.includes('gvisor'))('gvisor, as this user, holds against a whole Node with', () => {
  attacked('gvisor', SYSTEM_ATTACKS, tried.get('gvisor'));
});

test.skipIf(!levels.includes('gvisor'))('what came of them is what docs/rooms.md says', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/rooms.md'), 'utf8');
  expect(page).toBe(withTable(page, attackTable(tried)));
});

const user = levels.includes('gvisor') ? otherUser('rooms of level gvisor without root') : undefined;

describe.skipIf(user === undefined)('gvisor without root', () => {
  test(
    'holds against all of them',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'onrecord-rootless-'));
      try {
        chownSync(folder, user?.uid ?? 0, user?.gid ?? 0);
        chmodSync(folder, 0o700);
        const program = join(import.meta.dirname, '..', 'kit', 'child-room.ts');
        const child = spawn(process.execPath, [program, 'attacks', 'gvisor', folder], {
          ...user,
          env: { PATH: '/usr/bin:/bin', HOME: folder },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let said = '';
        child.stdout.on('data', (data: Buffer) => (said += data.toString()));
        await once(child, 'close');
        const proof = JSON.parse(said) as {
          readonly rooms: { readonly rootless?: boolean };
          readonly outcomes: readonly { readonly attack: string; readonly wrong?: string }[];
        };
        expect(proof.rooms.rootless).toBe(true);
        expect(proof.outcomes.filter(({ wrong }) => wrong !== undefined)).toEqual([]);
        expect(proof.outcomes).toHaveLength(LANGUAGE_ATTACKS.length + SYSTEM_ATTACKS.length);
        await expectNothingLeft(folder);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    10 * ATTACK_MS,
  );
});
