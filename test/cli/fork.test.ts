/** onrecord fork: what it prints, and that everything else takes a fork for a session like any other. */
import { expect, test } from 'vitest';
import { clerk, sessionIn, type Project } from './project.ts';

const ASK = `
  - text: I will write it down.
    cost: 0.01
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
  - text: Written.
    cost: 0.01
`;

const waiting = async (): Promise<{ project: Project; session: string }> => {
  const project = clerk(ASK);
  const { code, stdout } = await project.onrecord('run', 'clerk', 'Note it.');
  expect(code).toBe(3);
  return { project, session: sessionIn(stdout) };
};

test('a fork is made, says what it closed, goes on with send, and proves itself', async () => {
  const { project, session } = await waiting();
  const made = await project.on({ columns: 80 }, 'fork', session, '--close-open');
  const plain = made.stdout.replaceAll(/\u001b\[\d+m/g, '');
  expect(made.code).toBe(0);
  const branch = sessionIn(plain);
  expect(plain).toContain(`✓ ${branch} branches off from ${session} behind event 7. 7 events shared, none`);
  expect(plain).toMatch(/ 9 ⊘ files\.write +left behind: not run in this branch/);
  for (const line of plain.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(made.stderr).toContain(`onrecord send ${branch} `);
  const sent = await project.onrecord('send', branch, 'Leave it.');
  expect(sent).toMatchObject({ code: 0 });
  expect(sent.stdout).toContain('Written.');
  for (const proof of ['verify', 'replay']) expect((await project.onrecord(proof, '--all')).code).toBe(0);
  expect((await project.onrecord('approvals', session)).stdout).toContain('files.write');
});

test('both sides say where they belong', async () => {
  const { project, session } = await waiting();
  const branch = sessionIn(
    (await project.onrecord('fork', session, '--close-open', '--title', 'Another try')).stdout,
  );
  const child = (await project.onrecord('show', branch)).stdout;
  expect(child).toContain('Another try');
  expect(child).toContain(`Branches off from ${session} behind event 7.`);
  expect((await project.onrecord('show', session)).stdout).toContain(`Forks: ${branch} behind event 7`);
  const listed = JSON.parse((await project.onrecord('sessions', '--json')).stdout) as { session: string }[];
  expect(listed.find((row) => row.session === branch)).toMatchObject({
    title: 'Another try',
    status: 'cancelled',
    fork: { parent: session, seq: 7 },
  });
});

test('the same key is the same fork; a place within a batch is moved to its end and said', async () => {
  const { project, session } = await waiting();
  const first = await project.onrecord('fork', session, '--at', '4', '--key', 'k', '--close-open');
  expect(first.stderr).toContain('Event 4 stands within a batch: forked behind event 5, where that ends.');
  const again = await project.onrecord('fork', session, '--at', '5', '--key', 'k', '--close-open', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    session: sessionIn(first.stdout),
    replayed: true,
    parent: { session, seq: 5 },
  });
});

test('a place or a session that is not there is refused, with what there is', async () => {
  const { project, session } = await waiting();
  const beyond = await project.onrecord('fork', session, '--at', '99');
  expect(beyond).toMatchObject({ code: 2, stdout: '' });
  expect(beyond.stderr).toContain(`Session ${session} has 7 events; there is no event 99 to fork it at.`);
  expect((await project.onrecord('fork', session, '--at', '0')).code).toBe(2);
  expect((await project.onrecord('fork', 's_NOBODY00')).stderr).toContain('session-not-found');
  expect(JSON.parse((await project.onrecord('sessions', '--json')).stdout)).toHaveLength(1);
});

test('inside a turn it says where it could be made, and how it is made there', async () => {
  const { project, session } = await waiting();
  const refused = await project.onrecord('fork', session);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/Event 7 stands inside turn 1\..*fork-inside-turn/);
  expect(refused.stderr).toContain('The nearest places between turns: 1.');
  expect(refused.stderr).toContain('--close-open');
  expect(JSON.parse((await project.onrecord('sessions', '--json')).stdout)).toHaveLength(1);
});
