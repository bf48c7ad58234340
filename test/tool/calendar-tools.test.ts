import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/event/json.ts';
import { calendarTools } from '../../src/tool/calendar/tools.ts';
import type { Preview } from '../../src/tool/preview.ts';
import { toJsonSchema } from '../../src/tool/schema.ts';
import type { Tool, ToolContext } from '../../src/tool/tool.ts';

const NOW = Date.UTC(2026, 8, 1);
let folder = '';
let made = 0;
const file = (): string => join(folder, `calendar-${(made += 1)}.sqlite`);

const context = (key: string, base?: Json): ToolContext => ({
  signal: new AbortController().signal,
  idempotencyKey: key,
  attempt: 1,
  call: 's_TEST 1.1.1',
  log: { info: () => {}, warn: () => {} },
  now: () => NOW,
  startedAt: 0,
  made: [],
  callTool: () => undefined,
  base,
});

type Hands = {
  run: (name: string, input: JsonObject, key: string, base?: Json) => JsonObject;
  preview: (name: string, input: JsonObject, key: string) => Preview;
};

/** The tools as the runtime calls them: arguments through the schema first. */
const hands = (path: string, zone = 'Europe/Berlin'): Hands => {
  const tools = new Map(calendarTools({ path, zone }).map((one) => [one.name, one]));
  const find = (name: string): Tool => {
    const found = tools.get(`calendar.${name}`);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    run: (name, input, key, base) => find(name).execute(input as never, context(key, base)) as JsonObject,
    preview: (name, input, key) => {
      const shown = find(name).preview?.(input as never, context(key));
      if (!shown || shown instanceof Promise) throw new Error('no preview');
      return shown;
    },
  };
};

const idOf = ({ id }: JsonObject): string => {
  if (typeof id !== 'string') throw new Error('no id');
  return id;
};

const MEETING = { title: 'Site review', start: '2026-12-03T14:00', minutes: 60, zone: 'Europe/Berlin' };
const list = (
  path: string,
  from = '2026-12-01',
  to = '2026-12-31',
): { id: string; title: string; version: number; start: { local: string } }[] =>
  hands(path).run('list', { from, to, zone: 'Europe/Berlin' }, 'list')['occurrences'] as never;
const days = (path: string): string[] => list(path).map(({ start }) => start.local);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'calendar-tools-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('one occurrence of a series', () => {
  const SERIES = { ...MEETING, title: 'Weekly', repeats: 'FREQ=WEEKLY;COUNT=3' };
  test('has to be named', () => {
    const path = file();
    const id = idOf(hands(path).run('create', SERIES, 'k0'));
    expect(() => hands(path).run('move', { id, start: '2026-12-04T10:00' }, 'k1')).toThrow(
      expect.objectContaining({ code: 'occurrence-missing' }),
    );
    expect(() => hands(path).run('cancel', { id, occurrence: '2026-12-11T13:00:00Z' }, 'k1')).toThrow(
      expect.objectContaining({ code: 'occurrence-not-found' }),
    );
  });

  test('moves alone, moves again under the same name, and is cancelled alone', () => {
    const path = file();
    const id = idOf(hands(path).run('create', SERIES, 'k0'));
    const occurrence = '2026-12-10T13:00:00Z';
    hands(path).run('move', { id, occurrence, start: '2026-12-11T10:00' }, 'k1');
    expect(days(path)).toEqual(['2026-12-03T14:00', '2026-12-11T10:00', '2026-12-17T14:00']);
    hands(path).run('move', { id, occurrence, start: '2026-12-12T10:00' }, 'k2');
    expect(days(path)).toEqual(['2026-12-03T14:00', '2026-12-12T10:00', '2026-12-17T14:00']);
    hands(path).run('cancel', { id, occurrence }, 'k3');
    expect(days(path)).toEqual(['2026-12-03T14:00', '2026-12-17T14:00']);
    hands(path).run('cancel', { id, occurrence: 'all' }, 'k4');
    expect(days(path)).toEqual([]);
    expect(() => hands(path).run('cancel', { id, occurrence: 'all' }, 'k5')).toThrow(
      expect.objectContaining({ code: 'entry-not-found' }),
    );
  });

  test('a series that moves to a later hour keeps its last occurrence and what was left out', () => {
    const path = file();
    const id = idOf(
      hands(path).run('create', { ...MEETING, repeats: 'FREQ=WEEKLY;UNTIL=20261217T130000Z' }, 'k0'),
    );
    hands(path).run('cancel', { id, occurrence: '2026-12-10T13:00:00Z' }, 'k1');
    hands(path).run('move', { id, occurrence: 'all', start: '2026-12-03T16:00' }, 'k2');
    expect(days(path)).toEqual(['2026-12-03T16:00', '2026-12-17T16:00']);
  });

  test('a series whose rule names its days does not move to another day', () => {
    const path = file();
    const id = idOf(hands(path).run('create', { ...MEETING, repeats: 'FREQ=WEEKLY;BYDAY=TH;COUNT=3' }, 'k0'));
    expect(() => hands(path).run('move', { id, occurrence: 'all', start: '2026-12-04T14:00' }, 'k1')).toThrow(
      expect.objectContaining({ code: 'series-move-unsupported' }),
    );
    expect(hands(path).run('move', { id, occurrence: 'all', start: '2026-12-03T15:00' }, 'k2')).toMatchObject(
      { version: 2 },
    );
  });
});

describe('arguments', () => {
  test.each<[string, JsonObject, string]>([
    ['no zone', { title: 'x', start: '2026-12-03T14:00', minutes: 5 }, 'zone-missing'],
    ['an unknown zone', { ...MEETING, zone: 'Europe/Berlinn' }, 'zone-unknown'],
    ['no length', { title: 'x', start: '2026-12-03T14:00', zone: 'UTC' }, 'time-invalid'],
    ['a day that does not exist', { title: 'x', start: '2026-02-30' }, 'time-invalid'],
    ['an end on the first day', { title: 'x', start: '2026-02-03', end: '2026-02-03' }, 'time-invalid'],
    [
      'an end before the start',
      { title: 'x', start: '2026-12-03T14:00', end: '2026-12-03T13:00', zone: 'UTC' },
      'time-invalid',
    ],
    [
      'a date and a time',
      { title: 'x', start: '2026-12-03', end: '2026-12-03T13:00', zone: 'UTC' },
      'time-invalid',
    ],
    ['a rule that is none', { ...MEETING, repeats: 'every week' }, 'rule-invalid'],
    ['a rule with a line of its own', { ...MEETING, repeats: 'FREQ=DAILY\nATTENDEE:x' }, 'rule-invalid'],
    [
      'a rule that ends before it starts',
      { ...MEETING, repeats: 'FREQ=DAILY;UNTIL=20200101' },
      'rule-invalid',
    ],
    ['a control character', { ...MEETING, title: 'a\u000bb' }, 'text-invalid'],
    ['years without end', { title: 'x', start: '2026-12-03', end: '2036-12-03' }, 'range-too-long'],
  ])('%s is refused before anybody is asked', (_, input, code) => {
    const path = file();
    expect(() => hands(path).preview('create', input, 'k')).toThrow(
      expect.objectContaining({ code, happened: false }),
    );
    expect(() => hands(path).run('create', input, 'k')).toThrow(
      expect.objectContaining({ code, happened: false }),
    );
  });

  test('every tool has a JSON Schema, its effect and its labels', () => {
    const tools = calendarTools({ path: file(), prefix: 'team' });
    expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['team.list', 'none'],
      ['team.free', 'none'],
      ['team.export_ics', 'none'],
      ['team.create', 'idempotent'],
      ['team.move', 'idempotent'],
      ['team.cancel', 'idempotent'],
      ['team.import_ics', 'idempotent'],
    ]);
    for (const one of tools) {
      expect(toJsonSchema(one.name, one.inputSchema)).toMatchObject({
        type: 'object',
        additionalProperties: false,
      });
      expect(one.labels).toEqual({ untrusted: true, private: true });
    }
    const [first] = tools;
    expect(toJsonSchema('list', first?.inputSchema ?? {})).toMatchObject({
      required: ['from', 'to', 'zone'],
    });
  });

  test('text cannot add lines to an export', () => {
    const path = file();
    hands(path).run(
      'create',
      { ...MEETING, title: 'a\r\nb\rATTENDEE:mailto:x@example.org', notes: 'b\nEND:VEVENT' },
      'k',
    );
    const { ics } = hands(path).run('export_ics', {}, 'e') as { ics: string };
    expect(
      ics.split(/\r\n|\r|\n/).filter((line) => line.startsWith('ATTENDEE') || line === 'END:VEVENT'),
    ).toEqual(['END:VEVENT']);
  });

  test('a file that is no calendar and a newer one are refused without the path', () => {
    const path = file();
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(() => list(path)).toThrow(expect.objectContaining({ code: 'calendar-too-new' }));
    const nowhere = join(folder, 'no', 'such', 'calendar.sqlite');
    expect(() => hands(nowhere).run('create', MEETING, 'k')).toThrow(
      expect.objectContaining({
        code: 'calendar-unreadable',
        message: expect.not.stringContaining(folder) as unknown,
      }),
    );
  });
});

describe('free time', () => {
  test('is what is left of the working hours', () => {
    const path = file();
    hands(path).run('create', MEETING, 'k0');
    hands(path).run('create', { ...MEETING, start: '2026-12-03T14:30', minutes: 60 }, 'k1');
    hands(path).run('create', { ...MEETING, start: '2026-12-03T09:20', minutes: 20 }, 'k2');
    const { slots } = hands(path).run(
      'free',
      { from: '2026-12-03', to: '2026-12-07', zone: 'Europe/Berlin', minutes: 30 },
      'f',
    ) as unknown as {
      slots: { start: { local: string }; end: { local: string }; minutes: number }[];
    };
    expect(slots.map(({ start, end, minutes }) => [start.local, end.local, minutes])).toEqual([
      ['2026-12-03T09:40', '2026-12-03T14:00', 260],
      ['2026-12-03T15:30', '2026-12-03T17:00', 90],
      ['2026-12-04T09:00', '2026-12-04T17:00', 480],
    ]);
  });

  test('a day of a clock change has its real length', () => {
    const { slots } = hands(file()).run(
      'free',
      {
        from: '2026-03-29',
        to: '2026-03-30',
        zone: 'Europe/Berlin',
        minutes: 30,
        hoursFrom: '00:00',
        hoursTo: '24:00',
        weekdays: ['SU'],
      },
      'f',
    ) as unknown as { slots: { minutes: number }[] };
    expect(slots.map(({ minutes }) => minutes)).toEqual([23 * 60]);
  });
});
