/**
 * Requests to models of the AI SDK: the exact form on record is the options of one `doStream` call, specification v4,
 * as JSON. What the model's own code makes of them on the wire is not seen here.
 */
import { badInput } from '../errors.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { Json, JsonObject } from '../event/json.ts';
import type { Encoder, Omission, PromptBlock, PromptItem } from '../context/encoding.ts';
import { wireToolName } from './provider/tool-name.ts';

export const aiSdkEncoder = (provider: string): Encoder => ({
  name: `ai-sdk-v4/${provider}`,
  frame: (agent) => ({ head: head(agent), tail: ']}' }),
  elements: (item) => elements(item, provider),
  omissions: (item) => omissions(item, provider),
});

const head = ({ model, instructions, tools }: AgentDefinition): string => {
  const { tools: extra, ...params } = model.params;
  const own = tools.map(({ name, description, inputSchema }): JsonObject => ({
    type: 'function',
    name: wireToolName(name),
    description,
    inputSchema,
  }));
  const offered = [...own, ...(Array.isArray(extra) ? (extra as readonly Json[]) : [])];
  const options = { ...params, ...(offered.length > 0 && { tools: offered }) };
  const start = JSON.stringify(options).slice(0, -1);
  // A request always holds what the person said, so a comma is due.
  const system = instructions === '' ? '' : `${JSON.stringify({ role: 'system', content: instructions })},`;
  return `${start}${start === '{' ? '' : ','}"prompt":[${system}`;
};

const elements = (item: PromptItem, provider: string): readonly string[] => {
  switch (item.kind) {
    case 'user':
      return [user(item.text)];
    case 'note':
      // Not as a system message: it may quote what a tool brought.
      return [user(`Note from the runtime. ${item.text}`)];
    case 'assistant': {
      const own = item.by.provider === provider;
      const parts = item.blocks.flatMap((block) => partOf(block, own) ?? []);
      return parts.length === 0 ? [] : [`{"role":"assistant","content":[${parts.join(',')}]}`];
    }
    case 'results': {
      const content = item.results.map(({ id, name, text, isError }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: wireToolName(name),
        output: { type: isError ? 'error-text' : 'text', value: text },
      }));
      return [JSON.stringify({ role: 'tool', content })];
    }
    default:
      return item satisfies never;
  }
};

const user = (text: string): string => JSON.stringify({ role: 'user', content: [{ type: 'text', text }] });

/** `opaque` is the provider's metadata of a block: what it gave as `providerMetadata` it is given as `providerOptions`. */
const partOf = (block: PromptBlock, own: boolean): string | undefined => {
  const options =
    own && block.type !== 'opaque' && block.opaque !== undefined ? `,"providerOptions":${block.opaque}` : '';
  switch (block.type) {
    case 'text':
      return `{"type":"text","text":${JSON.stringify(block.text)}${options}}`;
    case 'reasoning':
      return own && (block.text !== '' || options !== '')
        ? `{"type":"reasoning","text":${JSON.stringify(block.text)}${options}}`
        : undefined;
    case 'call':
      return `{"type":"tool-call","toolCallId":${JSON.stringify(block.id)},"toolName":${JSON.stringify(wireToolName(block.name))},"input":${block.args}${options}}`;
    case 'opaque':
      return own ? block.json : undefined;
    default:
      return block satisfies never;
  }
};

const omissions = (item: PromptItem, provider: string): readonly Omission[] => {
  if (item.kind !== 'assistant') return [];
  const own = item.by.provider === provider;
  return item.blocks.flatMap((block, index) => {
    if (partOf(block, own) !== undefined) return [];
    return [{ block: index, type: block.type, why: own ? 'blank' : 'foreign' } as const];
  });
};

/** `headers` would put credentials on record; the others are the runtime's. */
const REFUSED: ReadonlySet<string> = new Set(['prompt', 'headers', 'abortSignal', 'includeRawChunks']);

/** Throws `model-params-refused`. */
export const checkAiSdkParams = (params: JsonObject): void => {
  for (const name of Object.keys(params))
    if (REFUSED.has(name))
      throw badInput(
        'model-params-refused',
        `The parameter "${name}" of an AI SDK model is not possible: the runtime gives it, or it would put a credential on record. Leave it out.`,
        { name },
      );
};
