/** What is sent to the OpenAI APIs: no state at the provider, the same head for the same agent, and only what it can take. */
import { describe, expect, test } from 'vitest';
import type { PromptBlock, PromptItem } from '../../src/context/encoding.ts';
import { digestOf } from '../../src/event/canonical.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/event/definition.ts';
import type { JsonObject } from '../../src/event/json.ts';
import { chatEncoder } from '../../src/model/chat-encoder.ts';
import { chatServer } from '../../src/model/chat.ts';
import { openaiEncoder } from '../../src/model/openai-encoder.ts';
import { openai } from '../../src/model/openai.ts';
import { agentOf } from './openai-stage.ts';

const encoder = openaiEncoder('openai');
const by = { provider: 'openai', name: 'gpt-6.2-sol' };
const foreign = { provider: 'anthropic', name: 'claude-opus-5-5' };

const toolNamed = (name: string): ToolDefinition => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  effect: 'none',
  approval: 'policy',
  timeoutMs: 1000,
  retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  labels: { untrusted: false, private: false },
  egress: false,
  previews: false,
  digest: digestOf(name),
});

const bodyOf = (
  params: JsonObject,
  more: Partial<AgentDefinition> = {},
  name: string = 'gpt-6.2-sol',
): JsonObject => {
  const { head, tail } = encoder.frame(agentOf({ provider: 'openai', name, params }, more));
  return JSON.parse(`${head}{"role":"user","content":"Hi."}${tail}`) as JsonObject;
};

const parsed = (items: readonly string[]): readonly unknown[] =>
  items.map((item) => JSON.parse(item) as unknown);
const assistant = (blocks: readonly PromptBlock[], speaker = by): PromptItem => ({
  kind: 'assistant',
  blocks,
  by: speaker,
});

describe('a request of the Responses API', () => {
  test('stores nothing, asks for encrypted reasoning, and names its cache', () => {
    const body = bodyOf({ reasoning: { effort: 'high' } }, { tools: [toolNamed('mail.read')] });
    expect(body).toMatchObject({
      model: 'gpt-6.2-sol',
      stream: true,
      stream_options: { include_obfuscation: false },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: expect.stringMatching(/^onrecord-[0-9a-f]{32}$/) as string,
      reasoning: { effort: 'high' },
      instructions: 'Answer in one word.',
      tools: [{ type: 'function', name: 'mail__read', strict: false, parameters: { type: 'object' } }],
      input: [{ role: 'user', content: 'Hi.' }],
    });
    expect(body).not.toHaveProperty('previous_response_id');
  });

  test('has the cache key of its instructions and tools, or that of the user, or none', () => {
    const key = (more: Partial<AgentDefinition>): unknown => bodyOf({}, more)['prompt_cache_key'];
    expect(key({})).toBe(key({}));
    expect(key({ instructions: 'Other.' })).not.toBe(key({}));
    expect(key({ tools: [toolNamed('a')] })).not.toBe(key({ tools: [toolNamed('b')] }));
    expect(bodyOf({ prompt_cache_key: 'mine' })['prompt_cache_key']).toBe('mine');
    expect(bodyOf({ prompt_cache_key: false })).not.toHaveProperty('prompt_cache_key');
  });

  test('asks no encrypted reasoning of a model that does not reason, and keeps what else is to be included', () => {
    expect(bodyOf({}, {}, 'gpt-4.1-mini')).not.toHaveProperty('include');
    expect(bodyOf({ include: ['web_search_call.action.sources'] })['include']).toEqual([
      'reasoning.encrypted_content',
      'web_search_call.action.sources',
    ]);
  });

  test('offers tools of the provider after the own ones', () => {
    const { tools } = bodyOf({ tools: [{ type: 'web_search' }] }, { tools: [toolNamed('a')] });
    expect(tools).toMatchObject([{ type: 'function', name: 'a' }, { type: 'web_search' }]);
  });

  test.each([
    { previous_response_id: 'resp_1' },
    { conversation: 'conv_1' },
    { store: true },
    { background: true },
    { truncation: 'auto' },
    { prompt: { id: 'pmpt_1' } },
    { input: [] },
    { instructions: 'Other.' },
    { model: 'other' },
  ])('is never made with %j', (params) => {
    expect(() => openai().model('gpt-6.2-sol', params)).toThrow(
      expect.objectContaining({
        code: 'model-params-refused',
        message: expect.stringContaining(JSON.stringify(Object.values(params)[0])) as string,
      }),
    );
  });

  test.each([
    { store: false },
    { truncation: 'disabled' },
    { previous_response_id: null },
    { temperature: 1 },
  ])('is made with %j', (params) => {
    expect(openai().model('gpt-6.2-sol', params).definition.params).toEqual(params);
  });
});

const REASONING = '{"id":"rs_1", "type":"reasoning","summary":[],"encrypted_content":"gAAA\\u003d" }';
const MESSAGE =
  '{"id":"msg_1","type":"message","phase":"commentary","content":[{"type":"output_text","text":null,"annotations":[]}],"role":"assistant"}';

describe('what an answer becomes in the next request', () => {
  test('reasoning and phases go back byte for byte, calls under the ids of the conversation', () => {
    const items = encoder.elements(
      assistant([
        { type: 'reasoning', text: '', opaque: REASONING },
        { type: 'text', text: 'I look: “A”.', opaque: MESSAGE },
        {
          type: 'call',
          id: 'call_2_1_1',
          name: 'f',
          args: '{"n":12345678901234567890}',
          opaque: '{"type":"function_call","call_id":null,"name":"f","arguments":null,"id":"fc_1"}',
        },
        { type: 'opaque', json: '{"type":"compaction","encrypted_content":"x"}' },
      ]),
    );
    expect(items).toEqual([
      REASONING,
      MESSAGE.replace('null', '"I look: “A”."'),
      String.raw`{"type":"function_call","call_id":"call_2_1_1","name":"f","arguments":"{\"n\":12345678901234567890}","id":"fc_1"}`,
      '{"type":"compaction","encrypted_content":"x"}',
    ]);
  });

  test('a message of several texts is one item again', () => {
    const opaque =
      '{"type":"message","content":[{"type":"output_text","text":null},{"type":"refusal","refusal":"no"},{"type":"output_text","text":null}]}';
    const blocks: readonly PromptBlock[] = [
      { type: 'text', text: 'a', opaque },
      { type: 'text', text: 'b' },
    ];
    expect(parsed(encoder.elements(assistant(blocks)))).toEqual([
      {
        type: 'message',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'refusal', refusal: 'no' },
          { type: 'output_text', text: 'b' },
        ],
      },
    ]);
  });

  test('of another provider is text and calls; the rest is left out and named', () => {
    const item = assistant(
      [
        { type: 'reasoning', text: 'Hm.', opaque: '{"signature":"c2ln"}' },
        { type: 'text', text: 'Yes.', opaque: '{"citations":[]}' },
        { type: 'call', id: 'toolu_1', name: 'mail.read', args: '{}' },
        { type: 'opaque', json: '{"type":"redacted_thinking","data":"x"}' },
      ],
      foreign,
    );
    expect(parsed(encoder.elements(item))).toEqual([
      { role: 'assistant', content: 'Yes.' },
      { type: 'function_call', call_id: 'toolu_1', name: 'mail__read', arguments: '{}' },
    ]);
    expect(encoder.omissions?.(item)).toEqual([
      { block: 0, type: 'reasoning', why: 'foreign' },
      { block: 3, type: 'opaque', why: 'foreign' },
    ]);
  });

  test('is without reasoning that nothing follows or that is not encrypted, and without calls that nobody answers', () => {
    const lone = assistant([{ type: 'reasoning', text: '', opaque: REASONING }]);
    expect(encoder.elements(lone)).toEqual([]);
    expect(encoder.omissions?.(lone)).toEqual([{ block: 0, type: 'reasoning', why: 'unreadable' }]);
    const plain = assistant([
      { type: 'reasoning', text: 'Hm.', opaque: '{"id":"rs_2","type":"reasoning","summary":[]}' },
      { type: 'text', text: 'Yes.' },
    ]);
    expect(parsed(encoder.elements(plain))).toEqual([{ role: 'assistant', content: 'Yes.' }]);
    const shell = '{"type":"local_shell_call","call_id":"c1","id":"lsh_1"}';
    const asking = assistant([
      { type: 'text', text: 'First.' },
      { type: 'reasoning', text: '', opaque: REASONING },
      { type: 'opaque', json: shell },
    ]);
    expect(parsed(encoder.elements(asking))).toEqual([{ role: 'assistant', content: 'First.' }]);
    expect(encoder.omissions?.(asking)).toEqual([
      { block: 1, type: 'reasoning', why: 'unreadable' },
      { block: 2, type: 'opaque', why: 'unanswered' },
    ]);
    const answered = assistant([
      { type: 'opaque', json: '{"type":"shell_call","call_id":"c1"}' },
      { type: 'opaque', json: '{"type":"shell_call_output","call_id":"c1"}' },
    ]);
    expect(encoder.elements(answered)).toHaveLength(2);
  });

  test('results, notes and messages are items of their own', () => {
    const results = [
      { id: 'a', name: 'f', text: '1', isError: false },
      { id: 'b', name: 'f', text: 'The call failed (x): y', isError: true },
    ];
    expect(parsed(encoder.elements({ kind: 'results', results }))).toEqual([
      { type: 'function_call_output', call_id: 'a', output: '1' },
      { type: 'function_call_output', call_id: 'b', output: 'The call failed (x): y' },
    ]);
    expect(parsed(encoder.elements({ kind: 'note', text: 'It came late.' }))).toEqual([
      { role: 'user', content: '[Note of the runtime] It came late.' },
    ]);
  });
});

describe('a request of the Chat Completions API', () => {
  const chat = chatEncoder('vllm');
  const chatBody = (params: JsonObject, more: Partial<AgentDefinition> = {}): JsonObject => {
    const { head, tail } = chat.frame(agentOf({ provider: 'vllm', name: 'qwen', params }, more));
    return JSON.parse(`${head}{"role":"user","content":"Hi."}${tail}`) as JsonObject;
  };

  test('holds only what every server takes', () => {
    expect(chatBody({ temperature: 0 })).toEqual({
      model: 'qwen',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      messages: [
        { role: 'system', content: 'Answer in one word.' },
        { role: 'user', content: 'Hi.' },
      ],
    });
    expect(chatBody({ stream: false }, { instructions: '' })).toEqual({
      model: 'qwen',
      stream: false,
      messages: [{ role: 'user', content: 'Hi.' }],
    });
  });

  test('gives each result its own message, directly after the calls', () => {
    const item = assistant([{ type: 'call', id: 'a', name: 'mail.read', args: '{}' }], foreign);
    expect(parsed(chat.elements(item))).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'mail__read', arguments: '{}' } }],
      },
    ]);
    const results = [{ id: 'a', name: 'mail.read', text: 'Nothing.', isError: false }];
    expect(parsed(chat.elements({ kind: 'results', results }))).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Nothing.' },
    ]);
  });

  test('names what it leaves out', () => {
    const item = assistant(
      [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'opaque', json: '{}' },
      ],
      foreign,
    );
    expect(chat.elements(item)).toEqual([]);
    expect(chat.omissions?.(item)).toMatchObject([{ why: 'foreign' }, { why: 'foreign' }]);
  });

  test.each([{ n: 2 }, { store: true }, { messages: [] }, { model: 'x' }])(
    'is never made with %j',
    (params) => {
      const server = chatServer({ name: 'vllm', baseUrl: 'http://127.0.0.1:1/v1' });
      expect(() => server.model('qwen', params)).toThrow(
        expect.objectContaining({ code: 'model-params-refused' }),
      );
    },
  );

  test.each(['openai', 'Bad Name', ''])('comes from no server called "%s"', (name) => {
    expect(() => chatServer({ name, baseUrl: 'http://127.0.0.1:1/v1' })).toThrow(
      expect.objectContaining({ code: 'provider-invalid' }),
    );
  });
});
