/** Scenarios under fault plans: broken streams, moved clocks, chance from a seed. What was planned is seen in the log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEvent } from '../../src/event/events.ts';
import { playScenario } from '../../src/suite/exam/play.ts';
import { runExams, type ExamReport } from '../../src/suite/exam/exam.ts';
import { FaultPlan, faultPlanSchema, type Fault } from '../../src/suite/fault-plan.ts';
import { systemClock } from '../../src/clock.ts';
import { onStage, ROOT } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';
import { shipped } from './exam-stage.ts';

const planOf = (...faults: readonly object[]): readonly Fault[] => faultPlanSchema.parse(faults);

const under = async (
  name: string,
  faults: readonly Fault[],
): Promise<{ readonly report: ExamReport; readonly events: readonly LogEvent[] }> => {
  const candidate = await shipped(name);
  const exams = [{ name, candidates: new Map([['one', async () => candidate]]) }];
  const report = await runExams({ exams, faults });
  const { events } = await playScenario(candidate, { folder: tempFolder(), faults });
  return { report, events };
};

type Seen = (events: readonly LogEvent[]) => unknown;

const failed =
  (kind: string): Seen =>
  (events) =>
    events.some((event) => event.type === 'request.failed' && event.data.problem.kind === kind);

/** The greatest step between two events, with its sign. */
const steps = (events: readonly LogEvent[]): readonly number[] =>
  events.slice(1).map((event, i) => event.at - (events[i]?.at ?? 0));

const HOUR = 3_600_000;

const PLANS: readonly (readonly [string, object, Seen])[] = [
  ['a stream that is cut', { at: 'request.stream', do: 'cut' }, failed('interrupted')],
  ['the stream of one step', { at: 'request.stream', step: '1.2', do: 'cut' }, failed('interrupted')],
  ['a stream too slow to wait for', { at: 'request.stream', do: 'slow', ms: 120_000 }, failed('timeout')],
  [
    'arguments that end in the middle',
    { at: 'request.stream', do: 'malformed' },
    (events) => events.some(({ type }) => type === 'call.rejected'),
  ],
  [
    'a clock that jumps',
    { at: 'request.after', do: 'clock-forward', ms: HOUR },
    (events) => Math.max(...steps(events)) >= HOUR,
  ],
  [
    'a clock that is put back',
    { at: 'call.before', do: 'clock-back', ms: HOUR },
    // What the wall clock says is written down as it says it.
    (events) => Math.min(...steps(events)) <= -HOUR / 2,
  ],
  [
    'a store that gives no answer',
    { at: 'append.after', what: 'call.result', do: 'error' },
    (events) => events.filter(({ type }) => type === 'call.result').length > 0,
  ],
];

test.each(PLANS)('a scenario stands %s', async (...[, fault, seen]) => {
  const { report, events } = await under('ledger/two-invoices', planOf(fault));
  expect(report.runs.map(({ verdict, problems }) => [verdict, problems])).toEqual([['passed', []]]);
  expect(seen(events)).toBe(true);
});

test('a slow stream that is waited for only takes its time', async () => {
  const slow = await under('ledger/two-invoices', planOf({ at: 'request.stream', do: 'slow', ms: 500 }));
  const first = slow.events.find(({ type }) => type === 'response.received');
  expect(first?.type === 'response.received' && first.data.ms).toBeGreaterThanOrEqual(5000);
  expect(slow.report.runs[0]?.verdict).toBe('passed');
});

test('what only a stage can do is refused elsewhere, and a fault that is not reached is no pass', async () => {
  const elsewhere = (): unknown =>
    new FaultPlan(planOf({ at: 'request.stream', do: 'cut' }), { clock: systemClock });
  expect(elsewhere).toThrow(/needs the stage of a suite/);
  const { report } = await under(
    'ledger/two-invoices',
    planOf({ at: 'request.stream', step: '7.1', do: 'cut' }),
  );
  expect(report.runs[0]).toMatchObject({ verdict: 'errored', problems: [{ expectation: 'faults' }] });
});

type Printed = {
  readonly seed: number;
  readonly runs: readonly {
    readonly verdict: string;
    readonly chance: readonly { readonly came: number }[];
  }[];
};

/** Without how long it took. */
const bare = (text: string): string => text.replaceAll(/[\d.]+ m?s\b/g, '');

test(
  'chance comes from a seed that is printed and taken back, and is counted',
  { timeout: 240_000 },
  async () => {
    const plan = join(tempFolder(), 'plan.yaml');
    writeFileSync(
      plan,
      [
        '- { at: call.before, do: error, probability: 0.2 }',
        '- { at: request.stream, do: cut, probability: 0.2 }',
        '- { at: append.before, do: disk-full, probability: 0.05 }',
      ].join('\n'),
    );
    const words = ['suite', 'run', 'examples', '--filter', 'research', '--faults', plan];
    const drawn = await onStage(ROOT, {}, words);
    const [, seed = ''] = /seed (\d+)/.exec(drawn.stdout) ?? [];
    expect(drawn.stdout).toMatch(/call\.before, probability 0\.2: error +came \d+ of \d+ times/);
    const again = await onStage(ROOT, {}, [...words, '--seed', seed]);
    expect(bare(again.stdout)).toBe(bare(drawn.stdout));
    const counts = async (given: string): Promise<readonly number[]> => {
      const { stdout } = await onStage(ROOT, {}, [...words, '--seed', given, '--json']);
      const { runs, seed: said } = JSON.parse(stdout) as Printed;
      expect(said).toBe(Number(given));
      return runs.flatMap(({ chance }) => chance.map(({ came }) => came));
    };
    const [one, other] = [await counts('1'), await counts('2')];
    expect(one).not.toEqual(other);
    expect(one.reduce((sum, came) => sum + came, 0)).toBeGreaterThan(0);
  },
);

test('chance that never came is no error: how often it could have is said', async () => {
  const { report } = await under(
    'ledger/two-invoices',
    planOf({ at: 'call.before', do: 'error', probability: 1e-9 }),
  );
  expect(report.runs[0]).toMatchObject({ verdict: 'passed', chance: [{ came: 0 }] });
  expect(report.runs[0]?.chance[0]?.of).toBeGreaterThan(2);
});
