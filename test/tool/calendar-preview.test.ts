import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/event/json.ts';
import { calendarTools } from '../../src/tool/calendar/tools.ts';
import type { Preview } from '../../src/tool/preview.ts';
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
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'calendar-preview-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a preview shows the consequence and changes nothing', () => {
  test('create: the entry, in its zone and the reader’s, and what it overlaps', () => {
    const path = file();
    hands(path).run('create', MEETING, 'k0');
    const input = {
      title: 'Call',
      start: '2026-12-03T08:30',
      minutes: 30,
      zone: 'America/New_York',
      where: 'Phone',
    };
    const preview = hands(path).preview('create', input, 'k1');
    expect(preview).toMatchObject({
      title: 'Create one calendar entry. No invitation is sent.',
      warnings: ['The entry overlaps with others.'],
      blocks: [
        {
          kind: 'calendar',
          after: {
            title: 'Call',
            when: 'Thu 3 Dec 2026, 08:30 to 09:00 (America/New_York, UTC-05:00) = Thu 3 Dec 2026, 14:30 to 15:00 (Europe/Berlin, UTC+01:00)',
            utc: '2026-12-03T13:30:00Z',
            where: 'Phone',
          },
          conflicts: ['“Site review”, Thu 3 Dec 2026, 08:00 to 09:00 (America/New_York, UTC-05:00)'],
        },
      ],
    });
    expect(list(path)).toHaveLength(1);
    const result = hands(path).run('create', input, 'k1', preview.base);
    expect(result['conflicts']).toMatchObject([{ title: 'Site review' }]);
  });

  test('a preview on a calendar that does not exist does not create it', () => {
    const path = file();
    hands(path).preview('create', MEETING, 'k');
    expect(() => new DatabaseSync(path, { readOnly: true })).toThrow(/unable to open/);
  });

  test('entries that end when others begin, free ones and cancelled ones are no conflict', () => {
    const path = file();
    hands(path).run('create', MEETING, 'k0');
    const gone = hands(path).run('create', { ...MEETING, title: 'Gone', start: '2026-12-03T15:00' }, 'k1');
    hands(path).run('cancel', { id: idOf(gone) }, 'k2');
    const ics =
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:f\nTRANSP:TRANSPARENT\nDTSTART:20261203T140000Z\nDTEND:20261203T150000Z\nEND:VEVENT\nEND:VCALENDAR\n';
    hands(path).run('import_ics', { ics }, 'k3');
    const preview = hands(path).preview('create', { ...MEETING, start: '2026-12-03T15:00' }, 'k4');
    expect(preview.blocks).toMatchObject([{ conflicts: [] }]);
  });

  test('a series is held against later entries as well, an all-day entry against its whole day', () => {
    const path = file();
    hands(path).run('create', MEETING, 'k0');
    hands(path).run('create', { title: 'Fair', start: '2026-12-10' }, 'k1');
    const result = hands(path).run(
      'create',
      {
        title: 'Weekly',
        start: '2026-11-05T14:30',
        minutes: 30,
        zone: 'Europe/Berlin',
        repeats: 'FREQ=WEEKLY;COUNT=10',
      },
      'k2',
    );
    expect((result['conflicts'] as { title: string }[]).map(({ title }) => title)).toEqual([
      'Site review',
      'Fair',
    ]);
  });

  test('move: before and after, and an entry that changed since is refused', () => {
    const path = file();
    const id = idOf(hands(path).run('create', MEETING, 'k0'));
    const input = { id, start: '2026-12-04T10:00' };
    const preview = hands(path).preview('move', input, 'k1');
    expect(preview.blocks).toMatchObject([
      {
        before: { when: 'Thu 3 Dec 2026, 14:00 to 15:00 (Europe/Berlin, UTC+01:00)' },
        after: { when: 'Fri 4 Dec 2026, 10:00 to 11:00 (Europe/Berlin, UTC+01:00)' },
      },
    ]);
    hands(path).run('move', { id, start: '2026-12-07T10:00' }, 'k2');
    expect(() => hands(path).run('move', input, 'k1', preview.base)).toThrow(
      expect.objectContaining({ code: 'entry-changed', happened: false }),
    );
    expect(() => hands(path).run('cancel', { id }, 'k3', preview.base)).toThrow(
      expect.objectContaining({ code: 'entry-changed' }),
    );
    expect(list(path)).toMatchObject([{ version: 2, start: { local: '2026-12-07T10:00' } }]);
    const fresh = hands(path).preview('move', input, 'k4');
    expect(hands(path).run('move', input, 'k4', fresh.base)).toMatchObject({
      version: 3,
      start: { local: '2026-12-04T10:00' },
    });
  });

  test('import: what would be added, and a change in between is refused', () => {
    const path = file();
    const ics =
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:i\nSUMMARY:Talk\nDTSTART:20261212T090000Z\nEND:VEVENT\nEND:VCALENDAR\n';
    const preview = hands(path).preview('import_ics', { ics }, 'k1');
    expect(preview.title).toBe('Import one entry into the calendar. No answer is sent.');
    hands(path).run('import_ics', { ics: ics.replace('Talk', 'Other') }, 'k2');
    expect(() => hands(path).run('import_ics', { ics }, 'k1', preview.base)).toThrow(
      expect.objectContaining({ code: 'entry-changed' }),
    );
  });
});
