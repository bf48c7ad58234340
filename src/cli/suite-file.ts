/** The files of an exam as people write them: scenarios and fault plans. What they do not know is an error at its place. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { badInput } from '../errors.ts';
import { scenarioSchema, type ScenarioText } from '../suite/crash/scenario.ts';
import { faultPlanSchema, type Fault } from '../suite/fault-plan.ts';
import { readYaml, YAML_BYTES_MAX } from './yaml-file.ts';

export type ScenarioFile = {
  readonly text: ScenarioText;
  /** The folder that the agent's path starts from. */
  readonly home: string;
};

/** `path` as it was given, from `cwd`. Throws `scenario-not-found`, `scenario-invalid`. */
export const readScenarioFile = (path: string, cwd: string): ScenarioFile => {
  const bytes = bytesOf(path, cwd, 'scenario');
  const document = readYaml(bytes, { where: path, code: 'scenario-invalid' });
  return { text: document.check(scenarioSchema) as ScenarioText, home: dirname(resolve(cwd, path)) };
};

/** `path` as it was given, from `cwd`. Throws `fault-plan-not-found`, `fault-plan-invalid`. */
export const readFaultPlanFile = (path: string, cwd: string): readonly Fault[] => {
  const bytes = bytesOf(path, cwd, 'fault plan');
  const document = readYaml(bytes, { where: path, code: 'fault-plan-invalid' });
  return document.check(faultPlanSchema) as readonly Fault[];
};

const bytesOf = (path: string, cwd: string, what: 'scenario' | 'fault plan'): Buffer => {
  const file = resolve(cwd, path);
  const stats = statSync(file, { throwIfNoEntry: false });
  const code = what.replace(' ', '-');
  if (stats?.isFile() !== true) throw badInput(`${code}-not-found`, `There is no ${what} ${path}.`, { path });
  if (stats.size > YAML_BYTES_MAX)
    throw badInput(`${code}-invalid`, `${path} has ${stats.size} bytes, the limit is ${YAML_BYTES_MAX}.`, {
      path,
    });
  return readFileSync(file);
};
