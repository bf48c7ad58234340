/** defineAgent(): instructions, a model, tools, policy and limits, checked once and turned into what is recorded. */
import { badInput } from '../errors.ts';
import { digestOf, type Digest } from '../event/canonical.ts';
import {
  LIMITS_DEFAULT,
  type AgentDefinition,
  type ContextPlan,
  type Limits,
  type Policy,
  type SetAsideTool,
  type ToolDefinition,
} from '../event/definition.ts';
import { policyProblem } from '../effect/policy-check.ts';
import type { Model } from '../model/model.ts';
import { modelOf, type ModelChoice } from '../model/models.ts';
import type { Provider } from '../model/provider/provider.ts';
import { changesInput, toJsonSchema } from '../tool/schema.ts';
import type { Tool } from '../tool/tool.ts';

export type AgentOptions = {
  /** 1 to 64 of a-z 0-9 and "-". */
  readonly name: string;
  readonly instructions: string;
  /** A model, one of the AI SDK, or a name such as `anthropic/claude-opus-5`. */
  readonly model: ModelChoice;
  /** For a model given by name: beside the built-in ones. */
  readonly providers?: readonly Provider[];
  readonly tools?: readonly Tool[];
  readonly policy?: Policy;
  readonly limits?: Partial<Limits>;
  /** What requests leave out and when history is summarised. Default: they only grow. */
  readonly context?: ContextPlan;
  /** What tool servers list and cannot be offered: recorded, so that nobody wonders where a tool is. */
  readonly setAside?: readonly SetAsideTool[];
  /** One sentence for lists. */
  readonly description?: string;
};

export type Agent = {
  readonly definition: AgentDefinition;
  readonly digest: Digest;
  readonly description: string;
  readonly model: Model;
  readonly tools: ReadonlyMap<string, Tool>;
};

const AGENT_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const TOOLS_MAX = 256;

/** Throws `agent-invalid`, `tool-schema-unsupported`, and what a model given by name may throw (`model-unknown`). */
export const defineAgent = (options: AgentOptions): Agent => {
  const { name, instructions, tools = [] } = options;
  const fail = (what: string): never => {
    throw badInput('agent-invalid', `Agent "${String(name)}": ${what}.`, { agent: String(name) });
  };
  if (typeof name !== 'string' || !AGENT_NAME.test(name))
    fail('the name must be 1 to 64 characters of a-z, 0-9 and "-"');
  if (typeof instructions !== 'string') fail('instructions must be a text');
  const model = modelOf(options.model, { providers: options.providers });
  if (typeof model?.send !== 'function')
    fail(
      'model must be a model, for example scriptedModel(...), or its name, for example "anthropic/claude-opus-5"',
    );
  if (tools.length > TOOLS_MAX) fail(`${tools.length} tools, the limit is ${TOOLS_MAX}`);
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) fail(`two tools are called "${tool.name}"`);
    byName.set(tool.name, tool);
  }
  for (const { name: maker, calls = [] } of tools)
    for (const inner of calls) {
      const called = byName.get(inner);
      if (!called) fail(`the tool "${maker}" makes calls of "${inner}", which is none of its tools`);
      if (called?.calls)
        fail(`the tool "${maker}" makes calls of "${inner}", which makes calls itself; that goes one deep`);
    }
  const problem = policyProblem(options.policy ?? { rules: [] });
  if (problem !== undefined) fail(problem);
  const definition: AgentDefinition = {
    name,
    instructions,
    model: model.definition,
    tools: tools.map(toolDefinition),
    policy: options.policy ?? { rules: [] },
    limits: checkLimits(options.limits ?? {}, fail),
    ...(options.context && { context: checkContext(options.context, fail) }),
    ...(options.setAside && options.setAside.length > 0 && { setAside: options.setAside }),
  };
  const refusal = model.refuses?.(definition);
  if (refusal !== undefined) fail(refusal);
  const digest = digestOf(definition);
  return { definition, digest, description: options.description ?? '', model, tools: byName };
};

const digests = new WeakMap<AgentDefinition, Digest>();

/** The digest of a definition as it stands in a log. */
export const definitionDigest = (definition: AgentDefinition): Digest => {
  const known = digests.get(definition) ?? digestOf(definition);
  digests.set(definition, known);
  return known;
};

const checkLimits = (given: Partial<Limits>, fail: (what: string) => never): Limits => {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(LIMITS_DEFAULT, name))
      fail(`there is no limit called "${name}"; there are ${Object.keys(LIMITS_DEFAULT).join(', ')}`);
    if (typeof value !== 'number' || !(value > 0)) fail(`the limit ${name} must be a number above 0`);
  }
  return { ...LIMITS_DEFAULT, ...given };
};

const checkContext = (context: ContextPlan, fail: (what: string) => never): ContextPlan => {
  const { select = { kind: 'all' }, compactAtTokens = 1 } = context;
  const count = select.kind === 'budget' ? select.tokens : select.kind === 'last-turns' ? select.turns : 1;
  if (!Number.isSafeInteger(count) || count < 1)
    fail(`context.select must hold a whole number from 1 up, not ${String(count)}`);
  if (!Number.isSafeInteger(compactAtTokens) || compactAtTokens < 1)
    fail(`context.compactAtTokens must be a whole number from 1 up, not ${String(compactAtTokens)}`);
  return context;
};

/** What a session records of a tool. */
export const toolDefinition = (tool: Tool): ToolDefinition => {
  const { name, description, effect, approval, timeoutMs, retry, labels, egress, calls, level } = tool;
  const inputSchema = toJsonSchema(name, tool.inputSchema);
  // What a person is asked about is what the tool takes, not what its schema makes of it afterwards.
  const previews = tool.preview !== undefined || changesInput(tool.inputSchema);
  const data = {
    name,
    description,
    inputSchema,
    effect,
    approval,
    timeoutMs,
    retry,
    labels,
    egress,
    previews,
    ...(calls && { calls }),
    ...(level !== undefined && { level }),
    ...(tool.server && { server: tool.server }),
  };
  return { ...data, digest: digestOf(data) };
};
