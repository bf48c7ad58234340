import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/event/json.ts';
import { type Calendar, LIST_OCCURRENCES_MAX, openCalendar } from '../../src/tool/calendar/calendar.ts';
import { ICS_BYTES_MAX } from '../../src/tool/calendar/lines.ts';
import { DAY_MS } from '../../src/tool/calendar/wall.ts';
import { sameClock, vtimezoneOf, vtimezoneZone } from '../../src/tool/calendar/vtimezone.ts';
import { namedZone } from '../../src/tool/calendar/zone.ts';

const NOW = Date.UTC(2026, 0, 1);
let folder = '';
let made = 0;
let keys = 0;
const fresh = (): Calendar => openCalendar(join(folder, `calendar-${(made += 1)}.sqlite`), 'Europe/Berlin');
const call = (): { key: string; nowMs: number; base: undefined } => ({
  key: `k${(keys += 1)}`,
  nowMs: NOW,
  base: undefined,
});
const ics = (...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]): string[] => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'];

type Shown = {
  id: string;
  title: string;
  occurrence?: string;
  start?: { local: string; utc: string };
  startDate?: string;
};
const shown = (calendar: Calendar, from: string, to: string, zone: string): Shown[] =>
  calendar.list({ from, to, zone })['occurrences'] as unknown as Shown[];
const starts = (calendar: Calendar, from: string, to: string, zone = 'Europe/Berlin'): string[] =>
  shown(calendar, from, to, zone).map((one) => one.start?.local ?? one.startDate ?? 'none');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'calendar-ics-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What Outlook writes: a name of its own, rules from 1601. */
const WINDOWS_ZONE = [
  'BEGIN:VTIMEZONE',
  'TZID:W. Europe Standard Time',
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
];

const RICH = ics(
  ...WINDOWS_ZONE,
  ...event(
    'UID:series',
    'SUMMARY:Team\\, weekly',
    'DESCRIPTION:First line\\nSecond line that is long enough to be folded because it has more than seventy-five ',
    ' octets in it',
    'DTSTART;TZID=Europe/Berlin:20261005T090000',
    'DTEND;TZID=Europe/Berlin:20261005T100000',
    'RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261104T080000Z;WKST=SU',
    'EXDATE;TZID=Europe/Berlin:20261014T090000',
    'X-OWN-PROPERTY;X-P=1:kept',
    'ATTENDEE;CN="Ana, B.":mailto:ana@example.org',
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    'TRIGGER:-PT15M',
    'DESCRIPTION:Soon',
    'END:VALARM',
  ),
  ...event(
    'UID:series',
    'RECURRENCE-ID;TZID=Europe/Berlin:20261019T090000',
    'SUMMARY:Team\\, moved',
    'DTSTART;TZID=Europe/Berlin:20261020T110000',
    'DTEND;TZID=Europe/Berlin:20261020T120000',
  ),
  ...event(
    'UID:outlook',
    'SUMMARY:Review',
    'DTSTART;TZID=W. Europe Standard Time:20261026T090000',
    'DURATION:PT1H',
  ),
  ...event('UID:day', 'SUMMARY:Fair', 'DTSTART;VALUE=DATE:20261010', 'DTEND;VALUE=DATE:20261012'),
);

describe('a file goes in and comes out the same', () => {
  test('import of an export gives the same export and the same lists', () => {
    const first = fresh();
    first.importIcs({ ics: RICH }, call());
    first.create(
      {
        title: 'Own; entry',
        start: '2026-10-07T08:00',
        minutes: 30,
        zone: 'America/New_York',
        repeats: 'FREQ=MONTHLY;BYDAY=-1WE',
      },
      call(),
    );
    const out = first.exportIcs({});
    expect(out.entries).toBe(4);
    const second = fresh();
    second.importIcs({ ics: out.ics }, call());
    expect(second.exportIcs({})).toEqual(out);
    for (const zone of ['Europe/Berlin', 'Asia/Kolkata', 'Pacific/Honolulu'])
      expect(second.list({ from: '2026-09-01', to: '2028-12-31', zone })).toEqual(
        first.list({ from: '2026-09-01', to: '2028-12-31', zone }),
      );
    expect(second.importIcs({ ics: out.ics }, call())).toMatchObject({ added: 0, changed: 0, unchanged: 4 });
  });

  test('properties and alarms that the calendar does not know are kept', () => {
    const calendar = fresh();
    calendar.importIcs({ ics: RICH }, call());
    calendar.move({ id: 'series', occurrence: '2026-10-07T07:00:00Z', start: '2026-10-07T15:00' }, call());
    const out = calendar.exportIcs({ ids: ['series'] }).ics;
    expect(out).toContain('X-OWN-PROPERTY;X-P=1:kept');
    expect(out).toContain('ATTENDEE;CN="Ana, B.":mailto:ana@example.org');
    expect(out).toContain('TRIGGER:-PT15M');
    expect(out.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
  });

  test.each([
    'Europe/Berlin',
    'America/New_York',
    'Australia/Sydney',
    'Africa/Casablanca',
    'Asia/Kolkata',
    'America/St_Johns',
    'Pacific/Apia',
  ])('the VTIMEZONE written for %s reads the same clock', (name) => {
    const zone = namedZone(name);
    const [from, to] = [Date.UTC(2005, 0, 1), Date.UTC(2026, 0, 1)];
    const copy = vtimezoneZone(vtimezoneOf(zone, from, to), name);
    expect(sameClock(copy, zone, from, to)).toBe(true);
    const tail = name === 'Africa/Casablanca' ? to : Date.UTC(2036, 0, 1);
    expect(sameClock(copy, zone, from, tail)).toBe(true);
  });

  test('two zones of one name with other rules do not become one', () => {
    const calendar = fresh();
    const shifted = WINDOWS_ZONE.map((line) => line.replace('+0100', '+0500').replace('+0200', '+0600'));
    calendar.importIcs({ ics: RICH }, call());
    calendar.importIcs(
      { ics: ics(...shifted, ...event('UID:other', 'DTSTART;TZID=W. Europe Standard Time:20261026T090000')) },
      call(),
    );
    const again = fresh();
    again.importIcs({ ics: calendar.exportIcs({}).ics }, call());
    const utc = (id: string): string | undefined =>
      shown(again, '2026-10-25', '2026-10-28', 'UTC').find((one) => one.id === id)?.start?.utc;
    expect([utc('outlook'), utc('other')]).toEqual(['2026-10-26T08:00:00Z', '2026-10-26T04:00:00Z']);
  });
});

describe('a series is what its file says', () => {
  test('EXDATE leaves out, RECURRENCE-ID replaces, UNTIL in UTC keeps the last', () => {
    const calendar = fresh();
    calendar.importIcs({ ics: RICH }, call());
    const found = shown(calendar, '2026-10-01', '2026-12-01', 'Europe/Berlin').filter(
      (one) => one.id === 'series',
    );
    expect(found.map((one) => one.start?.local)).toEqual([
      '2026-10-05T09:00',
      '2026-10-07T09:00',
      '2026-10-12T09:00',
      '2026-10-20T11:00',
      '2026-10-21T09:00',
      '2026-10-26T09:00',
      '2026-10-28T09:00',
      '2026-11-02T09:00',
      '2026-11-04T09:00',
    ]);
    expect(found[3]).toMatchObject({ title: 'Team, moved', occurrence: '2026-10-19T07:00:00Z' });
  });

  test('an occurrence that was moved into the range is found, and one moved out of it is not', () => {
    const calendar = fresh();
    calendar.importIcs({ ics: RICH }, call());
    calendar.move({ id: 'series', occurrence: '2026-10-05T07:00:00Z', start: '2027-02-01T09:00' }, call());
    expect(starts(calendar, '2027-02-01', '2027-02-02')).toEqual(['2027-02-01T09:00']);
    expect(starts(calendar, '2026-10-05', '2026-10-06')).toEqual([]);
  });

  test('an override for this and all later ones carries them', () => {
    const calendar = fresh();
    calendar.importIcs(
      {
        ics: ics(
          ...event(
            'UID:s',
            'DTSTART;TZID=Europe/Berlin:20261005T090000',
            'DURATION:PT1H',
            'RRULE:FREQ=WEEKLY;COUNT=4',
          ),
          ...event(
            'UID:s',
            'RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20261019T090000',
            'DTSTART;TZID=Europe/Berlin:20261019T140000',
            'DURATION:PT2H',
          ),
        ),
      },
      call(),
    );
    expect(starts(calendar, '2026-10-01', '2026-12-01')).toEqual([
      '2026-10-05T09:00',
      '2026-10-12T09:00',
      '2026-10-19T14:00',
      '2026-10-26T14:00',
    ]);
  });

  test('an update for a single occurrence keeps the series, an older one changes nothing', () => {
    const calendar = fresh();
    const series = event(
      'UID:s',
      'SEQUENCE:3',
      'DTSTART;TZID=Europe/Berlin:20261005T090000',
      'DURATION:PT1H',
      'RRULE:FREQ=WEEKLY;COUNT=2',
    );
    calendar.importIcs({ ics: ics(...series) }, call());
    const one = event(
      'UID:s',
      'SEQUENCE:4',
      'RECURRENCE-ID;TZID=Europe/Berlin:20261012T090000',
      'DTSTART;TZID=Europe/Berlin:20261013T090000',
      'DURATION:PT1H',
    );
    expect(calendar.importIcs({ ics: ics(...one) }, call())).toMatchObject({ changed: 1 });
    expect(starts(calendar, '2026-10-01', '2026-12-01')).toEqual(['2026-10-05T09:00', '2026-10-13T09:00']);
    const old = event('UID:s', 'SEQUENCE:1', 'DTSTART;TZID=Europe/Berlin:20261005T070000', 'DURATION:PT1H');
    expect(calendar.importIcs({ ics: ics(...old) }, call())).toMatchObject({ changed: 0, older: 1 });
    expect(starts(calendar, '2026-10-01', '2026-12-01')).toEqual(['2026-10-05T09:00', '2026-10-13T09:00']);
  });

  test('the rules of the file count where they differ from the IANA ones, and it is said', () => {
    const calendar = fresh();
    const zone = WINDOWS_ZONE.map((line) =>
      line.replace('W. Europe Standard Time', 'Europe/Berlin').replace('BYMONTH=10', 'BYMONTH=9'),
    );
    const result = calendar.importIcs(
      { ics: ics(...zone, ...event('UID:x', 'DTSTART;TZID=Europe/Berlin:20261012T090000')) },
      call(),
    );
    expect(result['notes']).toEqual([
      'The rules of the file for "Europe/Berlin" differ from the IANA ones. Those of the file are used.',
    ]);
    expect(shown(calendar, '2026-10-12', '2026-10-13', 'UTC')[0]?.start?.utc).toBe('2026-10-12T08:00:00Z');
  });
});

describe('a file that is wrong is refused by line, and nothing of it is imported', () => {
  const good = event('UID:good', 'DTSTART;TZID=Europe/Berlin:20261012T090000');
  test.each<[string, string[], { code: string; line: number }]>([
    ['no end', ['BEGIN:VEVENT', 'UID:x'], { code: 'ics-invalid', line: 9 }],
    ['no colon', event('UID:x', 'DTSTART 20261012', 'SUMMARY:x'), { code: 'ics-invalid', line: 9 }],
    [
      'a date that does not exist',
      event('UID:x', 'DTSTART;VALUE=DATE:20260231'),
      { code: 'ics-invalid', line: 9 },
    ],
    [
      'an end before the start',
      event('UID:x', 'DTSTART:20261012T090000Z', 'DTEND:20261012T080000Z'),
      { code: 'ics-invalid', line: 10 },
    ],
    ['no start', event('UID:x', 'SUMMARY:x'), { code: 'ics-invalid', line: 7 }],
    [
      'an unknown zone',
      event('UID:x', 'DTSTART;TZID=Mars/Olympus:20261012T090000'),
      { code: 'zone-unknown', line: 9 },
    ],
    [
      'a floating time',
      event('UID:x', 'SUMMARY:x', 'DTSTART:20261012T090000'),
      { code: 'zone-missing', line: 10 },
    ],
    [
      'an unknown rule',
      event('UID:x', 'DTSTART:20261012T090000Z', 'RRULE:FREQ=SECONDLY'),
      { code: 'rule-invalid', line: 10 },
    ],
    [
      'a rule out of range',
      event('UID:x', 'DTSTART:20261012T090000Z', 'RRULE:FREQ=DAILY;BYMONTHDAY=40'),
      { code: 'rule-invalid', line: 10 },
    ],
    [
      'a series that ends before it starts',
      event('UID:x', 'DTSTART:20261012T090000Z', 'RRULE:FREQ=DAILY;UNTIL=20200101T000000Z'),
      { code: 'ics-invalid', line: 7 },
    ],
    [
      'a control character',
      event('UID:x', 'SUMMARY:a\u0007b', 'DTSTART:20261012T090000Z'),
      { code: 'ics-invalid', line: 9 },
    ],
  ])('%s', (_, lines, { code, line }) => {
    const calendar = fresh();
    const text = ics(...good, ...lines);
    expect(() => calendar.importIcs({ ics: text }, call())).toThrow(
      expect.objectContaining({
        code,
        message: expect.stringMatching(new RegExp(`^Line ${line} `)) as unknown,
      }),
    );
    expect(calendar.exportIcs({}).entries).toBe(0);
  });

  test('floating times take the zone that is given', () => {
    const calendar = fresh();
    calendar.importIcs(
      { ics: ics(...event('UID:x', 'DTSTART:20261012T090000')), zone: 'Asia/Tokyo' },
      call(),
    );
    expect(shown(calendar, '2026-10-12', '2026-10-13', 'UTC')[0]?.start?.utc).toBe('2026-10-12T00:00:00Z');
  });

  test('limits are kept and named', () => {
    const calendar = fresh();
    expect(() => calendar.importIcs({ ics: 'x'.repeat(ICS_BYTES_MAX + 1) }, call())).toThrow(
      expect.objectContaining({
        code: 'ics-too-large',
        message: expect.stringContaining(String(ICS_BYTES_MAX)) as unknown,
      }),
    );
    expect(() => calendar.list({ from: '2026-01-01', to: '2036-01-01', zone: 'UTC' })).toThrow(
      expect.objectContaining({ code: 'range-too-long' }),
    );
    expect(() =>
      calendar.importIcs(
        { ics: ics(...event('UID:x', 'DTSTART:20261012T090000Z', 'RRULE:FREQ=HOURLY;COUNT=1000000')) },
        call(),
      ),
    ).toThrow(expect.objectContaining({ code: 'rule-too-long' }));
    calendar.importIcs(
      { ics: ics(...event('UID:x', 'DTSTART:20261012T090000Z', 'RRULE:FREQ=DAILY')) },
      call(),
    );
    const result: JsonObject = calendar.list({ from: '2026-10-12', to: '2027-10-12', zone: 'UTC' });
    expect(result['occurrences']).toHaveLength(LIST_OCCURRENCES_MAX);
    expect(result['cut']).toEqual({
      left: 365 - LIST_OCCURRENCES_MAX,
      continueFrom: `${new Date(Date.UTC(2026, 9, 12, 9) + LIST_OCCURRENCES_MAX * DAY_MS).toISOString().slice(0, 19)}Z`,
    });
  });
});
