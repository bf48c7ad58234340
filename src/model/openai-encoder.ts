/**
 * Requests of the OpenAI Responses API: stateless, with everything that the model is to see in `input`. Nothing is
 * stored at the provider and no earlier response is referred to, so that the request alone says what the model saw.
 */
import { badInput } from '../errors.ts';
import { digestOf } from '../event/canonical.ts';
import type { AgentDefinition, ModelDefinition, ToolDefinition } from '../event/definition.ts';
import type { Json, JsonObject } from '../event/json.ts';
import type { Encoder, PromptItem } from '../context/encoding.ts';
import { itemsOf } from './openai-items.ts';
import { wireToolName } from './provider/tool-name.ts';

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/** Models that do not reason refuse to be asked for encrypted reasoning. */
const NO_REASONING = /^(ft:)?(gpt-3|gpt-4|chatgpt-4o|computer-use)/;

/** Length of the part of a digest that names a prompt cache. */
const CACHE_KEY_DIGITS = 32;

export const openaiEncoder = (provider: string): Encoder => ({
  name: `openai-responses/${provider}`,
  frame: (agent) => ({ head: head(agent), tail: ']}' }),
  elements: (item) => elements(item, provider),
  omissions: (item) =>
    item.kind === 'assistant' ? itemsOf(item.blocks, item.by.provider === provider).omitted : [],
});

const head = (agent: AgentDefinition): string => {
  const { model, instructions } = agent;
  const { tools: extra, include, prompt_cache_key: cacheKey, ...params } = model.params;
  const tools = [...agent.tools.map(functionTool), ...listOf(extra)];
  const body: JsonObject = {
    model: model.name,
    stream: true,
    // Random padding would make every recorded stream another one.
    ...(params['stream'] !== false && { stream_options: { include_obfuscation: false } }),
    ...params,
    store: false,
    ...included(model, listOf(include)),
    ...(cacheKey !== false && { prompt_cache_key: cacheKey ?? cacheKeyOf(agent) }),
    ...(instructions !== '' && { instructions }),
    ...(tools.length > 0 && { tools }),
  };
  return `${JSON.stringify(body).slice(0, -1)},"input":[`;
};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const included = (
  model: ModelDefinition,
  wanted: readonly Json[],
): { readonly include?: readonly Json[] } => {
  const include = NO_REASONING.test(model.name) ? wanted : [...new Set([ENCRYPTED_REASONING, ...wanted])];
  return include.length > 0 ? { include } : {};
};

/** One cache for all sessions of an agent: they share instructions and tools, which come first in every request. */
const cacheKeyOf = ({ name, instructions, tools }: AgentDefinition): string =>
  `onrecord-${digestOf({ name, instructions, tools: tools.map(({ digest }) => digest) }).slice(0, CACHE_KEY_DIGITS)}`;

const functionTool = ({ name, description, inputSchema }: ToolDefinition): JsonObject => ({
  type: 'function',
  name: wireToolName(name),
  description,
  parameters: inputSchema,
  // Strict schemas allow no optional property; the runtime checks all arguments itself.
  strict: false,
});

const elements = (item: PromptItem, provider: string): readonly string[] => {
  switch (item.kind) {
    case 'user':
      return [JSON.stringify({ role: 'user', content: item.text })];
    case 'note':
      // Not as a developer's word: it may quote what a tool brought.
      return [JSON.stringify({ role: 'user', content: `[Note of the runtime] ${item.text}` })];
    case 'assistant':
      return itemsOf(item.blocks, item.by.provider === provider).items;
    case 'results':
      return item.results.map(({ id, text }) =>
        JSON.stringify({ type: 'function_call_output', call_id: id, output: text }),
      );
    default:
      return item satisfies never;
  }
};

/** Members of the request that the runtime writes itself. */
const OWN_MEMBERS = ['model', 'input', 'instructions'];

const STATE_AT_PROVIDER: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  previous_response_id: (value) => value !== null,
  conversation: (value) => value !== null,
  prompt: (value) => value !== null,
  store: (value) => value !== false,
  background: (value) => value !== false,
  truncation: (value) => value !== 'disabled',
};

/** Throws `model-params-refused`: the record must be able to say what the model saw. */
export const checkOpenaiParams = (params: JsonObject): void => {
  for (const [name, value] of Object.entries(params)) {
    if (OWN_MEMBERS.includes(name))
      throw refused(name, value, 'It is written from the agent and its record. Leave it out.');
    if (Object.hasOwn(STATE_AT_PROVIDER, name) && STATE_AT_PROVIDER[name]?.(value) === true)
      throw refused(
        name,
        value,
        'With it the provider decides what the model sees, and the record could not say what that was. ' +
          'Requests are sent whole, with "store": false. Leave it out.',
      );
  }
};

const refused = (name: string, value: Json | undefined, why: string): Error =>
  badInput(
    'model-params-refused',
    `The parameter "${name}": ${JSON.stringify(value)} of an OpenAI model is not possible. ${why}`,
    { name },
  );
