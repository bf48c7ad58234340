import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLine } from '../../src/tool/calendar/jcal.ts';
import { readRule } from '../../src/tool/calendar/rule.ts';
import { ruleWalls } from '../../src/tool/calendar/walk.ts';
import {
  dateText,
  dateTimeText,
  DAY_MS,
  parseDate,
  parseDateTime,
  type Wall,
} from '../../src/tool/calendar/wall.ts';

const SEED = Number(process.env['FC_SEED'] ?? 20_260_326);
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

const walls = (rule: string, start: string, count: number): string[] => {
  const wall = parseDate(start) ?? 0;
  return [...ruleWalls(readRule(parseLine(`RRULE:${rule}`)), wall, wall).take(count)].map(dateText);
};

const some = <T>(values: readonly T[]): fc.Arbitrary<T[]> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<T[]>([]) },
    fc.subarray([...values], { minLength: 1, maxLength: 3 }),
  );

const named = (name: string, values: readonly unknown[]): string =>
  values.length > 0 ? `;${name}=${values.join(',')}` : '';

describe('rules give the dates that RFC 5545 gives', () => {
  type Parts = {
    freq: string;
    interval: number;
    byday: string[];
    bymonth: number[];
    bymonthday: number[];
    wkst: string;
  };

  /** Day by day, by the table of section 3.3.10. */
  const expected = (parts: Parts, start: Wall, count: number): string[] => {
    const out = [dateText(start)];
    const begin = new Date(start);
    const weekStart = (wall: Wall): Wall =>
      wall - ((new Date(wall).getUTCDay() - DAYS.indexOf(parts.wkst) + 7) % 7) * DAY_MS;
    for (let wall = start + DAY_MS; out.length < count && wall < start + 12 * 366 * DAY_MS; wall += DAY_MS) {
      const date = new Date(wall);
      const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
      const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
      const phase = {
        DAILY: (wall - start) / DAY_MS,
        WEEKLY: (weekStart(wall) - weekStart(start)) / (7 * DAY_MS),
        MONTHLY: (year - begin.getUTCFullYear()) * 12 + month - begin.getUTCMonth(),
        YEARLY: year - begin.getUTCFullYear(),
      }[parts.freq];
      if ((phase ?? 0) % parts.interval !== 0) continue;
      if (parts.bymonth.length > 0 && !parts.bymonth.includes(month + 1)) continue;
      if (
        parts.bymonthday.length > 0 &&
        !parts.bymonthday.some((one) => (one < 0 ? length + 1 + one : one) === day)
      )
        continue;
      if (parts.byday.length > 0 && !parts.byday.includes(DAYS[date.getUTCDay()] ?? '')) continue;
      const noDay = parts.byday.length === 0 && parts.bymonthday.length === 0;
      if (noDay && parts.freq === 'WEEKLY' && date.getUTCDay() !== begin.getUTCDay()) continue;
      if (noDay && (parts.freq === 'MONTHLY' || parts.freq === 'YEARLY') && day !== begin.getUTCDate())
        continue;
      if (noDay && parts.freq === 'YEARLY' && parts.bymonth.length === 0 && month !== begin.getUTCMonth())
        continue;
      out.push(dateText(wall));
    }
    return out;
  };

  test(`random rules, against a walk of all days (seed ${SEED})`, () => {
    const rule = fc.record({
      freq: fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
      interval: fc.integer({ min: 1, max: 4 }),
      byday: some(DAYS),
      bymonth: some([1, 2, 3, 6, 11, 12]),
      bymonthday: some([1, 13, 29, 30, 31, -1, -30]),
      wkst: fc.constantFrom('MO', 'SU'),
    });
    const start = fc.integer({ min: Date.UTC(2020, 0, 1) / DAY_MS, max: Date.UTC(2028, 0, 1) / DAY_MS });
    fc.assert(
      fc.property(rule, start, (given, at) => {
        const parts = given.freq === 'WEEKLY' ? { ...given, bymonthday: [] } : given;
        const text =
          `FREQ=${parts.freq};INTERVAL=${parts.interval};WKST=${parts.wkst}` +
          named('BYDAY', parts.byday) +
          named('BYMONTH', parts.bymonth) +
          named('BYMONTHDAY', parts.bymonthday);
        const wanted = expected(parts, at * DAY_MS, 12);
        expect([text, dateText(at * DAY_MS), ...walls(text, dateText(at * DAY_MS), wanted.length)]).toEqual([
          text,
          dateText(at * DAY_MS),
          ...wanted,
        ]);
      }),
      { seed: SEED, numRuns: 400 },
    );
  }, 120_000);

  test('29 February stays 29 February', () => {
    expect(walls('FREQ=YEARLY', '2024-02-29', 3)).toEqual(['2024-02-29', '2028-02-29', '2032-02-29']);
  });

  // Dates as section 3.8.5.3 of RFC 5545 lists them.
  test.each([
    ['FREQ=MONTHLY;BYDAY=1FR', '1997-09-05', ['1997-09-05', '1997-10-03', '1997-11-07', '1997-12-05']],
    [
      'FREQ=MONTHLY;INTERVAL=2;BYDAY=1SU,-1SU',
      '1997-09-07',
      ['1997-09-07', '1997-09-28', '1997-11-02', '1997-11-30', '1998-01-04'],
    ],
    [
      'FREQ=MONTHLY;BYDAY=-2MO',
      '1997-09-22',
      ['1997-09-22', '1997-10-20', '1997-11-17', '1997-12-22', '1998-01-19'],
    ],
    [
      'FREQ=MONTHLY;BYMONTHDAY=-3',
      '1997-09-28',
      ['1997-09-28', '1997-10-29', '1997-11-28', '1997-12-29', '1998-01-29', '1998-02-26'],
    ],
    ['FREQ=YEARLY;BYDAY=20MO', '1997-05-19', ['1997-05-19', '1998-05-18', '1999-05-17']],
    [
      'FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200',
      '1997-01-01',
      ['1997-01-01', '1997-04-10', '1997-07-19', '2000-01-01', '2000-04-09', '2000-07-18'],
    ],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', '1997-05-12', ['1997-05-12', '1998-05-11', '1999-05-17']],
    [
      'FREQ=YEARLY;BYMONTH=3;BYDAY=TH',
      '1997-03-13',
      ['1997-03-13', '1997-03-20', '1997-03-27', '1998-03-05'],
    ],
    [
      'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
      '1998-02-13',
      ['1998-02-13', '1998-03-13', '1998-11-13', '1999-08-13', '2000-10-13'],
    ],
    [
      'FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8',
      '1996-11-05',
      ['1996-11-05', '2000-11-07', '2004-11-02'],
    ],
    ['FREQ=MONTHLY;BYDAY=TU,WE,TH;BYSETPOS=3', '1997-09-04', ['1997-09-04', '1997-10-07', '1997-11-06']],
    [
      'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2',
      '1997-09-29',
      ['1997-09-29', '1997-10-30', '1997-11-27', '1997-12-30'],
    ],
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO',
      '1997-08-05',
      ['1997-08-05', '1997-08-10', '1997-08-19', '1997-08-24'],
    ],
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU',
      '1997-08-05',
      ['1997-08-05', '1997-08-17', '1997-08-19', '1997-08-31'],
    ],
    ['FREQ=MONTHLY;BYMONTHDAY=15,30', '2007-01-15', ['2007-01-15', '2007-01-30', '2007-02-15', '2007-03-15']],
  ])('%s from %s', (rule, start, dates) => {
    expect(walls(rule, start, dates.length)).toEqual(dates);
  });

  test.each([
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;INTERVAL=7;BYDAY=TU',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
  ])('a rule that matches no date comes to an end: %s', (rule) => {
    const wall = parseDateTime('2026-03-29T10:00') ?? 0;
    expect([...ruleWalls(readRule(parseLine(`RRULE:${rule}`)), wall, wall)]).toEqual([wall]);
  });

  test('an hourly rule keeps its distance over midnight', () => {
    const wall = parseDateTime('2026-03-01T19:30') ?? 0;
    const rule = readRule(parseLine('RRULE:FREQ=HOURLY;INTERVAL=3;COUNT=4'));
    expect([...ruleWalls(rule, wall, wall)].map(dateTimeText)).toEqual([
      '2026-03-01T19:30',
      '2026-03-01T22:30',
      '2026-03-02T01:30',
      '2026-03-02T04:30',
    ]);
  });

  test.each([
    'FREQ=HOURLY;INTERVAL=7',
    'FREQ=DAILY;INTERVAL=3',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR',
    'FREQ=MONTHLY;INTERVAL=7',
    'FREQ=YEARLY;INTERVAL=3',
  ])('a walk that begins late finds what one from the start finds: %s', (text) => {
    const rule = readRule(parseLine(`RRULE:${text}`));
    const wall = parseDateTime('1980-01-01T08:00') ?? 0;
    const from = parseDate('2050-01-01') ?? 0;
    const seen = (begin: Wall): string[] =>
      ruleWalls(rule, wall, begin)
        .filter((one) => one >= from)
        .take(5)
        .map(dateTimeText)
        .toArray();
    expect(seen(from)).toEqual(seen(wall));
  });

  test('a late walk does not pass through the time before', () => {
    const rule = readRule(parseLine('RRULE:FREQ=HOURLY'));
    const wall = parseDateTime('1950-01-01T08:00') ?? 0;
    const from = parseDate('2250-01-01') ?? 0;
    const [first = 0] = ruleWalls(rule, wall, from).take(1);
    expect(from - first).toBeLessThanOrEqual(2 * DAY_MS);
  });
});
