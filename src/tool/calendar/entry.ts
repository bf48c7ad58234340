/**
 * One calendar entry: all VEVENTs of one UID, read from jCal. `master` carries the rule; `overrides` replace
 * single occurrences. Dates stay dates: an all-day entry has no instant until a reader names a zone.
 */
import { ComponentFault } from './fault.ts';
import {
  type Jcal,
  type JcalProperty,
  parameterOf,
  propertiesOf,
  propertyOf,
  textOf,
  valueText,
} from './jcal.ts';
import { readRule, type Rule } from './rule.ts';
import { DAY_MS, parseDate, parseDateTime, type Wall } from './wall.ts';
import { findZone, UTC, utcAt, type Zone } from './zone.ts';
import { vtimezoneZone } from './vtimezone.ts';

export type Moment =
  | { readonly kind: 'date'; readonly wall: Wall }
  | { readonly kind: 'time'; readonly wall: Wall; readonly zone: Zone };

/** Whole days follow the calendar (a day over a clock change has 23 or 25 hours); `ms` is elapsed time. */
export type Span = { readonly days: number; readonly ms: number };

/** One VEVENT. */
export type Part = {
  readonly jcal: Jcal;
  readonly title: string;
  readonly where: string | undefined;
  readonly start: Moment;
  readonly span: Span;
  readonly cancelled: boolean;
  /** Takes time of its owner: TRANSP is not TRANSPARENT. */
  readonly busy: boolean;
  readonly sequence: number;
  /** Which occurrence of the series this replaces; `onward` for it and all later ones. */
  readonly replaces: { readonly moment: Moment; readonly onward: boolean } | undefined;
};

export type Series = {
  readonly rules: readonly Rule[];
  readonly added: readonly { readonly moment: Moment; readonly span: Span | undefined }[];
  readonly left: readonly Moment[];
};

export type Entry = {
  readonly uid: string;
  readonly version: number;
  readonly master: Part | undefined;
  readonly series: Series;
  readonly overrides: readonly Part[];
  /** VTIMEZONE components that came with the file and say something else than the IANA rules. */
  readonly timezones: readonly Jcal[];
};

/** How a stored entry is kept: its time zones and its VEVENTs. */
export type StoredJcal = { readonly timezones: Jcal[]; readonly events: Jcal[] };

type ZoneOf = (tzid: string) => Zone | undefined;

const zonesOf = (timezones: readonly Jcal[]): ZoneOf => {
  const own = new Map<string, Zone>();
  for (const timezone of timezones) {
    const tzid = textOf(timezone, 'tzid');
    if (tzid !== undefined) own.set(tzid, vtimezoneZone(timezone, tzid));
  }
  return (tzid) => own.get(tzid) ?? findZone(tzid);
};

const readMoment = (property: JcalProperty, value: unknown, zoneOf: ZoneOf): Moment => {
  const text = String(value);
  const day = parseDate(text);
  if (day !== undefined) return { kind: 'date', wall: day };
  const wall = parseDateTime(text.replace(/Z$/, ''));
  if (wall === undefined)
    throw new ComponentFault(`"${text}" in ${property[0].toUpperCase()} is no date or time`, property);
  if (text.endsWith('Z')) return { kind: 'time', wall, zone: UTC };
  const tzid = parameterOf(property, 'tzid');
  if (tzid === undefined)
    throw new ComponentFault(
      `"${text}" in ${property[0].toUpperCase()} has no zone`,
      property,
      'zone-missing',
    );
  const zone = zoneOf(tzid);
  if (!zone) throw new ComponentFault(`The zone "${tzid}" is unknown`, property, 'zone-unknown');
  return { kind: 'time', wall, zone };
};

const DURATION = /^([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

const readDuration = (text: string, property: JcalProperty): Span => {
  const match = DURATION.exec(text);
  const [, sign, weeks, days, hours, minutes, seconds] = match ?? [];
  if (!match || sign === '-')
    throw new ComponentFault(`The duration "${text}" is no time from 0 on`, property);
  return {
    days: Number(weeks ?? 0) * 7 + Number(days ?? 0),
    ms: (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000,
  };
};

/** The span between two moments of one kind. */
const spanBetween = (start: Moment, end: Moment, property: JcalProperty): Span => {
  if (start.kind === 'date' && end.kind === 'date') {
    // DTEND on the day of DTSTART is written by some programs for one whole day.
    const days = Math.max(1, (end.wall - start.wall) / DAY_MS);
    if (end.wall < start.wall) throw new ComponentFault('The end is before the start', property);
    return { days, ms: 0 };
  }
  if (start.kind === 'date' || end.kind === 'date')
    throw new ComponentFault('One of start and end is a date and the other a time', property);
  const ms = utcAt(end.wall, end.zone).utc - utcAt(start.wall, start.zone).utc;
  if (ms < 0) throw new ComponentFault('The end is before the start', property);
  return { days: 0, ms };
};

const readSpan = (event: Jcal, start: Moment, zoneOf: ZoneOf): Span => {
  const end = propertyOf(event, 'dtend');
  if (end) return spanBetween(start, readMoment(end, end[3], zoneOf), end);
  const duration = propertyOf(event, 'duration');
  if (duration) return readDuration(valueText(duration[3]), duration);
  return start.kind === 'date' ? { days: 1, ms: 0 } : { days: 0, ms: 0 };
};

const readPart = (event: Jcal, zoneOf: ZoneOf): Part => {
  const begin = propertyOf(event, 'dtstart');
  if (!begin) throw new ComponentFault('A VEVENT has no DTSTART', undefined);
  const start = readMoment(begin, begin[3], zoneOf);
  const replaced = propertyOf(event, 'recurrence-id');
  return {
    jcal: event,
    title: textOf(event, 'summary') ?? '(no title)',
    where: textOf(event, 'location'),
    start,
    span: readSpan(event, start, zoneOf),
    cancelled: textOf(event, 'status')?.toUpperCase() === 'CANCELLED',
    busy: textOf(event, 'transp')?.toUpperCase() !== 'TRANSPARENT',
    sequence: Number(textOf(event, 'sequence') ?? 0) || 0,
    replaces: replaced && {
      moment: readMoment(replaced, replaced[3], zoneOf),
      onward: parameterOf(replaced, 'range')?.toUpperCase() === 'THISANDFUTURE',
    },
  };
};

/** RDATE values: moments, or periods that bring their own end. */
const readAdded = (property: JcalProperty, zoneOf: ZoneOf): Series['added'][number][] =>
  property.slice(3).map((value) => {
    if (!Array.isArray(value)) return { moment: readMoment(property, value, zoneOf), span: undefined };
    const moment = readMoment(property, value[0], zoneOf);
    const until = String(value[1]);
    const span = /^[+-]?P/.test(until)
      ? readDuration(until, property)
      : spanBetween(moment, readMoment(property, until, zoneOf), property);
    return { moment, span };
  });

const readSeries = (event: Jcal, zoneOf: ZoneOf): Series => ({
  rules: propertiesOf(event, 'rrule').map(readRule),
  added: propertiesOf(event, 'rdate').flatMap((property) => readAdded(property, zoneOf)),
  left: propertiesOf(event, 'exdate').flatMap((property) =>
    property.slice(3).map((value) => readMoment(property, value, zoneOf)),
  ),
});

const NO_SERIES: Series = { rules: [], added: [], left: [] };

/** Reads the VEVENTs of one UID. Throws ComponentFault with the property that cannot be read. */
export const readEntry = (uid: string, version: number, stored: StoredJcal): Entry => {
  const zoneOf = zonesOf(stored.timezones);
  const parts = stored.events.map((event) => readPart(event, zoneOf));
  const master = parts.find((part) => !part.replaces);
  return {
    uid,
    version,
    master,
    series: master ? readSeries(master.jcal, zoneOf) : NO_SERIES,
    overrides: parts.filter((part) => part.replaces),
    timezones: stored.timezones,
  };
};

export const repeats = (entry: Entry): boolean =>
  entry.series.rules.length > 0 || entry.series.added.length > 0;
