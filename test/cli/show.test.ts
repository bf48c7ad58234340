import { expect, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { join } from 'node:path';
import { clerk, sessionIn, type Project } from './project.ts';

const STEPS = `
  - text: I will read the ledger.
    usage: { cacheWrite: 900, input: 100, output: 20 }
    cost: 0.02
    calls: [{ tool: files.read, args: { path: ledger.txt } }]
  - text: The balance is 100.
    usage: { cacheRead: 900, input: 100, output: 20 }
    cost: 0.01
  - text: I will note it.
    cost: 0.01
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
`;

const begun = async (): Promise<{ place: Project; session: string }> => {
  const place = clerk(STEPS);
  const session = sessionIn((await place.onrecord('run', 'clerk', 'What is the balance?')).stdout);
  await place.onrecord('send', session, 'Note it.');
  return { place, session };
};

const plain = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '');

test('a-conversation: what was said in full, each call once, the state and the next command', async () => {
  const { place, session } = await begun();
  const { stdout, stderr, code } = await place.on({ columns: 80 }, 'show', session);
  const lines = plain(stdout).split('\n');
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^What is the balance\? +▲ waiting for a person$/);
  expect(lines[0]?.length).toBe(80);
  expect(lines[1]).toMatch(
    new RegExp(`^${session}  clerk  \\d+ events, \\$0\\.0400, 45 % of input from cache$`),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^Turn 1 {2}2–10 {2}done {2}\$0\.0300 +\w{3} /));
  expect(lines).toContainEqual(expect.stringMatching(/^Turn 2 {2}11–\d+ {2}waiting {2}\$0\.0100 /));
  expect(lines.filter((line) => line.includes('files.read'))).toHaveLength(1);
  expect(lines).toContain('      The balance is 100.');
  expect(lines).toContainEqual(expect.stringMatching(/^ \d\d ▲ files\.write +\S.* waits for a person$/));
  expect(stdout).not.toContain('request');
  expect(plain(stderr)).toBe(`\n  onrecord approvals ${session}\n`);
});

test('a-timeline-fits-its-terminal: turns, steps, bars; a wide one says who, when and which digest', async () => {
  const { place, session } = await begun();
  const narrow = plain((await place.on({ columns: 80 }, 'show', session, '--timeline')).stdout).split('\n');
  for (const line of narrow) expect(line.length).toBeLessThanOrEqual(80);
  expect(narrow).toContainEqual(expect.stringMatching(/^ {6}step 1 +\S+ m?s {2}\$0\.0200$/));
  expect(narrow).toContainEqual(expect.stringMatching(/^ {2}3 ○ request 1 {3}1 part, 1,000 tokens/));
  expect(narrow).toContainEqual(expect.stringMatching(/▲ files\.write {3}waits for a person .*░$/));
  expect(narrow).toContainEqual(expect.stringMatching(/^ {6}step 1 +open {2}\$0\.0100$/));
  const wide = plain((await place.on({ columns: 120 }, 'show', session, '--timeline')).stdout).split('\n');
  for (const line of wide) expect(line.length).toBeLessThanOrEqual(120);
  expect(wide).toContainEqual(
    expect.stringMatching(/ {2}4 ● model .*acme-large-6 +\d\d:\d\d:\d\d\.\d{3} .*[0-9a-f]{4}…[0-9a-f]{4}/),
  );
});

test('every-event-has-a-line: nothing of the record is without words', async () => {
  const { place, session } = await begun();
  const { stdout } = await place.onrecord('show', session, '--timeline', '--events', '--full');
  const store = new SqliteLog(join(place.folder, '.onrecord/log.db'));
  const stored = await store.read(session);
  await store.close();
  for (const { seq, hash } of stored)
    expect(stdout).toMatch(new RegExp(`^ *${seq} [●○✓✗▲?◐⊘] \\S.*${hash}`, 'm'));
});

test('an-event-is-shown-whole: header, data as JSON, or the stored bytes', async () => {
  const { place, session } = await begun();
  const { stdout } = await place.onrecord('show', session, '2');
  expect(stdout).toContain('● Event 2  turn.accepted  fact');
  expect(stdout).toContain('"text": "What is the balance?"');
  const raw = await place.onrecord('show', session, '2', '--raw');
  const store = new SqliteLog(join(place.folder, '.onrecord/log.db'));
  const [stored] = await store.read(session, 2, 2);
  await store.close();
  expect(raw.stdout).toBe(stored?.body);
  const missing = await place.onrecord('show', session, '999');
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('event-not-found');
});

test('until-is-the-past: the state as it stood, and how much is not shown', async () => {
  const { place, session } = await begun();
  const { stdout, stderr } = await place.onrecord('show', session, '--until', '5');
  expect(stdout).toContain('◐ running');
  expect(stdout).toMatch(/As it stood after event 5\. \d+ later ones are not shown\./);
  expect(stdout).not.toContain('The balance is 100.');
  expect(stderr).toBe('');
});

test('a-request-is-exact: the bytes rebuilt from the store, and what is new in it', async () => {
  const { place, session } = await begun();
  const raw = await place.onrecord('show', session, '--request', '2', '--raw');
  const store = new SqliteLog(join(place.folder, '.onrecord/log.db'));
  const events = (await store.read(session)).map(open);
  const built = events.filter((event) => event.type === 'request.built')[1];
  const { body } = await rebuildRequest(
    { eventAt: (seq) => events[seq - 1], blob: (digest: Digest) => store.blob(digest) },
    built?.seq ?? 0,
  );
  await store.close();
  expect(raw.stdout).toBe(body);
  const diff = (await place.onrecord('show', session, '--request', '2', '--diff')).stdout.split('\n');
  const signs = diff.map((line) => line.slice(0, 1));
  expect(signs.filter((sign) => sign === '=')).toHaveLength(2);
  expect(signs).not.toContain('-');
  expect(diff.join('\n')).toContain('opening balance 100');
  const missing = await place.onrecord('show', session, '--request', '9');
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('It has 3 requests, counted from 1.');
});

test(
  'the-last-part-first: a long session shows its end and counts what is above',
  { timeout: 120_000 },
  async () => {
    const place = clerk(
      `
  - repeat: 150
    text: On to the next.
    cost: 0
    calls: [{ tool: files.read, args: { path: ledger.txt } }]
  - text: At the end.
    cost: 0
`,
      'limits: { stepsPerTurn: 1000, repeatedCalls: 1000 }',
    );
    const session = sessionIn((await place.onrecord('run', 'clerk', 'Read on.')).stdout);
    const short = await place.onrecord('show', session);
    expect(short.stdout).toContain(`… 102 earlier lines: onrecord show ${session} --conversation --all`);
    expect(short.stdout).toContain('At the end.');
    expect(short.stdout.match(/● model/g)).toHaveLength(100);
    const all = await place.onrecord('show', session, '--all');
    expect(all.stdout.match(/● model/g)).toHaveLength(151);
    const timeline = await place.onrecord('show', session, '--timeline');
    expect(timeline.stdout).toContain('earlier lines: onrecord show');
  },
);

test('what-does-not-go-together-is-said', async () => {
  const { place, session } = await begun();
  for (const words of [
    ['2', '--timeline'],
    ['--request', '1', '--conversation'],
    ['two'],
    ['--until', '0'],
  ]) {
    const { code, stderr } = await place.onrecord('show', session, ...words);
    expect({ words, code: code === 0 }).toEqual({ words, code: false });
    expect(stderr).toMatch(/^✗ /);
  }
  const nobody = await place.onrecord('show', 's_NOBODY00');
  expect(nobody.code).toBe(1);
  expect(nobody.stderr).toContain('session-not-found');
});
