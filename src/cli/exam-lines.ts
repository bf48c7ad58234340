/** What a suite came to, as lines: the table by scenario and model, what failed and why, differences, and sums. */
import type { Json } from '../event/json.ts';
import type { Changed } from '../suite/exam/baseline.ts';
import type { Divergence } from '../suite/exam/divergence.ts';
import {
  reorderedIn,
  type ExamReport,
  type ExamRun,
  type PairDifference,
  type RunVerdict,
} from '../suite/exam/exam.ts';
import { passPower, wilson } from '../suite/exam/rates.ts';
import { countOf, formatCost, formatCount, formatDuration, formatShare } from '../view/format.ts';
import { cells, pad, wrap } from './terminal/cells.ts';
import { command } from './terminal/command.ts';
import { fit, type Look } from './terminal/look.ts';
import { dim, EMPTY, line, own, SIGN, strong, theirs, type Shown } from './terminal/shown.ts';
import { table, type Column, type Row } from './terminal/table.ts';

/** Scenarios that passed everywhere are counted, not listed, where there are more than so many. */
const PASSED_SHOWN_MAX = 12;
const PROBLEMS_SHOWN_MAX = 5;
const DEFINITIONS_SHOWN_MAX = 5;
const NAME_CELLS_MIN = 24;
/** UTF-16 units of a value that differs; --json has it whole. */
const VALUE_LENGTH_MAX = 300;

export type SuiteLines = {
  readonly report: ExamReport;
  readonly differences: readonly PairDifference[];
  readonly look: Look;
  /** Words of the command line that run one scenario again. */
  readonly again: readonly string[];
};

const SIGNS: Readonly<Record<RunVerdict, Shown>> = {
  passed: SIGN.ok,
  failed: SIGN.fail,
  errored: SIGN.errored,
};

export const suiteLines = (suite: SuiteLines): readonly Shown[] => {
  const { report } = suite;
  return [
    ...tableLines(suite),
    ...report.runs
      .filter(({ verdict }) => verdict !== 'passed')
      .flatMap((run) => [EMPTY, ...runLines(run, suite)]),
    ...suite.differences.flatMap((one) => [EMPTY, ...pairLines(one, suite.look)]),
    ...reorderedIn(report.runs).flatMap(({ scenario, models, reads: [one, other] }) => [
      EMPTY,
      ...wrapped(
        line`${SIGN.ok} ${strong(theirs(scenario))} reordered, no difference: ${shortName(models[0])} reads ${one.join(', ')}; ${shortName(models[1])} ${other.join(', ')}`,
        suite.look,
        4,
      ),
    ]),
    EMPTY,
    ...sumLines(suite),
  ];
};

/** A word for a model, short enough for the head of a column. */
const shortName = (model: string): string =>
  model
    .split('/')
    .at(-1)
    ?.replace(/(?:\.script)?\.ya?ml$/, '') ?? model;

const namesOf = (runs: readonly ExamRun[], of: 'scenario' | 'model'): readonly string[] => [
  ...new Set(runs.map((run) => run[of])),
];

const tableLines = (suite: SuiteLines): readonly Shown[] => {
  const { report, differences, look } = suite;
  const models = namesOf(report.runs, 'model');
  const scenarios = namesOf(report.runs, 'scenario');
  const of = (scenario: string, model: string): readonly ExamRun[] =>
    report.runs.filter((run) => run.scenario === scenario && run.model === model);
  const quiet = (scenario: string): boolean =>
    report.runs.every((run) => run.scenario !== scenario || run.verdict === 'passed') &&
    differences.every((one) => one.scenario !== scenario);
  const hidden = scenarios.filter(quiet).slice(PASSED_SHOWN_MAX);
  const columns: readonly Column[] = [
    { key: 'name', least: NAME_CELLS_MIN },
    ...models.map((model): Column => ({
      key: `model ${model}`,
      title: theirs(models.length > 1 ? shortName(model) : 'verdict'),
    })),
    ...(models.length > 1
      ? [{ key: 'first', title: own('first difference'), least: 12 }]
      : [{ key: 'steps', title: own('steps'), align: 'right' as const, drop: 1 }]),
  ];
  const rows = scenarios
    .filter((scenario) => !hidden.includes(scenario))
    .map((scenario): Row => {
      const first = differences.find((one) => one.scenario === scenario);
      const [run] = of(scenario, models[0] ?? '');
      return {
        name: theirs(scenario),
        ...Object.fromEntries(models.map((model) => [`model ${model}`, verdictCell(of(scenario, model))])),
        first: first ? theirs(placeWords(first.divergence)) : dim(own('none')),
        steps: theirs(formatCount(run?.steps ?? 0)),
      };
    });
  const more = hidden.length > 0 ? [line`… ${countOf(hidden.length, 'more scenario')} passed`] : [];
  return [...table(columns, rows, { look }).lines, ...more];
};

const verdictCell = (runs: readonly ExamRun[]): Shown => {
  const [first] = runs;
  if (!first) return EMPTY;
  const passed = runs.filter(({ verdict }) => verdict === 'passed').length;
  const worst =
    runs.find(({ verdict }) => verdict === 'errored') ??
    runs.find(({ verdict }) => verdict === 'failed') ??
    first;
  if (runs.length === 1) return line`${SIGNS[worst.verdict]} ${worst.verdict}`;
  return line`${SIGNS[worst.verdict]} ${passed} of ${runs.length}`;
};

/** "17 mail.send": the event of the second side where it has one. */
const placeWords = ({ one, other, path }: Divergence): string => {
  const deed = other ?? one;
  if (!deed) return `the agent: ${path.split('/').slice(2).join('/')}`;
  return deed.seq > 0 ? `${deed.seq} ${deed.what}` : deed.what;
};

const wrapped = (shown: Shown, look: Look, hanging: number): readonly Shown[] =>
  wrap(fit(shown, look), look.terminal ? look.textColumns : Infinity, { hanging });

const runLines = (run: ExamRun, { look, again }: SuiteLines): readonly Shown[] => {
  const { scenario, model, problems, verdict, repeat } = run;
  const times = repeat > 1 ? line`, run ${repeat}` : EMPTY;
  const more = problems.length - PROBLEMS_SHOWN_MAX;
  return [
    line`${SIGNS[verdict]} ${strong(theirs(scenario))}   ${theirs(shortName(model))}${times}`,
    ...problems
      .slice(0, PROBLEMS_SHOWN_MAX)
      .flatMap(({ expectation, message }) => wrapped(line`    ${expectation}: ${message}`, look, 6)),
    ...(more > 0 ? [line`    … ${formatCount(more)} more; --json has them all`] : []),
    dim(line`    ${command(...again, '--filter', scenario)}`),
  ];
};

const pairLines = ({ scenario, models, divergence }: PairDifference, look: Look): readonly Shown[] =>
  differenceLines(divergence, { title: scenario, names: [shortName(models[0]), shortName(models[1])], look });

export type DifferenceLines = {
  readonly title: string;
  readonly names: readonly [string, string];
  readonly look: Look;
};

/** Both sides of a first difference, what came before, and the likely cause. */
export const differenceLines = (
  divergence: Divergence,
  { title, names, look }: DifferenceLines,
): readonly Shown[] => {
  const { one, other, before, path, values, cause, definitions } = divergence;
  const width = Math.max(...names.map((name) => cells(theirs(name))));
  const side = (name: string, deed: Divergence['one'], value: Json | undefined): readonly Shown[] => {
    const nothing = one || other ? own('nothing more') : own('defined as');
    const words = deed ? line`${deed.what}${deed.seq > 0 ? `, event ${deed.seq}` : ''}` : nothing;
    // Where another tool was called its name stands there already.
    const told = path === '/tool' ? deed?.value['args'] : value;
    const shown = told === undefined ? '' : valueText(told);
    return wrapped(line`    ${pad(theirs(name), width)}  ${words}  ${shown}`, look, 6 + width);
  };
  const common = before.map(({ what }) => what).join(', ');
  return [
    line`${SIGN.fail} ${strong(theirs(title))}, first difference${path === '' ? EMPTY : line` at ${path}`}`,
    // What the first request has already comes before whatever came of it.
    ...(one || other ? definitions : [])
      .slice(0, DEFINITIONS_SHOWN_MAX)
      .flatMap((change) => wrapped(line`    request 1: ${change.text} (${change.path})`, look, 6)),
    ...side(names[0], one, values[0]),
    ...side(names[1], other, values[1]),
    ...(common === '' ? [] : wrapped(line`    before: ${common}`, look, 6)),
    ...wrapped(line`    cause: ${cause}`, look, 6),
  ];
};

/** Of a digest as much as tells it from others. */
const valueText = (value: Json): string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
    ? `${value.slice(0, 12)}…`
    : cropped(JSON.stringify(value));

const cropped = (text: string): string =>
  text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;

export const changedLines = (changed: readonly Changed[], look: Look): readonly Shown[] =>
  changed.flatMap(({ scenario, how, divergence }) => {
    if (divergence)
      return [EMPTY, ...differenceLines(divergence, { title: scenario, names: ['baseline', 'now'], look })];
    const words = {
      new: 'is not in the baseline',
      gone: 'is in the baseline and not in the suite',
      other: 'could not be played',
    };
    return [EMPTY, line`${how === 'new' ? SIGN.wait : SIGN.fail} ${strong(theirs(scenario))} ${words[how]}`];
  });

const sumLines = ({ report, look }: SuiteLines): readonly Shown[] => {
  const { runs, ms } = report;
  const models = namesOf(runs, 'model');
  const rows = models.map((model): Row => {
    const here = runs.filter((run) => run.model === model);
    const count = (verdict: RunVerdict): number => here.filter((run) => run.verdict === verdict).length;
    const words = (['passed', 'failed', 'errored'] as const)
      .filter((verdict) => verdict === 'passed' || count(verdict) > 0)
      .map((verdict) => `${formatCount(count(verdict))} ${verdict}`);
    const costs = here.map(({ cost }) => cost);
    const known = costs.every((cost) => cost !== undefined);
    const sum = costs.reduce<number>((all, cost) => all + (cost ?? 0), 0);
    return {
      model: theirs(shortName(model)),
      words: theirs(words.join(', ')),
      cost: theirs(known ? formatCost(sum) : `${formatCost(sum)} known`),
      steps: theirs(
        countOf(
          here.reduce((all, { steps }) => all + steps, 0),
          'step',
        ),
      ),
      ms: model === models.at(-1) ? theirs(formatDuration(ms)) : EMPTY,
    };
  });
  const columns = ['model', 'words', 'cost', 'steps', 'ms'].map((key): Column => ({ key }));
  return [...table(columns, rows, { look }).lines, ...rateLines(runs), ...chanceLines(report, look)];
};

/** How often what was left to chance came, and the seed that brings it back. */
const chanceLines = ({ runs, seed }: ExamReport, look: Look): readonly Shown[] => {
  const sums = new Map<string, { came: number; of: number }>();
  for (const { fault, came, of } of runs.flatMap(({ chance }) => chance)) {
    const sum = sums.get(fault) ?? { came: 0, of: 0 };
    sums.set(fault, { came: sum.came + came, of: sum.of + of });
  }
  const words = [...sums].flatMap(([fault, { came, of }]) =>
    wrapped(line`${fault}   came ${formatCount(came)} of ${countOf(of, 'time')}`, look, 4),
  );
  return seed === undefined ? words : [...words, line`seed ${seed}   --seed ${seed} brings the same again`];
};

/** How sure it is, where runs are repeated. */
const rateLines = (runs: readonly ExamRun[]): readonly Shown[] =>
  ratesOf(runs).map(({ model, passed, all, low, high, k, power }) => {
    const powerWords = power === undefined ? '' : `, pass^${k} ${formatShare(power)}`;
    return line`${shortName(model)}   ${formatShare(passed / all)} of ${all} runs passed, 95 % interval ${formatShare(low)} to ${formatShare(high)}${powerWords}`;
  });

export type Rate = {
  readonly model: string;
  readonly passed: number;
  readonly all: number;
  /** Wilson's interval of 95 %. */
  readonly low: number;
  readonly high: number;
  readonly k: number;
  /** Mean of pass^k over the scenarios. */
  readonly power: number | undefined;
};

const passed = (of: readonly ExamRun[]): number => of.filter(({ verdict }) => verdict === 'passed').length;

/** For models that are asked for real; a script says the same each time. */
export const ratesOf = (runs: readonly ExamRun[]): readonly Rate[] =>
  namesOf(
    runs.filter(({ live }) => live),
    'model',
  ).flatMap((model): readonly Rate[] => {
    const here = runs.filter((run) => run.model === model);
    const interval = wilson(passed(here), here.length);
    if (!interval) return [];
    const k = Math.max(...here.map(({ repeat }) => repeat));
    const powers = namesOf(here, 'scenario').map((scenario) => {
      const of = here.filter((run) => run.scenario === scenario);
      return passPower(passed(of), of.length, k);
    });
    const known = powers.filter((one) => one !== undefined);
    const power =
      known.length === powers.length ? known.reduce((sum, one) => sum + one, 0) / known.length : undefined;
    return [{ model, passed: passed(here), all: here.length, ...interval, k, power }];
  });
