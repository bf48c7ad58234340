/** One guest under all levels: the same program, input, clock, seed and answers give the same everything. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RoomEnd, RoomJob } from '../../src/room/job.ts';
import type { Rooms } from '../../src/room/rooms.ts';
import { LONG } from '../kit/long.ts';
import { levelsHere, openTestRooms, runIn } from '../kit/rooms.ts';

const PROGRAMS: readonly (readonly [string, string, Partial<RoomJob>])[] = [
  ['clock and randomness', 'return [Date.now(), new Date().toString(), Math.random(), Math.random()]', {}],
  [
    'sorting',
    'const a = Array.from({ length: 5000 }, () => Math.random()); a.sort((x, y) => x - y); return a.slice(0, 9)',
    {},
  ],
  [
    'text',
    'return [input.map((s) => s.toUpperCase().split("").reverse().join("")), /a(.)c/.exec("xabcx")]',
    { input: '["ab","äöü"]' },
  ],
  ['garbage', 'let n = 0; for (let i = 0; i < 3e4; i++) n += [i, { i }].length; return n', {}],
  [
    'files',
    'files.write("b.txt", files.read("a.txt") + Math.random()); return files.list()',
    { files: new Map([['a.txt', Buffer.from('hé')]]) },
  ],
  ['a call', 'return [await tools.t({ b: 1, a: Math.random() }), Math.random()]', { tools: ['t'] }],
  ['a failure', 'const f = (n) => n === 0 ? null.x : f(n - 1);\n\nf(20)', {}],
  ['the tick limit', 'for (let n = 0; ; n++) if (n % 100000 === 0) console.log(n)', {}],
  [
    'the memory limit',
    'const a = []; for (let n = 0; ; n++) { a.push(new Uint8Array(99999)); console.log(n); }',
    {},
  ],
];

const levels = await levelsHere();

/** What ends a program here is what it does, never how slow the machine is. */
const WALL_MS = 60_000;
const ROOM_MS = 180_000;

/** All that a run says but how long it took. */
const saidBy = (end: RoomEnd): object => {
  const { usage, ...rest } = end;
  return {
    ...rest,
    ticks: usage.ticks,
    memoryBytes: usage.memoryBytes,
    files: 'files' in end ? [...end.files] : [],
  };
};

describe('same-job-same-run', () => {
  const rooms: Rooms[] = [];
  beforeAll(async () => {
    for (const level of levels)
      rooms.push(
        await openTestRooms({ level, limits: { ticks: 1000, memoryBytes: 8 << 20, wallMs: WALL_MS } }),
      );
  }, ROOM_MS);
  afterAll(async () => {
    for (const one of rooms) await one.close();
  });

  test.each(PROGRAMS)(
    '%s, twice and at every level',
    async (_, code, more) => {
      const said: object[] = [];
      // Once is enough to compare the levels: that wasm repeats is seen at wasm.
      for (const one of rooms)
        for (let i = 0; i < (one.facts.level === 'wasm' || LONG ? 2 : 1); i++)
          said.push(saidBy((await runIn(one, code, more)).end));
      for (const other of said) expect(other).toEqual(said[0]);
    },
    ROOM_MS,
  );

  test('the tick limit stops at the same turn of a loop, and not at the first', async () => {
    const { end } = await runIn(rooms[0] as Rooms, PROGRAMS[7]?.[1] ?? '');
    expect(end).toMatchObject({ kind: 'failed', why: 'ticks', usage: { ticks: 1001 } });
    expect(end.console.text.split('\n').length).toBeGreaterThan(10);
  });

  test('another seed is another randomness, another clock another day', async () => {
    const code = 'return [Math.random(), Date.now()]';
    const run = async (more: Partial<RoomJob>): Promise<string> => {
      const { end } = await runIn(rooms[0] as Rooms, code, more);
      return end.kind === 'done' ? (end.value ?? '') : end.kind;
    };
    const [one, two, three] = [await run({}), await run({ seed: 'other' }), await run({ clockMs: 7 })];
    expect(one.split(',')[0]).not.toBe(two.split(',')[0]);
    expect(three).toBe(`${one.split(',')[0] ?? ''},7]`);
  });

  test('Math.random() is spread over its range', async () => {
    const code =
      'const b = Array(10).fill(0); for (let i = 0; i < 20000; i++) b[Math.floor(Math.random() * 10)]++; return b';
    const { end } = await runIn(rooms[0] as Rooms, code);
    const counts = JSON.parse(end.kind === 'done' ? (end.value ?? '') : '[]') as number[];
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(250);
  });
});

const one = (n: number, result: string): RoomJob['answers'][number] => ({
  tool: 'one',
  args: `{"n":${n}}`,
  result,
});

describe('calls of tools', () => {
  let rooms: Rooms;
  beforeAll(async () => (rooms = await openTestRooms({ level: 'wasm' })));
  afterAll(() => rooms.close());
  const CODE = `const [a, b] = await Promise.all([tools.one({ n: 1 }), tools.one({ n: 2 })]);
try { await tools.two({ sum: a + b }) } catch (e) { return [a, b, e.message] }`;
  const tools = ['one', 'two'];

  test('a program is suspended with all calls that it waits for, and goes on with their answers, in its own words', async () => {
    const first = await runIn(rooms, CODE, { tools });
    expect(first.end).toMatchObject({
      kind: 'suspended',
      calls: [
        { tool: 'one', args: '{"n":1}' },
        { tool: 'one', args: '{"n":2}' },
      ],
    });
    const answers = [one(1, '10'), one(2, '20')];
    const second = await runIn(rooms, CODE, { tools, answers });
    expect(second.end).toMatchObject({ kind: 'suspended', calls: [{ tool: 'two', args: '{"sum":30}' }] });
    const third = await runIn(rooms, CODE, {
      tools,
      answers: [...answers, { tool: 'two', args: '{"sum":30}', error: 'denied' }],
    });
    expect(third.end).toMatchObject({ kind: 'done', value: '[10,20,"denied"]' });
  });

  test.each([
    ['other arguments', [one(1, '10'), one(3, '20')]],
    ['another tool', [{ tool: 'two', args: '{"n":1}', result: '1' }]],
    [
      'answers for no call',
      [one(1, '1'), one(2, '2'), { tool: 'two', args: '{"sum":3}', error: 'x' }, one(4, '4')],
    ],
  ])('%s than the program asks with: diverged', async (_, answers) => {
    const { end } = await runIn(rooms, CODE, { tools, answers });
    expect(end).toMatchObject({ kind: 'failed', why: 'diverged' });
  });

  test('too many calls, or too much in them, ends it by name', async () => {
    const many = await runIn(rooms, 'for (let i = 0; i < 1000; i++) tools.one({ i })', { tools });
    expect(many.end).toMatchObject({ kind: 'failed', why: 'calls' });
    const large = await runIn(rooms, 'await tools.one({ s: "x".repeat(2 << 20) })', { tools });
    expect(large.end).toMatchObject({ kind: 'failed', why: 'calls' });
  });

  test('a tool that was not named is not there', async () => {
    const { end } = await runIn(rooms, 'return [typeof tools.one, typeof tools.constructor]');
    expect(end).toMatchObject({ kind: 'done', value: '["undefined","undefined"]' });
  });
});
