/** Scenarios that are written by the console: a first one, and one of a session that there was. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { stringify } from 'yaml';
import { badInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../event/json.ts';
import { recordingOf } from '../suite/exam/recorded.ts';
import { scenarioOf } from '../suite/exam/record.ts';
import type { Cli } from './cli.ts';
import type { Input } from './command.ts';
import { SCENARIOS_FOLDER } from './exam-files.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { givenOption, isGiven } from './given.ts';
import { writeOutput } from './output-file.ts';
import { openRecord } from './record.ts';
import { readSession } from './session-drive.ts';
import { command } from './terminal/command.ts';
import { line, SIGN, whole } from './terminal/shown.ts';
import { agentFiles } from './yaml-agent.ts';
import { readYaml } from './yaml-file.ts';

/** Columns at which long texts of a scenario are folded. */
const LINE_WIDTH = 110;

const yamlText = (head: string, scenario: JsonObject): string =>
  `${head}${stringify(scenario, { lineWidth: LINE_WIDTH, version: '1.2' })}`;

const written = async (
  cli: Cli,
  input: Input,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<ExitCode> => {
  mkdirSync(dirname(resolve(cli.cwd, name)), { recursive: true });
  await writeOutput(cli, { name, force: isGiven(input, 'force') }, [text]);
  const { screen } = cli;
  if (screen.jsonMode) screen.json({ written: name });
  screen.out(line`${SIGN.ok} Written to ${whole(name)}.`);
  screen.next({ command: command('suite', 'run', name) });
  return EXIT.done;
};

const FIRST_AGENT = `description: Says hello. Put your own agent in its place.
instructions: Answer in one sentence.
model: { scripted: script.yaml }
`;
const FIRST_SCRIPT = 'name: script\nsteps: [{ text: Hello., cost: 0 }]\n';

const HEAD = `# A scenario: who is examined, what people say, and what must come of it. docs/suites.md has all that it can say.
# The model is a script here, so that it costs nothing. Take the model out, and the agent's own answers.
`;

/** Throws `file-exists`. */
export const initSuite = async (cli: Cli, input: Input): Promise<ExitCode> => {
  const { folder } = cli.place;
  const [first] = agentFiles(folder);
  if (first === undefined) {
    mkdirSync(join(folder, 'agents'), { recursive: true });
    const at = (path: string): string => relative(cli.cwd, join(folder, path)) || path;
    await writeOutput(cli, { name: at('agents/hello.yaml'), force: false }, [FIRST_AGENT]);
    if (!existsSync(join(folder, 'script.yaml')))
      await writeOutput(cli, { name: at('script.yaml'), force: false }, [FIRST_SCRIPT]);
  }
  const agent = first ?? 'agents/hello.yaml';
  const name = givenOption(input, 'out') ?? relative(cli.cwd, join(folder, SCENARIOS_FOLDER, 'first.yaml'));
  const home = dirname(resolve(cli.cwd, name));
  const files = foldersOf(join(folder, agent));
  const scenario: JsonObject = {
    name: 'first',
    about: 'The agent answers, does nothing and asks nobody.',
    agent: relative(home, join(folder, agent)),
    model: { steps: [{ text: 'Hello.', cost: 0 }] },
    ...(files.length > 0 && {
      desk: { files: Object.fromEntries(files.map((path) => [`${path}/.keep`, ''])) },
    }),
    turns: ['Say hello.'],
    expect: { calls: [], asked: [], changed: [], text: { contains: 'Hello' }, steps: 1, outcome: 'done' },
  };
  return written(cli, input, { name, text: yamlText(HEAD, scenario) });
};

/** Folders that the tools of an agent file want to be there. */
const foldersOf = (file: string): readonly string[] => {
  const { value } = readYaml(readFileSync(file), { where: basename(file), code: 'agent-file-invalid' });
  const tools: unknown = isJsonObject(value) ? value['tools'] : undefined;
  const found = (Array.isArray(tools) ? (tools as unknown[]) : []).flatMap((set) =>
    Object.values(isJsonObject(set) ? set : {}).flatMap((entry) =>
      isJsonObject(entry) ? [entry['root'], entry['inbox'], entry['drafts']] : [],
    ),
  );
  return [
    ...new Set(found.filter((path) => typeof path === 'string').map((path) => path.replace(/^\.\//, ''))),
  ].filter((path) => path !== '.' && path !== '' && !path.startsWith('/') && !path.split('/').includes('..'));
};

const DESK_HEAD = `# Made of a recorded session. Tools run on a copy of the desk: look at every expectation.
`;
const RECORDED_HEAD = `# Made of a recorded session. No tool runs: calls get the recorded results. With a "desk" instead of "recorded" they run.
`;

/** Throws `session-not-found`, `usage`, `file-exists`. */
export const recordScenario = async (cli: Cli, input: Input): Promise<ExitCode> => {
  const session = input.args[1];
  if (session === undefined)
    throw badInput('usage', 'suite record needs a session.', {}, 'onrecord sessions');
  const store = await openRecord(cli);
  const { state, events } = await readSession(store, session);
  const scenarioName = `${state.agent.name}/${session.toLowerCase().replaceAll('_', '-')}`;
  const name = givenOption(input, 'out') ?? join(SCENARIOS_FOLDER, `${scenarioName.replace('/', '-')}.yaml`);
  const home = dirname(resolve(cli.cwd, name));
  const agent = givenOption(input, 'agent') ?? agentFileOf(cli, state.agent.name, home);
  const desk = givenOption(input, 'desk');
  if (desk !== undefined) {
    const scenario = scenarioOf(session, events, { name: scenarioName, agent, desk });
    return written(cli, input, { name, text: yamlText(DESK_HEAD, scenario) });
  }
  const recorded = `${basename(name).replace(/\.ya?ml$/, '')}.recorded.json`;
  const isFile = /\.ya?ml$/.test(agent);
  const folders = isFile ? foldersOf(resolve(home, agent)) : [];
  const scenario = scenarioOf(session, events, { name: scenarioName, agent, desk, recorded, folders });
  const recording = await recordingOf(session, events, (digest) => store.blob(digest));
  mkdirSync(home, { recursive: true });
  await writeOutput(cli, { name: join(dirname(name), recorded), force: isGiven(input, 'force') }, [
    `${JSON.stringify(recording, null, 2)}\n`,
  ]);
  return written(cli, input, { name, text: yamlText(RECORDED_HEAD, scenario) });
};

const agentFileOf = (cli: Cli, agent: string, home: string): string => {
  const { folder } = cli.place;
  const file = agentFiles(folder).find((path) => basename(path).replace(/\.ya?ml$/, '') === agent);
  if (file !== undefined) return relative(home, join(folder, file));
  throw badInput(
    'usage',
    `The agent "${agent}" has no file in agents/. Say with --agent which function makes it on a desk: --agent ../agent.ts#name.`,
    { agent },
    'onrecord help suite',
  );
};
