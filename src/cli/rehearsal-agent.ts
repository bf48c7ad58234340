/** Who a session is rehearsed with: what the record says it was, with what the command line wants otherwise. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { badInput } from '../errors.ts';
import type { AgentDefinition, Policy, ToolDefinition } from '../event/definition.ts';
import { policyProblem } from '../effect/policy-check.ts';
import type { Model } from '../model/model.ts';
import { scriptedModel } from '../model/scripted.ts';
import { readScript } from '../model/script-file.ts';
import type { RehearsalAgent } from '../rehearse/rehearse.ts';
import type { Agent } from '../worker/agent.ts';
import type { Cli } from './cli.ts';
import type { Input } from './command.ts';
import { givenOption } from './given.ts';
import type { PolicyInFile } from './yaml-policy.ts';

const INSTRUCTIONS_BYTES_MAX: number = 1024 * 1024;

/** Throws `agent-not-found`, `model-not-found`, `tool-not-found`, `policy-invalid`, `file-not-readable`. */
export const rehearsalAgent = async (
  cli: Cli,
  recorded: AgentDefinition,
  input: Input,
): Promise<RehearsalAgent> => {
  const { agents } = await cli.config();
  const named = givenOption(input, 'agent');
  const chosen = named === undefined ? undefined : agentNamed(agents, named);
  const same = chosen ?? agents.find(({ definition }) => definition.name === recorded.name);
  const base = chosen?.definition ?? recorded;
  const instructions = givenOption(input, 'instructions');
  const policy = givenOption(input, 'policy');
  const model = modelOf(cli, agents, { wanted: givenOption(input, 'model'), same, recorded: base });
  const known = [...base.tools, ...(same?.definition.tools ?? [])];
  return {
    definition: {
      ...base,
      tools: toolsNamed(known, givenOption(input, 'tools')) ?? base.tools,
      ...(instructions !== undefined && { instructions: textOf(cli, 'instructions', instructions) }),
      ...(policy !== undefined && { policy: await policyOf(cli, policy) }),
      model: model.definition,
    },
    model,
    ...(same && { tools: same.tools }),
  };
};

const agentNamed = (agents: readonly Agent[], name: string): Agent => {
  const found = agents.find(({ definition }) => definition.name === name);
  if (found) return found;
  throw badInput(
    'agent-not-found',
    `No agent is called "${name}". Known here: ${listed(agents.map(({ definition }) => definition.name))}.`,
    { agent: name },
    'onrecord agents',
  );
};

const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

type Wanted = {
  readonly wanted: string | undefined;
  readonly same: Agent | undefined;
  readonly recorded: AgentDefinition;
};

/** A model by the name of an agent that has it, by its own name, or a script in a file. */
const modelOf = (cli: Cli, agents: readonly Agent[], { wanted, same, recorded }: Wanted): Model => {
  if (wanted === undefined && same) return same.model;
  const name = wanted ?? recorded.model.name;
  if (['.yaml', '.yml'].includes(extname(name)))
    return scriptedModel(readScript(textOf(cli, 'model', name), name));
  const found = agents.find(
    ({ definition }) =>
      definition.name === name ||
      definition.model.name === name ||
      `${definition.model.provider}/${definition.model.name}` === name,
  );
  if (found) return found.model;
  const known = agents.map(({ definition }) => `${definition.name} (${definition.model.name})`);
  throw badInput(
    'model-not-found',
    `No agent here is called "${name}" or has a model of that name. Known here: ${listed(known)}. A script is named by its .yaml file.`,
    { model: name },
    'onrecord agents',
  );
};

const toolsNamed = (
  known: readonly ToolDefinition[],
  names: string | undefined,
): readonly ToolDefinition[] | undefined =>
  names
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => {
      const found = known.find((tool) => tool.name === name);
      if (found) return found;
      const offered = listed([...new Set(known.map((tool) => tool.name))]);
      throw badInput('tool-not-found', `There is no tool "${name}" for this rehearsal. Known: ${offered}.`, {
        tool: name,
      });
    });

const textOf = ({ cwd }: Cli, option: string, path: string): string => {
  const file = resolve(cwd, path);
  if (!existsSync(file) || !statSync(file).isFile())
    throw badInput('file-not-readable', `--${option} names the file "${path}", which is not there.`, {
      path,
    });
  const { size } = statSync(file);
  if (size > INSTRUCTIONS_BYTES_MAX)
    throw badInput('value-too-large', `${path} has ${size} bytes, the limit is ${INSTRUCTIONS_BYTES_MAX}.`);
  return readFileSync(file, 'utf8');
};

/** A policy file is what an agent file has under `policy`: rules, or rules and how people are asked. */
const policyOf = async (cli: Cli, path: string): Promise<Policy> => {
  const { readYaml } = await import('./yaml-file.ts');
  const { policyIn, policySchema } = await import('./yaml-policy.ts');
  const document = readYaml(Buffer.from(textOf(cli, 'policy', path)), {
    where: path,
    code: 'policy-invalid',
  });
  const policy = policyIn(document.check(policySchema(document.value)) as PolicyInFile);
  const problem = policyProblem(policy);
  if (problem !== undefined) throw document.fail(problem);
  return policy;
};
