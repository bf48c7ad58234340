/** Promise: an error inside a status of 200 is the error it names, whoever wraps it, whole or streamed; counts are totals. */
import { describe, expect, test } from 'vitest';
import { anthropic } from '../../src/model/anthropic.ts';
import { chatServer } from '../../src/model/chat.ts';
import type { Model } from '../../src/model/model.ts';
import { standIn, sendTo } from './openai-stage.ts';
import { anthropicEvents, anthropicSse } from './scenario-anthropic.ts';

const claude = (url: string): Model =>
  anthropic({ baseUrl: url, credential: 'K', env: { K: 'sk-ant-0000000000' } }).model('m');
const MODELS: readonly (readonly [string, (url: string) => Model])[] = [
  ['chat server', (url) => chatServer({ name: 'gateway', baseUrl: url }).model('m')],
  ['Anthropic', claude],
];

const problemOf = async (make: (url: string) => Model, body: string, streamed: boolean): Promise<unknown> => {
  const { url } = await standIn((_, response) => {
    response.writeHead(200, { 'content-type': streamed ? 'text/event-stream' : 'application/json' });
    response.end(streamed ? `data: ${body}\n\n` : body);
  });
  const { reply } = await sendTo(make(url));
  return reply.kind === 'failed' ? reply.problem.kind : reply;
};

describe.each(MODELS)('%s', (_, make) => {
  test.each([
    ['{"error":{"code":429,"message":"upstream rate limit"}}', 'rate-limited'],
    ['{"error":{"code":"503","message":"upstream is down"}}', 'overloaded'],
    ['{"error":{"status":502,"message":"bad gateway"}}', 'unavailable'],
    ['{"error":{"code":401,"message":"no"}}', 'authentication'],
    ['{"error":{"code":400,"message":"bad"}}', 'bad-request'],
    ['{"error":{"code":400,"message":"prompt is too long"}}', 'context-overflow'],
    ['{"error":{"type":"overloaded_error","message":"busy"}}', 'overloaded'],
    ['{"error":"upstream connect error"}', 'bad-response'],
  ])('%s is %s', async (body, kind) => {
    expect(await problemOf(make, body, false)).toBe(kind);
    expect(await problemOf(make, body, true)).toBe(kind);
  });
});

test.each([
  ['all of them again', { input_tokens: 27, cache_read_input_tokens: 1000, output_tokens: 47 }],
  ['the output alone', { output_tokens: 47 }],
  ['null for the others', { input_tokens: null, cache_read_input_tokens: null, output_tokens: 47 }],
])('usage at the end of a stream, %s: totals, never sums', async (_, usage) => {
  const events = anthropicEvents({
    text: 'hi',
    usage: { input: 27, cacheRead: 1000, cacheWrite: 0, output: 1 },
  });
  const last = events.map((event) => (event.type === 'message_delta' ? { ...event, usage } : event));
  const { url } = await standIn((__, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(anthropicSse(last));
  });
  const { reply } = await sendTo(claude(url));
  expect(reply).toMatchObject({ usage: { input: 27, cacheRead: 1000, cacheWrite: 0, output: 47 } });
});
