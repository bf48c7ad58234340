import { expect, test } from 'vitest';
import { clerk, project, sessionIn } from './project.ts';

const READ = `
  - text: I will read the ledger.
    usage: { cacheWrite: 900, input: 100, output: 20 }
    cost: 0.0291
    calls: [{ tool: files.read, args: { path: ledger.txt } }]
  - text: |-
      The balance is 100.
      Nothing else is in it.
    usage: { cacheRead: 900, input: 100, output: 20 }
    cost: 0.012
`;

const ASK = `
  - text: I will write it down.
    cost: 0.01
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
  - text: Written.
    cost: 0.01
`;

test('a-run-is-shown-event-by-event: seq, mark, name, words, what it took', async () => {
  const { code, stdout, stderr } = await clerk(READ).on(
    { columns: 80 },
    'run',
    'clerk',
    'What is the balance?',
  );
  expect(code).toBe(0);
  const lines = stdout.replaceAll(/\u001b\[\d+m/g, '').split('\n');
  expect(lines[0]).toMatch(/^s_[0-9A-Z]{8} {2}clerk {2}acme-large-6 +\w{3} \d+ \w{3} \d{4}, UTC$/);
  expect(lines[2]).toMatch(/^ {2}2 ● you +What is the balance\?$/);
  expect(lines[3]).toMatch(/^ {2}3 ○ request 1 +1 part, [\d.]+ kB, nothing to reuse yet$/);
  // On a terminal the text comes before its numbers are known.
  expect(lines[4]).toBe('    ● model');
  expect(lines[5]).toBe('      I will read the ledger.');
  expect(lines[6]).toMatch(/^ {2}4 +asks for 1 call, \$0\.0291 +\S+ m?s$/);
  expect(lines[7]).toMatch(/^ {2}7 ✓ files\.read +path ledger\.txt, \d+ B, untrusted +\S+ m?s$/);
  expect(stdout).toContain('The balance is 100.\n      Nothing else is in it.');
  expect(lines.at(-2)).toBe('✓ Turn 1 is done. 10 events, $0.0411, 45 % of input from cache.');
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(stderr).not.toContain('onrecord');
});

test('a-pipe-gets-every-word: nothing is cut, no colour, the numbers stand with the model', async () => {
  const long = `Say ${'very '.repeat(40)}exactly what the balance is.`;
  const { stdout } = await clerk(READ).onrecord('run', 'clerk', long);
  expect(stdout).toContain(long);
  expect(stdout).not.toContain('\u001b');
  expect(stdout).toMatch(
    / {2}4 ● model +asks for 1 call, \$0\.0291 +\S+ m?s\n {6}I will read the ledger\.\n/,
  );
});

test('waiting-ends-with-3: and the command that answers', async () => {
  const { code, stdout, stderr } = await clerk(ASK).onrecord('run', 'clerk', 'Note that it was paid.');
  expect(code).toBe(3);
  expect(stdout).toMatch(/ {2}\d+ ▲ files\.write .*waits for a person\n/);
  expect(stdout).toContain('▲ Turn 1 waits for 1 decision.');
  expect(stderr).toBe(`\n  onrecord approvals ${sessionIn(stdout)}\n`);
});

test('a-failed-turn-ends-with-1, a stopped one with 5', async () => {
  const failed = await clerk('  - error: { kind: authentication, message: No key. }\n').onrecord(
    'run',
    'clerk',
    'x',
  );
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('✗ Turn 1 failed: No key.');
  const stopped = await clerk(READ, 'limits: { stepsPerTurn: 1 }').onrecord('run', 'clerk', 'x');
  expect(stopped.code).toBe(5);
  expect(stopped.stdout).toContain('✗ Turn 1 was stopped: Stopped by the limit stepsPerTurn');
});

test('quiet-prints-the-final-text-only', async () => {
  const { code, stdout, stderr } = await clerk(READ).onrecord('run', 'clerk', 'x', '-q');
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'The balance is 100.\nNothing else is in it.\n',
    stderr: '',
  });
});

test('json-is-a-stream: the stored events, one a line, then how it rests', async () => {
  const place = clerk(ASK);
  const { code, stdout } = await place.onrecord('run', 'clerk', 'x', '--json');
  const values = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);
  expect(code).toBe(3);
  const seqs = values.flatMap(({ event }) => (event ? [event['seq']] : []));
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  const { rest } = values.at(-1) ?? {};
  expect(rest).toMatchObject({
    status: 'waiting',
    turn: 1,
    outcome: null,
    approvals: ['1.1.1'],
    seq: seqs.length,
  });
  const shown = await place.onrecord('show', String(rest?.['session']), '1', '--json');
  expect(JSON.parse(shown.stdout)).toMatchObject(values[0]?.['event'] ?? {});
});

test('send-goes-on: the same key is the same turn, other words under it are refused', async () => {
  const place = clerk(`${READ}\n  - text: You are welcome.\n    cost: 0`);
  const session = sessionIn((await place.onrecord('run', 'clerk', 'What is the balance?')).stdout);
  const first = await place.onrecord('send', session, 'Thanks.', '--key', 'thanks');
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/^ 1\d ● you +Thanks\.\n/);
  expect(first.stdout).toContain('You are welcome.');
  const again = await place.onrecord('send', session, 'Thanks.', '--key', 'thanks');
  expect(again.code).toBe(0);
  expect(again.stderr).toContain('This message was sent before: it is turn 2.');
  const other = await place.onrecord('send', session, 'No thanks.', '--key', 'thanks');
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('turn-key-reused');
});

test('a-message-behind-a-waiting-turn-waits: and says for what', async () => {
  const place = clerk(ASK);
  const session = sessionIn((await place.onrecord('run', 'clerk', 'x')).stdout);
  const { code, stdout } = await place.onrecord('send', session, 'And then?');
  expect(code).toBe(3);
  expect(stdout).toContain('▲ Turn 2 waits for turn 1, which is not over.');
});

test('cancel-prints-the-receipt: what had happened and what did not', async () => {
  const place = clerk(`
  - text: Both.
    cost: 0
    calls:
      - { tool: files.read, args: { path: ledger.txt } }
      - { tool: files.write, args: { path: note.txt, text: "paid", new: true } }
`);
  const session = sessionIn((await place.onrecord('run', 'clerk', 'x')).stdout);
  const { code, stdout } = await place.onrecord('cancel', session, '--reason', 'wrong customer');
  expect(code).toBe(0);
  expect(stdout).toContain('cancel turn 1: wrong customer');
  expect(stdout).toContain('⊘ Turn 1 is cancelled. Of its last step 1 call had happened, 1 call did not.');
  expect(stdout).toMatch(/ {2}✓ files\.read 1\.1\.1 {2}had happened\n {2}⊘ files\.write 1\.1\.2 {2}stopped/);
  const nothing = await place.onrecord('cancel', session);
  expect(nothing.code).toBe(1);
  expect(nothing.stderr).toContain('nothing-to-cancel');
});

test('wrong-words-are-usage: exit 2 and a command that helps, nothing is recorded', async () => {
  const place = clerk(READ);
  const missing = await place.onrecord('run', 'clerk');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('onrecord help run');
  const unknown = await place.onrecord('run', 'clark', 'x');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('agent-not-found');
  expect((await place.onrecord('constructor')).code).toBe(2);
  expect((await place.onrecord('resume')).code).toBe(2);
  const list = await place.onrecord('sessions', '--json');
  expect(JSON.parse(list.stdout)).toEqual([]);
});

test('a-folder-without-agents-says-where-they-come-from', async () => {
  const { code, stderr } = await project({}).onrecord('agents');
  expect(code).toBe(0);
  expect(stderr).toContain('agents/*.yaml');
});
