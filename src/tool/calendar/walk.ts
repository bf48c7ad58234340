/**
 * The dates of a recurrence rule, in wall-clock time. Nothing here knows a zone: the caller turns each
 * reading into an instant in the event's own zone, so a weekly meeting stays at its hour. UNTIL is an
 * instant and is left to the caller; COUNT is kept here, DTSTART included.
 *
 * The walk goes period by period (a day, week, month or year of the rule), looks at each day of it, and so
 * always ends: no rule can make it search for ever. Dates that do not exist are never looked at.
 */
import { ComponentFault } from './fault.ts';
import type { Rule, WeekdayPart } from './rule.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS, type Wall, weekdayOf, YEAR_LAST } from './wall.ts';

/** Occurrences that one walk gives. A daily event takes 274 years to reach it. */
const RULE_OCCURRENCES_MAX = 100_000;

const FAR: Wall = Date.UTC(YEAR_LAST, 11, 31);

/** The date of a day, taken apart once. */
type Day = {
  readonly wall: Wall;
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
};

const dayParts = (wall: Wall): Day => {
  const date = new Date(wall);
  return {
    wall,
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
  };
};

const yearStart = (year: number): Wall => Date.UTC(year, 0, 1);
const monthStart = (year: number, month: number): Wall => Date.UTC(year, month - 1, 1);
const daysBetween = (from: Wall, to: Wall): number => (to - from) / DAY_MS;
const weekStartOf = (wall: Wall, first: number): Wall => wall - ((weekdayOf(wall) - first + 7) % 7) * DAY_MS;

/** Week 1 is the first with at least four days in the year. */
const firstWeek = (year: number, weekStart: number): Wall => weekStartOf(Date.UTC(year, 0, 4), weekStart);

/** Whether a list names the place `at` (from 1) of `length`; negative places count from the end. */
const names = (list: readonly number[], at: number, length: number): boolean =>
  list.some((one) => (one < 0 ? length + 1 + one : one) === at);

/** Whether a day is the weekday, and at the place among its like between two days, that BYDAY names. */
const isWeekday = (
  parts: readonly WeekdayPart[],
  day: Day,
  span: { from: Wall; to: Wall } | undefined,
): boolean =>
  parts.some(({ weekday, place }) => {
    if (weekday !== day.weekday) return false;
    if (place === undefined || !span) return true;
    const before = Math.floor(daysBetween(span.from, day.wall) / 7);
    const after = Math.floor((daysBetween(day.wall, span.to) - 1) / 7);
    return place > 0 ? before === place - 1 : after === -place - 1;
  });

/** Where the places of BYDAY are counted: in the month, in the year, or not at all. */
const placeSpan = (rule: Rule, day: Day): { from: Wall; to: Wall } | undefined => {
  if (rule.freq === 'MONTHLY' || (rule.freq === 'YEARLY' && rule.by.bymonth))
    return { from: monthStart(day.year, day.month), to: monthStart(day.year, day.month + 1) };
  if (rule.freq === 'YEARLY' && !rule.by.byweekno)
    return { from: yearStart(day.year), to: yearStart(day.year + 1) };
  return undefined;
};

/** What a rule that names no day takes from its start. */
const fitsStart = ({ freq, by, byday }: Rule, start: Day, day: Day): boolean => {
  if (byday || by.bymonthday || by.byyearday) return true;
  if (freq === 'WEEKLY' || (freq === 'YEARLY' && by.byweekno)) return day.weekday === start.weekday;
  if (freq === 'MONTHLY') return day.day === start.day;
  if (freq === 'YEARLY')
    return day.day === start.day && (by.bymonth !== undefined || day.month === start.month);
  return true;
};

/** Whether the rule takes a day of one of its periods. BYWEEKNO is given by the number of the week. */
const takesDay = (rule: Rule, start: Day, day: Day): boolean => {
  const { by, byday } = rule;
  if (by.bymonth && !by.bymonth.includes(day.month)) return false;
  const monthDays = daysBetween(monthStart(day.year, day.month), monthStart(day.year, day.month + 1));
  if (by.bymonthday && !names(by.bymonthday, day.day, monthDays)) return false;
  const yearDays = daysBetween(yearStart(day.year), yearStart(day.year + 1));
  if (by.byyearday && !names(by.byyearday, daysBetween(yearStart(day.year), day.wall) + 1, yearDays))
    return false;
  if (byday && !isWeekday(byday, day, placeSpan(rule, day))) return false;
  return fitsStart(rule, start, day);
};

type Span = { readonly from: Wall; /** Exclusive. */ readonly to: Wall };

/** The days of period `at` of a rule, counted from the one that holds its start. */
const periodOf = (rule: Rule, start: Day, at: number): Span => {
  const step = at * rule.interval;
  switch (rule.freq) {
    case 'HOURLY':
    case 'DAILY': {
      const from = start.wall + (rule.freq === 'DAILY' ? step : at) * DAY_MS;
      return { from, to: from + DAY_MS };
    }
    case 'WEEKLY': {
      const from = weekStartOf(start.wall, rule.weekStart) + step * 7 * DAY_MS;
      return { from, to: from + 7 * DAY_MS };
    }
    case 'MONTHLY':
      return {
        from: monthStart(start.year, start.month + step),
        to: monthStart(start.year, start.month + step + 1),
      };
    case 'YEARLY': {
      const year = start.year + step;
      if (!rule.by.byweekno) return { from: yearStart(year), to: yearStart(year + 1) };
      return { from: firstWeek(year, rule.weekStart), to: firstWeek(year + 1, rule.weekStart) };
    }
    default:
      return rule.freq satisfies never;
  }
};

const PERIOD_DAYS = { HOURLY: 1, DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 } as const;

/** The first period that can reach `from`. A rule with COUNT has to be walked from its start. */
const firstPeriod = (rule: Rule, start: Wall, from: Wall): number => {
  if (rule.count !== undefined || from <= start) return 0;
  const days = PERIOD_DAYS[rule.freq] * (rule.freq === 'HOURLY' ? 1 : rule.interval);
  return Math.max(0, Math.floor((from - start) / (days * DAY_MS)) - 1);
};

/** The times of day of a rule; those of the start where it names none. */
const timesOfDay = (rule: Rule, start: Wall, day: Wall): Wall[] => {
  const time = new Date(start);
  const seconds = rule.by.bysecond ?? [time.getUTCSeconds()];
  const minutes = rule.by.byminute ?? [time.getUTCMinutes()];
  const out: Wall[] = [];
  for (const hour of hoursOfDay(rule, start, day))
    for (const minute of minutes)
      for (const second of seconds)
        out.push(day + hour * HOUR_MS + minute * MINUTE_MS + Math.min(second, 59) * 1000);
  return out;
};

const HOURS: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour);

const hoursOfDay = (rule: Rule, start: Wall, day: Wall): readonly number[] => {
  const { byhour } = rule.by;
  if (rule.freq !== 'HOURLY') return byhour ?? [new Date(start).getUTCHours()];
  const first = Math.floor(start / HOUR_MS);
  return HOURS.filter(
    (hour) => (day / HOUR_MS + hour - first) % rule.interval === 0 && (byhour?.includes(hour) ?? true),
  );
};

const inWeeks = (rule: Rule, period: Span, day: Wall): boolean => {
  const { byweekno } = rule.by;
  if (!byweekno || rule.freq !== 'YEARLY') return true;
  return names(
    byweekno,
    Math.floor(daysBetween(period.from, day) / 7) + 1,
    daysBetween(period.from, period.to) / 7,
  );
};

/** The months of a year that a rule can take days from; any other period as it is. */
const spansOf = (rule: Rule, start: Day, period: Span): Span[] => {
  const { by, byday } = rule;
  if (rule.freq !== 'YEARLY' || by.byweekno) return [period];
  const dayNamed = byday ?? by.bymonthday ?? by.byyearday;
  const months = by.bymonth ?? (dayNamed ? undefined : [start.month]);
  const year = new Date(period.from).getUTCFullYear();
  return (
    months?.map((month) => ({ from: monthStart(year, month), to: monthStart(year, month + 1) })) ?? [period]
  );
};

/** Everything a rule takes in one period, BYSETPOS applied. An hourly rule has one set for each hour. */
const periodWalls = (rule: Rule, start: Wall, period: Span): Wall[] => {
  const begin = dayParts(dayOf(start));
  const out: Wall[] = [];
  for (const span of spansOf(rule, begin, period))
    for (let day = span.from; day < span.to; day += DAY_MS)
      if (inWeeks(rule, period, day) && takesDay(rule, begin, dayParts(day)))
        out.push(...timesOfDay(rule, start, day));
  const { bysetpos } = rule.by;
  if (!bysetpos) return out;
  const sets =
    rule.freq === 'HOURLY' ? Map.groupBy(out, (wall) => Math.floor(wall / HOUR_MS)) : new Map([[0, out]]);
  return [...sets.values()].flatMap((set) => set.filter((_, at) => names(bysetpos, at + 1, set.length)));
};

/**
 * The wall-clock times of a rule in order, from some before `from` on. DTSTART is always the first. The
 * caller stops when it has enough; the walk ends by itself with the year 2299.
 * Throws ComponentFault `rule-too-long` after too many occurrences.
 */
export function* ruleWalls(rule: Rule, start: Wall, from: Wall): Generator<Wall, void, undefined> {
  const begin = dayParts(dayOf(start));
  const first = firstPeriod(rule, start, from);
  let given = 0;
  if (first === 0) {
    given = 1;
    yield start;
  }
  for (let at = first; ; at += 1) {
    const period = periodOf(rule, begin, at);
    if (period.from > FAR) return;
    for (const wall of periodWalls(rule, start, period)) {
      if (wall <= start) continue;
      if (rule.count !== undefined && given >= rule.count) return;
      if (given >= RULE_OCCURRENCES_MAX)
        throw new ComponentFault(
          `The rule gives more than ${RULE_OCCURRENCES_MAX} occurrences`,
          rule.property,
          'rule-too-long',
        );
      given += 1;
      yield wall;
    }
    if (rule.count !== undefined && given >= rule.count) return;
  }
}
