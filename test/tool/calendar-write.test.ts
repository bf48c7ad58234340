import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
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
const count = (path: string, table: string): number => {
  const db = new DatabaseSync(path);
  try {
    return Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
  } finally {
    db.close();
  }
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'calendar-write-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const TOOLS = pathToFileURL(join(import.meta.dirname, '../../src/tool/calendar/tools.ts')).href;
const CHILD = `
  const { calendarTools } = await import(${JSON.stringify(TOOLS)});
  const [path, name, input, key, then] = process.argv.slice(1);
  const tool = calendarTools({ path, zone: 'Europe/Berlin' }).find((one) => one.name === 'calendar.' + name);
  const context = { signal: new AbortController().signal, idempotencyKey: key, attempt: 1, call: 'c', log: { info() {}, warn() {} }, now: () => ${NOW}, base: undefined };
  process.stdout.write('ready\\n');
  await new Promise((go) => process.stdin.once('data', go));
  const result = tool.execute(JSON.parse(input), context);
  if (then === 'die') process.kill(process.pid, 'SIGKILL');
  process.stdout.write(JSON.stringify(result));
  process.exit(0);
`;

type Child = { ready: Promise<void>; go: () => void; done: Promise<{ signal: string | null; out: string }> };

const child = (...args: string[]): Child => {
  const one = spawn(process.execPath, ['--input-type=module', '-e', CHILD, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  const ready = new Promise<void>((resolve) => {
    one.stdout.on('data', (data: Buffer) => {
      out += data.toString();
      if (out.includes('ready\n')) resolve();
    });
  });
  const done = new Promise<{ signal: string | null; out: string }>((resolve) => {
    one.on('close', (_, signal) => resolve({ signal, out: out.replace('ready\n', '') }));
  });
  return { ready, go: () => one.stdin.write('go'), done };
};

describe('the same key writes once', () => {
  test.each<[string, JsonObject]>([
    ['create', { ...MEETING, title: 'Another' }],
    ['move', { id: '$', start: '2026-12-04T10:00' }],
    ['cancel', { id: '$' }],
    [
      'import_ics',
      { ics: 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:i\nDTSTART:20261212T090000Z\nEND:VEVENT\nEND:VCALENDAR\n' },
    ],
  ])('%s twice gives the first result and one change', (name, given) => {
    const path = file();
    const id = idOf(hands(path).run('create', MEETING, 'k0'));
    const input = given['id'] === '$' ? { ...given, id } : given;
    const base = hands(path).preview(name, input, 'k1').base;
    const first = hands(path).run(name, input, 'k1', base);
    const after = list(path);
    // What was shown no longer holds, and the same call still has its first result.
    expect(hands(path).run(name, input, 'k1', base)).toEqual(first);
    expect(list(path)).toEqual(after);
    expect(count(path, 'calendar_key')).toBe(2);
  });

  test('a key that belongs to another call is refused', () => {
    const path = file();
    hands(path).run('create', MEETING, 'k');
    expect(() => hands(path).run('create', { ...MEETING, title: 'Other' }, 'k')).toThrow(
      expect.objectContaining({ code: 'key-reused', happened: false }),
    );
    expect(list(path)).toHaveLength(1);
  });

  test('two processes at once with one key make one entry and get one result', async () => {
    const path = file();
    const input = JSON.stringify(MEETING);
    const children = [
      child(path, 'create', input, 'k'),
      child(path, 'create', input, 'k'),
      child(path, 'create', input, 'k'),
    ];
    await Promise.all(children.map((one) => one.ready));
    for (const one of children) one.go();
    const results = await Promise.all(children.map((one) => one.done));
    expect(new Set(results.map(({ out }) => out)).size).toBe(1);
    expect(results[0]?.out).toContain('"done":"created"');
    expect([count(path, 'calendar_entry'), count(path, 'calendar_key')]).toEqual([1, 1]);
  });

  test('two processes at once with two keys make two entries', async () => {
    const path = file();
    const children = ['a', 'b'].map((key) => child(path, 'create', JSON.stringify(MEETING), key));
    await Promise.all(children.map((one) => one.ready));
    for (const one of children) one.go();
    await Promise.all(children.map((one) => one.done));
    expect(count(path, 'calendar_entry')).toBe(2);
  });

  test('killed after the commit and before the record, the next attempt gets the first result', async () => {
    const path = file();
    const victim = child(path, 'create', JSON.stringify(MEETING), 'k', 'die');
    await victim.ready;
    victim.go();
    expect(await victim.done).toMatchObject({ signal: 'SIGKILL', out: '' });
    expect(list(path)).toHaveLength(1);
    const again = hands(path).run('create', MEETING, 'k');
    expect(again).toMatchObject({ done: 'created', version: 1, conflicts: [] });
    expect([count(path, 'calendar_entry'), count(path, 'calendar_key')]).toEqual([1, 1]);
  });

  test('a failure leaves neither entry nor key', () => {
    const path = file();
    hands(path).run('create', MEETING, 'k0');
    expect(() => hands(path).run('move', { id: 'none', start: '2026-12-04T10:00' }, 'k1')).toThrow(
      expect.objectContaining({ code: 'entry-not-found', happened: false }),
    );
    expect(count(path, 'calendar_key')).toBe(1);
  });
});
