/** Scenarios for tests of other people's agents, under whatever runner they have: examined here, judged by assertPassed. */
import { resolve } from 'node:path';
import { runExams, type ExamReport, type ExamRun } from '../suite/exam/exam.ts';
import { findConfig, loadConfig } from './config.ts';
import { examsFor, readExams } from './exam-files.ts';
import { readFaultPlanFile } from './suite-file.ts';

/** Problems of one run that are named in a message; the report holds all. */
const NAMED_MAX = 5;

export type ExamineOptions = {
  /** The folder that paths start from, with the configuration in it or above. Default: the process's own. */
  readonly cwd?: string;
  /** In place of the models that the scenarios name: "provider/model", an agent's, or a script.yaml. */
  readonly models?: readonly string[];
  /** Runs of each scenario with each model. Default 1. */
  readonly repeat?: number;
  /** A fault plan (YAML) that is in force in every run. */
  readonly faults?: string;
  /** Runs at the same time. Default: one for each processor. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
};

/**
 * Runs a scenario, or all below a folder, as `onrecord suite run` does. Each run has its own folder, store, clock and
 * closed network.
 *
 * @throws `suite-not-found`, `suite-empty`, `scenario-invalid`, `model-unknown`.
 */
export const examine = async (path: string, options: ExamineOptions = {}): Promise<ExamReport> => {
  const { cwd = process.cwd(), models = [], faults, ...rest } = options;
  const from = resolve(cwd);
  const place = { cwd: from, config: () => loadConfig(findConfig(from)) };
  const exams = examsFor(place, await readExams(path, from), models);
  return runExams({
    ...rest,
    exams,
    ...(faults !== undefined && { faults: readFaultPlanFile(faults, from) }),
  });
};

const said = ({ scenario, model, repeat, verdict, problems }: ExamRun): string => {
  const named = problems
    .slice(0, NAMED_MAX)
    .map(({ expectation, message }) => `  ${expectation}: ${message}`);
  const left = problems.length - named.length;
  return [
    `${scenario} (${model}${repeat > 1 ? `, run ${repeat}` : ''}) ${verdict}`,
    ...named,
    ...(left > 0 ? [`  and ${left} more`] : []),
  ].join('\n');
};

/** Throws an Error that names each run that did not pass, and why; also where a run is missing. */
export const assertPassed = ({ runs, complete }: ExamReport): void => {
  const bad = runs.filter(({ verdict }) => verdict !== 'passed');
  if (bad.length > 0)
    throw new Error(`${bad.length} of ${runs.length} runs did not pass.\n${bad.map(said).join('\n')}`);
  if (!complete) throw new Error(`The examination was stopped after ${runs.length} runs.`);
};
