/** The shipped suite passes, and what is planted into its agents is found where it is. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scriptedModel } from '../../src/index.ts';
import type { Script } from '../../src/model/script.ts';
import { baselineOf, baselineText, changedFrom } from '../../src/suite/exam/baseline.ts';
import { divergenceOf, type Divergence } from '../../src/suite/exam/divergence.ts';
import { differencesOf, runExams, type ExamRun } from '../../src/suite/exam/exam.ts';
import type { Candidate } from '../../src/suite/exam/play.ts';
import { passPower, wilson } from '../../src/suite/exam/rates.ts';
import type { Agent } from '../../src/worker/agent.ts';
import { onStage, ROOT } from '../cli/project.ts';
import {
  complaints,
  folderDigest,
  otherPrompt,
  planted,
  renamed,
  runOne,
  shipped,
  withoutRule,
} from './exam-stage.ts';

/** Ends a hopeless wait: all shipped scenarios are played, several times over. */
const ALL_MS = 240_000;

type Report = { readonly runs: readonly (ExamRun & { readonly ms: number })[]; readonly ms: number };

const ran = async (...words: readonly string[]): Promise<Report> => {
  const { stdout } = await onStage(ROOT, {}, ['suite', 'run', 'examples', '--json', ...words]);
  return JSON.parse(stdout) as Report;
};

const without = ({ runs }: Report): unknown => runs.map((run) => ({ ...run, ms: 0 }));

test(
  'the-shipped-suite-passes, is the baseline, and leaves the examples as they are',
  { timeout: ALL_MS },
  async () => {
    const before = folderDigest(join(ROOT, 'examples'));
    const { code, stdout, stderr } = await onStage(ROOT, {}, ['suite', 'compare', 'examples', '--json']);
    const report = JSON.parse(stdout) as Report & { readonly changed: readonly unknown[] };
    expect(report.runs.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
    expect([code, complaints(stderr), report.changed]).toEqual([0, '', []]);
    expect(report.runs.length).toBeGreaterThanOrEqual(24);
    expect(folderDigest(join(ROOT, 'examples'))).toBe(before);
    process.stderr.write(`${(report.runs.length / (report.ms / 1000)).toFixed(1)} scenarios a second\n`);
  },
);

test('the-report-is-the-same-each-time, one at a time or many', { timeout: ALL_MS }, async () => {
  expect(without(await ran('--jobs', '1'))).toEqual(without(await ran('--jobs', '8')));
});

test.each(['inbox/move-a-review', 'ledger/two-invoices', 'research/heating-grants'])(
  '%s stands any single crash at an append',
  async (name) => {
    const candidate = await shipped(name);
    for (const what of ['turn.accepted', 'response.received', 'call.result', 'approval.decided']) {
      const scenario = {
        ...candidate.scenario,
        faults: [{ at: 'append.after', what, occurrence: 1, do: 'crash' } as const],
      };
      const run = await runOne({ ...candidate, scenario });
      expect([what, run.verdict, run.problems]).toEqual([what, 'passed', []]);
    }
  },
);

/** What each agent's regression is, and where it has to be found. */
type Plant = {
  readonly scenario: string;
  readonly change: (agent: Agent) => Agent;
  readonly area: Divergence['area'];
  readonly cause: string;
  readonly what?: string;
  readonly path: RegExp;
};

const PLANTS: readonly Plant[] = [
  ...['inbox/move-a-review', 'ledger/two-invoices', 'research/heating-grants'].map((scenario): Plant => ({
    scenario,
    change: otherPrompt,
    area: 'prompt',
    cause: 'the instructions are others; nothing was done otherwise',
    path: /^\/agent\/instructions$/,
  })),
  {
    scenario: 'inbox/move-a-review',
    change: renamed('calendar.move', 'calendar.shift'),
    area: 'tool',
    cause: 'the tool calendar.move is called calendar.shift',
    what: 'calendar.move',
    path: /^\/verdict$/,
  },
  {
    scenario: 'ledger/two-invoices',
    change: renamed('csv.update', 'csv.correct'),
    area: 'tool',
    cause: 'the tool csv.update is called csv.correct',
    what: 'csv.update',
    path: /^\/verdict$/,
  },
  {
    scenario: 'research/heating-grants',
    change: renamed('files.write', 'files.save'),
    area: 'tool',
    cause: 'the tool files.write is called files.save',
    what: 'files.write',
    path: /^\/verdict$/,
  },
  {
    scenario: 'inbox/mail-gives-orders',
    change: withoutRule('entries-stay'),
    area: 'policy',
    cause: 'the policy: rule entries-stay is dropped',
    what: 'calendar.cancel',
    path: /^\/verdict$/,
  },
  {
    scenario: 'ledger/two-invoices',
    change: withoutRule('corrections-are-seen-first'),
    area: 'policy',
    cause: 'the policy: rule corrections-are-seen-first is dropped',
    what: 'csv.update',
    path: /^\/verdict$/,
  },
  {
    scenario: 'research/heating-grants',
    change: withoutRule('summaries-are-read-first'),
    area: 'policy',
    cause: 'the policy: rule summaries-are-read-first is dropped',
    what: 'files.write',
    path: /^\/verdict$/,
  },
];

test.each(PLANTS)(
  'a-planted-regression-is-found: $scenario, $area',
  async ({ scenario, change, area, cause, what, path }) => {
    const candidate = await shipped(scenario);
    const baseline = baselineOf([await runOne(candidate)]);
    const run = await runOne(planted(candidate, change));
    const [changed] = changedFrom(baseline, [run], true);
    const found = changed?.divergence;
    expect(found).toMatchObject({ area, cause: expect.stringContaining(cause) });
    expect(found?.path).toMatch(path);
    expect(found?.other?.what).toBe(what);
    // Another prompt with a script does nothing otherwise; the others fail the scenario as well.
    expect(run.verdict).toBe(area === 'prompt' ? 'passed' : 'failed');
  },
);

const swappedSteps = (script: Script): Script => {
  const steps = script.steps.map((step) => ({
    ...step,
    ...(step.calls && { calls: step.calls.toReversed() }),
  }));
  const at = steps.findIndex(({ calls }) => calls?.some(({ tool: name }) => /update|write/.test(name)));
  const [one, other] = [steps[at], steps[at + 1]];
  if (one && other && one.calls?.length === 1 && other.calls) steps.splice(at, 2, other, one);
  return { ...script, steps };
};

test.each(['inbox/move-a-review', 'ledger/one-row-at-a-time', 'research/two-summaries'])(
  'another-order-of-writes-is-found: %s',
  async (name) => {
    const candidate = await shipped(name);
    const first = await runOne(candidate);
    const run = await runOne(
      planted(candidate, (agent) => {
        if (!('script' in agent.model)) throw new Error('its model is no script');
        return { ...agent, model: scriptedModel(swappedSteps(agent.model.script as Script)) };
      }),
    );
    expect(run.verdict).toBe('failed');
    expect(run.problems[0]?.expectation).toBe('calls');
    const found = first.signature && run.signature && divergenceOf(first.signature, run.signature);
    expect(found).toMatchObject({ area: 'order', cause: expect.stringContaining('the order of writes') });
  },
);

const models = (
  candidate: Candidate,
  scripts: Readonly<Record<string, Script>>,
): ReadonlyMap<string, () => Promise<Candidate>> =>
  new Map(
    Object.entries(scripts).map(([name, script]) => [
      name,
      async () => ({ ...candidate, model: scriptedModel(script) }),
    ]),
  );

const read = (path: string): { tool: string; args: { path: string } } => ({
  tool: 'files.read',
  args: { path },
});

test('two-models-differ-exactly-where-they-do: order of reads and wording are noise', async () => {
  const same = await shipped('research/two-summaries');
  const other = await shipped('ledger/one-row-at-a-time');
  const write = { tool: 'files.write', args: { path: 'summaries/short.md', new: true, text: '# Short\n' } };
  const end = { text: 'Done.', cost: 0 };
  const update = (vat: string): Script => ({
    name: 'm',
    steps: [
      {
        calls: [
          {
            tool: 'csv.update',
            args: { path: 'ledger-2026-10.csv', updates: [{ where: { invoice: 'B-10442' }, set: { vat } }] },
          },
        ],
      },
      end,
    ],
  });
  const { runs } = await runExams({
    exams: [
      {
        name: same.scenario.name,
        candidates: models(same, {
          a: {
            name: 'a',
            steps: [{ calls: [read('sources.md'), read('house-rules.md')] }, { calls: [write] }, end],
          },
          b: {
            name: 'b',
            steps: [
              { text: 'Let me see.', calls: [read('house-rules.md')] },
              { calls: [read('sources.md')] },
              { calls: [write], reasoning: 'Now.' },
              { text: 'It is done.', cost: 0 },
            ],
          },
        }),
      },
      { name: other.scenario.name, candidates: models(other, { a: update('248.00'), b: update('249.00') }) },
    ],
  });
  expect(differencesOf(runs)).toMatchObject([
    {
      scenario: 'ledger/one-row-at-a-time',
      models: ['a', 'b'],
      divergence: {
        path: '/args/updates/0/set/vat',
        values: ['248.00', '249.00'],
        area: 'model',
        cause: 'the model gave csv.update other arguments',
      },
    },
  ]);
});

test('the-first-difference-is-symmetric, and equal runs have none', async () => {
  const candidate = await shipped('ledger/two-invoices');
  const [one, other] = [
    await runOne(candidate),
    await runOne(planted(candidate, withoutRule('corrections-are-seen-first'))),
  ];
  if (!one.signature || !other.signature) throw new Error('not played');
  expect(divergenceOf(one.signature, one.signature)).toBeUndefined();
  const [there, back] = [
    divergenceOf(one.signature, other.signature),
    divergenceOf(other.signature, one.signature),
  ];
  expect(back).toMatchObject({
    path: there?.path,
    same: there?.same,
    area: there?.area,
    one: there?.other,
    other: there?.one,
  });
  expect(back?.values).toEqual(there?.values.toReversed());
});

test('a-baseline-reads-back, and says what is new and what is gone', async () => {
  const run = await runOne(await shipped('research/two-summaries'));
  const baseline = JSON.parse(baselineText(baselineOf([run]))) as ReturnType<typeof baselineOf>;
  expect(changedFrom(baseline, [run], true)).toEqual([]);
  expect(changedFrom(baseline, [{ ...run, scenario: 'x/new' }], true)).toMatchObject([
    { scenario: 'research/two-summaries', how: 'gone' },
    { scenario: 'x/new', how: 'new' },
  ]);
  expect(changedFrom(baseline, [], false)).toEqual([]);
});

test('rates-are-those-of-the-formulas', () => {
  // Newcombe 1998, table I: 81 of 263, and 1 of 29.
  expect(wilson(81, 263)).toMatchObject({ low: expect.closeTo(0.2553, 4), high: expect.closeTo(0.3662, 4) });
  expect(wilson(1, 29)).toMatchObject({ low: expect.closeTo(0.0061, 4), high: expect.closeTo(0.1718, 4) });
  expect(wilson(0, 0)).toBeUndefined();
  expect(passPower(3, 4, 2)).toBeCloseTo(0.5);
  expect(passPower(1, 4, 2)).toBe(0);
  expect(passPower(4, 4, 4)).toBe(1);
  expect(passPower(4, 4, 5)).toBeUndefined();
});
