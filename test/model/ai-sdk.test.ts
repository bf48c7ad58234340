/** Models of the AI SDK: exact options on record, metadata that makes the round trip, failures as values. */
import {
  APICallError,
  LoadAPIKeyError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { aiSdkEncoder } from '../../src/model/ai-sdk-encoder.ts';
import { aiSdkModel } from '../../src/model/ai-sdk.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { agentOf, promptBlocks, sendTo } from './openai-stage.ts';

const usage = {
  inputTokens: { total: 111, noCache: 1, cacheRead: 100, cacheWrite: 10 },
  outputTokens: { total: 9, text: 5, reasoning: 4 },
};
const finish = (
  unified: 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'interrupted' | 'other',
  raw?: string,
): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage,
});

const ANSWER: readonly LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'resp_1', timestamp: new Date(0), modelId: 'm' },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
  { type: 'reasoning-delta', id: 'r', delta: '.', providerMetadata: { acme: { signature: 'abc' } } },
  { type: 'reasoning-end', id: 'r' },
  { type: 'tool-call', toolCallId: 's', toolName: 'web', input: '{"q":1}', providerExecuted: true },
  {
    type: 'tool-result',
    toolCallId: 's',
    toolName: 'web',
    result: { hits: 2 },
    providerMetadata: { acme: { k: 1 } },
  },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Yes' },
  { type: 'text-delta', id: 't', delta: '.' },
  { type: 'text-end', id: 't', providerMetadata: { acme: { item: 'i' } } },
  { type: 'tool-input-start', id: 'c', toolName: 'mail__read' },
  { type: 'tool-input-delta', id: 'c', delta: '{"n":12345678901234567890}' },
  { type: 'tool-input-end', id: 'c' },
  {
    type: 'tool-call',
    toolCallId: 'c',
    toolName: 'mail__read',
    input: '{"n":12345678901234567890}',
    providerMetadata: { acme: { ns: 'x' } },
  },
  finish('tool-calls', 'tool_use'),
];

const streaming = (
  parts: readonly LanguageModelV4StreamPart[],
  asked: LanguageModelV4CallOptions[] = [],
): LanguageModelV4 =>
  new MockLanguageModelV4({
    provider: 'acme',
    modelId: 'large',
    doStream: async (options) => {
      asked.push(options);
      return {
        stream: simulateReadableStream({ chunks: [...parts], chunkDelayInMs: null, initialDelayInMs: null }),
      };
    },
  });

const tools = [{ name: 'mail.read' }] as never;

describe('a reply of an AI SDK model', () => {
  test('is read with what the provider wants back, and goes back so', async () => {
    const model = aiSdkModel(streaming(ANSWER));
    const { reply, deltas } = await sendTo(model, {
      body: '{"prompt":[]}',
      agent: agentOf(model.definition, { tools }),
    });
    expect(reply).toMatchObject({
      kind: 'response',
      stop: 'calls',
      responseId: 'resp_1',
      usage: { input: 1, cacheRead: 100, cacheWrite: 10, output: 9 },
      content: [
        { type: 'reasoning', text: 'Hm.', opaque: '{"acme":{"signature":"abc"}}' },
        { type: 'opaque' },
        { type: 'opaque' },
        { type: 'text', text: 'Yes.', opaque: '{"acme":{"item":"i"}}' },
        { type: 'call', label: 'c', name: 'mail.read', args: '{"n":12345678901234567890}' },
      ],
    });
    expect(deltas.map(({ text }) => text)).toEqual(['Hm', '.', 'Yes', '.', '{"n":12345678901234567890}']);
    expect(
      Buffer.from(reply.bytes?.bytes ?? [])
        .toString()
        .split('\n'),
    ).toHaveLength(ANSWER.length + 1);
    const blocks = promptBlocks(reply.kind === 'response' ? reply.content : []);
    const by = { provider: 'ai-sdk/acme', name: 'large' };
    const [element = ''] = aiSdkEncoder('ai-sdk/acme').elements({ kind: 'assistant', blocks, by });
    expect(element).toContain('"input":{"n":12345678901234567890},"providerOptions":{"acme":{"ns":"x"}}');
    expect(JSON.parse(element)).toMatchObject({
      content: [
        { type: 'reasoning', providerOptions: { acme: { signature: 'abc' } } },
        { type: 'tool-call', input: { q: 1 }, providerExecuted: true },
        {
          type: 'tool-result',
          output: { type: 'json', value: { hits: 2 } },
          providerOptions: { acme: { k: 1 } },
        },
        { type: 'text', text: 'Yes.', providerOptions: { acme: { item: 'i' } } },
        { type: 'tool-call', toolName: 'mail__read' },
      ],
    });
    const foreign = aiSdkEncoder('ai-sdk/other');
    expect(JSON.parse(foreign.elements({ kind: 'assistant', blocks, by })[0] ?? '')).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'Yes.' },
        // eslint-disable-next-line no-loss-of-precision -- as JSON.parse reads it
        { type: 'tool-call', toolCallId: 'c', toolName: 'mail__read', input: { n: 12345678901234567890 } },
      ],
    });
    expect(foreign.omissions?.({ kind: 'assistant', blocks, by })).toEqual([
      { block: 0, type: 'reasoning', why: 'foreign' },
      { block: 1, type: 'opaque', why: 'foreign' },
      { block: 2, type: 'opaque', why: 'foreign' },
    ]);
  });

  test('numbers reach the code of the model with their digits', async () => {
    const asked: LanguageModelV4CallOptions[] = [];
    const body =
      '{"maxOutputTokens":5,"prompt":[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{"n":12345678901234567890,"x":1.50,"y":7}}]}]}';
    await sendTo(aiSdkModel(streaming(ANSWER, asked)), { body });
    expect(asked[0]?.maxOutputTokens).toBe(5);
    expect(JSON.stringify(asked[0]?.prompt)).toContain('{"n":12345678901234567890,"x":1.50,"y":7}');
  });

  test.each([
    ['stop', undefined, { kind: 'response', stop: 'end' }],
    ['length', 'max_tokens', { kind: 'response', stop: 'length' }],
    ['content-filter', 'refusal', { kind: 'response', stop: 'refusal' }],
    ['other', 'pause_turn', { kind: 'response', stop: 'paused' }],
    ['other', 'solar_flare', { kind: 'response', stop: 'unknown', stopDetail: 'solar_flare' }],
    ['interrupted', undefined, { kind: 'failed', problem: { kind: 'interrupted' }, maybeBilled: true }],
    ['error', 'x', { kind: 'failed', problem: { kind: 'bad-response' }, maybeBilled: true }],
  ] as const)('that ends with %s (%s) says what happens next', async (unified, raw, expected) => {
    const { reply } = await sendTo(aiSdkModel(streaming([...ANSWER.slice(0, -1), finish(unified, raw)])), {
      body: '{}',
    });
    expect(reply).toMatchObject(expected);
  });

  test('that ends without a finish part is interrupted, with what had come', async () => {
    const { reply } = await sendTo(aiSdkModel(streaming(ANSWER.slice(0, -1))), { body: '{}' });
    expect(reply).toMatchObject({
      kind: 'failed',
      partial: 'Yes.',
      problem: { kind: 'interrupted' },
      maybeBilled: true,
    });
    expect(reply.bytes?.bytes.length).toBeGreaterThan(100);
  });

  test('that falls silent is given up', async () => {
    const silent = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start: (at) => at.enqueue({ type: 'text-delta', id: 't', delta: 'So' }),
        }),
      }),
    });
    const { reply } = await sendTo(aiSdkModel(silent, { idleMs: 40 }), { body: '{}' });
    expect(reply).toMatchObject({ kind: 'failed', partial: 'So', problem: { kind: 'interrupted' } });
  });

  test('that is cancelled says so, and the model is told', async () => {
    const cancel = new AbortController();
    let told = false;
    const slow = new MockLanguageModelV4({
      doStream: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => {
            told = true;
            reject(new Error('aborted'));
          });
          cancel.abort();
        }),
    });
    const { reply } = await sendTo(aiSdkModel(slow), { body: '{}', signal: cancel.signal });
    expect(reply).toMatchObject({ kind: 'failed', problem: { kind: 'cancelled' }, maybeBilled: true });
    expect(told).toBe(true);
  });
});

const called = (statusCode: number | undefined, more: object = {}): APICallError =>
  new APICallError({
    message: 'No.',
    url: 'https://acme.test',
    requestBodyValues: { secret: 'in the body' },
    ...(statusCode !== undefined && { statusCode }),
    ...more,
  });

describe('what an AI SDK model throws', () => {
  test.each([
    [
      called(429, {
        responseHeaders: { 'retry-after': '3' },
        responseBody: '{"error":{"type":"rate_limit_error"}}',
      }),
      { kind: 'rate-limited', retryAfterMs: 3000 },
    ],
    [called(429, { responseBody: '{"error":{"code":"insufficient_quota"}}' }), { kind: 'no-balance' }],
    [called(529, { responseBody: '{"error":{"type":"overloaded_error"}}' }), { kind: 'overloaded' }],
    [called(401), { kind: 'authentication' }],
    [called(undefined, { isRetryable: true }), { kind: 'unavailable' }],
    [new LoadAPIKeyError({ message: 'ACME_KEY is missing.' }), { kind: 'authentication' }],
    [new TypeError('terminated'), { kind: 'interrupted' }],
    [new Error('What?'), { kind: 'bad-response' }],
    ['just words', { kind: 'bad-response' }],
    [undefined, { kind: 'bad-response' }],
  ])('%s is a value', async (thrown, problem) => {
    for (const asPart of [false, true]) {
      const model = new MockLanguageModelV4({
        doStream: async () => {
          if (!asPart) throw thrown;
          return {
            stream: ReadableStream.from<LanguageModelV4StreamPart>([{ type: 'error', error: thrown }]),
          };
        },
      });
      const { reply } = await sendTo(aiSdkModel(model), { body: '{}' });
      expect(reply).toMatchObject({ kind: 'failed', problem });
      expect(JSON.stringify(reply)).not.toContain('in the body');
    }
  });

  test('a model of another specification is refused where the agent is defined', () => {
    const old = { ...streaming([]), specificationVersion: 'v2', doStream: () => Promise.reject(new Error()) };
    expect(() => defineAgent({ name: 'a', instructions: '', model: old as never })).toThrow(
      'specification "v4" but "v2"',
    );
    const given = defineAgent({ name: 'a', instructions: '', model: streaming([]) });
    expect(given.definition.model).toEqual({ provider: 'ai-sdk/acme', name: 'large', params: {} });
    expect(() => aiSdkModel(streaming([]), { params: { headers: { authorization: 'x' } } })).toThrow(
      'credential on record',
    );
    expect(scriptedModel({ name: 's', steps: [] }).definition.provider).toBe('scripted');
  });
});
