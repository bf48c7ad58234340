/**
 * Recurrence rules, RFC 5545 section 3.3.10: read from jCal and told to people. walk.ts finds their dates.
 */
import { ComponentFault } from './fault.ts';
import { type JcalProperty, type JcalValue, valueText } from './jcal.ts';
import { dayName, hourText, parseDate, parseDateTime, type Wall } from './wall.ts';

type Until =
  | { readonly kind: 'date'; readonly day: Wall }
  | { readonly kind: 'wall'; readonly wall: Wall }
  | { readonly kind: 'utc'; readonly utc: number };

type NumberPart =
  | 'bysecond'
  | 'byminute'
  | 'byhour'
  | 'bymonthday'
  | 'byyearday'
  | 'byweekno'
  | 'bymonth'
  | 'bysetpos';

/** "-1FR" is weekday 5 at place -1; "FR" has no place. */
export type WeekdayPart = { readonly weekday: number; readonly place: number | undefined };

export type Rule = {
  readonly freq: 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';
  readonly interval: number;
  readonly count: number | undefined;
  readonly until: Until | undefined;
  readonly weekStart: number;
  /** BYMONTH and the like in lower case; BYDAY apart. Each list sorted. */
  readonly by: { readonly [part in NumberPart]?: readonly number[] };
  readonly byday: readonly WeekdayPart[] | undefined;
  readonly property: JcalProperty;
};

const FREQS: readonly string[] = ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
/** The least and the greatest value of each part. Negative ones count from the end. */
const PARTS: { readonly [part in NumberPart]: readonly [least: number, greatest: number] } = {
  bysecond: [0, 60],
  byminute: [0, 59],
  byhour: [0, 23],
  bymonthday: [-31, 31],
  byyearday: [-366, 366],
  byweekno: [-53, 53],
  bymonth: [1, 12],
  bysetpos: [-366, 366],
};
const FROM_ZERO: ReadonlySet<string> = new Set(['bysecond', 'byminute', 'byhour']);
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

const readUntil = (text: string, property: JcalProperty): Until => {
  const day = parseDate(text);
  if (day !== undefined) return { kind: 'date', day };
  const wall = parseDateTime(text.replace(/Z$/, ''));
  if (wall === undefined)
    throw new ComponentFault(`UNTIL "${text}" is no date or time`, property, 'rule-invalid');
  return text.endsWith('Z') ? { kind: 'utc', utc: wall } : { kind: 'wall', wall };
};

const wholeNumber = (
  value: JcalValue | undefined,
  name: string,
  property: JcalProperty,
): number | undefined => {
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || Number(value) < 1)
    throw new ComponentFault(
      `${name} "${JSON.stringify(value)}" is no whole number from 1`,
      property,
      'rule-invalid',
    );
  return Number(value);
};

const readNumbers = (part: NumberPart, value: JcalValue, property: JcalProperty): readonly number[] => {
  const [least, greatest] = PARTS[part];
  const numbers = [value].flat().map(Number);
  const wrong = numbers.find(
    (one) => !Number.isInteger(one) || one < least || one > greatest || (one === 0 && !FROM_ZERO.has(part)),
  );
  if (wrong !== undefined || numbers.length === 0)
    throw new ComponentFault(
      `${part.toUpperCase()} "${valueText(value)}" is out of range`,
      property,
      'rule-invalid',
    );
  return [...new Set(numbers)].sort((a, b) => a - b);
};

const readWeekdays = (value: JcalValue, property: JcalProperty): readonly WeekdayPart[] =>
  [value].flat().map((one) => {
    const [, place, day] = /^([+-]?\d{1,2})?(SU|MO|TU|WE|TH|FR|SA)$/.exec(valueText(one)) ?? [];
    if (day === undefined || Number(place ?? 1) === 0 || Math.abs(Number(place ?? 1)) > 53)
      throw new ComponentFault(`BYDAY "${valueText(value)}" names no weekdays`, property, 'rule-invalid');
    return { weekday: DAYS.indexOf(day), place: place === undefined ? undefined : Number(place) };
  });

/** Reads a jCal RRULE. Throws ComponentFault `rule-invalid`. */
export const readRule = (property: JcalProperty): Rule => {
  const value = property[3];
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ComponentFault('The RRULE is empty', property, 'rule-invalid');
  const fields = value as { readonly [key: string]: JcalValue };
  const freq = valueText(fields['freq']);
  if (!FREQS.includes(freq))
    throw new ComponentFault(`FREQ "${freq}" is none of ${FREQS.join(', ')}`, property, 'rule-invalid');
  if (fields['count'] !== undefined && fields['until'] !== undefined)
    throw new ComponentFault('The RRULE has both COUNT and UNTIL', property, 'rule-invalid');
  const by: { [part in NumberPart]?: readonly number[] } = {};
  for (const part of Object.keys(PARTS) as NumberPart[])
    if (fields[part] !== undefined) by[part] = readNumbers(part, fields[part], property);
  return {
    freq: freq as Rule['freq'],
    interval: wholeNumber(fields['interval'], 'INTERVAL', property) ?? 1,
    count: wholeNumber(fields['count'], 'COUNT', property),
    until: fields['until'] === undefined ? undefined : readUntil(valueText(fields['until']), property),
    weekStart: weekStartOf(fields['wkst']),
    by,
    byday: fields['byday'] === undefined ? undefined : readWeekdays(fields['byday'], property),
    property,
  };
};

/** ical.js keeps WKST as 1 (Sunday) to 7; text says "MO". Monday where it is not said. */
const weekStartOf = (value: JcalValue | undefined): number => {
  if (typeof value === 'number') return value - 1;
  return typeof value === 'string' && DAYS.includes(value) ? DAYS.indexOf(value) : 1;
};

const UNITS = { HOURLY: 'hour', DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' } as const;

/** The rule for people: "every 2 weeks (BYDAY=MO,WE), 10 times". */
export const ruleWords = (rule: Rule): string => {
  const every =
    rule.interval === 1 ? `every ${UNITS[rule.freq]}` : `every ${rule.interval} ${UNITS[rule.freq]}s`;
  const weekdays = rule.byday?.map(({ weekday, place }) => `${place ?? ''}${DAYS[weekday] ?? ''}`);
  const parts = Object.entries({ ...(weekdays && { byday: weekdays }), ...rule.by }).map(
    ([part, values]) => `${part.toUpperCase()}=${values.join(',')}`,
  );
  const narrowed = parts.length > 0 ? ` (${parts.join('; ')})` : '';
  if (rule.count !== undefined) return `${every}${narrowed}, ${rule.count} times`;
  return `${every}${narrowed}${rule.until ? `, until ${untilWords(rule.until)}` : ', without end'}`;
};

const untilWords = (until: Until): string => {
  switch (until.kind) {
    case 'date':
      return dayName(until.day);
    case 'wall':
      return `${dayName(until.wall)} ${hourText(until.wall)}`;
    case 'utc':
      return `${dayName(until.utc)} ${hourText(until.utc)} UTC`;
    default:
      return until satisfies never;
  }
};
