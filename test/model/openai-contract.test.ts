/**
 * Both OpenAI adapters with the official SDK, over real sockets, against two mock servers that nobody here wrote:
 * @copilotkit/aimock streams, @dwmkerr/mock-llm answers any JSON (here with cache usage).
 */
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import { createServer } from '@dwmkerr/mock-llm/dist/server.js';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { chatServer } from '../../src/model/chat.ts';
import type { Model } from '../../src/model/model.ts';
import { openai } from '../../src/model/openai.ts';
import { answerOf, ask, dataOf, timesOf } from './openai-told.ts';

const KEY = 'sk-contract-5b1e77aa88bb99';
const key = { credential: 'CONTRACT_KEY', env: { CONTRACT_KEY: KEY } };

type Api = {
  readonly name: string;
  readonly path: string;
  readonly model: (baseUrl: string, params?: { readonly stream: false }) => Model;
};

const APIS: readonly Api[] = [
  {
    name: 'Responses',
    path: '/v1/responses',
    model: (baseUrl, params = {} as never) => openai({ baseUrl, ...key }).model('gpt-mock', params),
  },
  {
    name: 'Chat Completions',
    path: '/v1/chat/completions',
    model: (baseUrl, params = {} as never) =>
      chatServer({ name: 'vllm', baseUrl, ...key }).model('gpt-mock', params),
  },
];

describe.each(APIS)('aimock, $name', ({ model, path }) => {
  let mock: LLMock | undefined;
  afterEach(async () => mock?.stop());

  const serve = async (set: (server: LLMock) => void): Promise<Model> => {
    mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
    set(mock);
    await mock.start();
    return model(`${mock.url}/v1`);
  };

  const CALLS = {
    content: 'Both shelves.',
    reasoning: 'Two reads.',
    toolCalls: [
      { name: 'stock__read', arguments: '{"shelf":"A"}', id: 'call_a' },
      { name: 'stock__read', arguments: '{"shelf":"B"}', id: 'call_b' },
    ],
  };

  test('parallel calls go out, their results go back under their ids', async () => {
    const served = await serve((server) =>
      server
        .on({ hasToolResult: true, toolResultContains: '12 on' }, { content: 'There are 24.' })
        .on({ userMessage: 'stock' }, CALLS, { chunkSize: 3 }),
    );
    const told = await ask(served, 'Take stock.');
    expect(answerOf(told)).toBe('There are 24.');
    expect(dataOf(told, 'call.result')).toHaveLength(2);
    const calls = dataOf(told, 'response.received')[0]?.content.filter(({ type }) => type === 'call');
    expect(calls).toMatchObject([
      { label: 'call_a', name: 'stock.read', args: '{"shelf":"A"}' },
      { label: 'call_b', name: 'stock.read', args: '{"shelf":"B"}' },
    ]);
    const bodies = mock?.getRequests().map(({ body }) => JSON.stringify(body)) ?? [];
    expect(bodies).toHaveLength(2);
    for (const text of ['call_a', 'call_b', 'Both shelves.', '12 on {']) expect(bodies[1]).toContain(text);
    expect(mock?.getRequests().map((request) => request.path)).toEqual([path, path]);
    const pieces = told.deltas.filter(({ type }) => type === 'call-arguments');
    expect(pieces.length).toBeGreaterThan(4);
    expect(new Set(pieces.map((piece) => 'index' in piece && piece.index))).toEqual(new Set([0, 1]));
    expect(told.deltas.some(({ type }) => type === 'reasoning')).toBe(true);
  });

  test('text comes in deltas with the attempt, and is whole in the record', async () => {
    const text = 'A long answer that comes in many small pieces, one after the other.';
    const served = await serve((server) =>
      server.onMessage('tell', { content: text }, { chunkSize: 4, latency: 2 }),
    );
    const told = await ask(served, 'Now tell.');
    const deltas = told.deltas.filter(({ type }) => type === 'text');
    expect(deltas.length).toBeGreaterThan(8);
    expect(deltas.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(deltas.map((piece) => piece.text).join('')).toBe(text);
    expect(answerOf(told)).toBe(text);
  });

  test.each([
    { status: 429, code: 'rate_limit_exceeded', kind: 'rate-limited', wait: 1000 },
    { status: 503, code: 'server_is_overloaded', kind: 'overloaded', wait: undefined },
    { status: 500, code: 'server_error', kind: 'unavailable', wait: undefined },
  ])('a $status is tried again as the log says, and then answers', async ({ status, code, kind, wait }) => {
    const error = {
      error: { type: code, code, message: 'Not now.' },
      status,
      ...(wait !== undefined && { retryAfter: wait / 1000 }),
    };
    const served = await serve((server) =>
      server
        .on({ userMessage: 'try', sequenceIndex: 0 }, error)
        .on({ userMessage: 'try', sequenceIndex: 1 }, { content: 'Now.' }),
    );
    const told = await ask(served, 'Just try.');
    const [failed] = dataOf(told, 'request.failed');
    const [retry] = dataOf(told, 'request.retry');
    expect(failed).toMatchObject({ problem: { kind, status }, maybeBilled: false });
    expect(failed?.problem.retryAfterMs).toBe(wait);
    expect(failed?.raw?.bytes).toBeGreaterThan(0);
    expect(retry).toMatchObject({ attempt: 2, reason: kind });
    const [failedAt = 0] = timesOf(told, 'request.failed');
    expect((retry?.notBefore ?? 0) - failedAt).toBeGreaterThanOrEqual(wait ?? 0);
    expect(timesOf(told, 'response.received')[0]).toBeGreaterThanOrEqual(retry?.notBefore ?? Infinity);
    expect(answerOf(told)).toBe('Now.');
    expect(mock?.getRequests()).toHaveLength(2);
  });

  test('an empty balance is never tried again, although it comes as a 429', async () => {
    const error = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Out of credit.' };
    const served = await serve((server) =>
      server.on({ userMessage: 'pay' }, { error, status: 429, retryAfter: 1 }),
    );
    const told = await ask(served, 'Now pay.');
    expect(dataOf(told, 'request.failed')).toMatchObject([{ problem: { kind: 'no-balance', status: 429 } }]);
    expect(dataOf(told, 'request.retry')).toEqual([]);
    expect(dataOf(told, 'turn.ended')).toMatchObject([{ outcome: 'failed', reason: 'no-balance' }]);
    expect(mock?.getRequests()).toHaveLength(1);
  });

  test.each([
    { status: 401, code: 'invalid_api_key', kind: 'authentication' },
    { status: 400, code: 'context_length_exceeded', kind: 'context-overflow' },
    { status: 404, code: 'model_not_found', kind: 'bad-request' },
  ])('a $status ($code) ends the turn with one request', async ({ status, code, kind }) => {
    const error = { type: 'invalid_request_error', code, message: 'No.' };
    const served = await serve((server) => server.on({ userMessage: 'fail' }, { error, status }));
    const told = await ask(served, 'Now fail.');
    expect(dataOf(told, 'request.failed')).toMatchObject([{ problem: { kind, status }, maybeBilled: false }]);
    expect(dataOf(told, 'turn.ended')).toMatchObject([{ outcome: 'failed', reason: kind }]);
    expect(mock?.getRequests()).toHaveLength(1);
  });

  test('a stream that is cut is an interrupted attempt with what had come, and is tried again', async () => {
    const content = 'This is going to break off somewhere in its middle.';
    const served = await serve((server) =>
      server
        .addFixture({
          match: { userMessage: 'cut', sequenceIndex: 0 },
          response: { content },
          chunkSize: 5,
          latency: 10,
          truncateAfterChunks: 8,
        })
        .on({ userMessage: 'cut', sequenceIndex: 1 }, { content: 'Whole.' }),
    );
    const told = await ask(served, 'Be cut.');
    const [failed] = dataOf(told, 'request.failed');
    expect(failed).toMatchObject({ problem: { kind: 'interrupted' }, maybeBilled: true });
    expect(failed?.partial?.length).toBeGreaterThan(4);
    expect(content.startsWith(failed?.partial ?? 'nothing')).toBe(true);
    expect(failed?.raw?.bytes).toBeGreaterThan(100);
    const texts = told.deltas.filter(({ type }) => type === 'text');
    expect(new Set(texts.map(({ attempt }) => attempt))).toEqual(new Set([1, 2]));
    expect(answerOf(told)).toBe('Whole.');
  });

  test('the credential is sent, and stands in nothing that is kept or shown', async () => {
    const served = await serve((server) => server.onMessage('hello', { content: 'Hello.' }));
    const told = await ask(served, 'Say hello.');
    expect(mock?.getRequests()).toHaveLength(1);
    expect(told.everything).not.toContain(KEY);
  });
});

describe.each(APIS)('mock-llm, $name', ({ name, model, path }) => {
  // It announces itself and each request.
  beforeEach(() => {
    const quiet = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => quiet.mockRestore());
  });

  const serve = async (content: object | string, status: number = 200): Promise<Model> => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const rule = { path, match: '@', response: { status, content: text } };
    const app = createServer({ rules: [rule] } as never, '127.0.0.1', 0);
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return model(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, { stream: false });
  };

  const answers = name === 'Responses';
  const whole = (text: string, usage: object): object =>
    answers
      ? {
          id: 'resp_mock',
          object: 'response',
          status: 'completed',
          output: [
            {
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ],
          usage,
        }
      : {
          id: 'chatcmpl-mock',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
          usage,
        };
  const [input, output] = answers
    ? ['input_tokens', 'output_tokens']
    : ['prompt_tokens', 'completion_tokens'];

  test('cache counts are four classes that do not overlap', async () => {
    const usage = {
      [input]: 4321,
      [`${input}_details`]: { cached_tokens: 4000, cache_write_tokens: 300 },
      [output]: 5,
      total_tokens: 4326,
    };
    const told = await ask(await serve(whole('Counted.', usage)), 'Count.');
    expect(answerOf(told)).toBe('Counted.');
    expect(dataOf(told, 'response.received')[0]?.usage).toEqual({
      input: 21,
      cacheRead: 4000,
      cacheWrite: 300,
      output: 5,
    });
  });

  test('an error inside a 200 is an error', async () => {
    const error = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Out of credit.' };
    const told = await ask(await serve({ error }), 'Pay.');
    expect(dataOf(told, 'turn.ended')).toMatchObject([{ outcome: 'failed', reason: 'no-balance' }]);
    expect(dataOf(told, 'request.failed')).toHaveLength(1);
  });

  test('a server that repeats the credential puts it into no event, no blob and no output', async () => {
    const echo = JSON.stringify(whole('AUTH', {})).replace(
      'AUTH',
      'You sent {{jmes request headers.authorization}}.',
    );
    const told = await ask(await serve(echo), 'Repeat.');
    expect(answerOf(told)).toBe('You sent Bearer [secret CONTRACT_KEY].');
    expect(told.everything).not.toContain(KEY);
  });
});
