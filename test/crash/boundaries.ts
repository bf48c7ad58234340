/** The crash matrix of an example, and what of its results has to be the same in every run. */
import { afterAll } from 'vitest';
import { readScenarioFile } from '../../src/cli/suite-file.ts';
import { crashMatrix, type KillResult, type Matrix } from '../../src/suite/crash/matrix.ts';
import { ROOT } from '../cli/project.ts';

export const SMALL = 'examples/crash/crash.yaml';

const tried = { kills: 0, real: 0 };
afterAll(() => console.info(`${tried.kills} kills, ${tried.real} of them with SIGKILL`));

type Given = Omit<Partial<Parameters<typeof crashMatrix>[0]>, 'text' | 'home'>;

export const matrixOf = async (path: string, given: Given = {}): Promise<Matrix> => {
  const scenario = readScenarioFile(path, ROOT);
  const matrix = await crashMatrix({ ...scenario, mode: 'simulated', twice: false, ...given });
  tried.kills += matrix.results.length;
  if (matrix.mode === 'real') tried.real += matrix.results.length;
  return matrix;
};

/** Without what a run measures. */
export const told = (results: readonly KillResult[]): readonly unknown[] =>
  results.map(({ kill, struck, verdict, detail }) => ({ kill, struck, verdict, detail }));

export const bad = ({ results }: Matrix): readonly unknown[] =>
  told(results.filter(({ wrong, verdict }) => wrong || verdict === 'not-reached'));
