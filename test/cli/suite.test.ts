/** onrecord suite: what it prints and answers, its mistakes with their places, and scenarios that it writes. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clerk, sessionIn, type Output, type Project } from './project.ts';

const WRITES = `
  - text: I will write it down.
    usage: { input: 100, output: 20 }
    cost: 0.01
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
  - text: Written.
    usage: { input: 120, output: 5 }
    cost: 0.01
`;

const SCENARIO = `name: clerk/note
agent: ../agents/clerk.yaml
model: { script: ../script.yaml }
desk: { files: { books/ledger.txt: "opening balance 100\\n" } }
turns: [Note that it is paid.]
expect:
  calls: [{ tool: files.write, args: { path: note.txt }, end: ok }]
  asked: [files.write]
  changed: [books/note.txt]
  files: { books/note.txt: { equals: paid } }
`;

const suite = (scenario: string = SCENARIO, script: string = WRITES): Project => {
  const made = clerk(script);
  made.write('scenarios/note.yaml', scenario);
  return made;
};

const bare = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '');
const run = (project: Project, ...words: readonly string[]): Promise<Output> =>
  project.onrecord('suite', 'run', ...words);

test('init writes a scenario that passes, in a project with an agent and in an empty folder', async () => {
  const made = clerk(WRITES);
  const { code, stdout, stderr } = await made.onrecord('suite', 'init');
  expect([code, stderr.includes('onrecord suite run scenarios/first.yaml')]).toEqual([0, true]);
  expect(stdout).toContain('Written to scenarios/first.yaml');
  expect((await run(made)).code).toBe(0);
  expect((await made.onrecord('suite', 'init')).stderr).toContain('file-exists');
});

test('three-outcomes-three-codes: passed 0, failed 1, errored 8', async () => {
  const passed = await run(suite());
  expect(passed).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed  $0.0200  2 steps') });
  const failed = await run(suite(SCENARIO.replace('equals: paid', 'equals: open')));
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('files: books/note.txt has another text');
  expect(failed.stdout).toContain('onrecord suite run scenarios --filter clerk/note');
  const errored = await run(suite(SCENARIO.replace('clerk.yaml', 'nobody.yaml')));
  expect(errored).toMatchObject({ code: 8, stdout: expect.stringContaining('nobody.yaml') });
});

test('nothing-examined-is-no-pass: no scenario, none left, steps unused, a fault not reached', async () => {
  const empty = clerk(WRITES);
  expect((await run(empty)).stderr).toContain('suite-not-found');
  empty.write('scenarios/readme.md', '');
  expect(await run(empty)).toMatchObject({ code: 8, stderr: expect.stringContaining('suite-empty') });
  expect(await run(suite(), '--filter', 'nothing')).toMatchObject({ code: 8 });
  const unused = await run(suite(SCENARIO, `${WRITES}  - text: Never.\n`));
  expect([unused.code, unused.stdout.includes('1 step of the script left over, expected 0')]).toEqual([
    8,
    true,
  ]);
  const faults = 'faults: [{ at: call.before, what: mail.send, do: error }]\n';
  const missed = await run(suite(SCENARIO + faults));
  expect([missed.code, missed.stdout.includes('the fault was never reached')]).toEqual([8, true]);
});

test.each([
  ['expcet', SCENARIO.replace('expect:', 'expcet:'), 6, 1, 'did you mean "expect"?'],
  ['a key of expect', SCENARIO.replace('  asked:', '  aksed:'), 8, 3, 'did you mean "asked"?'],
  ['a way out of the desk', SCENARIO.replace('books/ledger.txt', '../ledger.txt'), 4, 1, ''],
  ['an end that there is not', SCENARIO.replace('end: ok', 'end: fine'), 7, 1, 'must be a tool'],
  ['a fault', `${SCENARIO}faults: [{ at: nowhere, do: crash }]\n`, 11, 1, 'fault point'],
  [
    'a write in a query',
    `${SCENARIO}  databases: [{ at: a.db, query: DELETE FROM a, rows: [] }]\n`,
    11,
    1,
    'must be a SELECT',
  ],
])('a-mistake-has-its-place: %s', async (...[, text, line, column, words]) => {
  const { code, stderr } = await run(suite(text));
  expect(code).toBe(2);
  const [, foundLine, foundColumn] = /scenarios\/note\.yaml:(\d+):(\d+): /.exec(stderr) ?? [];
  expect(Number(foundLine)).toBe(line);
  expect(Number(foundColumn)).toBeGreaterThanOrEqual(column);
  expect(stderr).toContain(words);
  expect(stderr).toContain('scenario-invalid');
});

test.each([
  ['strict', 'match: strict\n  calls: [files.write]', ''],
  ['strict', 'match: strict\n  calls: [files.read, files.write]', 'call 1 of the list should be files.read'],
  ['writes', 'calls: []', 'files.write was called beside those expected'],
  ['writes', 'calls: [files.write, files.write]', 'call 2 of the list files.write is missing'],
  ['reads', 'calls: [files.write, files.read]', 'files.read was not called as expected'],
  ['subset', 'match: subset\n  calls: []', ''],
  ['args', 'calls: [{ tool: files.write, args: { path: other.txt } }]', 'its arguments are'],
  ['contains', 'calls: [{ tool: files.write, contains: { text: owed } }]', '"owed" is not in its text'],
  ['end', 'calls: [{ tool: files.write, end: denied }]', 'it ended as ok'],
  ['never', 'never: [files.write]', 'files.write was asked for'],
  ['before', 'before: [[files.read, files.write]]', 'files.read was not called'],
  ['effects', 'effects: []', 'expected none, found files.write'],
  ['asked', 'asked: []', 'expected none, found files.write'],
  ['changed', 'changed: []', 'expected none, found books/note.txt'],
  ['absent', 'files: { books/note.txt: { absent: true } }', 'books/note.txt is there'],
  ['lacks', 'files: { books/note.txt: { lacks: paid } }', 'holds "paid"'],
  ['text', 'text: { contains: Sent, lacks: Written }', 'does not hold "Sent"'],
  ['cost', 'cost: { atMost: 0.01 }', 'expected at most 0.01, found 0.02'],
  ['steps', 'steps: 3', 'expected at least 3, found 2'],
  ['cache', 'cacheBreaks: 0', ''],
  ['outcome', 'outcome: stopped', 'expected stopped, found done'],
  ['waiting', 'waiting: [files.write]', 'expected files.write, found none'],
  ['mail', 'mail: [{ in: books, to: x }]', 'holds 0 such messages'],
  ['csv', 'csv: { books/ledger.txt: [{ where: { a: b }, has: { c: d } }] }', 'there are 0 such rows'],
  ['calendar', 'calendar: [{ at: c.db, zone: UTC, id: x, start: "2026-12-04T10:00" }]', 'c.db is not there'],
])('each-expectation-can-fail: %s', async (_, expected, words) => {
  const [head = ''] = SCENARIO.split('expect:');
  const { code, stdout } = await run(suite(`${head}expect:\n  ${expected}\n`));
  expect([code, stdout.includes(words)]).toEqual([words === '' ? 0 : 1, true]);
});

const OTHER = `name: other
steps:
  - { text: I read first., cost: 0, calls: [{ tool: files.read, args: { path: ledger.txt } }] }
  - { cost: 0, calls: [{ tool: files.write, args: { path: notes.txt, text: paid, new: true } }] }
  - { text: Written., cost: 0 }
`;

test.each([60, 80, 120])(
  'two models side by side, and where they part first (%i columns)',
  async (columns) => {
    const made = suite();
    made.write('one.yaml', `name: one\nsteps:${WRITES}`);
    made.write('other.yaml', OTHER);
    const words = ['suite', 'compare', '--model', 'one.yaml', '--model', 'other.yaml'];
    const { code, stdout } = await made.on({ columns }, ...words);
    const text = bare(stdout);
    expect(code).toBe(11);
    expect(text).toMatch(/clerk\/note +✓ passed +✗ failed/);
    expect(text).toContain('✗ clerk/note, first difference');
    expect(text).toMatch(/one +files\.write, event \d+/);
    expect(text).toMatch(/other +files\.read, event \d+/);
    expect(text).toContain('cause: the model chose otherwise');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  },
);

test('a-baseline-is-written-when-it-is-asked-for, and only when all passed; a new prompt is found against it', async () => {
  const made = suite();
  expect(await made.onrecord('suite', 'compare')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--update'),
  });
  expect((await made.onrecord('suite', 'compare', '--update')).code).toBe(0);
  expect((await made.onrecord('suite', 'compare')).code).toBe(0);
  const before = readFileSync(join(made.folder, 'scenarios/baseline.json'), 'utf8');
  const agent = readFileSync(join(made.folder, 'agents/clerk.yaml'), 'utf8');
  made.write('agents/clerk.yaml', agent.replace('Be exact.', 'Be quick.'));
  const found = await made.onrecord('suite', 'compare');
  expect(found).toMatchObject({
    code: 11,
    stdout: expect.stringContaining('first difference at /agent/instructions'),
  });
  made.write('scenarios/note.yaml', SCENARIO.replace('equals: paid', 'equals: open'));
  const refused = await made.onrecord('suite', 'compare', '--update');
  expect([refused.code, refused.stderr.includes('stays as it is')]).toEqual([1, true]);
  expect(readFileSync(join(made.folder, 'scenarios/baseline.json'), 'utf8')).toBe(before);
  made.write('scenarios/note.yaml', SCENARIO);
  const updated = await made.onrecord('suite', 'compare', '--update');
  expect(updated).toMatchObject({ code: 0, stdout: expect.stringContaining('the prompt') });
  expect((await made.onrecord('suite', 'compare')).code).toBe(0);
  made.write('scenarios/baseline.json', '{ "version": 2 }');
  expect(await made.onrecord('suite', 'compare')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('baseline-invalid'),
  });
});

test('a-session-becomes-a-scenario: with its desk it passes', async () => {
  const made = clerk(`${WRITES}  - text: Again.\n    cost: 0\n`);
  const sent = await made.onrecord('run', 'clerk', 'Note that it is paid.');
  const session = sessionIn(sent.stdout);
  const { stdout } = await made.onrecord('approvals', '--json');
  const { approvals } = JSON.parse(stdout) as {
    readonly approvals: readonly { call: string; digest: string }[];
  };
  const [{ call, digest } = { call: '', digest: '' }] = approvals;
  expect((await made.onrecord('approve', session, '--call', call, '--digest', digest)).code).toBe(0);
  expect((await made.onrecord('send', session, 'And once more.')).code).toBe(0);
  made.write('desk/books/ledger.txt', 'opening balance 100\n');
  const recorded = await made.onrecord(
    'suite',
    'record',
    session,
    '--desk',
    '../desk',
    '--out',
    'scenarios/real.yaml',
  );
  expect([recorded.code, recorded.stderr.includes('onrecord suite run scenarios/real.yaml')]).toEqual([
    0,
    true,
  ]);
  const ran = await run(made);
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('1 passed')]);
  const text = readFileSync(join(made.folder, 'scenarios/real.yaml'), 'utf8');
  expect(text).toContain('- Note that it is paid.\n  - And once more.');
  expect(text).toContain('asked:\n    - files.write');
  expect(existsSync(join(made.folder, 'books/note.txt'))).toBe(true);
});

test('the JUnit report has every outcome, escaped', async () => {
  const made = suite(
    SCENARIO.replace('equals: paid', 'equals: "<open> & \\"closed\\""').replace(
      '  asked:',
      '  text: { contains: "<b>" }\n  asked:',
    ),
  );
  expect((await run(made, '--junit', 'report.xml')).code).toBe(1);
  const xml = readFileSync(join(made.folder, 'report.xml'), 'utf8');
  expect(xml).toContain('<testsuites name="onrecord" tests="1" failures="1" errors="0"');
  expect(xml).toContain(
    '<failure type="text" message="the answer does not hold &quot;&lt;b&gt;&quot;: Written.">',
  );
  expect(xml).not.toContain('<b>');
});

test('repeated runs of a script say the same; what cannot be asked for is said', async () => {
  const ran = await run(suite(), '--repeat', '5');
  expect([ran.code, ran.stdout.includes('5 of 5')]).toEqual([0, true]);
  const problem = async (...words: readonly string[]): Promise<readonly [number, string]> => {
    const { code, stderr } = await run(suite(), ...words);
    return [code, stderr];
  };
  expect(await problem('--repeat', '0')).toEqual([2, expect.stringContaining('from 1 to 1000')]);
  expect(await problem('--model', 'nobody')).toEqual([2, expect.stringContaining('model-unknown')]);
  expect(await problem('--faults', 'gone.yaml')).toEqual([
    2,
    expect.stringContaining('fault-plan-not-found'),
  ]);
  expect((await suite().onrecord('suite', 'destroy')).stderr).toContain('init, run, record or compare');
});

test('--crash kills a scenario at every boundary, and what it expects holds all the same', async () => {
  const ran = await run(suite(), '--crash', '--json');
  const { scenarios } = JSON.parse(ran.stdout) as {
    readonly scenarios: readonly {
      readonly boundaries: number;
      readonly same: number;
      readonly wrong: readonly unknown[];
    }[];
  };
  const [found] = scenarios;
  expect([ran.code, found?.wrong]).toEqual([0, []]);
  expect(found?.boundaries).toBeGreaterThan(15);
  expect(found?.same).toBe(found?.boundaries);
  // What does not pass in peace is not judged.
  const broken = await run(suite(SCENARIO.replace('equals: paid', 'equals: open')), '--crash');
  expect([broken.code, broken.stdout.includes('does not pass without a kill')]).toEqual([8, true]);
});
