/** Field cases about what programs, hosts and earlier versions are: rooms, zones of machines, logs of last year. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import type { Policy } from '../../src/event/definition.ts';
import { open, opener } from '../../src/event/envelope.ts';
import type { Json } from '../../src/event/json.ts';
import { rebuildAll } from '../../src/context/rebuild.ts';
import { priceList } from '../../src/cost/prices.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import { replay } from '../../src/replay/replay.ts';
import { javascriptTools } from '../../src/tool/javascript/tools.ts';
import { tool, type Tool } from '../../src/tool/tool.ts';
import { cacheReuse } from '../../src/view/cache-reuse.ts';
import { causeWords } from '../../src/view/reuse-words.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { project } from '../cli/project.ts';
import { goldens, put } from '../kit/golden.ts';
import { openTestRooms } from '../kit/rooms.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';
import { House } from '../server/house.ts';
import { Bench } from './bench.ts';
import { expectRun } from './expected.ts';
import type { Plan } from './plan.ts';

const start = promisify(execFile);
/** How often a door is asked while a program runs. */
const LOOKS = 20;

/** A program by its words, as the system takes it: no shell reads them. */
const command = (ran: string[][]): Tool =>
  tool({
    name: 'run_command',
    description: 'runs a program',
    inputSchema: {
      type: 'object',
      properties: { argv: { type: 'array', items: { type: 'string' }, minItems: 1 } },
      required: ['argv'],
      additionalProperties: false,
    },
    effect: 'once',
    execute: ({ argv }: { readonly argv: string[] }) => void ran.push(argv),
  });

/** "Always allow git", as it can be said: which program, which of its commands, and nothing behind that. */
const GIT: Policy = {
  rules: [
    {
      id: 'git-looks',
      tools: ['run_command'],
      when: [
        { at: '/argv/0', equals: 'git' },
        { at: '/argv/1', oneOf: ['status', 'log', 'diff'] },
        { at: '/argv', only: ['0', '1'] },
      ],
      do: 'allow',
    },
  ],
};

const DAY_PROGRAM = `
  const { openCalendar } = await import(process.argv[1]);
  const [, , path, ics, ...zones] = process.argv;
  const calendar = openCalendar(path, 'UTC');
  calendar.importIcs({ ics }, { key: 'a', nowMs: 1767225600000, base: undefined });
  const range = { from: '2026-06-29', to: '2026-07-06' };
  console.log(JSON.stringify({
    offset: new Date(2026, 6, 1).getTimezoneOffset(),
    lists: zones.map((zone) => calendar.list({ ...range, zone })),
    free: zones.map((zone) => calendar.free({ ...range, zone, minutes: 60 })),
  }));
`;

const clerk = (at: string): string => `Current time is ${at}. You are a clerk. ${'Be exact. '.repeat(800)}`;

const day = (date: string): string => date.replaceAll('-', '');

type Entry = { readonly allDay?: boolean; readonly startDate?: string; readonly endDateExclusive?: string };

export const MACHINES: Readonly<Record<string, Plan>> = {
  'FC-68': async (given) => {
    for (const variant of given.input.variants ?? []) {
      const { cmd, expect: wanted } = variant as { readonly cmd: string; readonly expect: string };
      // A model may send it in words, or as one.
      for (const argv of [cmd.split(' '), [cmd]]) {
        const ran: string[][] = [];
        const bench = new Bench(
          {
            ...given,
            input: {
              model: [{ calls: [{ id: 'c1', tool: 'run_command', args: { argv } }] }, { text: 'ok' }],
            },
          },
          { tools: [command(ran)], policy: GIT },
        );
        await bench.play();
        const proposed = (await bench.events()).find((event) => event.type === 'call.proposed');
        const runs = wanted === 'runs' && argv.length > 1;
        expect([argv, ran]).toEqual([argv, runs ? [argv] : []]);
        expect(await bench.count('approval.requested')).toBe(runs ? 0 : 1);
        if (runs) expect(proposed).toMatchObject({ data: { do: 'run', rule: 'git-looks' } });
      }
    }
  },
  'FC-99': async () => {
    // A session of 0.1.0 that waits for the next message, under today's program.
    const golden = goldens().find(({ name }) => name === '0.1.0/finished');
    if (!golden) throw new Error('there is a golden log');
    const store = openSqlite(tempFile());
    const before = await put(store, golden);
    const [created] = before;
    if (created?.type !== 'session.created') throw new Error('it begins with its agent');
    const { definition, encoder } = scriptedModel({ name: 'today', steps: [] });
    const answer = { kind: 'response', stop: 'end', content: [{ type: 'text', text: 'done' }] } as const;
    const runtime = await openRuntime({
      store,
      agents: [
        defineAgent({
          name: created.data.agent.name,
          instructions: 'Be exact.',
          model: { definition, encoder, send: async () => answer },
        }),
      ],
    });
    onTestFinished(() => runtime.close({ drainMs: 0 }));
    await runtime.send({ session: golden.session, message: 'one more' });
    expect((await runtime.rest(golden.session)).status).toBe('done');
    const stored = await store.read(golden.session);
    expect(stored.slice(0, golden.stored.length)).toEqual(golden.stored);
    const events = stored.map(open);
    expect(events.slice(before.length).map(({ type }) => type)).toContain('agent.updated');
    const proof = replay({
      session: golden.session,
      events,
      encoderOf: () => neutralEncoder,
      program: PROGRAM,
    });
    expect([proof.difference, proof.requestsUnknown]).toEqual([undefined, 0]);
    // A shape that changes is lifted when it is read; its bytes stay.
    const lifted = opener({
      'turn.accepted': [(data) => ({ ...(data as { readonly [key: string]: Json }), lifted: true })],
    });
    const turns = golden.stored.map(lifted).filter(({ type }) => type === 'turn.accepted');
    expect(turns.length).toBeGreaterThan(0);
    for (const { data } of turns) expect(data).toMatchObject({ lifted: true });
  },
  'FC-119': async (given) => {
    const rows: string[] = [];
    const first = new Bench(
      { ...given, input: { model: [{ text: 'a' }] } },
      { instructions: clerk('2026-05-04 10:00:00') },
    );
    await first.play();
    await first.close();
    const second = new Bench(
      { ...given, on: { next: () => first.store }, input: { model: [{ text: 'b' }] } },
      { instructions: clerk('2026-05-04 10:00:14') },
    );
    await second.open();
    second.session = first.session;
    await second.runtime.send({ session: second.session, message: 'again' });
    await second.rest();
    const events = await second.events();
    const prices = priceList([], { source: 'case', date: '2026-01-01' });
    const reuse = await cacheReuse(
      second.session,
      events,
      rebuildAll(events, (digest) => second.store.blob(digest)),
      { prices },
    );
    expect(reuse).toHaveLength(2);
    rows.push(...(reuse[1]?.causes ?? []).map((cause) => causeWords(cause).text));
    expect(reuse[1]?.sharedParts).toBe(0);
    expect(rows.join('\n')).toMatch(/instructions/);
    expect(rows.join('\n')).toMatch(/clock/);
    // Before anything is paid for.
    const place = project({
      'agents/clerk.yaml': `instructions: |\n  You are a clerk.\n  Current time is 2026-05-04 10:00:00.\nmodel: { scripted: s.yaml }\n`,
      's.yaml': 'name: s\nsteps:\n  - { text: a }\n',
    });
    const { stdout } = await place.onrecord('doctor');
    expect(stdout).toMatch(
      /line 2 of the instructions of clerk holds the time "2026-05-04 10:00:00"[^]*say the time in the message/,
    );
  },
  'FC-139': async (given) => {
    const { event, zones, host_tz } = given.input as unknown as {
      readonly event: { readonly dtstart_date: string; readonly dtend_date: string; readonly rrule: string };
      readonly zones: readonly string[];
      readonly host_tz: readonly string[];
    };
    const lines = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//test//EN',
      'BEGIN:VEVENT',
      'UID:a1',
      'SUMMARY:Fair',
      `DTSTART;VALUE=DATE:${day(event.dtstart_date)}`,
      `DTEND;VALUE=DATE:${day(event.dtend_date)}`,
      `RRULE:${event.rrule}`,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ];
    const module = pathToFileURL(join(import.meta.dirname, '../../src/tool/calendar/calendar.ts')).href;
    const folder = tempFolder();
    const hosts = await Promise.all(
      host_tz.map(async (tz, index) => {
        const words = [
          '--input-type=module',
          '-e',
          DAY_PROGRAM,
          module,
          join(folder, `${index}.db`),
          lines.join('\r\n'),
          ...zones,
        ];
        const { stdout } = await start(process.execPath, words, { env: { ...process.env, TZ: tz } });
        return JSON.parse(stdout) as {
          readonly offset: number;
          readonly lists: readonly { readonly occurrences: readonly Entry[] }[];
        };
      }),
    );
    expect(new Set(hosts.map(({ offset }) => offset)).size).toBe(host_tz.length);
    const wanted = given.expect['dates'];
    for (const { lists } of hosts)
      for (const list of lists) {
        const entries = list.occurrences.filter(({ allDay }) => allDay === true);
        expect(entries.map(({ startDate }) => startDate)).toEqual(wanted);
        for (const { startDate = '', endDateExclusive = '' } of entries)
          expect(Date.parse(endDateExclusive) - Date.parse(startDate)).toBe(86_400_000);
      }
    const [{ lists: _, offset: __, ...first } = { lists: [], offset: 0 }, ...others] = hosts;
    for (const { lists: ___, offset: ____, ...other } of others) expect(other).toEqual(first);
  },
  'FC-161': async (given) => {
    const house = await House.open({
      store: openSqlite(tempFile()),
      policy: { rules: [] },
      says: () => ({ text: 'ok' }),
    });
    const rooms = await openTestRooms({
      level: 'wasm',
      // Ticks and bytes are what runs out; the clock on the wall is for a machine that stands still.
      limits: { ticks: 100, wallMs: 120_000, memoryBytes: 64 * 1024 * 1024, logBytes: 64 * 1024 },
    });
    onTestFinished(() => rooms.close());
    const tools = await javascriptTools({ rooms });
    const words: Readonly<Record<string, RegExp>> = {
      time: /tick|time|ms/i,
      memory: /memory/i,
      output: /tick|time|dropped/i,
    };
    const variants = (given.input.variants ?? []) as readonly {
      readonly code: string;
      readonly expect: string;
    }[];
    // Each one runs behind the one before it, and the last one as if nothing had been.
    const codes = [...variants.map(({ code }) => code), 'return 6 * 7'];
    const model = codes.map((code, n) => ({
      calls: [{ id: `c${n + 1}`, tool: 'run_javascript', args: { code } }],
    }));
    const bench = new Bench(
      { ...given, input: { model: [...model, { text: 'ok' }] } },
      { tools, clock: 'real' },
    );
    await bench.open();
    await bench.send();
    let started = 0;
    for await (const { type } of bench.runtime.follow(bench.session)) {
      if (type !== 'call.started') continue;
      // This process and its door go on meanwhile.
      for (let looks = 0; looks < LOOKS; looks++)
        expect((await house.ask('/healthz', { token: null })).status).toBe(200);
      if (++started === codes.length) break;
    }
    await bench.rest();
    await expectRun(bench, 'completed');
    const results = (await bench.events()).filter((event) => event.type === 'call.result');
    for (const [n, { code, expect: wanted }] of variants.entries()) {
      const told = JSON.stringify(results[n]?.data);
      const kind = /time_limit/.test(wanted) ? (/output_limit/.test(wanted) ? 'output' : 'time') : 'memory';
      expect([code, told]).toEqual([code, expect.stringMatching(words[kind] ?? /never/)]);
      expect(told).toMatch(/\\"ok\\":false/);
    }
    expect(JSON.stringify(results.at(-1)?.data)).toMatch(/\\"value\\":42/);
    expect(process.memoryUsage().rss).toBeLessThan(2 ** 31);
  },
};
