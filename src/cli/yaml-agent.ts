/**
 * Agents written as YAML 1.2: agents/*.yaml beside the configuration. Everything that a file can say is in its
 * schema; what it does not know is an error at its line and column, never ignored.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { badInput, isOnrecordError } from '../errors.ts';
import { LIMITS_DEFAULT, type ContextPlan, type Limits } from '../event/definition.ts';
import { policyProblem } from '../effect/policy-check.ts';
import type { JsonObject } from '../event/json.ts';
import { scriptedModel } from '../model/scripted.ts';
import { readScript } from '../model/script-file.ts';
import type { Model } from '../model/model.ts';
import { resolveModel } from '../model/models.ts';
import type { Provider } from '../model/provider/provider.ts';
import { PINS_FILE } from '../tool/mcp/server.ts';
import type { Tool } from '../tool/tool.ts';
import { defineAgent, type Agent } from '../worker/agent.ts';
import { toolSetSchema, toolsOf, type ToolSet, type ToolSetPlace } from './tool-sets.ts';
import { policyIn, policySchema, type PolicyInFile } from './yaml-policy.ts';
import { readYaml, YAML_BYTES_MAX, type YamlDocument } from './yaml-file.ts';

export const AGENTS_FOLDER = 'agents';
const CODE = 'agent-file-invalid';
const AGENT_FILES_MAX = 1000;

const text = z.string().min(1);
const limits = z.strictObject(
  Object.fromEntries(Object.keys(LIMITS_DEFAULT).map((name) => [name, z.number().positive().optional()])),
);

const count = z.number().int().min(1);

const context = z.strictObject({
  select: z
    .union(
      [
        z.strictObject({ kind: z.literal('all') }),
        z.strictObject({ kind: z.literal('last-turns'), turns: count }),
        z.strictObject({ kind: z.literal('budget'), tokens: count }),
      ],
      'must be { kind: all }, { kind: last-turns, turns: N } or { kind: budget, tokens: N }',
    )
    .optional(),
  compactAtTokens: count.optional(),
});

const shape = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and "-"')
    .optional(),
  description: z.string().optional(),
  instructions: z.string(),
  model: z.union(
    [
      text,
      z.strictObject({ scripted: text }),
      z.strictObject({ name: text, params: z.record(text, z.json()).optional() }),
    ],
    'must be "provider/model", { name, params } or { scripted: FILE }',
  ),
  tools: z.array(toolSetSchema).optional(),
  limits: limits.optional(),
  context: context.optional(),
};

/** The policy has two forms: each mistake is shown where it stands. */
const schemaFor = (file: unknown): z.ZodType => {
  const { policy } = (file ?? {}) as { readonly policy?: unknown };
  return z.strictObject({ ...shape, policy: policySchema(policy).optional() });
};

/** What an agent file may refer to. */
export type AgentFilePlace = Omit<ToolSetPlace, 'pins'> & {
  readonly providers?: readonly Provider[] | undefined;
  /** Where paths of tools begin instead: the desk of a scenario. */
  readonly desk?: string;
  /** Instead of the file's own. */
  readonly model?: Model;
};

type ModelInFile =
  | string
  | { readonly scripted: string }
  | { readonly name: string; readonly params?: JsonObject };

type AgentFile = {
  readonly name?: string;
  readonly description?: string;
  readonly instructions: string;
  readonly model: ModelInFile;
  readonly tools?: readonly ToolSet[];
  readonly policy?: PolicyInFile;
  readonly limits?: Partial<Limits>;
  readonly context?: ContextPlan;
};

/** The agent files of a project, by name of file. */
export const agentFiles = (folder: string): readonly string[] => {
  const all = statSync(join(folder, AGENTS_FOLDER), { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(join(folder, AGENTS_FOLDER))
    : [];
  const found = all.filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort();
  if (found.length > AGENT_FILES_MAX)
    throw badInput(
      CODE,
      `${AGENTS_FOLDER}/ holds ${found.length} agent files, the limit is ${AGENT_FILES_MAX}.`,
    );
  return found.map((name) => `${AGENTS_FOLDER}/${name}`);
};

/** Reads one file. `where` is relative to the folder of the configuration. Throws `agent-file-invalid`. */
export const readAgentFile = async (where: string, place: AgentFilePlace): Promise<Agent> => {
  const document = readYaml(bytesOf(resolve(place.folder, where), where), { where, code: CODE });
  // Zod types an optional member as possibly undefined; parsed YAML never holds an undefined one.
  const file = document.check(schemaFor(document.value)) as AgentFile;
  const tools: Tool[] = [];
  for (const [index, set] of (file.tools ?? []).entries())
    tools.push(
      ...(await placed(document, ['tools', index], () =>
        toolsOf(set, {
          ...place,
          folder: place.desk ?? place.folder,
          pins: join(place.folder, PINS_FILE),
        }),
      )),
    );
  const model = await placed(
    document,
    placeOfModel(file.model),
    () => place.model ?? modelIn(file.model, place),
  );
  const policy = policyIn(file.policy ?? []);
  const { description, instructions, limits: given, context: plan } = file;
  // Rules that cannot mean what they say are refused at the rules, not at the head of the file.
  await placed(document, ['policy'], () => {
    const problem = policyProblem(policy);
    if (problem !== undefined) throw badInput('agent-invalid', problem);
  });
  return placed(document, [], () =>
    defineAgent({
      name: file.name ?? basename(where).replace(/\.ya?ml$/, ''),
      instructions,
      model,
      tools,
      policy,
      ...(description !== undefined && { description }),
      ...(given && { limits: given }),
      ...(plan && { context: plan }),
    }),
  );
};

const bytesOf = (path: string, where: string): Uint8Array => {
  const stats = statSync(path);
  if (!stats.isFile()) throw badInput(CODE, `${where} is no file.`, { where });
  // Not even read when it is over the limit, which readYaml would say.
  if (stats.size > YAML_BYTES_MAX)
    throw badInput(CODE, `${where} has ${stats.size} bytes, the limit is ${YAML_BYTES_MAX}.`, { where });
  return readFileSync(path);
};

const modelIn = (model: ModelInFile, place: AgentFilePlace): Model => {
  if (typeof model === 'string') return resolveModel(model, place);
  return 'scripted' in model
    ? scripted(model.scripted, place)
    : resolveModel(model.name, { ...place, ...model });
};

const placeOfModel = (model: ModelInFile): readonly string[] =>
  typeof model === 'string' ? ['model'] : ['model', 'scripted' in model ? 'scripted' : 'name'];

const scripted = (path: string, { folder }: AgentFilePlace): Model => {
  const file = resolve(folder, path);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw badInput('script-not-found', `the script "${path}" is not there`);
  return scriptedModel(readScript(readFileSync(file, 'utf8'), path));
};

/** What goes wrong with a part of the file is said at that part. A script has places of its own. */
const placed = async <Made>(
  document: YamlDocument,
  path: readonly PropertyKey[],
  make: () => Promise<Made> | Made,
): Promise<Made> => {
  try {
    return await make();
  } catch (error) {
    if (!isOnrecordError(error) || error.next === 'bug' || error.code === 'script-invalid') throw error;
    throw document.fail(error.message.replace(/\.$/, ''), path);
  }
};
