import { expect, test } from 'vitest';
import { clerk, sessionIn, type Project } from './project.ts';

const STEPS = `
  - text: I will read the ledger.
    usage: { cacheWrite: 900, input: 100, output: 20 }
    cost: 0.02
    calls: [{ tool: files.read, args: { path: ledger.txt } }]
  - text: The balance is 100.
    usage: { cacheRead: 990, input: 100, output: 20 }
    cost: 0.01
  - text: Nothing else.
    usage: { cacheRead: 1090, input: 20, output: 20 }
    cost: 0.01
  - text: All was said.
    cost: 0.01
`;

const begun = async (): Promise<{ place: Project; session: string }> => {
  const place = clerk(STEPS);
  const session = sessionIn((await place.onrecord('run', 'clerk', 'What is the balance?')).stdout);
  await place.onrecord('send', session, 'And else?');
  return { place, session };
};

const plain = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '');

test('a-request-is-explained: every part with its event, size, state; what its provider said', async () => {
  const { place, session } = await begun();
  for (const columns of [60, 80, 120]) {
    const { stdout, code } = await place.on({ columns }, 'context', session);
    expect(code).toBe(0);
    for (const row of plain(stdout).split('\n')) expect(row.length).toBeLessThanOrEqual(columns);
  }
  const text = plain((await place.on({ columns: 80 }, 'context', session)).stdout);
  expect(text).toContain(`Request 3 of ${session}`);
  expect(text).toMatch(/1,110 tokens sent, [\d.]+ % the same bytes as request 2, \$0\.0100/);
  expect(text).toMatch(/ 2 {2}you: What is the balance\? +\d+ +▒+ +kept/);
  expect(text).toMatch(/you: And else\? +\d+ +█ +kept/);
  expect(text).toContain('the same bytes as the request before up to here');
  expect(text).toContain('Provider   read 1,090   written 0   uncached 20   output 20');
  expect(text).toMatch(/Kept \d+, shortened 0, left out 0, summarised 0\./);
  const first = plain((await place.on({ columns: 80 }, 'context', session, '--request', '1')).stdout);
  expect(first).toContain('nothing to share yet');
  const missing = await place.onrecord('context', session, '--request', '9');
  expect(missing.stderr).toContain('request-not-found');
});

test('an-effect-is-seen-before: a dry run records nothing, the change itself is in the record', async () => {
  const { place, session } = await begun();
  const events = async (): Promise<number> =>
    (await place.onrecord('show', session, '--json')).stdout.split('\n').length;
  const before = await events();
  const tried = await place.on({ columns: 80 }, 'context', session, '--without', '1', '--dry-run');
  expect(plain(tried.stdout)).toContain('Nothing was recorded.');
  expect(plain(tried.stdout)).toMatch(/The next request has about [\d,]+ tokens instead of [\d,]+\./);
  expect(plain(tried.stdout)).toMatch(/turn 1, 4 parts +\(\d+\) +░+ +left out/);
  expect(await events()).toBe(before);
  const done = await place.onrecord('context', session, '--without', '1', '--reason', 'old news');
  expect(done.stdout).toContain(`Recorded as event ${before}.`);
  expect(await events()).toBe(before + 1);
  expect((await place.onrecord('show', session, '--timeline')).stdout).toContain(
    'left turn 1 out of later requests: old news',
  );
  const again = await place.onrecord('context', session, '--without', '1');
  expect(again.stdout).toContain('It is so already');
  await place.onrecord('send', session, 'Go on.');
  const { stdout } = await place.onrecord('context', session, '--json');
  const { parts } = JSON.parse(stdout) as { parts: { turn: number; state: string; reason: string }[] };
  const first = parts.filter(({ turn }) => turn === 1);
  expect(first).toHaveLength(4);
  for (const { state, reason } of first) {
    expect(state).toBe('left-out');
    expect(reason).toMatch(/^by hand: .+, event \d+$/);
  }
  expect((await place.onrecord('replay', session)).code).toBe(0);
  expect((await place.onrecord('verify', session)).code).toBe(0);
});

test('wrong words are said to be wrong', async () => {
  const { place, session } = await begun();
  for (const [code, ...words] of [
    ['usage', '--without', 'x'],
    ['usage', '--policy', 'some'],
    ['usage', '--without', '1', '--pin', '2'],
    ['usage', '--request', '1', '--next'],
    ['turn-not-found', '--without', '7'],
  ]) {
    const { stderr, code: exit } = await place.onrecord('context', session, ...words);
    expect([words, exit !== 0, stderr.includes(code ?? '')]).toEqual([words, true, true]);
  }
});
