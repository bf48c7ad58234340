/**
 * Agents written as YAML 1.2: agents/*.yaml beside the configuration. Everything that a file can say is in its
 * schema; what it does not know is an error at its line and column, never ignored.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { badInput, isOnrecordError } from '../errors.ts';
import {
  LIMITS_DEFAULT,
  type AskTerms,
  type ContextPlan,
  type Limits,
  type Policy,
  type PolicyRule,
} from '../event/definition.ts';
import { policyProblem } from '../effect/policy-check.ts';
import { EFFECT_KINDS } from '../event/effect-kind.ts';
import type { JsonObject } from '../event/json.ts';
import { scriptedModel } from '../model/scripted.ts';
import { readScript } from '../model/script-file.ts';
import type { Model } from '../model/model.ts';
import { resolveModel } from '../model/models.ts';
import type { Provider } from '../model/provider/provider.ts';
import type { Tool } from '../tool/tool.ts';
import { defineAgent, type Agent } from '../worker/agent.ts';
import { DURATION_WORDS, durationMs } from './duration.ts';
import { toolSetSchema, toolsOf, type ToolSet, type ToolSetPlace } from './tool-sets.ts';
import { readYaml, YAML_BYTES_MAX, type YamlDocument } from './yaml-file.ts';

export const AGENTS_FOLDER = 'agents';
const CODE = 'agent-file-invalid';
const AGENT_FILES_MAX = 1000;

const text = z.string().min(1);
const scalar = z.union(
  [z.string(), z.number(), z.boolean(), z.null()],
  'must be a text, a number, true, false or null',
);

const CONDITION_TESTS = [
  'equals',
  'oneOf',
  'atMost',
  'atLeast',
  'domainIn',
  'hostIn',
  'below',
  'only',
] as const;

const condition = z
  .strictObject({
    at: z.string().regex(/^(\/.*)?$/, 'must be a JSON Pointer, as in "/to"'),
    equals: scalar.optional(),
    oneOf: z.array(z.union([z.string(), z.number()])).optional(),
    atMost: z.number().optional(),
    atLeast: z.number().optional(),
    domainIn: z.array(text).optional(),
    hostIn: z.array(text).optional(),
    below: z.array(text).optional(),
    only: z.array(z.string()).optional(),
  })
  .refine((one) => CONDITION_TESTS.filter((test) => one[test] !== undefined).length === 1, {
    message: `a condition holds "at" and one of ${CONDITION_TESTS.join(', ')}`,
  });

const duration = z
  .string(`must be ${DURATION_WORDS}`)
  .refine((given) => durationMs(given) !== undefined, { message: `must be ${DURATION_WORDS}` });

const asked = z.strictObject({
  by: z.array(text).min(1).optional(),
  fourEyes: z.boolean().optional(),
  expires: duration.optional(),
  escalate: z.strictObject({ after: duration, to: z.array(text).min(1) }).optional(),
});

const rule = z.strictObject({
  id: text,
  tools: z.array(text).optional(),
  effects: z.array(z.enum(EFFECT_KINDS)).optional(),
  egress: z.boolean().optional(),
  seen: z
    .array(z.enum(['untrusted', 'private']))
    .min(1)
    .optional(),
  when: z.array(condition).optional(),
  do: z.enum(['allow', 'ask', 'deny']),
  reason: text.optional(),
  ask: asked.optional(),
});

/** The rules of a policy, as an agent file and a policy file have them. */
export const policyRules: z.ZodType = z.array(rule);

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

const rules = z.array(rule, 'must be a list of rules, or { rules, ask }');

/** A policy is its rules, or rules and how people are asked: each mistake is shown where it stands. */
const schemaFor = (file: unknown): z.ZodType => {
  const { policy } = (file ?? {}) as { readonly policy?: unknown };
  const whole = typeof policy === 'object' && policy !== null && !Array.isArray(policy);
  return z.strictObject({
    ...shape,
    policy: (whole ? z.strictObject({ rules, ask: asked.optional() }) : rules).optional(),
  });
};

/** How an agent file says who may decide and until when: lengths of time as people write them. */
type AskedInFile = {
  readonly by?: readonly string[];
  readonly fourEyes?: boolean;
  readonly expires?: string;
  readonly escalate?: { readonly after: string; readonly to: readonly string[] };
};

type RuleInFile = Omit<PolicyRule, 'ask'> & { readonly ask?: AskedInFile };

const askOf = (given: AskedInFile | undefined): { readonly ask?: AskTerms } => {
  if (given === undefined) return {};
  const { expires, escalate, ...rest } = given;
  const expiresMs = expires === undefined ? undefined : durationMs(expires);
  const afterMs = escalate === undefined ? undefined : durationMs(escalate.after);
  return {
    ask: {
      ...rest,
      ...(expiresMs !== undefined && { expiresMs }),
      ...(escalate && afterMs !== undefined && { escalate: { afterMs, to: escalate.to } }),
    },
  };
};

const policyOf = (given: AgentFile['policy'] = []): Policy => {
  const all = 'rules' in given ? given.rules : given;
  const asks = 'rules' in given ? askOf(given.ask) : {};
  return { rules: all.map(({ ask, ...rest }) => ({ ...rest, ...askOf(ask) })), ...asks };
};

/** What an agent file may refer to. */
export type AgentFilePlace = ToolSetPlace & { readonly providers?: readonly Provider[] | undefined };

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
  readonly policy?:
    | readonly RuleInFile[]
    | { readonly rules: readonly RuleInFile[]; readonly ask?: AskedInFile };
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
    tools.push(...(await placed(document, ['tools', index], () => toolsOf(set, place))));
  const model = await placed(document, placeOfModel(file.model), () => modelIn(file.model, place));
  const policy = policyOf(file.policy);
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

const scripted = (path: string, { folder }: ToolSetPlace): Model => {
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
