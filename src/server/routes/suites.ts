/** Reports of suites for the window: which there are, one of them as a table, and one scenario of it side by side. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { json, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import type { ReportFile, SuiteReport } from '../suite-reports.ts';
import {
  suitesShape,
  type SideView,
  type SuiteRow,
  type SuitesView,
  type SuiteView,
} from '../suite-shapes.ts';

const NAME_LENGTH_MAX = 200;

const suites = createRoute({
  method: 'get',
  path: '/suites',
  summary:
    'Reports of suites in the folder of reports; with `run` one of them, with `scenario` what was done in it.',
  request: {
    query: z.object({
      run: z.string().max(NAME_LENGTH_MAX).optional(),
      scenario: z.string().max(NAME_LENGTH_MAX).optional(),
    }),
  },
  responses: { 200: json(suitesShape, 'The reports.'), default: PROBLEM },
});

export const suiteRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(suites, async (context) => {
    // They are the server's own, of no tenant.
    const { tenant } = allow(context, 'read');
    if (tenant !== '') return context.json({ items: [], report: null, sides: null }, 200);
    const { run, scenario } = context.req.valid('query');
    if (run === undefined)
      return context.json({ items: door.reports.list().map(rowOf), report: null, sides: null }, 200);
    const file = door.reports.get(run);
    if (!file)
      throw new ProblemError('report-not-found', `There is no report ${run} in the folder of reports.`);
    const view: SuitesView = {
      items: [rowOf(file)],
      report: file.report ? viewOf(file.report) : null,
      sides: file.report && scenario !== undefined ? sidesOf(file.report, scenario) : null,
    };
    return context.json(view, 200);
  });
};

const rowOf = ({ name, at, report, problem }: ReportFile): SuiteRow => {
  const runs = report?.runs ?? [];
  const count = (verdict: string): number => runs.filter((run) => run.verdict === verdict).length;
  return {
    name,
    at,
    problem: problem ?? null,
    scenarios: new Set(runs.map(({ scenario }) => scenario)).size,
    models: [...new Set(runs.map(({ model }) => model))],
    passed: count('passed'),
    failed: count('failed'),
    errored: count('errored'),
    differences: report?.differences.length ?? 0,
    complete: report?.complete ?? false,
  };
};

const viewOf = ({ runs, differences, ms, seed }: SuiteReport): SuiteView => ({
  ms,
  seed: seed ?? null,
  runs: runs.map(({ scenario, model, repeat, verdict, problems, steps, cost }) => ({
    scenario,
    model,
    repeat,
    verdict,
    problems,
    steps,
    cost: cost ?? null,
  })),
  differences: differences.map(
    ({ scenario, models, divergence: { one, other, path, same, cause, definitions = [] } }) => ({
      scenario,
      models,
      path,
      same,
      cause,
      seqs: [one?.seq ?? null, other?.seq ?? null],
      what: other?.what ?? one?.what ?? null,
      definitions: definitions.map(({ text }) => text),
    }),
  ),
});

/** As they happened: a signature has its reads in an order of its own. */
const sidesOf = ({ runs }: SuiteReport, scenario: string): readonly SideView[] =>
  runs
    .filter((run) => run.scenario === scenario && run.repeat === 1)
    .map(({ model, signature }) => ({
      model,
      deeds: (signature?.deeds ?? [])
        .toSorted((one, other) => one.seq - other.seq)
        .map(({ seq, what, value: { args, verdict, end, reason } }) => ({
          seq,
          what,
          how: [verdict, end, reason].filter((word) => typeof word === 'string').join(', '),
          args: args === undefined ? null : JSON.stringify(args, null, 2),
        })),
    }));
