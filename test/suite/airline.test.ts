/** Real model behaviour as a suite: recorded conversations that the runner runs, with their database end states. */
import { expect, test } from 'vitest';
import conversations from '../../examples/airline/conversations.ts';
import { DATA_FOLDER, missingFiles } from '../../examples/airline/recording.ts';
import { examsFor, OWN_MODEL, readExams } from '../../src/cli/exam-files.ts';
import type { Candidate } from '../../src/suite/exam/play.ts';
import { onStage, project, ROOT } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';
import { planted, runOne } from './exam-stage.ts';

const missing = missingFiles(DATA_FOLDER);
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: the airline conversations as a suite: not found: ${missing.join(', ')}.\n`,
  );
const absent = missing.length > 0;
const SUITE = 'examples/airline/conversations.ts';

const candidateOf = async (name: string): Promise<Candidate> => {
  const files = await readExams(SUITE, ROOT);
  const exams = examsFor({ cwd: ROOT, config: async () => ({ agents: [] }) }, files, []);
  const made = exams.find((exam) => exam.name === name)?.candidates.get(OWN_MODEL);
  if (!made) throw new Error(`there is no scenario ${name}`);
  return made();
};

test.skipIf(absent)('conversations end in the recorded database, run by the command', async () => {
  const { code, stdout } = await onStage(ROOT, {}, [
    'suite',
    'run',
    SUITE,
    '--filter',
    'airline/t14',
    '--json',
  ]);
  const { runs } = JSON.parse(stdout) as { readonly runs: readonly { readonly verdict: string }[] };
  expect([code, runs.map(({ verdict }) => verdict)]).toEqual([0, ['passed', 'passed', 'passed', 'passed']]);
});

test.skipIf(absent)(
  'a write that only says that it was done is found by the digest of the database',
  async () => {
    const candidate = await candidateOf('airline/t14-r0');
    const run = await runOne(
      planted(candidate, (agent) => ({
        ...agent,
        tools: new Map(
          [...agent.tools].map(([name, tool]) => [
            name,
            name === 'update_reservation_flights' ? { ...tool, execute: () => '{}' } : tool,
          ]),
        ),
      })),
    );
    expect(run.verdict).toBe('failed');
    expect(run.problems.map(({ message }) => message).join('\n')).toContain(
      'the database at the end is another one',
    );
  },
);

test.skipIf(absent)('any of them stands a killed process and a broken stream', async () => {
  const candidate = await candidateOf('airline/t14-r0');
  const faults = [
    { at: 'call.after', what: 'update_reservation_flights', occurrence: 1, do: 'crash' },
    { at: 'request.stream', occurrence: 4, do: 'cut' },
  ] as const;
  const run = await runOne({ ...candidate, scenario: { ...candidate.scenario, faults } });
  expect([run.verdict, run.problems.slice(0, 3)]).toEqual(['passed', []]);
});

test('without the recordings it says that it is skipped, and that is no pass', async () => {
  expect(conversations(tempFolder())).toMatchObject({
    skipped: expect.stringContaining('trajectories.jsonl'),
  });
  const made = project({
    'none.ts': 'export default () => ({ skipped: "The data is elsewhere." });',
    'wrong.ts':
      'export default () => ({ exams: [{ scenario: { name: "a", turns: [] }, agent: () => {} }] });',
    'nothing.ts': 'export const other = 1;',
  });
  const run = (file: string): Promise<{ code: number; stderr: string }> =>
    made.onrecord('suite', 'run', file);
  expect(await run('none.ts')).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('Skipped: none.ts'),
  });
  expect((await run('none.ts')).stderr).toContain('The data is elsewhere.');
  expect(await run('wrong.ts')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('wrong.ts, a: turns'),
  });
  expect(await run('nothing.ts')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('default export'),
  });
});
