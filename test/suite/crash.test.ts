/** The crash matrix of a suite: how many kills there are is known and said, and what is wrong in a tool is found. */
import { expect, test } from 'vitest';
import { examsFor, readExams } from '../../src/cli/exam-files.ts';
import { scriptedModel } from '../../src/index.ts';
import { crashSuite, type CrashProgress } from '../../src/suite/exam/crash-suite.ts';
import type { Candidate } from '../../src/suite/exam/play.ts';
import type { Agent } from '../../src/worker/agent.ts';
import { onStage, ROOT } from '../cli/project.ts';
import { planted, shipped } from './exam-stage.ts';

const crashed = async (candidate: Candidate): ReturnType<typeof crashSuite> =>
  crashSuite({
    exams: [{ name: candidate.scenario.name, candidates: new Map([['one', async () => candidate]]) }],
  });

test(
  'every kill is counted beforehand, and a person who was wrong about a call in doubt is no fault of the agent',
  { timeout: 240_000 },
  async () => {
    const said: CrashProgress[] = [];
    const files = await readExams('examples/crash', ROOT);
    const report = await crashSuite({
      exams: examsFor({ cwd: ROOT, config: async () => ({ agents: [] }) }, files, []),
      onProgress: (progress) => said.push(progress),
    });
    const [found] = report.scenarios;
    expect(found).toMatchObject({ scenario: 'stockroom/driver-called-or-not', inDoubt: 2, wrong: [] });
    expect([report.planned, report.tried]).toEqual([found?.boundaries, found?.boundaries]);
    expect(new Set(said.map(({ all }) => all))).toEqual(new Set([report.planned]));
    expect(said.map(({ done }) => done)).toEqual(said.map((_, i) => i + 1));
  },
);

const WORDS = ['suite', 'run', 'examples/bookkeeping-clerk', '--crash', '--filter', 'correction-edited'];

test(
  'the command ends for all rows that a person edits, and says how many kills there were',
  { timeout: 240_000 },
  async () => {
    const { code, stdout } = await onStage(ROOT, {}, WORDS);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/✓ 1 scenario, \d+ kills, 0 wrong/)]);
  },
);

/** Says of every call that it has not happened, whatever has. */
const forgetful = (agent: Agent): Agent => ({
  ...agent,
  definition: {
    ...agent.definition,
    tools: agent.definition.tools.map((one) =>
      one.name === 'delivery.call' ? { ...one, effect: 'reconcilable' as const } : one,
    ),
  },
  tools: new Map(
    [...agent.tools].map(([name, tool]) => [
      name,
      name === 'delivery.call'
        ? { ...tool, effect: 'reconcilable' as const, reconcile: () => ({ happened: false as const }) }
        : tool,
    ]),
  ),
});

test('a tool that forgets what it did runs twice, and the boundary is named', async () => {
  const shippedOne = await shipped('stockroom/driver-called-or-not');
  const { scenario } = shippedOne;
  const { faults: _, ...rest } = scenario;
  const candidate: Candidate = {
    ...shippedOne,
    model: scriptedModel({
      name: 'script',
      steps: [
        { cost: 0, calls: [{ tool: 'delivery.call', args: { order: '4711' } }] },
        { cost: 0, text: 'The driver knows.' },
      ],
    }),
    scenario: { ...rest, turns: scenario.turns.slice(0, 1) },
  };
  const honest = await crashed(candidate);
  expect(honest.scenarios[0]).toMatchObject({ wrong: [], unjudged: [] });
  const { scenarios } = await crashed(planted(candidate, forgetful));
  const [wrong] = scenarios[0]?.wrong ?? [];
  expect(wrong).toMatchObject({
    place: { point: 'call.after', what: 'delivery.call' },
    problems: [
      { expectation: 'effects', message: 'expected delivery.call, found delivery.call, delivery.call' },
    ],
  });
});

test('what does not pass in peace is not killed, and a plan is in force in the matrix, too', async () => {
  const candidate = await shipped('ledger/ledger-never-written-anew');
  const exams = [{ name: candidate.scenario.name, candidates: new Map([['one', async () => candidate]]) }];
  const faults = [{ at: 'call.before', what: 'nothing.such', occurrence: 1, do: 'crash' } as const];
  const report = await crashSuite({ exams, faults });
  expect([report.planned, report.tried]).toEqual([0, 0]);
  expect(report.scenarios[0]?.unjudged[0]).toMatchObject({ expectation: 'faults' });
});
