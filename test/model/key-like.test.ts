/** What looks like a key is taken out of what foreign code says, and ordinary words stay. */
import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { aiSdkModel } from '../../src/model/ai-sdk.ts';
import { withoutKeys } from '../../src/model/provider/key-like.ts';
import { sendTo } from './openai-stage.ts';
import { storyModel } from './scenario-ai-sdk.ts';

// Put together here, so that no scanner takes them for real ones.
const PART = 'Q2xhcmEgd2FzIGhlcmUgYW5kIGxlZnQ';
const KEYS = [
  `sk-${PART}`,
  `sk-ant-api03-${PART}`,
  `sk-proj-${PART}_a-b`,
  `gsk_${PART}`,
  `xai-${PART}`,
  `hf_${PART}`,
  `AIza${PART}12345`,
  `AKIA${PART.slice(0, 16).toUpperCase()}`,
  `eyJhbGciOiJI.${PART}.${PART}`,
];

const failing = (doStream: LanguageModelV4['doStream']): LanguageModelV4 => ({
  ...storyModel(() => ({})),
  doStream,
});

describe('keys', () => {
  test.each(KEYS)('%s', (key) => {
    for (const text of [
      key,
      `Incorrect API key provided: ${key}.`,
      `{"error":"${key}"}`,
      `?key=${key}&alt=sse`,
    ])
      expect(withoutKeys(text)).not.toContain(key.slice(4, 30));
  });

  test.each([
    ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [key]'],
    ['{"x-api-key":"0123456789abcdef"}', '{"x-api-key":"[key]"}'],
    ['{\\"api_key\\": \\"0123456789abcdef\\"}', '{\\"api_key\\": \\"[key]\\"}'],
    ['GET https://host/v1?key=abcdefgh&alt=sse', 'GET https://host/v1?key=[key]&alt=sse'],
    ['connect to https://ada:open-sesame@host/v1 failed', 'connect to https://[key]@host/v1 failed'],
    ['apiKey=abcdef123, retry', 'apiKey=[key], retry'],
  ])('where keys stand: %s', (text, masked) => {
    expect(withoutKeys(text)).toBe(masked);
  });

  test.each([
    'The provider answered 401: the API key is missing.',
    'task-oriented models and risk-averse desk-research-is-long-winded-here',
    'Set OPENAI_API_KEY, or pass apiKey to the model.',
    'max_tokens: 4096 is above the limit; tokens: 12',
    'https://docs.example/errors#api-key?topic=keys',
    'Basic plans have no access.',
  ])('ordinary words stay: %s', (text) => {
    expect(withoutKeys(text)).toBe(text);
  });
});

describe('models of the AI SDK', () => {
  const [key = ''] = KEYS;
  const refused = new APICallError({
    message: 'Unauthorized',
    url: 'http://story',
    requestBodyValues: { apiKey: key },
    statusCode: 401,
    responseHeaders: {},
    responseBody: JSON.stringify({ error: { type: 'authentication_error', message: `Bad key ${key}` } }),
  });

  test.each([
    ['throws', () => Promise.reject(new Error(`no route with ${key}`))],
    ['is refused', () => Promise.reject(refused)],
    [
      'says so in its stream',
      () =>
        Promise.resolve({
          stream: ReadableStream.from([{ type: 'error', error: new Error(`broken: ${key}`) } as const]),
        }),
    ],
  ])('one that %s with its key in the words', async (_, doStream) => {
    const { reply } = await sendTo(aiSdkModel(failing(doStream)));
    expect(reply.kind).toBe('failed');
    const bytes = Buffer.from(reply.bytes?.bytes ?? []).toString('utf8');
    expect(JSON.stringify({ ...reply, bytes })).not.toContain(key);
    expect(JSON.stringify(reply)).toContain('[key]');
  });
});
