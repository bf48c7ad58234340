/** The scenarios of a suite as files, and who plays them: agents beside them, models by name. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { badInput, isOnrecordError } from '../errors.ts';
import type { Model } from '../model/model.ts';
import { resolveModel } from '../model/models.ts';
import { readScript } from '../model/script-file.ts';
import { scriptedModel } from '../model/scripted.ts';
import { baselineSchema, type Baseline } from '../suite/exam/baseline.ts';
import type { CodedExam, CodedSuite } from '../suite/exam/coded.ts';
import type { Exam } from '../suite/exam/exam.ts';
import type { AgentMaker, Candidate } from '../suite/exam/play.ts';
import { recordingSchema, type Recording } from '../suite/exam/recorded.ts';
import { examSchema, type ExamScenario } from '../suite/exam/scenario.ts';
import type { Agent } from '../worker/agent.ts';
import type { Cli } from './cli.ts';
import { readAgentFile } from './yaml-agent.ts';
import { readYaml, YAML_BYTES_MAX } from './yaml-file.ts';

/** Files below a folder of this name are scenarios. */
export const SCENARIOS_FOLDER = 'scenarios';
export const BASELINE_NAME = 'baseline.json';
/** The model that a scenario itself names. */
export const OWN_MODEL = 'as written';
const BASELINE_BYTES_MAX: number = 64 * 1024 * 1024;
const SCENARIOS_MAX = 10_000;

export type ExamFile = {
  readonly path: string;
  readonly scenario: ExamScenario;
  readonly home: string;
  /** Where code has made it. */
  readonly coded?: CodedExam;
};

/** Endings of a module that makes scenarios. */
const CODE = ['.ts', '.js', '.mjs'];

/**
 * `path` is a scenario, a folder with scenarios below it, or a module that makes some. Throws `suite-not-found`,
 * `suite-empty`, `suite-skipped`, `scenario-invalid`.
 */
export const readExams = async (path: string, cwd: string): Promise<readonly ExamFile[]> => {
  const start = resolve(cwd, path);
  const stats = statSync(start, { throwIfNoEntry: false });
  if (!stats)
    throw badInput(
      'suite-not-found',
      `There is no suite ${path}. It is a folder of scenarios, or one of them.`,
      { path },
      'onrecord suite init',
    );
  const files = stats.isFile() ? [start] : scenarioFiles(start);
  if (files.length === 0)
    throw badInput(
      'suite-empty',
      `There is no scenario below ${path}. Scenarios are YAML files in a folder called ${SCENARIOS_FOLDER}.`,
      { path },
      'onrecord suite init',
    );
  if (files.length > SCENARIOS_MAX)
    throw badInput(
      'suite-too-large',
      `${path} holds ${files.length} scenarios, the limit is ${SCENARIOS_MAX}.`,
    );
  const exams = CODE.includes(extname(start))
    ? await codedExams(start, path)
    : files.map((file) => readExam(file, relative(cwd, file) || file));
  const byName = new Map<string, string>();
  for (const { scenario, path: where } of exams) {
    const other = byName.get(scenario.name);
    if (other !== undefined)
      throw badInput('scenario-invalid', `${where} and ${other} are both called "${scenario.name}".`);
    byName.set(scenario.name, where);
  }
  return exams.toSorted((one, other) => (one.scenario.name < other.scenario.name ? -1 : 1));
};

const scenarioFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && !/\.script\.ya?ml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => isScenario(folder, file))
    .sort();

const isScenario = (folder: string, file: string): boolean => {
  const below = relative(folder, file).split(sep);
  if (below.some((name) => name === 'node_modules' || name.startsWith('.'))) return false;
  return below.slice(0, -1).includes(SCENARIOS_FOLDER) || folder.split(sep).includes(SCENARIOS_FOLDER);
};

const readExam = (file: string, where: string): ExamFile => {
  const { size } = statSync(file);
  if (size > YAML_BYTES_MAX)
    throw badInput('scenario-invalid', `${where} has ${size} bytes, the limit is ${YAML_BYTES_MAX}.`);
  const document = readYaml(readFileSync(file), { where, code: 'scenario-invalid' });
  return { path: where, scenario: document.check(examSchema) as ExamScenario, home: dirname(file) };
};

const codedExams = async (file: string, where: string): Promise<readonly ExamFile[]> => {
  const make = (await imported(file, where))['default'];
  if (typeof make !== 'function')
    throw badInput('scenario-invalid', `${where} has no function as its default export.`, { path: where });
  const suite = (await (make as () => unknown)()) as CodedSuite;
  if ('skipped' in suite)
    throw badInput('suite-skipped', `Skipped: ${where} has nothing to examine here. ${suite.skipped}`, {
      path: where,
    });
  if (!Array.isArray(suite.exams) || suite.exams.length === 0)
    throw badInput('suite-empty', `${where} made no scenario. Nothing was examined.`, { path: where });
  return suite.exams.map((coded) => {
    const parsed = examSchema.safeParse({ agent: 'made by code', ...coded.scenario });
    if (parsed.success) return { path: where, scenario: parsed.data, home: dirname(file), coded };
    const [issue] = parsed.error.issues;
    const name = String(coded.scenario['name'] ?? 'one of its scenarios');
    throw badInput(
      'scenario-invalid',
      `${where}, ${name}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
      { path: where },
    );
  });
};

/** What models by name are looked up in. */
export type ModelPlace = Pick<Cli, 'config' | 'cwd'>;

/** With no models each scenario is played by the one that it names. */
export const examsFor = (
  cli: ModelPlace,
  files: readonly ExamFile[],
  models: readonly string[],
): readonly Exam[] => {
  const names = models.length === 0 ? [OWN_MODEL] : models;
  return files.map((file) => ({
    name: file.scenario.name,
    candidates: new Map(names.map((name) => [name, () => candidateFor(cli, file, name)])),
  }));
};

const candidateFor = async (
  cli: ModelPlace,
  { scenario, home, coded }: ExamFile,
  name: string,
): Promise<Candidate> => {
  const model = name === OWN_MODEL ? await ownModel(cli, scenario, home) : await modelNamed(cli, name);
  const live = (model?.definition.provider ?? 'scripted') !== 'scripted';
  const isFile = ['.yaml', '.yml'].includes(extname(scenario.agent));
  const agent =
    coded?.agent ?? (isFile ? fileAgent(scenario.agent, home) : await codeAgent(scenario.agent, home));
  const deskFirst = isFile || scenario.desk?.from !== undefined;
  return {
    scenario,
    home,
    agent,
    model,
    live,
    deskFirst,
    ...(scenario.recorded !== undefined && {
      recording: recordingIn(resolve(home, scenario.recorded), scenario.recorded),
    }),
    ...(coded?.check && { check: coded.check }),
  };
};

/** Throws `recording-invalid`. */
const recordingIn = (file: string, name: string): Recording => {
  const fail = (why: string): Error =>
    badInput('recording-invalid', `${name} is no recording: ${why}.`, { name });
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) throw fail('it is not there');
  if (stats.size > BASELINE_BYTES_MAX) throw fail('it is too large');
  try {
    const parsed = recordingSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw fail(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw fail(cause.message);
    throw cause;
  }
};

const ownModel = async (
  cli: ModelPlace,
  { model, name }: ExamScenario,
  home: string,
): Promise<Model | undefined> => {
  if (!model) return undefined;
  if ('steps' in model) return scriptedModel({ name: 'script', steps: model.steps });
  if ('live' in model) return resolveModel(model.live, { providers: (await cli.config()).providers });
  return scriptIn(resolve(home, model.script), `the script of ${name}, ${model.script},`);
};

const scriptIn = (file: string, what: string): Model => {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw badInput('script-not-found', `There is no file for ${what} as it is named.`);
  return scriptedModel(readScript(readFileSync(file, 'utf8'), basename(file)));
};

/** A script.yaml, "provider/model", or the model of an agent of the configuration. Throws `model-unknown`. */
export const modelNamed = async (cli: ModelPlace, name: string): Promise<Model> => {
  if (['.yaml', '.yml'].includes(extname(name))) return scriptIn(resolve(cli.cwd, name), `--model ${name}`);
  const { agents, providers } = await cli.config();
  const found = agents.find(({ definition }) => definition.name === name || definition.model.name === name);
  return found?.model ?? resolveModel(name, { providers });
};

/** Paths of an agent file begin at the folder above agents/, those of its tools at the scenario's desk. */
const fileAgent =
  (path: string, home: string): AgentMaker =>
  ({ desk, model }) => {
    const file = resolve(home, path);
    if (!existsSync(file))
      throw badInput('scenario-invalid', `There is no agent file "${path}" beside the scenario.`);
    const folder = basename(dirname(file)) === 'agents' ? dirname(dirname(file)) : dirname(file);
    return readAgentFile(relative(folder, file), {
      folder,
      protect: [],
      env: {},
      desk,
      ...(model && { model }),
    });
  };

const AGENT = /^(?<file>[^#]+)#(?<name>[A-Za-z_$][\w$]*)$/;

const codeAgent = async (path: string, home: string): Promise<AgentMaker> => {
  const { file = '', name = '' } = AGENT.exec(path)?.groups ?? {};
  if (file === '')
    throw badInput(
      'scenario-invalid',
      `agent "${path}" is neither "./agent.ts#name" nor an agent file, "../agents/name.yaml".`,
    );
  const module = await imported(resolve(home, file), file);
  const make = module[name];
  if (typeof make !== 'function')
    throw badInput('scenario-invalid', `${file} exports no function called "${name}".`, { file, name });
  return (place) => (make as (place: object) => Agent | Promise<Agent>)(place);
};

const imported = async (path: string, file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    if (isOnrecordError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message.replaceAll(path, file) : 'unknown reason';
    throw badInput('scenario-invalid', `${file} could not be loaded: ${why.replace(/\.$/, '')}.`, { file });
  }
};

/** Beside the scenarios, where the command line names no other place. */
export const baselinePath = (suite: string, cwd: string): string => {
  const start = resolve(cwd, suite);
  const folder = statSync(start, { throwIfNoEntry: false })?.isFile() === true ? dirname(start) : start;
  return relative(cwd, join(folder, BASELINE_NAME));
};

/** Undefined where there is none yet. Throws `baseline-invalid`. */
export const readBaseline = (path: string, cwd: string): Baseline | undefined => {
  const file = resolve(cwd, path);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return undefined;
  const fail = (why: string): Error =>
    badInput('baseline-invalid', `${path} is no baseline: ${why}.`, { path });
  if (!stats.isFile() || stats.size > BASELINE_BYTES_MAX) throw fail('it is no file, or too large');
  try {
    const parsed = baselineSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data as Baseline;
    const [issue] = parsed.error.issues;
    throw fail(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw fail(cause.message);
    throw cause;
  }
};
