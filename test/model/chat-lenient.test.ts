/** What servers that speak Chat Completions are known to answer beside the standard, and what is made of it. */
import { describe, expect, test } from 'vitest';
import { chatEncoder } from '../../src/model/chat-encoder.ts';
import type { ModelReply } from '../../src/model/model.ts';
import {
  calls,
  content,
  delta,
  END,
  exchange,
  fn,
  piece,
  sse,
  stopOf,
  streamed,
  whole,
  type Chunk,
} from './chat-stage.ts';
import { json, promptBlocks, stream, type Sent } from './openai-stage.ts';

describe('calls in a stream are joined', () => {
  const TWO = [
    ['a', 'f', '{"x":1}'],
    ['b', 'g', '{"y":2}'],
  ];
  test.each<[string, readonly Chunk[], unknown]>([
    [
      'by index, as the standard says',
      [
        piece({ index: 0, id: 'a', function: fn('f', '') }),
        piece({ index: 1, id: 'b', function: fn('g', '') }),
        piece({ index: 0, function: fn(undefined, '{"x"') }),
        piece({ index: 1, function: fn(undefined, '{"y":2}') }),
        piece({ index: 0, function: fn(undefined, ':1}') }),
      ],
      TWO,
    ],
    [
      'by id where there is no index',
      [
        piece({ id: 'a', function: fn('f', '{"x"') }),
        piece({ id: 'a', function: fn(undefined, ':1}') }),
        piece({ id: 'b', function: fn('g', '{"y":2}') }),
      ],
      TWO,
    ],
    [
      'one after the other where there is neither',
      [
        piece({ function: fn('f', '{"x"') }),
        piece({ function: fn(undefined, ':1}') }),
        piece({ function: fn('g', '{"y":2}') }),
      ],
      [
        ['', 'f', '{"x":1}'],
        ['', 'g', '{"y":2}'],
      ],
    ],
    [
      'whole calls in one piece, all with index 0',
      [
        delta({
          tool_calls: [
            { index: 0, id: 'a', function: fn('f', '{"x":1}') },
            { index: 0, id: 'b', function: fn('g', '{"y":2}') },
          ],
        }),
      ],
      TWO,
    ],
    [
      'whole calls under one id',
      [piece({ id: 'a', function: fn('f', '{"x":1}') }), piece({ id: 'a', function: fn('g', '{"y":2}') })],
      [
        ['a', 'f', '{"x":1}'],
        ['a', 'g', '{"y":2}'],
      ],
    ],
    [
      'a new id and the name with every piece',
      [
        piece({ index: 0, id: 'a', function: fn('f', '{"x"') }),
        piece({ index: 0, id: 'a2', function: fn('f', ':1}') }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'the name once more with the last piece',
      [
        piece({ index: 0, id: 'a', function: fn('f', '{"x":1}') }),
        piece({ index: 0, id: 'a', function: fn('f', '') }),
        piece({ index: 0, function: fn('f', ' ') }),
      ],
      [['a', 'f', '{"x":1} ']],
    ],
    [
      'two calls without arguments',
      [piece({ function: fn('f', '') }), piece({ function: fn('f', '') })],
      [
        ['', 'f', ''],
        ['', 'f', ''],
      ],
    ],
    [
      'an empty object that stood in for what follows',
      [
        piece({ index: 0, id: 'a', function: fn('f', '{}') }),
        piece({ index: 0, function: fn(undefined, '{"x":1}') }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'an object for the arguments, with all its digits',
      [piece({ index: 0, id: 'a', function: { name: 'f', arguments: 'HERE' } })],
      [['a', 'f', '{"x": 12345678901234567890}']],
    ],
    [
      'null for everything that is not there',
      [piece({ index: null, id: null, function: { name: 'f', arguments: null } })],
      [['', 'f', '']],
    ],
    [
      'a function call of the time before tools',
      [
        delta({ function_call: { name: 'f', arguments: '{"x"' } }),
        delta({ function_call: { arguments: ':1}' } }),
      ],
      [['', 'f', '{"x":1}']],
    ],
  ])('%s', async (_, chunks, expected) => {
    const text = sse(...chunks, END, '[DONE]').replace('"HERE"', '{"x": 12345678901234567890}');
    const sent = await exchange((__, response) => stream(response, [text]));
    expect(calls(sent)).toEqual(expected);
    expect(stopOf(sent)).toBe('calls');
  });
});

describe('a whole message', () => {
  test('has calls without ids, with objects for arguments, and content null', async () => {
    const sent = await exchange((_, response) =>
      json(
        response,
        '{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"n": 9007199254740993}}},{"function":{"name":"f","arguments":{"n": 9007199254740993}}}]},"finish_reason":"stop"}]}',
      ),
    );
    expect(calls(sent)).toEqual([
      ['', 'f', '{"n": 9007199254740993}'],
      ['', 'f', '{"n": 9007199254740993}'],
    ]);
    expect(stopOf(sent)).toBe('calls');
  });

  test('comes although a stream was asked for, and an empty list of calls is none', async () => {
    const sent = await whole({ content: 'Yes.', tool_calls: [] });
    expect(content(sent)).toEqual([{ type: 'text', text: 'Yes.' }]);
    expect(stopOf(sent)).toBe('end');
    expect(sent.reply).toMatchObject({ responseId: 'c1' });
    expect(sent.reply).not.toHaveProperty('usage');
  });

  test('has content in parts, a thought among them', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Yes' },
      { type: 'text', text: '.' },
    ];
    expect(content(await whole({ content: parts }))).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ]);
  });
});

describe('why it stopped', () => {
  test.each([
    ['stop', 'Yes.', 'end'],
    ['STOP', 'Yes.', 'end'],
    ['eos', 'Yes.', 'end'],
    ['length', 'Ye', 'length'],
    ['max_tokens', 'Ye', 'length'],
    ['tool_calls', 'Yes.', 'end'],
    ['tool_calls', '', 'unknown: finish_reason "tool_calls" without a call'],
    ['content_filter', '', 'refusal: content_filter'],
    ['solar_flare', 'Yes.', 'unknown: finish_reason "solar_flare"'],
    ['error', 'Ye', 'bad-response'],
    ['insufficient_system_resource', 'Ye', 'overloaded'],
    ['abort', 'Ye', 'interrupted'],
  ])('%s after "%s"', async (reason, text, expected) => {
    expect(stopOf(await streamed(delta({ content: text }), delta({}, reason), '[DONE]'))).toBe(expected);
    expect(stopOf(await whole({ content: text }, reason))).toBe(expected);
  });

  test('a refusal is one whatever the reason says', async () => {
    const sent = await streamed(delta({ refusal: 'I will ' }), delta({ refusal: 'not.' }), delta({}, 'stop'));
    expect(stopOf(sent)).toBe('refusal: I will not.');
  });

  test('no reason before [DONE] is an unknown one; the bytes are kept', async () => {
    const { reply } = await streamed(delta({ content: 'Yes.' }), '[DONE]');
    expect(reply).toMatchObject({ kind: 'response', stop: 'unknown' });
    expect(reply.bytes?.bytes.length).toBeGreaterThan(50);
  });

  test('no reason and no [DONE] is an interrupted reply', async () => {
    const { reply } = await streamed(delta({ content: 'Yes' }), delta({ content: '.' }));
    expect(reply).toMatchObject({
      kind: 'failed',
      problem: { kind: 'interrupted' },
      partial: 'Yes.',
      maybeBilled: true,
    });
  });
});

const usageOf = async (usage: Chunk): Promise<ModelReply['usage']> =>
  (await streamed(delta({ content: 'Yes.' }, 'stop'), { choices: [], usage }, '[DONE]')).reply.usage;

describe('tokens', () => {
  test.each<[string, Chunk, readonly [number, number, number, number]]>([
    [
      'of the standard',
      { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } },
      [60, 0, 40, 7],
    ],
    [
      'of DeepSeek',
      { prompt_tokens: 100, completion_tokens: 7, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      [64, 0, 36, 7],
    ],
    ['of Moonshot', { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 50 }, [50, 0, 50, 7]],
    [
      'written to a cache',
      {
        prompt_tokens: 100,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 80 },
      },
      [10, 80, 10, 7],
    ],
    [
      'with reasoning beside the completion',
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 334,
        completion_tokens_details: { reasoning_tokens: 320 },
      },
      [0, 0, 12, 322],
    ],
    [
      'with reasoning inside the completion',
      {
        prompt_tokens: 12,
        completion_tokens: 322,
        total_tokens: 334,
        completion_tokens_details: { reasoning_tokens: 320 },
      },
      [0, 0, 12, 322],
    ],
    [
      'that make no sense',
      { prompt_tokens: 5, completion_tokens: -1, prompt_tokens_details: { cached_tokens: 60 } },
      [5, 0, 0, 0],
    ],
  ])('%s', async (_, usage, [cacheRead, cacheWrite, input, output]) => {
    expect(await usageOf(usage)).toEqual({ cacheRead, cacheWrite, input, output });
  });

  test('are those of the last report, and absent where there is none', async () => {
    const running = { prompt_tokens: 9, completion_tokens: 1 };
    const sent = await streamed(
      { ...delta({ content: 'Yes.' }), usage: running },
      { ...delta({}, 'stop'), usage: { ...running, completion_tokens: 3 } },
      '[DONE]',
    );
    expect(sent.reply.usage).toMatchObject({ input: 9, output: 3 });
    expect(
      (await streamed({ ...delta({ content: 'Yes.' }, 'stop'), usage: null })).reply.usage,
    ).toBeUndefined();
  });
});

const part = (entry: Chunk): Chunk => delta({ reasoning_details: [entry] });

describe('what a server said beside the standard goes back to it', () => {
  const by = { provider: 'vllm', name: 'stand-in' };
  const back = (sent: Sent, provider: string = by.provider): unknown =>
    chatEncoder(provider)
      .elements({ kind: 'assistant', blocks: promptBlocks(content(sent)), by })
      .map((element) => JSON.parse(element) as unknown)[0];

  test.each(['reasoning_content', 'reasoning'])('its reasoning, under %s', async (member) => {
    const sent = await streamed(
      delta({ [member]: 'Let me ' }),
      delta({ [member]: 'see.' }),
      delta({ content: 'Yes.' }, 'stop'),
    );
    expect(back(sent)).toEqual({ role: 'assistant', content: 'Yes.', [member]: 'Let me see.' });
    expect(back(sent, 'another')).toEqual({ role: 'assistant', content: 'Yes.' });
    expect(sent.deltas.map(({ type, text }) => [type, text])).toEqual([
      ['reasoning', 'Let me '],
      ['reasoning', 'see.'],
      ['text', 'Yes.'],
    ]);
  });

  test('the signature of a call, as it was written', async () => {
    const extra_content = { google: { thought_signature: 'c2lnbmF0dXJl' } };
    const sent = await streamed(piece({ index: 0, id: 'a', function: fn('f', '{}'), extra_content }), END);
    expect(back(sent)).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content }],
    });
    expect(JSON.stringify(back(sent, 'another'))).not.toContain('thought_signature');
  });

  test('reasoning in entries, each put together from its pieces', async () => {
    const sent = await streamed(
      part({ type: 'reasoning.text', index: 0, text: 'Let me ', signature: null }),
      part({ type: 'reasoning.text', index: 0, text: 'see.' }),
      part({ type: 'reasoning.text', index: 0, signature: 'c2ln' }),
      part({ type: 'reasoning.encrypted', index: 1, data: 'AAAA' }),
      part({ type: 'reasoning.encrypted', index: 1, data: 'BBBB' }),
      delta({ content: 'Yes.' }, 'stop'),
    );
    expect(back(sent)).toMatchObject({
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'Let me see.', signature: 'c2ln' },
        { type: 'reasoning.encrypted', index: 1, data: 'AAAA' },
        { type: 'reasoning.encrypted', index: 1, data: 'BBBB' },
      ],
    });
  });
});
