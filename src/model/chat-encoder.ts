/**
 * Requests of the Chat Completions API for servers that speak it: only members that every such server takes, and
 * what a server said beside the standard (reasoning, signatures of calls) goes back to the server that said it.
 */
import { badInput } from '../errors.ts';
import type { AgentDefinition, ToolDefinition } from '../event/definition.ts';
import type { Json, JsonObject } from '../event/json.ts';
import type { Encoder, Omission, PromptBlock, PromptItem } from '../context/encoding.ts';
import { jsonAt, jsonKeys } from './json-text.ts';
import { wireToolName } from './provider/tool-name.ts';

export const chatEncoder = (provider: string): Encoder => ({
  name: `chat-completions/${provider}`,
  frame: (agent) => ({ head: head(agent), tail: ']}' }),
  elements: (item) => elements(item, provider),
  omissions: (item) => omissions(item, provider),
});

const head = (agent: AgentDefinition): string => {
  const { model, instructions } = agent;
  const { tools: extra, ...params } = model.params;
  // An empty list of tools is refused by some servers.
  const tools = [
    ...agent.tools.map(functionTool),
    ...(Array.isArray(extra) ? (extra as readonly Json[]) : []),
  ];
  const body: JsonObject = {
    model: model.name,
    stream: true,
    ...(params['stream'] !== false && { stream_options: { include_usage: true } }),
    ...params,
    ...(tools.length > 0 && { tools }),
  };
  // The first message of a person always follows.
  const system = instructions === '' ? '' : `${JSON.stringify({ role: 'system', content: instructions })},`;
  return `${JSON.stringify(body).slice(0, -1)},"messages":[${system}`;
};

const functionTool = ({ name, description, inputSchema }: ToolDefinition): JsonObject => ({
  type: 'function',
  function: { name: wireToolName(name), description, parameters: inputSchema },
});

const elements = (item: PromptItem, provider: string): readonly string[] => {
  switch (item.kind) {
    case 'user':
      return [JSON.stringify({ role: 'user', content: item.text })];
    case 'note':
      // Chat templates of many models refuse a system message in mid-conversation.
      return [JSON.stringify({ role: 'user', content: `[Note of the runtime] ${item.text}` })];
    case 'assistant':
      return assistant(item.blocks, item.by.provider === provider);
    case 'results':
      return item.results.map(({ id, text }) =>
        JSON.stringify({ role: 'tool', tool_call_id: id, content: text }),
      );
    default:
      return item satisfies never;
  }
};

/** One message for all that was said in one reply; none where nothing of it can be sent. */
const assistant = (blocks: readonly PromptBlock[], own: boolean): readonly string[] => {
  const texts: string[] = [];
  const calls: string[] = [];
  const members: string[] = [];
  for (const block of blocks) {
    if (block.type === 'text') texts.push(block.text);
    else if (block.type === 'call') calls.push(call(block, own));
    else if (own && block.type === 'opaque') members.push(...membersOf(block.json));
    else if (own && block.type === 'reasoning' && block.opaque !== undefined)
      members.push(...membersOf(block.opaque, block.text));
  }
  if (texts.length === 0 && calls.length === 0) return [];
  const content = texts.length === 0 ? 'null' : JSON.stringify(texts.join(''));
  const asked = calls.length === 0 ? [] : [`"tool_calls":[${calls.join(',')}]`];
  return [`{${['"role":"assistant"', `"content":${content}`, ...members, ...asked].join(',')}}`];
};

const omissions = (item: PromptItem, provider: string): readonly Omission[] => {
  if (item.kind !== 'assistant') return [];
  const own = item.by.provider === provider;
  const said = item.blocks.some(({ type }) => type === 'text' || type === 'call');
  return item.blocks.flatMap((block, at): readonly Omission[] => {
    if (block.type === 'text' || block.type === 'call') return [];
    const { type } = block;
    if (!own) return [{ block: at, type, why: 'foreign' }];
    const sent = said && (type === 'opaque' || block.opaque !== undefined);
    return sent ? [] : [{ block: at, type, why: 'unreadable' }];
  });
};

const call = (block: Extract<PromptBlock, { type: 'call' }>, own: boolean): string => {
  const { id, name, args, opaque } = block;
  const plain = [
    `"id":${JSON.stringify(id)}`,
    '"type":"function"',
    `"function":{"name":${JSON.stringify(wireToolName(name))},"arguments":${JSON.stringify(args)}}`,
  ];
  return `{${[...plain, ...(own && opaque !== undefined ? membersOf(opaque) : [])].join(',')}}`;
};

/** The members of an object as they stand; `null` stands for the text of the block. */
const membersOf = (object: string, text?: string): readonly string[] =>
  [...new Set(jsonKeys(object))].map((key) => {
    const value = jsonAt(object, [key]) ?? 'null';
    return `${JSON.stringify(key)}:${value === 'null' && text !== undefined ? JSON.stringify(text) : value}`;
  });

const OWN_MEMBERS = ['model', 'messages'];

/** Throws `model-params-refused`. */
export const checkChatParams = (params: JsonObject): void => {
  for (const [name, value] of Object.entries(params)) {
    if (OWN_MEMBERS.includes(name))
      throw refused(name, value, 'It is written from the agent and its record. Leave it out.');
    if (name === 'n' && value !== 1) throw refused(name, value, 'A step has one answer. Leave it out.');
    if (name === 'store' && value !== false)
      throw refused(name, value, 'The record is kept here and nowhere else. Leave it out.');
  }
};

const refused = (name: string, value: Json | undefined, why: string): Error =>
  badInput(
    'model-params-refused',
    `The parameter "${name}": ${JSON.stringify(value)} of a Chat Completions model is not possible. ${why}`,
    { name },
  );
