import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
    usage: { cacheWrite: 1200, input: 0, output: 20 }
`;

const AGENT = (time: string): string => `description: Keeps the ledger.
instructions: Be exact. It is ${time}.
model: { scripted: script.yaml }
tools:
  - files: { root: books, untrusted: true }
`;

const begun = async (): Promise<{ place: Project; session: string }> => {
  const place = clerk(STEPS);
  place.write('agents/clerk.yaml', AGENT('2026-11-29T22:10:00Z'));
  const session = sessionIn((await place.onrecord('run', 'clerk', 'What is the balance?')).stdout);
  place.write('agents/clerk.yaml', AGENT('2026-11-29T22:11:00Z'));
  await place.onrecord('send', session, 'And else?');
  return { place, session };
};

test('the-bill-of-a-session: request by request, what is unknown is named and never 0', async () => {
  const { place, session } = await begun();
  const { stdout, code } = await place.on({ columns: 80 }, 'cost', session);
  expect(code).toBe(0);
  expect(stdout).toMatch(/1\.1#1 +0 +900 +100 +20 .* \$0\.0200/);
  expect(stdout).toMatch(/2\.1#1 .* unknown/);
  expect(stdout).toContain('$0.0300 known, 3 requests counted.');
  expect(stdout).toContain('1 answer without a known price: not counted.');
  const byTurn = JSON.parse((await place.onrecord('cost', session, '--by', 'turn', '--json')).stdout) as {
    groups: { name: string; cost: number | null; knownCost: number }[];
    total: { cost: number | null; knownCost: number };
  };
  expect(byTurn.groups.map(({ cost, knownCost }) => [cost, knownCost])).toEqual([
    [0.03, 0.03],
    [null, 0],
  ]);
  expect(byTurn.total).toMatchObject({ cost: null, knownCost: 0.03 });
  for (const key of ['call', 'step', 'session', 'agent', 'model', 'day']) {
    const { stdout: all } = await place.onrecord('cost', '--by', key, '--json');
    expect(JSON.parse(all)).toMatchObject({ by: key, total: { knownCost: 0.03, attempts: 3 } });
  }
  const wrong = await place.onrecord('cost', '--by', 'month');
  expect(wrong.code).toBe(2);
});

test('the-clock-is-named on the terminal, with what it was and what it became', async () => {
  const { place, session } = await begun();
  const { stdout } = await place.on({ columns: 80 }, 'cache', session);
  for (const row of stdout.split('\n'))
    expect(row.replaceAll(/\u001b\[\d+m/g, '').length).toBeLessThanOrEqual(80);
  expect(stdout).toContain('a clock in the instructions');
  expect(stdout).toContain('“2026-11-29T22:10:00Z” became “2026-11-29T22:11:00Z”');
  expect(stdout).toContain('1 request of 3 did not begin with the one before.');
  const { requests } = JSON.parse((await place.onrecord('cache', session, '--json')).stdout) as {
    requests: { verdict: string; causes: { kind: string; words: string }[] }[];
  };
  expect(requests.map(({ verdict }) => verdict)).toEqual(['first', 'as-expected', 'as-expected']);
  expect(requests[2]?.causes[0]).toMatchObject({
    kind: 'instructions',
    words: 'a clock in the instructions',
  });
});

test('a-price-file-goes-first, and a wrong one is shown at its place', async () => {
  const place = clerk(STEPS);
  place.write('onrecord.config.ts', `export default { agents: [], prices: 'prices.yaml' };`);
  place.write(
    'prices.yaml',
    'date: 2026-11-01\nmodels:\n  - { provider: anthropic, model: own, input: 1 }\n',
  );
  const { code, stderr } = await place.onrecord('run', 'clerk', 'Hello.');
  expect(code).toBe(2);
  expect(stderr).toContain('price-file-invalid');
  expect(stderr).toContain('prices.yaml:3');
});

test('a-measurement offline: the plan has a price, the run a table and a page, wrong words an answer', async () => {
  const place = clerk(STEPS);
  const words = ['measure', 'cache', '--turns', '3', '--gaps', '1m,6m', '--prefix', '2000'];
  const plan = await place.onrecord(...words, '--dry-run');
  expect(plan.code).toBe(0);
  expect(plan.stdout).toContain('3 sessions of 3 turns');
  expect(plan.stdout).toMatch(/At most \$0\.0\d+/);
  const { stdout, code } = await place.on({ columns: 80 }, ...words, '--html', 'cache.html');
  expect(code).toBe(0);
  for (const row of stdout.split('\n'))
    expect(row.replaceAll(/\u001b\[\d+m/g, '').length).toBeLessThanOrEqual(80);
  expect(stdout).toContain('nothing was sent');
  expect(readFileSync(join(place.folder, 'cache.html'), 'utf8')).toContain('<svg ');
  const kept = async (): Promise<readonly { session: string }[]> =>
    JSON.parse((await place.onrecord('sessions', '--json')).stdout) as { session: string }[];
  expect(await kept()).toHaveLength(0);
  expect((await place.onrecord(...words, '--ping', 'none', '--keep')).code).toBe(0);
  const [first, second, ...more] = await kept();
  expect(more).toHaveLength(0);
  for (const one of [first, second])
    expect((await place.onrecord('verify', one?.session ?? '')).code).toBe(0);
  for (const wrong of [
    ['--gaps', 'soon'],
    ['--prefix', '0'],
    ['--turns', '1'],
    ['--agent', 'nobody'],
    ['--budget', 'x'],
  ])
    expect((await place.onrecord('measure', 'cache', ...wrong)).code).toBe(2);
  expect((await place.onrecord('measure', 'tea')).code).toBe(2);
  const unpriced = await place.onrecord('measure', 'cache', '--agent', 'clerk', '--yes');
  expect(unpriced.stderr).toContain('price-unknown');
});
