/**
 * Time zones as one function, from an instant to an offset. IANA zones take theirs from Intl and never from
 * the host's own zone; zones of an .ics file take theirs from its VTIMEZONE (vtimezone.ts).
 *
 * Two rules for local times, RFC 5545 section 3.3.5: one that happens twice is the first; one that the
 * clocks skip is read with the offset before the gap, and so moves forward. Both are said in a note.
 */
import { ToolError } from '../tool.ts';
import { DAY_MS, dateTimeText, hourText, offsetText, type Wall } from './wall.ts';

export type Zone = {
  /** The name as it was given: "Europe/Berlin". */
  readonly name: string;
  /** Milliseconds to add to the instant `utc` to read the wall clock there. */
  readonly offsetAt: (utc: number) => number;
};

export type Resolved = {
  readonly utc: number;
  readonly offset: number;
  /** What had to be decided: nothing, the first of two, or moved out of a gap. */
  readonly kind: 'only' | 'first-of-two' | 'moved-forward';
  /** A sentence for people and models, where something had to be decided. */
  readonly note?: string;
};

export const UTC: Zone = { name: 'UTC', offsetAt: () => 0 };

const ZONES_CACHED_MAX = 600;
const zones = new Map<string, Zone>();

const FIELDS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;

const offsetReader = (format: Intl.DateTimeFormat): Zone['offsetAt'] => {
  return (utc) => {
    const second = Math.floor(utc / 1000) * 1000;
    const parts = new Map<string, number>();
    for (const part of format.formatToParts(second)) parts.set(part.type, Number(part.value));
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, sec = 0] = FIELDS.map((name) =>
      parts.get(name),
    );
    return Date.UTC(year, month - 1, day, hour, minute, sec) - second;
  };
};

/** "Berlin" or "europe/berln" is answered with names that end or begin alike. */
const suggestion = (name: string): string => {
  const last = name.split('/').at(-1)?.replaceAll(' ', '_').toLowerCase() ?? '';
  const near =
    last && Intl.supportedValuesOf('timeZone').find((known) => known.toLowerCase().endsWith(`/${last}`));
  return near ? ` "${near}" exists.` : '';
};

/** The zone of an IANA name. Throws `zone-unknown`. */
export const namedZone = (name: string): Zone => {
  const known = zones.get(name);
  if (known) return known;
  const zone = findZone(name);
  if (!zone)
    throw new ToolError(
      `The zone "${name.slice(0, 100)}" is unknown. Give an IANA name such as "Europe/Berlin" or "UTC".${suggestion(name)}`,
      { code: 'zone-unknown' },
    );
  return zone;
};

export const findZone = (name: string): Zone | undefined => {
  const known = zones.get(name);
  if (known) return known;
  // Offsets such as "+02:00" pass for zones in newer Intl; they know no daylight saving time, so no names.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return undefined;
  let zone: Zone;
  try {
    zone = zoneOf(name);
  } catch {
    return undefined;
  }
  if (zones.size >= ZONES_CACHED_MAX) zones.clear();
  zones.set(name, zone);
  return zone;
};

const zoneOf = (name: string): Zone => {
  if (/^(utc|etc\/utc|gmt|etc\/gmt)$/i.test(name))
    return { name: name.toUpperCase() === 'UTC' ? 'UTC' : name, offsetAt: UTC.offsetAt };
  const format = new Intl.DateTimeFormat('en-US', {
    calendar: 'iso8601',
    numberingSystem: 'latn',
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const resolved = format.resolvedOptions().timeZone;
  return {
    name: resolved.toLowerCase() === name.toLowerCase() ? resolved : name,
    offsetAt: offsetReader(format),
  };
};

export const wallAt = (utc: number, zone: Zone): Wall => utc + zone.offsetAt(utc);

/** The instant of a wall-clock reading in a zone, by the two rules above. */
export const utcAt = (wall: Wall, zone: Zone): Resolved => {
  const before = zone.offsetAt(wall - DAY_MS);
  const after = zone.offsetAt(wall + DAY_MS);
  const first = wall - Math.max(before, after);
  const second = wall - Math.min(before, after);
  const firstFits = zone.offsetAt(first) === wall - first;
  const secondFits = zone.offsetAt(second) === wall - second;
  if (firstFits && secondFits && first !== second)
    return { utc: first, offset: wall - first, kind: 'first-of-two', note: twice(wall, zone, first, second) };
  if (firstFits) return { utc: first, offset: wall - first, kind: 'only' };
  if (secondFits) return { utc: second, offset: wall - second, kind: 'only' };
  const utc = wall - before;
  const offset = zone.offsetAt(utc);
  return { utc, offset, kind: 'moved-forward', note: skipped(wall, zone, utc) };
};

const twice = (wall: Wall, zone: Zone, first: number, second: number): string =>
  `${dateTimeText(wall)} happens twice in ${zone.name}, as the clocks go back. The first is used: ` +
  `${dateTimeText(wall)}${offsetText(wall - first)}. The second would be ${dateTimeText(wall)}${offsetText(wall - second)}.`;

const skipped = (wall: Wall, zone: Zone, utc: number): string => {
  const moved = wallAt(utc, zone);
  const sameDay = dateTimeText(moved).slice(0, 10) === dateTimeText(wall).slice(0, 10);
  return (
    `${dateTimeText(wall)} does not exist in ${zone.name}, as the clocks go forward. ` +
    `It is moved to ${sameDay ? hourText(moved) : dateTimeText(moved)} (${offsetText(moved - utc)}).`
  );
};
