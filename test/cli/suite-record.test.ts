/** onrecord suite record without a desk: the recorded results are served, and nothing else is answered by them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clerk, sessionIn, type Project } from './project.ts';

const SCRIPT = `
  - cost: 0
    calls: [{ tool: files.read, args: { path: ledger.txt } }]
  - cost: 0
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
  - text: Written.
    cost: 0
`;

/** A project with a session that read, wrote, and asked, and the scenario that was made of it. */
const recorded = async (): Promise<Project> => {
  const made = clerk(SCRIPT);
  made.write('books/ledger.txt', 'opening balance 100\n');
  const session = sessionIn((await made.onrecord('run', 'clerk', 'Note that it is paid.')).stdout);
  const { stdout } = await made.onrecord('approvals', '--json');
  const [{ call, digest } = { call: '', digest: '' }] = (
    JSON.parse(stdout) as { readonly approvals: readonly { call: string; digest: string }[] }
  ).approvals;
  await made.onrecord('approve', session, '--call', call, '--digest', digest);
  const written = await made.onrecord('suite', 'record', session, '--out', 'scenarios/real.yaml');
  expect([written.code, written.stdout]).toEqual([0, expect.stringContaining('scenarios/real.yaml')]);
  return made;
};

test('a recorded scenario passes as it is, with no tool run and no desk', { timeout: 120_000 }, async () => {
  const made = await recorded();
  // What lay there is gone: the results come from the recording.
  writeFileSync(join(made.folder, 'books/ledger.txt'), 'something else');
  const ran = await made.onrecord('suite', 'run');
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('1 passed')]);
  const scenario = readFileSync(join(made.folder, 'scenarios/real.yaml'), 'utf8');
  expect(scenario).toContain('recorded: real.recorded.json');
  expect(readFileSync(join(made.folder, 'scenarios/real.recorded.json'), 'utf8')).toContain(
    'opening balance 100',
  );
  expect(existsSync(join(made.folder, 'scenarios/baseline.json'))).toBe(false);
  // It stands what any scenario has to.
  const crashed = await made.onrecord('suite', 'run', '--crash');
  expect([crashed.code, crashed.stdout]).toEqual([
    0,
    expect.stringMatching(/1 scenario, \d+ kills, 0 wrong/),
  ]);
});

test('a call that was not recorded is a miss, whatever else holds', async () => {
  const made = await recorded();
  const scenario = readFileSync(join(made.folder, 'scenarios/real.yaml'), 'utf8');
  made.write('scenarios/real.yaml', scenario.replaceAll('text: paid', 'text: owed'));
  const ran = await made.onrecord('suite', 'run');
  expect([ran.code, ran.stdout]).toEqual([8, expect.stringContaining('recording-miss')]);
});

test.each([
  ['the prompt', 'agents/clerk.yaml', 'Be exact.', 'Be exact and polite.', 'system, offset 8'],
  [
    'a message',
    'scenarios/real.yaml',
    'Note that it is paid.',
    'Note that it is owed.',
    'message 1, offset 16',
  ],
])('an old recording does not answer where %s is another one', async (...[, file, before, after, words]) => {
  const made = await recorded();
  const text = readFileSync(join(made.folder, file), 'utf8');
  expect(text).toContain(before);
  made.write(file, text.replace(before, after));
  const { code, stdout } = await made.onrecord('suite', 'run');
  expect(code).toBe(8);
  expect(stdout).toContain('recording-miss');
  expect(stdout).toContain(words);
  expect(stdout).toContain('onrecord suite record');
});

test('a recording that is none is named', async () => {
  const made = await recorded();
  made.write('scenarios/real.recorded.json', '{ "version": 9 }');
  expect((await made.onrecord('suite', 'run')).stdout).toContain('recording-invalid');
});
