/**
 * node scripts/attack-table.ts     tries every attack at every level and writes the table in docs/rooms.md
 *
 * Needs both levels: a table of one would say of the other that it was not tried.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { attackTable, withTable, type Tried } from '../src/room/attack-table.ts';
import { LEVELS, type Level } from '../src/room/level.ts';
import { proveLevel } from '../src/room/proof.ts';

const PAGE = resolve(import.meta.dirname, '../docs/rooms.md');

const folder = mkdtempSync(join(tmpdir(), 'onrecord-attacks-'));
try {
  const tried = new Map<Level, Tried>();
  for (const level of LEVELS) {
    const { outcomes } = await proveLevel(level, { folder });
    tried.set(level, new Map(outcomes.map(({ attack, wrong }) => [attack, wrong])));
  }
  writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), attackTable(tried)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
