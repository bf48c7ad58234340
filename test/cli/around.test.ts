/** The commands around sessions: sessions, agents, tools, doctor, help. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT_MEANING } from '../../src/cli/exit-code.ts';
import { clerk, project, sessionIn } from './project.ts';

const HELLO = '  - text: Hello.\n    cost: 0.5\n';
const ASK = `
  - text: I will write.
    cost: 0
    calls: [{ tool: files.write, args: { path: n.txt, text: x, new: true } }]
`;

test('sessions-are-one-a-line: the most urgent state of each, last changed first', async () => {
  const place = clerk(HELLO);
  const first = sessionIn(
    (await place.onrecord('run', 'clerk', 'Say hello to everybody in the house.')).stdout,
  );
  place.write('script.yaml', `name: m\nsteps:\n${ASK}`);
  const second = sessionIn((await place.onrecord('run', 'clerk', 'Write.')).stdout);
  const { stdout, code } = await place.onrecord('sessions');
  const [head, one, two] = stdout.split('\n');
  expect(code).toBe(0);
  expect(head).toMatch(/^session +status +agent +title +turns +cost +waits for +last activity$/);
  expect(one).toMatch(
    new RegExp(
      `^${second}  ▲ waiting  clerk  Write\\. +1 +\\$0\\.0000 +decision [\\d.]+ m?s +(?:\\w{3} )?[\\d:]+ UTC$`,
    ),
  );
  expect(two).toMatch(
    new RegExp(`^${first}  ✓ done +clerk  Say hello to everybody in the house\\.[ ]+1 +\\$0\\.5000`),
  );
  const narrow = await place.on({ columns: 60 }, 'sessions');
  for (const line of narrow.stdout.replaceAll(/\u001b\[\d+m/g, '').split('\n'))
    expect(line.length).toBeLessThanOrEqual(60);
  expect((await place.onrecord('sessions', '--status', 'waiting')).stdout).not.toContain(first);
  expect((await place.onrecord('sessions', '--agent', 'nobody')).stderr).toContain(
    'No session is like that.',
  );
  const limited = await place.onrecord('sessions', '--limit', '1');
  expect(limited.stdout).not.toContain(first);
  expect(limited.stderr).toContain('--limit 4');
  expect((await place.onrecord('sessions', '--limit', '0')).code).toBe(2);
  expect((await place.onrecord('sessions', '--status', 'busy')).code).toBe(2);
});

test('looking-makes-nothing: no store appears where there was none', async () => {
  const place = clerk(HELLO);
  for (const words of [
    ['sessions'],
    ['doctor'],
    ['agents'],
    ['tools'],
    ['show', 's_NOBODY00'],
    ['send', 's_NOBODY00', 'x'],
  ])
    await place.onrecord(...words);
  expect(existsSync(join(place.folder, '.onrecord'))).toBe(false);
});

test('tools-say-what-they-do: effect, approval, time, labels, arguments', async () => {
  const { stdout } = await clerk(HELLO).onrecord('tools', 'clerk');
  expect(stdout).toMatch(/^files\.read +none +by policy +1 min +untrusted, private +path, from\?: integer/m);
  expect(stdout).toMatch(/^files\.write +reconcilable +by policy/m);
  const missing = await clerk(HELLO).onrecord('tools', 'clark');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('Known here: clerk.');
});

test('doctor-is-content: nothing to say ends with 0', async () => {
  const place = clerk(HELLO);
  await place.onrecord('run', 'clerk', 'x');
  const { code, stdout } = await place.onrecord('doctor');
  expect(stdout).toMatch(/^✓ program +\d+\.\d+\.\d+, Node \d+\.\d+\.\d+, SQLite \d+\.\d+/);
  expect(stdout).toMatch(/^✓ store +.*log\.db, \d+ kB, format 4/m);
  expect(stdout).toMatch(/^✓ integrity +1 session, heads match/m);
  expect(stdout).toContain('All is well.');
  expect(code).toBe(0);
});

test('doctor-finds-damage: a changed last event, an agent that is gone, a broken agent file', async () => {
  const place = clerk(ASK);
  const session = sessionIn((await place.onrecord('run', 'clerk', 'x')).stdout);
  place.write('agents/clerk.yaml', 'name: other\ninstructions: x\nmodel: { scripted: script.yaml }\n');
  const gone = await place.onrecord('doctor');
  expect(gone.stdout).toMatch(
    /^✗ agents +1 found; sessions that are not over need clerk, which is not here/m,
  );
  expect(gone.code).toBe(1);
  place.write('agents/clerk.yaml', 'instruction: x\n');
  const broken = await place.onrecord('doctor');
  expect(broken.stdout).toMatch(/^✗ agents +agents\/clerk\.yaml:/m);
  expect(broken.code).toBe(1);
  place.write('agents/clerk.yaml', 'name: clerk\ninstructions: x\nmodel: { scripted: script.yaml }\n');
  const db = new DatabaseSync(join(place.folder, '.onrecord/log.db'));
  db.exec(`UPDATE event SET at = at + 1 WHERE seq = (SELECT max(seq) FROM event)`);
  db.close();
  const damaged = await place.onrecord('doctor');
  expect(damaged.stdout).toContain(`the end of 1 log does not match its chain: ${session}`);
  expect(damaged.stdout).toMatch(/^▲ agents +1 found; clerk changed/m);
  expect(damaged.code).toBe(1);
});

test('help-is-for-every-command: one sentence, usage, options, an example, exit codes', async () => {
  const place = project({});
  const overview = await place.onrecord('help');
  expect((await place.onrecord()).stdout).toBe(overview.stdout);
  expect((await place.onrecord('--help')).stdout).toBe(overview.stdout);
  for (const [name, load] of Object.entries(COMMANDS)) {
    const command = await load?.();
    if (!command) throw new Error(name);
    expect(overview.stdout).toMatch(new RegExp(`\\b${name}\\b`));
    const { stdout, code } = await place.on({ columns: 80 }, 'help', name);
    const plain = stdout.replaceAll(/\u001b\[\d+m/g, '');
    expect(code).toBe(0);
    expect(plain).toContain(command.summary.slice(0, 60));
    expect(plain).toContain(`onrecord ${name}`);
    expect(plain).toContain(`  ${command.example}`);
    for (const line of plain.split('\n'))
      expect({ name, fits: line.length <= 80 || line.includes('  onrecord') }).toEqual({ name, fits: true });
    expect((await place.on({ columns: 80 }, name, '--help')).stdout).toBe(stdout);
    expect((await place.on({ columns: 80 }, name, '-h')).stdout).toBe(stdout);
  }
});

test('help-knows-the-exit-codes-and-what-was-meant', async () => {
  const place = project({});
  const codes = await place.onrecord('help', 'exit-codes');
  for (const [code, meaning] of Object.entries(EXIT_MEANING))
    expect(codes.stdout).toMatch(new RegExp(`^ *${code}  ${meaning.slice(0, 12).replace('(', '\\(')}`, 'm'));
  const wrong = await place.onrecord('help', 'sesions');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('Did you mean sessions?');
});
