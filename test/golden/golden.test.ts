/**
 * Golden logs: what every earlier version has recorded is still read, proves itself, is shown, and comes out of the
 * decider byte for byte. A log is never changed; a shape that changes gets an upcast.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import { EVENT_TYPES } from '../../src/event/events.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { eventLine } from '../../src/view/event-line.ts';
import { Reading } from '../../src/view/reading.ts';
import { sessionHead } from '../../src/view/session-head.ts';
import { standing } from '../../src/view/standing.ts';
import { timeline } from '../../src/view/timeline.ts';
import { transcript } from '../../src/view/transcript.ts';
import { project, ROOT } from '../cli/project.ts';
import { goldens, problems, put } from '../kit/golden.ts';

const all = goldens();

test('there are golden logs, and together they hold every event that there is', () => {
  const types = new Set(all.flatMap(({ stored }) => stored.map((one) => open(one).type)));
  // Tokens stand in a log of the store's own, which is no session.
  const inSessions = EVENT_TYPES.filter((type) => !type.startsWith('token.'));
  expect(inSessions.filter((type) => !types.has(type))).toEqual([]);
});

test.each(all.map((golden) => [golden.name, golden] as const))(
  '%s is whole and replays',
  async (_, golden) => {
    expect(golden.stored.length).toBeGreaterThan(5);
    expect(await problems(golden)).toEqual([]);
  },
);

test.each(all.map((golden) => [golden.name, golden] as const))('%s is shown', (_, { session, stored }) => {
  const reading = new Reading(session);
  for (const one of stored) {
    const event = open(one);
    reading.push(event);
    const { text } = eventLine(reading, event);
    expect(`${event.type} ${text}`).not.toMatch(/undefined|\[object|NaN/);
  }
  expect(sessionHead(reading).events).toBe(stored.length);
  expect(transcript(reading).rows.length).toBeGreaterThan(0);
  expect(timeline(reading, { now: 0, everyEvent: true }).rows.length).toBeGreaterThan(0);
  expect(standing(reading.state).turns).toBeGreaterThan(0);
});

test('the console proves, replays and shows all of them', { timeout: 240_000 }, async () => {
  const place = project({ 'onrecord.config.ts': 'export default { agents: [] };\n' });
  for (const [at, golden] of all.entries()) {
    const file = `${at}.db`;
    const store = new SqliteLog(join(place.folder, file));
    await put(store, golden);
    await store.close();
    const { session, name } = golden;
    const commands = [
      ['verify', '--all'],
      ['replay', '--all'],
      ['show', session],
      ['show', session, '--timeline'],
      ['show', session, '--request', '1'],
    ];
    for (const words of commands) {
      const { code, stderr } = await place.onrecord(...words, '--store', file);
      expect([name, ...words, code, stderr.includes('✗')]).toEqual([name, ...words, 0, false]);
    }
  }
});

const PLANTED = [
  {
    change: 'a decision waits for another time',
    file: 'src/session/backoff.ts',
    from: 'full * (0.5 + share(name) / 2)',
    to: 'full * (0.6 + share(name) / 2)',
    seen: /faulted: Event \d+ request\.retry \/notBefore/,
  },
  {
    change: 'a receipt counts otherwise',
    file: 'src/session/conclude.ts',
    from: 'stopped: ids((call) => !landed(call) && !unknown(call)),',
    to: 'stopped: ids((call) => !landed(call)),',
    seen: /cancelled-in-doubt: Event \d+ turn\.ended \/receipt\/stopped/,
  },
  {
    change: 'a fork leaves a started call behind as one that did not run',
    file: 'src/session/conclude-call.ts',
    from: "fork: unknown ? 'unknown' : 'not-run'",
    to: "fork: unknown && call.round > 9 ? 'unknown' : 'not-run'",
    seen: /forked: Event \d+ call\.cancelled \/fork/,
  },
  {
    change: 'the prompt has another word',
    file: 'src/model/neutral.ts',
    from: "role: 'results'",
    to: "role: 'result'",
    seen: /finished: Event \d+ request\.built .*the prompt/,
  },
  {
    change: 'an event has another meaning',
    file: 'src/session/evolve-call.ts',
    from: 'args: decision.args, edited: true',
    to: 'edited: true',
    seen: /edited: Event \d+ /,
  },
] as const;

/** Ends a hopeless wait. */
const CHECK_MS = 120_000;

describe('a change that is planted in the source is found', { timeout: 2 * CHECK_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-golden-'));
  for (const part of ['src', 'test/kit', 'test/golden', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const check = (): { readonly code: number | null; readonly text: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['test/kit/child-golden.ts'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: CHECK_MS,
    });
    return { code: status, text: stdout + stderr };
  };

  test('nothing is found where nothing is planted', () => {
    expect(check()).toEqual({ code: 0, text: '' });
  });

  test.each(PLANTED)('$change', ({ file, from, to, seen }) => {
    const path = join(folder, file);
    const original = readFileSync(path, 'utf8');
    expect(original.split(from).length, `${file} holds the planted place once`).toBe(2);
    writeFileSync(path, original.replace(from, to));
    try {
      const { code, text } = check();
      expect(text).toMatch(seen);
      expect(code).toBe(1);
    } finally {
      writeFileSync(path, original);
    }
  });
});
