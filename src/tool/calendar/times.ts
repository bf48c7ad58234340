/** Times as models write them, turned into moments. What had to be decided is said in notes. */
import type { Moment } from './entry.ts';
import { refuse } from './fault.ts';
import type { Window } from './occurrence.ts';
import { DAY_MS, dateTimeText, MINUTE_MS, offsetText, parseDate, parseDateTime, utcText } from './wall.ts';
import { namedZone, UTC, utcAt, wallAt, type Zone } from './zone.ts';

export type Times = { readonly start: Moment; readonly end: Moment; readonly notes: readonly string[] };

export type TimesInput = {
  readonly start: string;
  /** Exclusive for dates. */
  readonly end?: string | undefined;
  readonly minutes?: number | undefined;
  readonly zone?: string | undefined;
  /** An RRULE, where there is one. */
  readonly repeats?: string | undefined;
};

/** Minutes of one entry with a time: about two months. */
export const ENTRY_MINUTES_MAX = 100_000;
/** Days of one all-day entry. */
const ENTRY_DAYS_MAX = 1_000;

const INSTANT = /^(.+?)(Z|[+-]\d{2}:\d{2})$/;

const invalid = (name: string, text: string): Error =>
  refuse(
    'time-invalid',
    `\`${name}\` "${text.slice(0, 60)}" is no date or time. Give "2026-07-01", "2026-07-01T09:30", or the latter with "Z" or an offset such as "+02:00".`,
  );

/** "2026-07-01T09:30+02:00" as its instant; undefined for a text without offset. */
const parseInstant = (text: string): number | undefined => {
  const [, local, offset] = INSTANT.exec(text) ?? [];
  const wall = local === undefined || !local.includes('T') ? undefined : parseDateTime(local);
  if (wall === undefined || offset === undefined) return undefined;
  if (offset === 'Z') return wall;
  const ahead = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6));
  return wall - (offset.startsWith('-') ? -ahead : ahead) * MINUTE_MS;
};

/** An instant as a moment in a zone. The second of two equal wall-clock times can only be kept as UTC. */
const atInstant = (utc: number, zone: Zone, notes: string[]): Moment => {
  const wall = wallAt(utc, zone);
  if (zone === UTC || utcAt(wall, zone).utc === utc) return { kind: 'time', wall, zone };
  notes.push(
    `${dateTimeText(wall)}${offsetText(wall - utc)} is the second of two such times in ${zone.name}; it is kept as ${utcText(utc)}.`,
  );
  return { kind: 'time', wall: utc, zone: UTC };
};

const readTime = (name: string, text: string, zone: Zone | undefined, notes: string[]): Moment => {
  const day = parseDate(text);
  if (day !== undefined) return { kind: 'date', wall: day };
  const utc = parseInstant(text);
  const wall = utc === undefined ? parseDateTime(text) : undefined;
  if (utc === undefined && wall === undefined) throw invalid(name, text);
  if (!zone)
    throw refuse(
      'zone-missing',
      `\`${name}\` "${text}" needs a zone. Give \`zone\`, an IANA name such as "Europe/Berlin".`,
    );
  if (utc !== undefined) return atInstant(utc, zone, notes);
  const resolved = utcAt(wall ?? 0, zone);
  if (resolved.note !== undefined) notes.push(resolved.note);
  return { kind: 'time', wall: wall ?? 0, zone };
};

const readEnd = (input: TimesInput, start: Moment, lengthMs: number | undefined, notes: string[]): Moment => {
  if (input.end !== undefined && input.minutes !== undefined)
    throw refuse('time-invalid', 'Give `end` or `minutes`, not both.');
  if (start.kind === 'date') {
    if (input.minutes !== undefined)
      throw refuse(
        'time-invalid',
        'An all-day entry has no `minutes`. Give `end`, the first day that is not part of it.',
      );
    const end =
      input.end === undefined
        ? { kind: 'date' as const, wall: start.wall + (lengthMs ?? DAY_MS) }
        : readTime('end', input.end, UTC, notes);
    if (end.kind !== 'date')
      throw refuse('time-invalid', '`start` is a date and `end` a time. Give two dates or two times.');
    return end;
  }
  if (input.end !== undefined) {
    const end = readTime('end', input.end, start.zone, notes);
    if (end.kind === 'date')
      throw refuse('time-invalid', '`start` is a time and `end` a date. Give two dates or two times.');
    return end;
  }
  const length = input.minutes === undefined ? lengthMs : input.minutes * MINUTE_MS;
  if (length === undefined) throw refuse('time-invalid', 'Give `end` or `minutes`.');
  return atInstant(utcAt(start.wall, start.zone).utc + length, start.zone, []);
};

/** The wall-clock time that stands after a gap was skipped. */
const settle = (moment: Moment): Moment => {
  if (moment.kind === 'date') return moment;
  const { utc, offset } = utcAt(moment.wall, moment.zone);
  return { ...moment, wall: utc + offset };
};

/**
 * Reads start and end. `own` is what holds where the input is silent: the zone and the length of the entry
 * that is moved. Throws `time-invalid`, `zone-missing`, `zone-unknown`.
 */
export const readTimes = (input: TimesInput, own: { zone?: Zone; lengthMs?: number } = {}): Times => {
  const notes: string[] = [];
  const zone = input.zone === undefined ? own.zone : namedZone(input.zone);
  const start = readTime('start', input.start, zone, notes);
  const end = readEnd(input, start, own.lengthMs, notes);
  const length =
    start.kind === 'time' && end.kind === 'time'
      ? utcAt(end.wall, end.zone).utc - utcAt(start.wall, start.zone).utc
      : end.wall - start.wall;
  if (length < 0 || (length === 0 && start.kind === 'date'))
    throw refuse(
      'time-invalid',
      start.kind === 'date'
        ? `\`end\` "${input.end ?? ''}" is not after \`start\` "${input.start}". For dates it is the first day that is not part of the entry.`
        : `\`end\` "${input.end ?? ''}" is before \`start\` "${input.start}".`,
    );
  const limit = start.kind === 'date' ? ENTRY_DAYS_MAX * DAY_MS : ENTRY_MINUTES_MAX * MINUTE_MS;
  if (length > limit)
    throw refuse(
      'range-too-long',
      `The entry would last ${Math.ceil(length / DAY_MS)} days; at most ${Math.floor(limit / DAY_MS)} are kept.`,
    );
  // A series keeps the hour it was given: only its occurrences on the day of the gap move.
  const settled = input.repeats === undefined ? settle(start) : start;
  return { start: settled, end: settle(end), notes: [...new Set(notes)] };
};

const readBound = (name: string, text: string, zone: Zone): number => {
  const moment = readTime(name, text, zone, []);
  return moment.kind === 'date' ? utcAt(moment.wall, zone).utc : utcAt(moment.wall, moment.zone).utc;
};

export type RangeInput = { readonly from: string; readonly to: string; readonly zone: string };

/** Reads a range; dates are midnights in the zone. Throws `time-invalid`, `zone-unknown`, `range-too-long`. */
export const readWindow = (input: RangeInput, daysMax: number): Window => {
  const zone = namedZone(input.zone);
  const fromUtc = readBound('from', input.from, zone);
  const toUtc = readBound('to', input.to, zone);
  if (toUtc <= fromUtc)
    throw refuse(
      'time-invalid',
      `\`to\` "${input.to}" is not after \`from\` "${input.from}". It is the first moment that is not part of the range.`,
    );
  const days = Math.ceil((toUtc - fromUtc) / DAY_MS);
  if (days > daysMax + 1)
    throw refuse(
      'range-too-long',
      `The range has ${days} days; at most ${daysMax} are read at once. Ask for a shorter one.`,
    );
  return { zone, fromUtc, toUtc };
};
