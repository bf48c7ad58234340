/** What rooms this machine has: each level is tried with every attack, in a folder that is gone afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { isOnrecordError } from '../errors.ts';
import { LEVELS, type Level, type RoomFacts } from '../room/level.ts';
import { proveLevel } from '../room/proof.ts';
import type { Finding } from './examination.ts';

/** gVisor is a kernel: one that is older than this lacks fixes that others rely on. */
const RUNSC_DAYS_MAX = 550;
const DAY_MS = 24 * 60 * 60 * 1000;
const NAMES_SHOWN_MAX = 3;

/** Levels that do not work here are things to know; an attack that came through is a problem. */
export const roomFindings = async (): Promise<readonly Finding[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-rooms-'));
  try {
    const findings: Finding[] = [];
    for (const level of LEVELS) findings.push(...(await levelFindings(level, folder)));
    return findings;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const levelFindings = async (level: Level, folder: string): Promise<readonly Finding[]> => {
  try {
    const { rooms, outcomes } = await proveLevel(level, { folder });
    const through = outcomes.filter(({ wrong }) => wrong !== undefined);
    const made = [
      rooms.engineVersion,
      ...(rooms.runsc === undefined
        ? []
        : [`runsc ${rooms.runsc}${rooms.rootless === true ? ', rootless' : ''}`]),
    ];
    const tried = `${made.join(', ')}; ${outcomes.length - through.length} of ${outcomes.length} attacks held off`;
    if (through.length === 0) return [{ level: 'ok', name: level, text: tried }, ...ageOf(rooms)];
    const names = through.slice(0, NAMES_SHOWN_MAX).map(({ attack, wrong = '' }) => `${attack} (${wrong})`);
    return [{ level: 'problem', name: level, text: `${tried}; came through: ${names.join('; ')}` }];
  } catch (error) {
    if (!isOnrecordError(error)) throw error;
    return [{ level: 'note', name: level, text: `no rooms of this level here: ${error.message}` }];
  }
};

/** Debian and upstream name releases of runsc after their day. */
const ageOf = ({ runsc = '' }: RoomFacts): readonly Finding[] => {
  const [, year, month, day] = /(20\d\d)(\d\d)(\d\d)/.exec(runsc) ?? [];
  if (year === undefined || month === undefined || day === undefined) return [];
  const days = Math.floor(
    (systemClock.now() - Date.UTC(Number(year), Number(month) - 1, Number(day))) / DAY_MS,
  );
  if (days <= RUNSC_DAYS_MAX) return [];
  const text = `runsc is of ${year}-${month}-${day}, ${days} days old: still a boundary, without the fixes since`;
  return [{ level: 'note', name: 'gvisor', text }];
};
