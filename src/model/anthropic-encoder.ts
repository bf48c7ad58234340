/**
 * Requests of the Anthropic Messages API. The conversation only ever grows at its end: thinking is signed over all
 * that comes before it, and a prompt cache matches by prefix. So marks for the cache stand where nothing moves, on
 * the instructions; for the conversation the API is asked to place its own at the end (top-level `cache_control`).
 */
import { badInput } from '../errors.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { Json, JsonObject } from '../event/json.ts';
import type { Encoder, Omission, PromptItem, PromptResult } from '../context/encoding.ts';
import { isBlank, wireBlock } from './anthropic-block.ts';
import { wireToolName } from './provider/tool-name.ts';

/** Tokens of one answer where the agent says nothing. Every model since 4.5 takes it. */
export const OUTPUT_TOKENS_DEFAULT = 32_000;

/** Of a request to the Messages API ("32 MB", platform.claude.com, API overview); beyond it the answer is 413. */
export const BODY_BYTES_MAX: number = 32 * 1024 * 1024;

const CACHE_DEFAULT: JsonObject = { type: 'ephemeral' };

export const anthropicEncoder = (provider: string): Encoder => ({
  name: `anthropic-messages/${provider}`,
  bytesMax: BODY_BYTES_MAX,
  frame: (agent) => ({ head: head(agent), tail: ']}' }),
  elements: (item) => elements(item, provider),
  omissions: (item) => omissions(item, provider),
});

/** `betas` are sent as a header; the rest of the parameters stands in the body as it is. */
const head = ({ model, instructions, tools }: AgentDefinition): string => {
  const { tools: extra, cache_control: wanted, betas: _, ...params } = model.params;
  const cache = wanted === undefined ? CACHE_DEFAULT : wanted;
  const mark: JsonObject = cache === null ? {} : { cache_control: cache };
  const own = tools.map((tool, i): JsonObject => ({
    name: wireToolName(tool.name),
    description: tool.description,
    input_schema: tool.inputSchema,
    // Without instructions the tools are all that is the same in every session.
    ...(instructions === '' && i === tools.length - 1 && mark),
  }));
  const offered: readonly Json[] = [...(Array.isArray(extra) ? (extra as readonly Json[]) : []), ...own];
  const body: JsonObject = {
    model: model.name,
    max_tokens: OUTPUT_TOKENS_DEFAULT,
    stream: true,
    ...params,
    ...mark,
    ...(instructions.trim() !== '' && { system: [{ type: 'text', text: instructions, ...mark }] }),
    ...(offered.length > 0 && { tools: offered }),
  };
  return `${JSON.stringify(body).slice(0, -1)},"messages":[`;
};

const elements = (item: PromptItem, provider: string): readonly string[] => {
  switch (item.kind) {
    case 'user':
      return [user([textBlock(item.text)])];
    case 'note':
      // Not as a system message: it may quote what a tool brought.
      return [user([textBlock(`Note from the runtime. ${item.text}`)])];
    case 'assistant': {
      const own = item.by.provider === provider;
      const blocks = item.blocks.flatMap((block) => wireBlock(block, own) ?? []);
      return blocks.length === 0 ? [] : [`{"role":"assistant","content":[${blocks.join(',')}]}`];
    }
    case 'results':
      return [user(item.results.map(resultBlock))];
    default:
      return item satisfies never;
  }
};

const omissions = (item: PromptItem, provider: string): readonly Omission[] => {
  if (item.kind !== 'assistant') return [];
  const own = item.by.provider === provider;
  return item.blocks.flatMap((block, index) => {
    if (wireBlock(block, own) !== undefined) return [];
    return [{ block: index, type: block.type, why: isBlank(block) ? 'blank' : 'foreign' } as const];
  });
};

const user = (blocks: readonly string[]): string => `{"role":"user","content":[${blocks.join(',')}]}`;

const textBlock = (text: string): string =>
  JSON.stringify({ type: 'text', text: text.trim() === '' ? '(empty message)' : text });

const resultBlock = ({ id, text, isError }: PromptResult): string =>
  JSON.stringify({
    type: 'tool_result',
    tool_use_id: id,
    ...(text.trim() !== '' && { content: text }),
    ...(isError && { is_error: true }),
  });

const OWN_MEMBERS: ReadonlySet<string> = new Set(['model', 'messages', 'system']);

/** Throws `model-params-refused`: the record must be able to say what the model saw. */
export const checkAnthropicParams = (params: JsonObject): void => {
  for (const [name, value] of Object.entries(params)) {
    const why = refusal(name, value);
    if (why !== undefined)
      throw badInput(
        'model-params-refused',
        `The parameter "${name}": ${JSON.stringify(value)} of an Anthropic model is not possible. ${why}`,
        { name },
      );
  }
};

const refusal = (name: string, value: Json | undefined): string | undefined => {
  if (OWN_MEMBERS.has(name)) return 'It is written from the agent and its record. Leave it out.';
  if (name === 'thread' && value !== null)
    return 'With it the conversation lies at the provider, and the record could not say what the model saw. Leave it out.';
  if (name === 'betas' && !(Array.isArray(value) && value.every((beta) => typeof beta === 'string')))
    return 'It must be a list of texts, as in ["compact-2026-09-04"].';
  if (name === 'tools' && !Array.isArray(value))
    return 'It must be a list of server tools; tools of the agent are its own.';
  return undefined;
};
