/**
 * Real input: 120 recorded conversations of an airline's help desk (examples/airline) go through the runtime, and
 * every result, every execution, every request and the end state are held against the recording.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { calculate } from '../../examples/airline/calculator.ts';
import { Base, memoryDatabase, type AirlineDatabase } from '../../examples/airline/database.ts';
import { AirlineFile } from '../../examples/airline/database-file.ts';
import { playKilled, runMortal } from '../../examples/airline/killed.ts';
import { DATA_FOLDER, loadAirline, missingFiles, type Airline } from '../../examples/airline/recording.ts';
import { Refusal } from '../../examples/airline/records.ts';
import { malformed, sentRequests, type SentMessage } from '../../examples/airline/requests.ts';
import { Stage } from '../../examples/airline/stage.ts';
import { floatText, pythonJson } from '../../examples/airline/text.ts';
import { airlineTools } from '../../examples/airline/tools.ts';
import { eventsOf, type Verdict } from '../../examples/airline/verdict.ts';
import { defineAgent, scriptedModel } from '../../src/index.ts';

const BASE_SHA256 = '965721fe7e042dbd5d24ef54116b577bf6f91a2db9aa4ecd8d3f00f2967bbfbf';
/** Their writes carry ids that the provider had used before, or there are many of them. */
const SAMPLE = [
  'airline-t13-r0',
  'airline-t14-r0',
  'airline-t02-r1',
  'airline-t05-r1',
  'airline-t28-r1',
  'airline-t04-r3',
];
const SECONDS = 1000;
const COMMAND = resolve(import.meta.dirname, '../../examples/airline/run.ts');

const missing = missingFiles(DATA_FOLDER);
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: the 120 recorded airline conversations. Not found beside the checkout: ${missing.join(', ')}.\n` +
      'Only the command and the airline itself are checked. See examples/airline/README.md.\n\n',
  );

const root = mkdtempSync(join(tmpdir(), 'onrecord-airline-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Shape = { readonly properties?: object; readonly required?: readonly string[] };

/** The names of the arguments that a JSON Schema knows, and of those that it wants. */
const shapeOf = ({ properties = {}, required = [] }: Shape): unknown => ({
  properties: Object.keys(properties).toSorted(),
  required: required.toSorted(),
});

let folders = 0;
const freshFolder = (): string => {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
};

const sum = (verdicts: readonly Verdict[], field: 'calls' | 'sameBytes' | 'took' | 'executed'): number =>
  verdicts.reduce((total, verdict) => total + verdict[field], 0);

/** Takes the items two at a time: there are two cores. */
const inPairs = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> => {
  const left = [...items.entries()];
  const done: R[] = [];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) done[next[0]] = await work(next[1]);
  };
  await Promise.all([lane(), lane()]);
  return done;
};

describe.skipIf(missing.length > 0)('recorded conversations', () => {
  const airline = missing.length > 0 ? undefined : loadAirline(DATA_FOLDER);
  const data = (): Airline => {
    if (!airline) throw new Error('The recorded conversations are not there.');
    return airline;
  };

  test(
    'all 120 reproduce: results, executions, requests and end state',
    { timeout: 300 * SECONDS },
    async () => {
      const { recordings } = data();
      const stage = await Stage.open(data(), { recordings, folder: freshFolder() });
      const verdicts: Verdict[] = [];
      for await (const { verdict } of stage.playAll()) verdicts.push(verdict);
      await stage.close();
      expect(verdicts.flatMap(({ id, problems }) => problems.map((what) => `${id}: ${what}`))).toEqual([]);
      expect(verdicts.map(({ id }) => id)).toEqual(recordings.map(({ id }) => id));
      expect(recordings).toHaveLength(120);
      // Two results name the legs' fields in another order: arguments reach a tool in canonical order.
      expect({ calls: sum(verdicts, 'calls'), bytes: sum(verdicts, 'sameBytes') }).toEqual({
        calls: 810,
        bytes: 808,
      });
      expect({ executed: sum(verdicts, 'executed'), took: sum(verdicts, 'took') }).toEqual({
        executed: 198,
        took: 131,
      });
    },
  );

  test('the recordings hold what makes them hard: ids of the provider that stand for two calls', () => {
    const repeating = data().recordings.filter(({ messages }) => {
      const ids = messages.flatMap((message) =>
        message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [],
      );
      return new Set(ids).size < ids.length;
    });
    expect(repeating).toHaveLength(36);
    const sampled = repeating.filter(({ id }) => SAMPLE.includes(id)).map(({ id }) => id);
    expect(sampled).toEqual(expect.arrayContaining(SAMPLE.slice(0, 3)));
  });

  test('our own tools take the arguments that the recorded tools take', () => {
    const { base, offered } = data();
    const { tools } = defineAgent({
      name: 'airline',
      instructions: '',
      model: scriptedModel({ name: 'silent', steps: [] }),
      tools: airlineTools({ database: memoryDatabase(base()) }),
    }).definition;
    const ours = tools.map(({ name, inputSchema }) => [name, shapeOf(inputSchema)] as const);
    const theirs = Object.entries(offered).map(
      ([name, { parameters }]) => [name, shapeOf(parameters)] as const,
    );
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
    expect(tools.filter(({ effect }) => effect === 'idempotent')).toHaveLength(6);
  });

  test(
    'killed at random moments, six conversations on one log end as recorded and no write runs twice',
    { timeout: 600 * SECONDS },
    async () => {
      const seed = Number(process.env['AIRLINE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
      process.stdout.write(`airline: AIRLINE_SEED=${seed}\n`);
      const folder = freshFolder();
      const survived = await inPairs(SAMPLE, (id) =>
        playKilled({ data: DATA_FOLDER, folder, id }, seed + SAMPLE.indexOf(id)),
      );
      const counts = survived.map(({ verdict, deaths }) => `${verdict.id} ${deaths}+${verdict.restarted}`);
      process.stdout.write(`airline: deaths and calls started again: ${counts.join(', ')}\n`);
      expect(survived.flatMap(({ verdict }) => verdict.problems)).toEqual([]);
      for (const { deaths } of survived) expect(deaths).toBeGreaterThan(0);
    },
  );

  test(
    'a write whose process dies before the log knows is answered from its key, not carried out again',
    { timeout: 300 * SECONDS },
    async () => {
      const folder = freshFolder();
      await inPairs(SAMPLE, async (id) => {
        const place = { data: DATA_FOLDER, folder, id };
        expect(await runMortal(place, 'commit')).toBeUndefined();
        const output = await runMortal(place, '0');
        const verdict = JSON.parse(output ?? '{}') as Verdict;
        expect(verdict).toMatchObject({ id, restarted: 1, problems: [] });
      });
    },
  );

  test(
    'a person rejects every write: the database stays as it was and the history is valid',
    { timeout: 300 * SECONDS },
    async () => {
      const recordings = data().recordings.filter(
        ({ id, write_calls }) => SAMPLE.includes(id) || write_calls.length > 4,
      );
      const stage = await Stage.open(data(), {
        recordings,
        folder: freshFolder(),
        answer: { do: 'reject', reason: 'Not today.' },
      });
      let at = 0;
      for await (const { session, verdict } of stage.playAll()) {
        const recording = recordings[at++];
        if (recording?.id !== verdict.id) throw new Error(`${verdict.id} is out of order`);
        expect(stage.database(recording).writes()).toEqual([]);
        expect(stage.database(recording).digest()).toBe(BASE_SHA256);
        const events = await eventsOf(stage.store, session);
        const decided = events.filter(({ type }) => type === 'approval.decided');
        expect(decided).toHaveLength(recording.write_calls.length);
        const requests = await sentRequests(stage.store, events);
        expect(requests.flatMap(malformed)).toEqual([]);
        const told = (requests.at(-1) ?? []).flatMap((message) =>
          message.role === 'results' ? message.content : [],
        );
        const rejected = told.filter(
          ({ text }) => text === 'A person rejected this call; it was not run. Reason: Not today.',
        );
        expect(rejected).toHaveLength(recording.write_calls.length);
        expect(events.at(-1)).toMatchObject({ type: 'turn.ended', data: { outcome: 'refused' } });
      }
      await stage.close();
    },
  );

  test(
    'the command says how many reproduce, and ends with 1 where one does not',
    { timeout: 300 * SECONDS },
    () => {
      const good = spawnSync(process.execPath, [COMMAND, '--only', 'airline-t14-r0'], { encoding: 'utf8' });
      expect(good.stdout).toContain('1 of 1 conversations reproduce');
      expect(good.status).toBe(0);
      const folder = freshFolder();
      for (const file of ['db.json', 'tools.json', 'policy.md'])
        copyFileSync(join(DATA_FOLDER, file), join(folder, file));
      const lines = readFileSync(join(DATA_FOLDER, 'trajectories.jsonl'), 'utf8').split('\n');
      const line = lines.find((text) => text.includes('"airline-t14-r0"')) ?? '';
      writeFileSync(
        join(folder, 'trajectories.jsonl'),
        line.replace(/"final_sha256":\s*"[0-9a-f]{8}/, '"final_sha256":"00000000'),
      );
      const bad = spawnSync(process.execPath, [COMMAND, '--data', folder], { encoding: 'utf8' });
      expect(bad.stdout).toContain('differs: the database at the end is another one');
      expect(bad.stdout).toContain('0 of 1 conversations reproduce');
      expect(bad.status).toBe(1);
    },
  );
});

test('without the recordings the command says where they come from', { timeout: 120 * SECONDS }, () => {
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, '--data', freshFolder()], {
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toContain('trajectories.jsonl');
  expect(stderr).toContain('sierra-research/tau-bench');
});

const call = (id: string): SentMessage => ({
  role: 'assistant',
  content: [{ type: 'call', id, name: 'think', args: '{}' }],
});
const results = (...ids: readonly string[]): SentMessage => ({
  role: 'results',
  content: ids.map((id) => ({ id, name: 'think', text: '-', isError: false })),
});

describe('the airline itself', () => {
  const user = { payment_methods: {}, reservations: ['A1'], name: 'Zoë' };
  const base = new Base(JSON.stringify({ flights: {}, reservations: {}, users: { zoe: user } }));
  const databases: readonly (readonly [string, () => AirlineDatabase & Partial<Disposable>])[] = [
    ['in memory', () => memoryDatabase(base)],
    [
      'in a file',
      () => {
        const file = new AirlineFile(join(freshFolder(), 'airline.db'), () => base);
        return { ...file.database('one'), [Symbol.dispose]: () => file.close() };
      },
    ],
  ];

  test.each(databases)('%s, the same key is one write and gets the first answer', (_, open) => {
    const database = open();
    let runs = 0;
    const write = (key: string): string =>
      database.write({ key, tool: 'add' }, (draft) => {
        draft.put('users', `new-${++runs}`, user);
        return `run ${runs}`;
      });
    expect([write('k1'), write('k1'), write('k2'), write('k1')]).toEqual([
      'run 1',
      'run 1',
      'run 2',
      'run 1',
    ]);
    expect(database.writes().map(({ key }) => key)).toEqual(['k1', 'k2']);
    expect(database.records.get('users', 'new-2')).toEqual(user);
    database[Symbol.dispose]?.();
  });

  test.each(databases)('%s, a refused write changes nothing and keeps its answer', (_, open) => {
    const database = open();
    const before = database.digest();
    const refuse = (why: string): string =>
      database.write({ key: 'k', tool: 'add' }, (draft) => {
        draft.put('users', 'zoe', { ...user, reservations: [] });
        throw new Refusal(why);
      });
    expect([refuse('no seats'), refuse('other words')]).toEqual(['Error: no seats', 'Error: no seats']);
    expect(database.digest()).toBe(before);
    expect(database.writes()).toEqual([{ key: 'k', tool: 'add', ok: false, answer: 'Error: no seats' }]);
    database[Symbol.dispose]?.();
  });

  test('both kinds of database have the digest of their canonical JSON', () => {
    const digests = databases.map(([, open]) => {
      const database = open();
      const digest = database.digest();
      database[Symbol.dispose]?.();
      return digest;
    });
    const canonical =
      '{"flights":{},"reservations":{},"users":{"zoe":{"name":"Zoë","payment_methods":{},"reservations":["A1"]}}}';
    const expected = createHash('sha256').update(canonical).digest('hex');
    expect(digests).toEqual([expected, expected]);
  });

  test.each([
    ['152 + 103', '255.0'],
    ['(6 - 4) + 10 / 4', '4.5'],
    ['-2 * -(3 - 1)', '4.0'],
    ['1 / 3', '0.33'],
    ['0.125', '0.12'],
    ['0.375', '0.38'],
    ['-0.625', '-0.62'],
    ['2.675', '2.67'],
    ['100000000 * 100000000', '1e+16'],
  ])('the calculator answers %s with %s', (expression, answer) => {
    expect(calculate(expression)).toBe(answer);
  });

  test.each([
    '',
    '1 +',
    '(1',
    '1)',
    '2 ** 3',
    'a + 1',
    '1 / 0',
    '1 2',
    '.',
    `${'('.repeat(101)}1${')'.repeat(101)}`,
  ])('the calculator refuses %j', (expression) => {
    expect(() => calculate(expression)).toThrow(Refusal);
  });

  test('text is written as Python writes it', () => {
    expect(pythonJson({ a: [1, 2.5, null, true], ü: 'é\u007f"\n😀' })).toBe(
      String.raw`{"a": [1, 2.5, null, true], "\u00fc": "\u00e9\u007f\"\n\ud83d\ude00"}`,
    );
    expect([1e-5, 0.0001, 1e15, 1e16, 1.5e300, -0, 0.1].map(floatText)).toEqual([
      '1e-05',
      '0.0001',
      '1000000000000000.0',
      '1e+16',
      '1.5e+300',
      '-0.0',
      '0.1',
    ]);
  });

  test('a request is malformed where a call has no result, two, or an id that was used', () => {
    const hello: SentMessage = { role: 'user', content: 'Hello' };
    expect(malformed([hello, call('a'), results('a'), call('b'), results('b')])).toEqual([]);
    expect(malformed([hello, call('a'), hello])).not.toEqual([]);
    expect(malformed([hello, call('a'), results('a', 'a')])).not.toEqual([]);
    expect(malformed([hello, call('a'), results('a'), results('a')])).not.toEqual([]);
    expect(malformed([hello, call('a'), results('a'), call('a'), results('a')])).not.toEqual([]);
    expect(malformed([hello, call('a')])).not.toEqual([]);
  });
});
