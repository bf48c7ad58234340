/** onrecord rehearse: what it prints at any width, its exit codes, and that files stay as they are. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clerk, sessionIn, type Project } from './project.ts';

const READ = `
  - text: I will read the ledger.
    usage: { cacheWrite: 900, input: 100, output: 20 }
    cost: 0.0291
    calls: [{ tool: files.read, args: { path: ledger.txt } }]
  - text: The balance is 100.
    usage: { cacheRead: 900, input: 100, output: 20 }
    cost: 0.012
`;

const WRITES = `name: other-model
steps:
  - text: I will write.
    usage: { input: 50, output: 5 }
    cost: 0.001
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
  - text: Written.
    cost: 0.001
`;

const recorded = async (): Promise<{ project: Project; session: string }> => {
  const project = clerk(READ);
  const { code, stdout } = await project.onrecord('run', 'clerk', 'What is the balance?');
  expect(code).toBe(0);
  return { project, session: sessionIn(stdout) };
};

const bare = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '');

test('the same agent does the same: exit 0, and both costs', async () => {
  const { project, session } = await recorded();
  const { code, stdout } = await project.onrecord('rehearse', session);
  expect(code).toBe(0);
  expect(stdout).toContain(`✓ ${session} comes out the same, word for word.`);
  expect(stdout).toMatch(/turn 1 +done, 2 steps +done, 2 steps/);
  expect(stdout).toMatch(/cost +\$0\.0411 +\$0\.0411/);
  expect(stdout).toMatch(/tokens in +2,000 +2,000/);
});

test.each([
  [80, /- recorded, event 4/],
  [140, /recorded, event 4 +rehearsed, event 4/],
])('another model diverges: exit 11, the place, both values (%i columns)', async (columns, sides) => {
  const { project, session } = await recorded();
  project.write('other.yaml', WRITES);
  const ran = await project.on({ columns }, 'rehearse', session, '--model', 'other.yaml');
  const text = bare(ran.stdout);
  expect(ran.code).toBe(11);
  expect(text).toContain(`✗ ${session} comes out otherwise from turn 1, step 1 on.  rehearsal-differs`);
  expect(text).toContain('Stopped: the record has no result of files.write');
  expect(text).toMatch(/First divergence {2}at {2}\/calls\/0/);
  expect(text).toContain('only in the record: 1 call');
  expect(text).toContain('only in the rehearsal: 1 call');
  expect(text).toMatch(sides);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  expect(existsSync(join(project.folder, 'books/note.txt'))).toBe(false);
});

test('--missing stub goes on, --keep keeps it under a name of its own, and send refuses it', async () => {
  const { project, session } = await recorded();
  project.write('other.yaml', WRITES);
  const ran = await project.onrecord(
    'rehearse',
    session,
    '--model',
    'other.yaml',
    '--missing',
    'stub',
    '--keep',
    '--json',
  );
  expect(ran.code).toBe(11);
  const found = JSON.parse(ran.stdout) as { kept: string; same: boolean; stubbed: number };
  expect(found).toMatchObject({ same: false, stubbed: 1, sameDeeds: false });
  expect((await project.onrecord('show', found.kept)).stdout).toContain('Written.');
  expect((await project.onrecord('send', found.kept, 'On.')).stderr).toContain('session-is-rehearsal');
  expect((await project.onrecord('verify', '--all')).code).toBe(0);
  expect((await project.onrecord('replay', '--all')).code).toBe(0);
  expect(existsSync(join(project.folder, 'books/note.txt'))).toBe(false);
});

test('instructions, tools and policy of one’s own; words count where they are asked for', async () => {
  const { project, session } = await recorded();
  project.write('be-quick.txt', 'Be quick.');
  project.write('policy.yaml', '- { id: nothing, do: deny, reason: closed }\n');
  project.write(
    'words.yaml',
    READ.replace('The balance is 100.', 'It is 100.').replace(/^/, 'name: w\nsteps:'),
  );
  const rehearse = async (...words: readonly string[]): Promise<readonly [number, string]> => {
    const { code, stdout } = await project.onrecord('rehearse', session, ...words);
    return [code, stdout];
  };
  expect((await rehearse('--instructions', 'be-quick.txt'))[0]).toBe(0);
  const [denied, text] = await rehearse('--policy', 'policy.yaml');
  expect(denied).toBe(11);
  expect(text).toContain('"denied-by-policy"');
  expect((await rehearse('--tools', 'files.list'))[1]).toContain('"unknown-tool"');
  expect(await rehearse('--model', 'words.yaml')).toMatchObject([
    0,
    expect.stringContaining('in other words'),
  ]);
  expect((await rehearse('--model', 'words.yaml', '--words'))[0]).toBe(11);
});

test('what is not there is said, with what there is', async () => {
  const { project, session } = await recorded();
  const problem = async (...words: readonly string[]): Promise<string> => {
    const { code, stderr } = await project.onrecord('rehearse', session, ...words);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await problem('--model', 'nobody')).toContain('Known here: clerk (acme-large-6)');
  expect(await problem('--agent', 'nobody')).toContain('Known here: clerk');
  expect(await problem('--tools', 'nobody')).toContain('files.read');
  expect(await problem('--missing', 'guess')).toContain('none of stop, stub, ask');
  expect(await problem('--missing', 'ask')).toContain('needs a terminal');
  expect(await problem('--instructions', 'absent.txt')).toContain('absent.txt');
  project.write('policy.yaml', '- { id: a, do: perhaps }\n');
  expect(await problem('--policy', 'policy.yaml')).toContain('policy.yaml:1');
});

test('a model that could not be asked is not judged: exit 8', async () => {
  const { project, session } = await recorded();
  project.write('short.yaml', 'name: short\nsteps: []\n');
  expect((await project.onrecord('rehearse', session, '--model', 'short.yaml')).code).toBe(8);
});
