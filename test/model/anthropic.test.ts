/** Requests and replies of the Anthropic Messages API, where the recordings have no case. */
import { assert, array, constantFrom, integer, json as anyJson, property, record, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PromptBlock } from '../../src/context/encoding.ts';
import type { JsonObject } from '../../src/event/json.ts';
import { blockOf, wireBlock } from '../../src/model/anthropic-block.ts';
import { anthropicEncoder } from '../../src/model/anthropic-encoder.ts';
import { MessageStream, type Message } from '../../src/model/anthropic-reply.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { tool } from '../../src/tool/tool.ts';
import { agentOf, promptBlocks } from './openai-stage.ts';

const TOOLS = [{ name: 'mail.read' }];

const streamed = (...events: readonly unknown[]): Message => {
  const stream = new MessageStream(TOOLS, () => undefined);
  for (const event of events) stream.push(typeof event === 'string' ? event : JSON.stringify(event));
  return stream.message();
};

const start = { type: 'message_start', message: { id: 'msg', usage: { input_tokens: 5, output_tokens: 1 } } };
const block = (index: number, content_block: unknown, ...deltas: readonly unknown[]): readonly unknown[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const stop = (reason: unknown): unknown => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage: { output_tokens: 9 },
});

/** What goes back of a message, as its exact text. */
const back = (message: Message): readonly string[] =>
  promptBlocks(message.content).flatMap((one) => wireBlock(one, true) ?? []);

/** Every number as it is written, escapes aside. */
const digits = (text: string): readonly string[] =>
  text.replaceAll(/\\u[0-9a-f]{4}/g, '').match(/\d[\d.e]*/g) ?? [];

describe('blocks that only the provider understands', () => {
  const raws = [
    '{"type":"redacted_thinking","data":"EmwKAhgB+/=="}',
    '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"n":12345678901234567890,"x":1.50},"caller":{"type":"direct"}}',
    '{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"encrypted_content":"A\\u00e9\\/B","page_age":null}]}',
    '{"type":"compaction","content":null,"encrypted_content":"xyz"}',
    '{ "type" : "from_the_future" , "z":1, "a":[1e400] }',
    '{"type":"thinking","thinking":"Hm \\u2028","signature":"c2ln","extra":{"k":1.0}}',
    '{"type":"thinking","thinking":"","signature":"{not base64"}',
    '{"type":"text","text":"See \\u00e9","citations":[{"type":"x","n":1.0}]}',
    '{"type":"tool_use","id":"toolu_1","name":"mail__read","input":{"n":12345678901234567890},"caller":{"type":"x"}}',
  ];

  test.each(raws)('%s goes back with the same meaning and the same digits', (raw) => {
    const [one = ''] = back({ stop: 'end', content: [blockOf(raw, TOOLS)] });
    expect(JSON.parse(one)).toEqual(JSON.parse(raw));
    expect(digits(one)).toEqual(digits(raw));
  });

  test.each(raws.slice(0, 5))('%s goes back byte for byte', (raw) => {
    expect(back({ stop: 'end', content: [blockOf(raw, TOOLS)] })).toEqual([raw]);
  });

  test('blocks that came in deltas are what they would have been in one piece', () => {
    const message = streamed(
      start,
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'A' },
        { type: 'thinking_delta', thinking: 'B' },
        { type: 'signature_delta', signature: 'c2ln' },
      ),
      ...block(
        1,
        { type: 'server_tool_use', id: 's', name: 'w', input: {} },
        { type: 'input_json_delta', partial_json: '{"n":123456789' },
        { type: 'input_json_delta', partial_json: '01234567890}' },
      ),
      ...block(
        2,
        { type: 'text', text: '', citations: [] },
        { type: 'text_delta', text: 'Yes' },
        { type: 'citations_delta', citation: { n: 1 } },
        { type: 'citations_delta', citation: { n: 2 } },
      ),
      ...block(3, { type: 'compaction', content: null }, { type: 'compaction_delta', content: 'So far.' }),
      ...block(
        4,
        { type: 'tool_use', id: 'c', name: 'mail__read', input: {} },
        { type: 'input_json_delta', partial_json: '' },
      ),
      ...block(
        5,
        { type: 'later', body: 'a' },
        { type: 'later_delta', body: 'b' },
        { type: 'later_delta', list: [1], flag: true },
      ),
      stop('tool_use'),
      { type: 'message_stop' },
    );
    expect(back(message)).toEqual([
      '{"type":"thinking","thinking":"AB","signature":"c2ln"}',
      '{"type":"server_tool_use","id":"s","name":"w","input":{"n":12345678901234567890}}',
      '{"type":"text","text":"Yes","citations":[{"n":1},{"n":2}]}',
      '{"type":"compaction","content":"So far."}',
      '{"type":"tool_use","id":"c","name":"mail__read","input":{}}',
      '{"type":"later","body":"ab","list":[1],"flag":true}',
    ]);
    expect(message).toMatchObject({
      stop: 'calls',
      usage: { input: 5, output: 9, cacheRead: 0, cacheWrite: 0 },
    });
  });

  test('any object of a block survives the way back', () => {
    const members = record({
      type: constantFrom('text', 'thinking', 'tool_use', 'other'),
      text: string(),
      thinking: string(),
      signature: string(),
      id: string(),
      name: constantFrom('a', 'b_c'),
      more: anyJson(),
    });
    assert(
      property(members, ({ more, ...given }) => {
        const raw = `${JSON.stringify({ ...given, input: {} }).slice(0, -1)},"more":${more}}`;
        expect(
          back({ stop: 'end', content: [blockOf(raw, [])] }).map((one) => JSON.parse(one) as unknown),
        ).toEqual(given.type === 'text' && given.text.trim() === '' ? [] : [JSON.parse(raw)]);
      }),
    );
  });
});

describe('a stream', () => {
  test('that an output limit cut keeps the arguments as far as they came', () => {
    const message = streamed(
      start,
      ...block(
        0,
        { type: 'tool_use', id: 'c', name: 'mail__read', input: {} },
        { type: 'input_json_delta', partial_json: '{"n":[1,' },
      ),
      stop('max_tokens'),
    );
    expect(message).toMatchObject({
      stop: 'length',
      content: [{ type: 'call', name: 'mail.read', args: '{"n":[1,' }],
    });
  });

  test('that starts anew is the last message that began', () => {
    const message = streamed(
      start,
      ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'First' }),
      { ...start, message: { id: 'second', usage: { input_tokens: 7, output_tokens: 1 } } },
      ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Second' }),
      stop('end_turn'),
    );
    expect(message).toMatchObject({
      responseId: 'second',
      content: [{ text: 'Second' }],
      usage: { input: 7 },
    });
  });

  test('passes over events and deltas for blocks that it does not know', () => {
    const message = streamed(
      start,
      { type: 'from_the_future' },
      { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'x' } },
      stop('end_turn'),
    );
    expect(message).toMatchObject({ stop: 'end', content: [] });
  });

  test('reads any order of its events without throwing', () => {
    const event = record({
      type: constantFrom(
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
        'ping',
      ),
      index: integer({ min: -1, max: 3 }),
      message: constantFrom(undefined, {}, start.message),
      content_block: constantFrom(
        undefined,
        null,
        {},
        { type: 'text', text: 'a' },
        { type: 'tool_use', input: {} },
        { type: 'thinking' },
      ),
      delta: constantFrom(
        undefined,
        null,
        {},
        { type: 'text_delta', text: 'b' },
        { type: 'input_json_delta', partial_json: '{' },
        { type: 'citations_delta', citation: 1 },
        { type: 'signature_delta', signature: 's' },
        { stop_reason: 'end_turn' },
      ),
    });
    assert(property(array(event), (events) => void back(streamed(...events))));
  });
});

describe('a request', () => {
  const encoder = anthropicEncoder('anthropic');
  const frame = (params: JsonObject, more: Parameters<typeof agentOf>[1] = {}): JsonObject => {
    const { head, tail } = encoder.frame(agentOf({ provider: 'anthropic', name: 'claude', params }, more));
    return JSON.parse(head + tail) as JsonObject;
  };
  const aTool = { name: 'mail.read', description: 'Reads.', inputSchema: { type: 'object' } } as never;

  test('marks the instructions for the cache and lets the API mark the end of the conversation', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(frame({}, { tools: [aTool] })).toEqual({
      model: 'claude',
      max_tokens: 32_000,
      stream: true,
      ...mark,
      system: [{ type: 'text', text: 'Answer in one word.', ...mark }],
      tools: [{ name: 'mail__read', description: 'Reads.', input_schema: { type: 'object' } }],
      messages: [],
    });
    expect(frame({}, { instructions: '', tools: [aTool] })).toMatchObject({
      tools: [{ ...mark, name: 'mail__read' }],
    });
    expect(JSON.stringify(frame({ cache_control: null }, { tools: [aTool] }))).not.toContain('cache_control');
    const hour = { type: 'ephemeral', ttl: '1h' };
    expect(frame({ cache_control: hour })).toMatchObject({
      cache_control: hour,
      system: [{ cache_control: hour }],
    });
  });

  test('passes parameters on, adds server tools, and sends betas as a header only', () => {
    const server = { type: 'web_search_20260318', name: 'web_search' };
    const made = frame(
      { max_tokens: 9, thinking: { type: 'adaptive' }, tools: [server], betas: ['x-2026'] },
      { tools: [aTool] },
    );
    expect(made).toMatchObject({
      max_tokens: 9,
      thinking: { type: 'adaptive' },
      tools: [server, { name: 'mail__read' }],
    });
    expect(made).not.toHaveProperty('betas');
  });

  test('only grows: what stood in it never changes', () => {
    const item = {
      kind: 'results',
      results: [{ id: 'a', name: 'mail.read', text: '', isError: true }],
    } as const;
    expect(encoder.elements(item)).toEqual([
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true}]}',
    ]);
    expect(encoder.elements({ kind: 'user', text: ' \n' })[0]).toContain('(empty message)');
    expect(encoder.elements({ kind: 'note', text: 'It landed.' })[0]).toContain('"role":"user"');
  });

  test('leaves out what another provider alone understands, and says so', () => {
    const blocks: readonly PromptBlock[] = [
      { type: 'reasoning', text: 'Hm.', opaque: 'theirs' },
      { type: 'opaque', json: '{"type":"reasoning","encrypted_content":"x"}' },
      { type: 'text', text: 'Yes.', opaque: '{"phase":"final"}' },
      { type: 'text', text: '  ' },
      { type: 'call', id: 'c', name: 'mail.read', args: '{"n":12345678901234567890}', opaque: '{"id":null}' },
    ];
    const item = { kind: 'assistant', blocks, by: { provider: 'openai', name: 'gpt' } } as const;
    expect(encoder.elements(item)).toEqual([
      '{"role":"assistant","content":[{"type":"text","text":"Yes."},{"type":"tool_use","id":"c","name":"mail__read","input":{"n":12345678901234567890}}]}',
    ]);
    expect(encoder.omissions?.(item)).toEqual([
      { block: 0, type: 'reasoning', why: 'foreign' },
      { block: 1, type: 'opaque', why: 'foreign' },
      { block: 3, type: 'text', why: 'blank' },
    ]);
    expect(encoder.elements({ ...item, blocks: blocks.slice(0, 2) })).toEqual([]);
  });
});

const named = (name: string): ReturnType<typeof tool> =>
  tool({ name, description: 'x', inputSchema: { type: 'object' }, effect: 'none', execute: () => '' });

const define = (...names: readonly string[]): unknown =>
  defineAgent({ name: 'a', instructions: 'x', model: 'anthropic/claude', tools: names.map(named) });

describe('what cannot be', () => {
  test.each([
    { messages: [] },
    { model: 'x' },
    { system: 'x' },
    { thread: { type: 'create' } },
    { betas: 'x' },
    { tools: {} },
  ])('the parameters %j are refused when the model is named', (params) => {
    expect(() => anthropic().model('claude', params as JsonObject)).toThrow('is not possible');
  });

  test('two tools that the model could not tell apart', () => {
    expect(() => define('a.b', 'a__b')).toThrow('cannot tell the tools "a.b" and "a__b" apart');
    expect(() => define('a.b', 'a_b')).not.toThrow();
  });

  test('a model that nobody knows', () => {
    for (const name of ['acme/large', 'claude', '/x', 'anthropic/', ''])
      expect(() => defineAgent({ name: 'a', instructions: 'x', model: name })).toThrow(
        /There is no model|must be a model/,
      );
    expect(
      defineAgent({ name: 'a', instructions: 'x', model: 'anthropic/claude-opus-5' }).definition.model,
    ).toEqual({
      provider: 'anthropic',
      name: 'claude-opus-5',
      params: {},
    });
  });
});
