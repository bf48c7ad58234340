import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/event/json.ts';
import { type Calendar, openCalendar } from '../../src/tool/calendar/calendar.ts';
import { DAY_MS, type Wall } from '../../src/tool/calendar/wall.ts';
import { namedZone, utcAt, wallAt } from '../../src/tool/calendar/zone.ts';

const SEED = Number(process.env['FC_SEED'] ?? 20_260_326);
const CALL = { nowMs: Date.UTC(2026, 0, 1), base: undefined };

const CROSSING = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//test//EN',
  'BEGIN:VEVENT',
  'UID:w1',
  'SUMMARY:Stand-up',
  'DTSTART;TZID=America/New_York:20261026T091000',
  'DTEND;TZID=America/New_York:20261026T094000',
  'RRULE:FREQ=WEEKLY;COUNT=2',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'UID:d1',
  'SUMMARY:Course',
  'DTSTART;TZID=Europe/Berlin:20260427T150000',
  'DTEND;TZID=Europe/Berlin:20260427T153000',
  'RRULE:FREQ=DAILY;UNTIL=20260501T130000Z',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'UID:a1',
  'SUMMARY:Fair',
  'DTSTART;VALUE=DATE:20260701',
  'DTEND;VALUE=DATE:20260702',
  'RRULE:FREQ=DAILY;COUNT=3',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n');

type Time = { local: string; offset: string; zone: string; utc: string };
type Shown = {
  id: string;
  title: string;
  occurrence?: string;
  start?: Time;
  end?: Time;
  allDay?: boolean;
  startDate?: string;
  endDateExclusive?: string;
  notes?: string[];
};

let folder = '';
let made = 0;
const fresh = (zone?: string): Calendar => openCalendar(join(folder, `calendar-${(made += 1)}.sqlite`), zone);
const shown = (result: JsonObject): Shown[] => result['occurrences'] as unknown as Shown[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'calendar-time-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a weekly meeting keeps its hour across a clock change (FC-138)', () => {
  test('occurrences are those of the zone of the event, each as local time, offset, zone and UTC', () => {
    const calendar = fresh();
    calendar.importIcs({ ics: CROSSING }, { key: 'k', ...CALL });
    const list = shown(calendar.list({ from: '2026-04-01', to: '2026-12-01', zone: 'America/New_York' }));
    const utc = (id: string): string[] =>
      list.filter((one) => one.id === id).map((one) => one.start?.utc ?? 'none');
    expect(utc('w1')).toEqual(['2026-10-26T13:10:00Z', '2026-11-02T14:10:00Z']);
    expect(utc('d1')).toEqual([
      '2026-04-27T13:00:00Z',
      '2026-04-28T13:00:00Z',
      '2026-04-29T13:00:00Z',
      '2026-04-30T13:00:00Z',
      '2026-05-01T13:00:00Z',
    ]);
    expect(list.find((one) => one.occurrence === '2026-11-02T14:10:00Z')).toMatchObject({
      start: {
        local: '2026-11-02T09:10',
        offset: '-05:00',
        zone: 'America/New_York',
        utc: '2026-11-02T14:10:00Z',
      },
      end: {
        local: '2026-11-02T09:40',
        offset: '-05:00',
        zone: 'America/New_York',
        utc: '2026-11-02T14:40:00Z',
      },
    });
  });

  test('a list without zone is refused, and so is a zone that does not exist', () => {
    const calendar = fresh();
    expect(() => calendar.list({ from: '2026-04-01', to: '2026-05-01', zone: 'Mars/Olympus' })).toThrow(
      expect.objectContaining({ code: 'zone-unknown' }),
    );
    expect(() => calendar.list({ from: '2026-04-01', to: '2026-05-01', zone: '+02:00' })).toThrow(
      expect.objectContaining({ code: 'zone-unknown' }),
    );
    expect(() => calendar.list({ from: '2026-04-01', to: '2026-05-01', zone: 'berlin' })).toThrow(
      expect.objectContaining({ message: expect.stringContaining('Europe/Berlin') as unknown }),
    );
  });
});

describe('an all-day entry is the same dates for every reader and host (FC-139)', () => {
  test.each(['Pacific/Honolulu', 'UTC', 'Pacific/Auckland', 'Asia/Kolkata', 'Pacific/Kiritimati'])(
    'read in %s',
    (zone) => {
      const calendar = fresh(zone);
      calendar.importIcs({ ics: CROSSING }, { key: 'k', ...CALL });
      const days = shown(calendar.list({ from: '2026-06-25', to: '2026-07-10', zone }));
      expect(days.map((one) => one.startDate)).toEqual(['2026-07-01', '2026-07-02', '2026-07-03']);
      expect(days.map((one) => one.endDateExclusive)).toEqual(['2026-07-02', '2026-07-03', '2026-07-04']);
      expect(days.every((one) => one.allDay && one.start === undefined)).toBe(true);
      const day = (from: string, to: string): number => shown(calendar.list({ from, to, zone })).length;
      expect([
        day('2026-06-30', '2026-07-01'),
        day('2026-07-03', '2026-07-04'),
        day('2026-07-04', '2026-07-05'),
      ]).toEqual([0, 1, 0]);
    },
  );

  test.each(['Pacific/Honolulu', 'UTC', 'Pacific/Auckland'])(
    'it is busy all day in the zone %s of the reader, the end not included',
    (zone) => {
      const calendar = fresh(zone);
      calendar.importIcs({ ics: CROSSING }, { key: 'k', ...CALL });
      const { slots } = calendar.free({
        from: '2026-06-30',
        to: '2026-07-06',
        zone,
        minutes: 60,
        hoursFrom: '00:00',
        hoursTo: '24:00',
        weekdays: ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'],
      }) as unknown as { slots: { start: Time; end: Time }[] };
      expect(slots.map(({ start, end }) => `${start.local} ${end.local}`)).toEqual([
        '2026-06-30T00:00 2026-07-01T00:00',
        '2026-07-04T00:00 2026-07-05T00:00',
        '2026-07-05T00:00 2026-07-06T00:00',
      ]);
    },
  );

  test('the zone of the host changes nothing', () => {
    const module = pathToFileURL(join(import.meta.dirname, '../../src/tool/calendar/calendar.ts')).href;
    const program = `
      const { openCalendar } = await import(${JSON.stringify(module)});
      const calendar = openCalendar(process.argv[1], 'Pacific/Honolulu');
      const call = (key) => ({ key, nowMs: 1767225600000, base: undefined });
      calendar.importIcs({ ics: process.argv[2] }, call('a'));
      const result = calendar.create({ title: 'Gap', start: '2026-03-29T02:30', minutes: 30, zone: 'Europe/Berlin', repeats: 'FREQ=DAILY;COUNT=3' }, call('b'));
      const plan = calendar.planMove({ id: 'w1', occurrence: '2026-11-02T14:10:00Z', start: '2026-11-03T10:00' }, call('c'));
      const lists = ['Pacific/Honolulu', 'Pacific/Auckland', 'America/New_York'].map((zone) =>
        calendar.list({ from: '2026-03-01', to: '2026-12-01', zone }));
      const free = calendar.free({ from: '2026-10-20', to: '2026-11-05', zone: 'America/New_York', minutes: 30 });
      console.log(JSON.stringify({ offset: new Date(2026, 6, 1).getTimezoneOffset(), result, plan, lists, free, ics: calendar.exportIcs({}).ics }));
    `;
    const run = (tz: string): { offset: number } =>
      JSON.parse(
        execFileSync(
          process.execPath,
          [
            '--input-type=module',
            '-e',
            program,
            join(folder, `host-${tz.replace('/', '-')}.sqlite`),
            CROSSING,
          ],
          { env: { ...process.env, TZ: tz }, encoding: 'utf8' },
        ),
      ) as { offset: number };
    const [{ offset: first, ...utc }, { offset: second, ...kolkata }, { offset: third, ...auckland }] = [
      run('UTC'),
      run('Asia/Kolkata'),
      run('Pacific/Auckland'),
    ];
    // The children did run in different zones; otherwise the comparison would say nothing.
    expect([first, second, third]).toEqual([0, -330, -720]);
    expect(kolkata).toEqual(utc);
    expect(auckland).toEqual(utc);
  });
});

describe('an ambiguous local time is resolved to the first and the result says so', () => {
  test('the hour that happens twice', () => {
    const calendar = fresh();
    const result = calendar.create(
      { title: 'Night shift', start: '2026-10-25T02:30', minutes: 15, zone: 'Europe/Berlin' },
      { key: 'k', ...CALL },
    ) as unknown as Shown;
    expect(result.start).toMatchObject({
      local: '2026-10-25T02:30',
      offset: '+02:00',
      utc: '2026-10-25T00:30:00Z',
    });
    expect(result.notes).toEqual([
      '2026-10-25T02:30 happens twice in Europe/Berlin, as the clocks go back. The first is used: ' +
        '2026-10-25T02:30+02:00. The second would be 2026-10-25T02:30+01:00.',
    ]);
  });

  test('the second one can be had by its offset', () => {
    const calendar = fresh();
    const result = calendar.create(
      { title: 'Later', start: '2026-10-25T02:30+01:00', minutes: 15, zone: 'Europe/Berlin' },
      { key: 'k', ...CALL },
    ) as unknown as Shown;
    expect(result.start?.utc).toBe('2026-10-25T01:30:00Z');
    expect(result.notes?.[0]).toContain('second of two');
    const [listed] = shown(calendar.list({ from: '2026-10-25', to: '2026-10-26', zone: 'Europe/Berlin' }));
    expect(listed?.start).toMatchObject({ local: '2026-10-25T02:30', offset: '+01:00' });
  });

  test('the hour that does not exist is moved forward, and only on that day', () => {
    const calendar = fresh();
    const result = calendar.create(
      {
        title: 'Backup',
        start: '2026-03-28T02:30',
        minutes: 15,
        zone: 'Europe/Berlin',
        repeats: 'FREQ=DAILY;COUNT=3',
      },
      { key: 'k', ...CALL },
    ) as unknown as Shown;
    expect(result.notes).toBeUndefined();
    const days = shown(calendar.list({ from: '2026-03-28', to: '2026-04-01', zone: 'Europe/Berlin' }));
    expect(days.map((one) => one.start?.local)).toEqual([
      '2026-03-28T02:30',
      '2026-03-29T03:30',
      '2026-03-30T02:30',
    ]);
    expect(days.map((one) => one.notes?.length ?? 0)).toEqual([0, 1, 0]);
    expect(days[1]?.notes?.[0]).toContain('moved to 03:30 (+02:00)');
  });

  test('a series that begins in the gap keeps the hour it was given', () => {
    const calendar = fresh();
    calendar.create(
      {
        title: 'Backup',
        start: '2026-03-29T02:30',
        minutes: 15,
        zone: 'Europe/Berlin',
        repeats: 'FREQ=DAILY;COUNT=2',
      },
      { key: 'k', ...CALL },
    );
    const days = shown(calendar.list({ from: '2026-03-28', to: '2026-04-01', zone: 'Europe/Berlin' }));
    expect(days.map((one) => one.start?.local)).toEqual(['2026-03-29T03:30', '2026-03-30T02:30']);
  });
});

const intlWall = (zone: string, utc: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(utc);
const text = (wall: Wall): string => new Date(wall).toISOString().slice(0, 19).replace('T', ' ');

describe('local time and UTC agree with Intl', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const minute = fc.integer({ min: Date.UTC(1970, 0, 1) / 60_000, max: Date.UTC(2040, 0, 1) / 60_000 });

  test(`from UTC to local and back, for random zones and times (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), minute, (name, at) => {
        const zone = namedZone(name);
        const utc = at * 60_000;
        const wall = wallAt(utc, zone);
        expect(text(wall)).toBe(intlWall(name, utc));
        const back = utcAt(wall, zone);
        // The second of two equal readings comes back as the first, and nothing else is lost.
        expect(back.utc).toBeLessThanOrEqual(utc);
        expect(intlWall(name, back.utc)).toBe(intlWall(name, utc));
        expect(back.utc === utc || back.kind === 'first-of-two').toBe(true);
      }),
      { seed: SEED, numRuns: 1_500 },
    );
  });

  test(`from local to UTC, near the changes of the clocks (seed ${SEED})`, () => {
    const near = fc.tuple(
      fc.constantFrom(
        'Europe/Berlin',
        'America/New_York',
        'Australia/Lord_Howe',
        'America/St_Johns',
        'Africa/Casablanca',
        'Pacific/Apia',
        'Asia/Tehran',
        'America/Sao_Paulo',
      ),
      minute,
    );
    fc.assert(
      fc.property(near, ([name, at]) => {
        const zone = namedZone(name);
        const start = at * 60_000;
        // Walk to the next change, so that half of the readings fall into a gap or a doubled hour.
        let left = start;
        while (zone.offsetAt(left) === zone.offsetAt(left + DAY_MS) && left < start + 400 * DAY_MS)
          left += DAY_MS;
        const wall = wallAt(left, zone) + (at % 1440) * 60_000;
        const found = utcAt(wall, zone);
        const readings: number[] = [];
        for (let utc = wall - 15 * 3_600_000; utc <= wall + 15 * 3_600_000; utc += 60_000)
          if (wallAt(utc, zone) === wall) readings.push(utc);
        const kind =
          readings.length === 0 ? 'moved-forward' : readings.length === 1 ? 'only' : 'first-of-two';
        expect(found.kind).toBe(kind);
        // Out of a gap it goes forward, to a reading that does exist.
        expect(found.utc).toBe(readings[0] ?? found.utc);
        expect(wallAt(found.utc, zone) > wall).toBe(kind === 'moved-forward');
        expect(found.note === undefined).toBe(kind === 'only');
      }),
      { seed: SEED, numRuns: 60 },
    );
  }, 60_000);
});
