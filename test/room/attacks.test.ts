/**
 * Attacks on rooms: all of them on wasm, the most telling ones on gVisor, each in a room of its own; outcomes are what
 * attack.ts says. The others on gVisor, and all of them without root, are in attacks.long.test.ts.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { LANGUAGE_ATTACKS, SYSTEM_ATTACKS, type Attack } from '../../src/room/attack.ts';
import { attackTable, withTable, type Tried } from '../../src/room/attack-table.ts';
import { LEVELS } from '../../src/room/level.ts';
import { Bait, KEY_FILE } from '../../src/room/proof.ts';
import { attacked } from '../kit/attacks.ts';
import { levelsHere } from '../kit/rooms.ts';

const levels = await levelsHere();

/** What gVisor is there for: files, credentials, the store, the network, other processes, memory. */
const TELLING: ReadonlySet<string> = new Set([
  'host files',
  'search of every file for a credential',
  'environment and /proc',
  'store of the runtime',
  'network',
  'signals to the host',
  'memory bomb in buffers',
]);
/** The same engine as at wasm, whose outcomes are compared in repeatable.test.ts: a few that it lives by. */
const AT_GVISOR: ReadonlySet<string> = new Set([
  'escape by constructors of errors',
  'endless loop that catches',
  'memory that catches',
  'language changed under the room',
]);
const named = (attacks: readonly Attack[], names: ReadonlySet<string>): readonly Attack[] => {
  const found = attacks.filter(({ name }) => names.has(name));
  if (found.length !== names.size) throw new Error('an attack that is named is not there');
  return found;
};

describe('the language at level wasm holds against', () => {
  attacked('wasm', LANGUAGE_ATTACKS);
});

describe.skipIf(!levels.includes('gvisor'))('gvisor holds against', () => {
  attacked('gvisor', named(SYSTEM_ATTACKS, TELLING));
});
describe.skipIf(!levels.includes('gvisor'))('the language at level gvisor holds against', () => {
  attacked('gvisor', named(LANGUAGE_ATTACKS, AT_GVISOR));
});

test('docs/rooms.md has a row for each attack, which says what the attack run said', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/rooms.md'), 'utf8');
  const held: Tried = new Map([...LANGUAGE_ATTACKS, ...SYSTEM_ATTACKS].map(({ name }) => [name, undefined]));
  expect(page).toBe(withTable(page, attackTable(new Map(LEVELS.map((level) => [level, held])))));
});

test('the search for a credential finds one where there is one', async () => {
  const bait = await Bait.plant();
  try {
    const search = SYSTEM_ATTACKS.find(({ name }) => name === 'search of every file for a credential');
    // Not all of this machine: the folder with the store and the file is enough.
    const code = (search?.code ?? '').replace("walk('/');", '');
    const run = compileFunction(`return (async () => {${code}\n})()`, ['input', 'require']) as (
      ...given: readonly unknown[]
    ) => Promise<[string[], boolean]>;
    const [found] = await run(bait.canary, createRequire(import.meta.url));
    const { path, folder } = bait.canary;
    expect(new Set(found)).toEqual(new Set([path, `${folder}/${KEY_FILE}`]));
  } finally {
    bait.take();
  }
});
