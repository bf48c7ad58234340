/** onrecord suite: scenarios that an agent is examined by. init writes a first one, record makes one of a session. */
import { systemRandom } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { crashSuite, type CrashReport } from '../../suite/exam/crash-suite.ts';
import { baselineOf, baselineText, changedFrom, type Changed } from '../../suite/exam/baseline.ts';
import { NOISE } from '../../suite/exam/deeds.ts';
import {
  differencesOf,
  reorderedIn,
  REPEAT_MAX,
  runExams,
  type ExamReport,
  type ExamRun,
  type PairDifference,
} from '../../suite/exam/exam.ts';
import { FAULT_SEED_MAX, type Fault } from '../../suite/fault-plan.ts';
import { examPage } from '../../suite/exam/page.ts';
import { examSummary } from '../../suite/exam/summary.ts';
import { junitXml } from '../../suite/exam/junit.ts';
import { countOf, formatCount } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { crashSuiteLines } from '../crash-suite-lines.ts';
import {
  type ExamFile,
  baselinePath,
  examsFor,
  modelNamed,
  readBaseline,
  readExams,
  SCENARIOS_FOLDER,
} from '../exam-files.ts';
import { changedLines, ratesOf, suiteLines } from '../exam-lines.ts';
import { initSuite, recordScenario } from '../exam-writing.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { writeOutput } from '../output-file.ts';
import { readFaultPlanFile } from '../suite-file.ts';
import { EMPTY, line, SIGN, whole } from '../terminal/shown.ts';

const JOBS_MAX = 256;

export const suite: Command = {
  name: 'suite',
  summary: 'Examines agents by scenarios: runs them, compares models and versions, makes new ones.',
  arguments: [
    { name: 'action', description: 'init, run, record SESSION, or compare', required: true },
    {
      name: 'what',
      description: `a scenario or a folder (default ${SCENARIOS_FOLDER}); for record a session`,
      required: false,
    },
  ],
  options: [
    { flags: '--filter <text>', description: 'only scenarios whose name or tag holds this' },
    {
      flags: '--model <name>',
      description: 'instead of the models written: provider/model, an agent here, or a script.yaml',
      many: true,
    },
    { flags: '--repeat <number>', description: 'run each so many times' },
    { flags: '--faults <file>', description: 'a fault plan that is in force in every run' },
    {
      flags: '--seed <number>',
      description: 'of faults that come by probability; printed where none is given',
    },
    {
      flags: '--crash',
      description: 'run: kill each scenario at every boundary; what it expects has to hold',
    },
    { flags: '--jobs <number>', description: 'runs at the same time; default one for each processor' },
    { flags: '--junit <file>', description: 'write the result as JUnit XML' },
    { flags: '--html <file>', description: 'write the result as a page' },
    { flags: '--summary <file>', description: 'write the result as Markdown, for a pull request' },
    {
      flags: '--baseline <file>',
      description: 'compare: what the suite is held against; default baseline.json beside it',
    },
    { flags: '--update', description: 'compare: write the baseline anew, after the differences are shown' },
    {
      flags: '--agent <path>',
      description: 'record: the agent, "../agent.ts#name" or "../agents/name.yaml"',
    },
    { flags: '--desk <folder>', description: 'record: what the desk is copied from, beside the scenario' },
    { flags: '--out <file>', description: 'init, record: where the scenario goes' },
    { flags: '--force', description: 'write over a file that is there' },
  ],
  example: 'onrecord suite run examples',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.diverged, EXIT.interrupted],
  async run(cli, input) {
    const [action = '', what] = input.args;
    switch (action) {
      case 'init':
        return initSuite(cli, input);
      case 'record':
        return recordScenario(cli, input);
      case 'run':
        return run(cli, input, what ?? SCENARIOS_FOLDER);
      case 'compare':
        return compare(cli, input, what ?? SCENARIOS_FOLDER);
      default:
        throw badInput(
          'usage',
          `suite cannot "${action}": init, run, record or compare.`,
          {},
          'onrecord help suite',
        );
    }
  },
};

const modelsOf = (input: Input): readonly string[] => {
  const given = input.options['model'];
  const names = Array.isArray(given) ? (given as readonly string[]) : [];
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw badInput('usage', `--model "${twice}" is named twice.`, {}, 'onrecord help suite');
  return names;
};

const chosen = async (cli: Cli, input: Input, path: string): Promise<readonly ExamFile[]> => {
  const all = await readExams(path, cli.cwd);
  const filter = givenOption(input, 'filter');
  const files = all.filter(
    ({ scenario: { name, tags = [] } }) =>
      filter === undefined || name.includes(filter) || tags.some((tag) => tag.includes(filter)),
  );
  if (files.length > 0) return files;
  throw badInput(
    'suite-empty',
    `--filter "${filter ?? ''}" leaves none of ${countOf(all.length, 'scenario')}. Nothing was examined.`,
  );
};

const examined = async (cli: Cli, input: Input, path: string): Promise<ExamReport> => {
  const files = await chosen(cli, input, path);
  const seed = wholeNumber(input, 'seed', FAULT_SEED_MAX) ?? drawnSeed();
  const jobs = wholeNumber(input, 'jobs', JOBS_MAX);
  const models = modelsOf(input);
  // A model that cannot be had is a wrong command line, not an errored scenario.
  for (const name of models) await modelNamed(cli, name);
  const progress = cli.screen.progress();
  try {
    return await runExams({
      exams: examsFor(cli, files, models),
      repeat: wholeNumber(input, 'repeat', REPEAT_MAX) ?? 1,
      signal: cli.interrupt.signal,
      ...faultsOf(cli, input),
      seed,
      requests: givenOption(input, 'html') !== undefined,
      ...(jobs !== undefined && { jobs }),
      onProgress: (done, total, bad) =>
        progress.set({ done, total, unit: 'runs', note: line`${formatCount(bad)} not passed` }),
    });
  } finally {
    progress.end();
  }
};

/** From 1, so that it can be given back. */
const drawnSeed = (): number =>
  (Buffer.from(systemRandom.bytes(4)).readUInt32BE() % (FAULT_SEED_MAX - 1)) + 1;

const faultsOf = (cli: Cli, input: Input): { readonly faults?: readonly Fault[] } => {
  const plan = givenOption(input, 'faults');
  return plan === undefined ? {} : { faults: readFaultPlanFile(plan, cli.cwd) };
};

const wholeNumber = (input: Input, name: string, most: number): number | undefined => {
  const text = givenOption(input, name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= most) return Number(text);
  throw badInput('number-invalid', `--${name} "${text}" must be a whole number from 1 to ${most}.`, {
    [name]: text,
  });
};

const run = async (cli: Cli, input: Input, path: string): Promise<ExitCode> => {
  if (isGiven(input, 'crash')) return crash(cli, input, path);
  const report = await examined(cli, input, path);
  await writeReports(cli, input, report);
  const differences = differencesOf(report.runs);
  const name = givenOption(input, 'baseline') ?? baselinePath(path, cli.cwd);
  const baseline = modelsOf(input).length === 0 ? readBaseline(name, cli.cwd) : undefined;
  const failed = new Set(
    report.runs.filter(({ verdict }) => verdict === 'failed').map(({ scenario }) => scenario),
  );
  const since = baseline
    ? changedFrom(baseline, report.runs, false).filter(({ scenario }) => failed.has(scenario))
    : [];
  print(cli, input, { report, differences, changed: since, path, action: 'run' });
  return exitOf(report);
};

/** Every scenario with its process killed at every boundary. */
const crash = async (cli: Cli, input: Input, path: string): Promise<ExitCode> => {
  const files = await chosen(cli, input, path);
  const progress = cli.screen.progress();
  let report: CrashReport;
  try {
    report = await crashSuite({
      exams: examsFor(cli, files, modelsOf(input).slice(0, 1)),
      signal: cli.interrupt.signal,
      ...faultsOf(cli, input),
      onProgress: ({ done, all, wrong }) =>
        progress.set({ done, total: all, unit: 'kills', note: line`${formatCount(wrong)} wrong` }),
    });
  } finally {
    progress.end();
  }
  if (cli.screen.jsonMode) cli.screen.json({ ...report });
  else cli.screen.out(...crashSuiteLines(report, cli.screen.look));
  const { scenarios, planned, tried } = report;
  if (tried < planned || scenarios.some(({ unjudged }) => unjudged.length > 0)) return EXIT.notJudged;
  return scenarios.some(({ wrong }) => wrong.length > 0) ? EXIT.failed : EXIT.done;
};

const exitOf = ({ runs, complete }: ExamReport): ExitCode => {
  if (!complete || runs.some(({ verdict }) => verdict === 'errored')) return EXIT.notJudged;
  return runs.some(({ verdict }) => verdict === 'failed') ? EXIT.failed : EXIT.done;
};

const compare = async (cli: Cli, input: Input, path: string): Promise<ExitCode> => {
  const models = modelsOf(input);
  const report = await examined(cli, input, path);
  await writeReports(cli, input, report);
  const differences = differencesOf(report.runs);
  const name = givenOption(input, 'baseline') ?? baselinePath(path, cli.cwd);
  const against = models.length < 2 ? readBaseline(name, cli.cwd) : undefined;
  const update = isGiven(input, 'update');
  if (models.length < 2 && !against && !update)
    throw badInput(
      'baseline-not-found',
      `There is no baseline ${name}. --update writes it; two --model compare without one.`,
      { path: name },
      `onrecord suite compare ${path} --update`,
    );
  const changed = against
    ? changedFrom(against, report.runs, givenOption(input, 'filter') === undefined)
    : [];
  print(cli, input, { report, differences, changed, path, action: 'compare' });
  const judged = exitOf(report);
  if (update) return writeBaseline(cli, { name, report, judged });
  if (judged === EXIT.notJudged) return judged;
  return differences.length > 0 || changed.length > 0 ? EXIT.diverged : judged;
};

type Update = { readonly name: string; readonly report: ExamReport; readonly judged: ExitCode };

/** What could not be judged, or failed, is no measure for later runs. */
const writeBaseline = async (cli: Cli, { name, report, judged }: Update): Promise<ExitCode> => {
  if (judged !== EXIT.done) {
    cli.screen.note(EMPTY, line`${SIGN.fail} ${whole(name)} stays as it is: not every scenario passed.`);
    return judged;
  }
  await writeOutput(cli, { name, force: true }, [baselineText(baselineOf(report.runs))]);
  cli.screen.note(
    EMPTY,
    line`${SIGN.ok} Written to ${whole(name)}: ${countOf(report.runs.length, 'scenario')}.`,
  );
  return EXIT.done;
};

const writeReports = async (cli: Cli, input: Input, report: ExamReport): Promise<void> => {
  const differences = differencesOf(report.runs);
  const texts: Readonly<Record<string, () => string>> = {
    junit: () => junitXml(report),
    html: () => examPage(report, differences),
    summary: () => examSummary(report, differences),
  };
  for (const [option, text] of Object.entries(texts)) {
    const name = givenOption(input, option);
    if (name !== undefined) await writeOutput(cli, { name, force: true }, [text()]);
  }
};

/** The texts of requests are for the page. */
const withoutBodies = (one: ExamRun): ExamRun => ({
  ...one,
  requests: one.requests.map(({ seq, turn, step, bytes, digest }) => ({ seq, turn, step, bytes, digest })),
});

type Printed = {
  readonly report: ExamReport;
  readonly differences: readonly PairDifference[];
  readonly changed: readonly Changed[];
  readonly path: string;
  readonly action: 'run' | 'compare';
};

const print = (cli: Cli, input: Input, { report, differences, changed, path, action }: Printed): void => {
  const { screen } = cli;
  if (screen.jsonMode) {
    screen.json({
      noise: NOISE,
      ...report,
      runs: report.runs.map(withoutBodies),
      rates: ratesOf(report.runs),
      differences,
      reordered: reorderedIn(report.runs),
      changed,
    });
    return;
  }
  const plan = givenOption(input, 'faults');
  const again = [
    'suite',
    action,
    path,
    ...modelsOf(input).flatMap((model) => ['--model', model]),
    ...(plan === undefined ? [] : ['--faults', plan]),
    ...(report.seed === undefined ? [] : ['--seed', String(report.seed)]),
  ];
  screen.out(
    ...suiteLines({ report, differences, look: screen.look, again }),
    ...changedLines(changed, screen.look),
  );
  if (!report.complete)
    screen.note(
      EMPTY,
      line`Interrupted after ${formatCount(report.runs.length)} runs; the others were not tried.`,
    );
};
