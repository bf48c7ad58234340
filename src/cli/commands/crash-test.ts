/** onrecord crash-test: kills a scenario at every boundary and compares how each run ends. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { badInput } from '../../errors.ts';
import { crashMatrix, matrixRows, type Matrix } from '../../suite/crash/matrix.ts';
import { crashPage } from '../../suite/crash/report.ts';
import type { Kill } from '../../suite/crash/boundary.ts';
import { formatCount } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { crashLines, killLines, type CrashReport } from '../crash-lines.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { readFaultPlanFile, readScenarioFile } from '../suite-file.ts';
import { EMPTY, line, whole } from '../terminal/shown.ts';

/** Kills of one run. */
const KILLS_MAX = 8;

export const crashTest: Command = {
  name: 'crash-test',
  summary: 'Kills a scenario at every boundary, takes it up again, and compares how it ends.',
  arguments: [{ name: 'scenario', description: 'a file: name, agent, turns, answers', required: true }],
  options: [
    { flags: '--twice', description: 'every pair of boundaries as well' },
    { flags: '--real', description: 'processes of their own, ended with SIGKILL' },
    { flags: '--only <kills>', description: 'this kill alone: 17, or 17,23 for two in one run' },
    { flags: '--faults <file>', description: 'a fault plan that is in force in every run' },
    { flags: '--html <file>', description: 'write the result as a page' },
  ],
  example: 'onrecord crash-test examples/crash/crash.yaml',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.interrupted],
  async run(cli, input) {
    const only = givenKill(input);
    if (only && isGiven(input, 'twice'))
      throw badInput(
        'usage',
        '--only names one kill; --twice goes without it.',
        {},
        'onrecord help crash-test',
      );
    let matrix: Matrix;
    try {
      matrix = await measured(cli, input, only);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'fault-not-reached') throw error;
      cli.screen.error(error);
      return EXIT.notJudged;
    }
    const page = givenOption(input, 'html');
    if (page !== undefined) writePage(page, cli.cwd, matrix);
    print(cli, input, matrix, only !== undefined);
    if (page !== undefined) cli.screen.note(EMPTY, line`  The page is in ${whole(page)}.`);
    return exitOf(matrix);
  },
};

const measured = async (cli: Cli, input: Input, only: Kill | undefined): Promise<Matrix> => {
  const { text, home } = readScenarioFile(input.args[0] ?? '', cli.cwd);
  const plan = givenOption(input, 'faults');
  const progress = cli.screen.progress();
  try {
    return await crashMatrix({
      text,
      home,
      mode: isGiven(input, 'real') ? 'real' : 'simulated',
      twice: isGiven(input, 'twice'),
      only,
      faults: plan === undefined ? undefined : readFaultPlanFile(plan, cli.cwd),
      signal: cli.interrupt.signal,
      onProgress: ({ done, all, wrong }) =>
        progress.set({ done, total: all, unit: 'kills', note: line`${formatCount(wrong)} wrong` }),
    });
  } finally {
    progress.end();
  }
};

const print = (cli: Cli, input: Input, matrix: Matrix, one: boolean): void => {
  const { screen } = cli;
  if (screen.jsonMode) return screen.json({ ...matrix, rows: matrixRows(matrix) });
  const plan = givenOption(input, 'faults');
  const again = [
    'crash-test',
    input.args[0] ?? '',
    ...(isGiven(input, 'real') ? ['--real'] : []),
    ...(plan === undefined ? [] : ['--faults', plan]),
  ];
  const report: CrashReport = { matrix, look: screen.look, again };
  screen.out(...crashLines(report));
  const [only] = matrix.results;
  if (one && only && !only.wrong && only.verdict !== 'not-reached')
    screen.out(EMPTY, ...killLines(only, report).slice(0, 2));
  if (!matrix.complete)
    screen.note(
      EMPTY,
      line`Interrupted after ${formatCount(matrix.results.length)} kills; the others were not tried.`,
    );
};

const exitOf = ({ results }: Matrix): ExitCode => {
  if (results.some(({ verdict }) => verdict === 'not-reached')) return EXIT.notJudged;
  return results.some(({ wrong }) => wrong) ? EXIT.failed : EXIT.done;
};

/** Boundaries in ascending order. Throws `kill-invalid`. */
const givenKill = (input: Input): Kill | undefined => {
  const text = givenOption(input, 'only');
  if (text === undefined) return undefined;
  const kill = text.split(',').map((word) => (/^[1-9]\d{0,8}$/.test(word) ? Number(word) : 0));
  const rises = kill.every((at, i) => at > (kill[i - 1] ?? 0));
  if (rises && kill.length <= KILLS_MAX) return kill;
  throw badInput(
    'kill-invalid',
    `--only "${text}" names no kill. It takes up to ${KILLS_MAX} boundaries in rising order, as in 17 or 17,23.`,
    { only: text },
  );
};

const writePage = (path: string, cwd: string, matrix: Matrix): void => {
  try {
    writeFileSync(resolve(cwd, path), crashPage(matrix));
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw badInput('file-not-writable', `--html "${path}" cannot be written (${why}).`, { path, why });
  }
};
