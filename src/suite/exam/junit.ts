/** A report as JUnit XML, in the form that CI systems read: https://github.com/testmoapp/junitxml. */
import type { ExamReport, ExamRun } from './exam.ts';

/** What XML 1.0 does not allow at all becomes U+FFFD. */
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
  '\r': '&#13;',
};

const escaped = (text: string): string =>
  text.replaceAll(NOT_IN_XML, '\uFFFD').replaceAll(/[&<>"\n\t\r]/g, (character) => ESCAPES[character] ?? '');

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

/** One suite for each model. */
export const junitXml = ({ runs, ms }: ExamReport): string => {
  const models = [...new Set(runs.map(({ model }) => model))];
  const suites = models.map((model) =>
    suiteXml(
      model,
      runs.filter((run) => run.model === model),
    ),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="onrecord" ${counts(runs)} time="${seconds(ms)}">`,
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n');
};

const counts = (runs: readonly ExamRun[]): string => {
  const of = (verdict: ExamRun['verdict']): number => runs.filter((run) => run.verdict === verdict).length;
  return `tests="${runs.length}" failures="${of('failed')}" errors="${of('errored')}"`;
};

const suiteXml = (model: string, runs: readonly ExamRun[]): readonly string[] => [
  `  <testsuite name="${escaped(model)}" ${counts(runs)} time="${seconds(runs.reduce((sum, run) => sum + run.ms, 0))}">`,
  ...runs.flatMap(caseXml),
  '  </testsuite>',
];

const caseXml = ({ scenario, model, repeat, verdict, problems, ms }: ExamRun): readonly string[] => {
  const name = repeat === 1 ? scenario : `${scenario} #${repeat}`;
  const head = `    <testcase classname="${escaped(model)}" name="${escaped(name)}" time="${seconds(ms)}"`;
  if (verdict === 'passed') return [`${head}/>`];
  const element = verdict === 'failed' ? 'failure' : 'error';
  const [first] = problems;
  const text = problems.map(({ expectation, message }) => `${expectation}: ${message}`).join('\n');
  return [
    `${head}>`,
    `      <${element} type="${escaped(first?.expectation ?? '')}" message="${escaped(first?.message ?? '')}">${escaped(text)}</${element}>`,
    '    </testcase>',
  ];
};
