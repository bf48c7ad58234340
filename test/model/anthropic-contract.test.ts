/**
 * The Anthropic adapter with the official SDK, over real sockets, against two mock servers that nobody here wrote:
 * @copilotkit/aimock streams, @dwmkerr/mock-llm answers any JSON (here with cache usage).
 */
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import { createServer } from '@dwmkerr/mock-llm/dist/server.js';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { EventData, EventType, LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import type { Model } from '../../src/model/model.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import type { StreamDelta } from '../../src/worker/jobs.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

const KEY = 'sk-ant-contract-77aa88bb99';

const modelAt = (baseUrl: string): Model =>
  anthropic({ baseUrl, credential: 'CONTRACT_KEY', env: { CONTRACT_KEY: KEY } }).model('claude-mock');

type Told = {
  readonly events: readonly LogEvent[];
  readonly deltas: readonly StreamDelta[];
  readonly everything: string;
};

/** One message to an agent that can read shelves, to the end of its turn. */
const ask = async (model: Model, message: string): Promise<Told> => {
  const shelf = { type: 'string' } as const;
  const agent = defineAgent({
    name: 'keeper',
    instructions: 'Keep the ledger.',
    model,
    tools: [
      tool({
        name: 'stock.read',
        description: 'Reads a shelf.',
        inputSchema: { type: 'object', properties: { shelf }, required: ['shelf'] },
        effect: 'none',
        execute: (input) => `12 on ${JSON.stringify(input)}`,
      }),
    ],
  });
  const store = new MemoryLog();
  const said: unknown[] = [];
  const log = {
    info: (...words: unknown[]) => void said.push(words),
    warn: (...words: unknown[]) => void said.push(words),
  };
  const runtime = await openRuntime({ store, agents: [agent], log });
  onTestFinished(() => runtime.close());
  const { session } = await runtime.send({ agent: 'keeper', message });
  const deltas: StreamDelta[] = [];
  runtime.watch(session, (delta) => deltas.push(delta));
  await runtime.rest(session);
  const events = (await store.read(session)).map(open);
  const digests = [...JSON.stringify(events).matchAll(/"(?:digest|head|tail)":"([0-9a-f]{64})"/g)];
  const blobs = await Promise.all(digests.map(async ([, digest]) => store.blob(digest as never)));
  const bytes = blobs.map((blob) => Buffer.from(blob ?? []).toString('latin1'));
  return { events, deltas, everything: JSON.stringify([events, deltas, said, bytes]) };
};

const all = <T extends EventType>({ events }: Told, type: T): readonly (EventData[T] & { at: number })[] =>
  events.filter((event) => event.type === type).map(({ data, at }) => ({ ...(data as EventData[T]), at }));

const answerOf = (told: Told): string =>
  (all(told, 'response.received').at(-1)?.content ?? [])
    .map((block) => ('text' in block ? block.text : ''))
    .join('');

describe('aimock', () => {
  let mock: LLMock | undefined;
  afterEach(async () => mock?.stop());

  const serve = async (set: (server: LLMock) => void): Promise<Model> => {
    mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
    set(mock);
    await mock.start();
    return modelAt(mock.url);
  };

  const CALLS = {
    content: 'Both shelves.',
    reasoning: 'Two reads.',
    toolCalls: [
      { name: 'stock__read', arguments: '{"shelf":"A"}', id: 'toolu_a' },
      { name: 'stock__read', arguments: '{"shelf":"B"}', id: 'toolu_b' },
    ],
  };

  test('parallel calls go out, their results go back under their ids, in one message', async () => {
    const model = await serve((server) =>
      server
        .on({ hasToolResult: true, toolResultContains: '12 on' }, { content: 'There are 24.' })
        .on({ userMessage: 'stock' }, CALLS, { chunkSize: 3 }),
    );
    const told = await ask(model, 'Take stock.');
    expect(answerOf(told)).toBe('There are 24.');
    expect(all(told, 'call.result')).toHaveLength(2);
    const [first] = all(told, 'response.received');
    expect(first?.content.map(({ type }) => type)).toEqual(['reasoning', 'text', 'call', 'call']);
    expect(first?.content[2]).toMatchObject({ label: 'toolu_a', name: 'stock.read', args: '{"shelf":"A"}' });
    const bodies = mock?.getRequests().map(({ body }) => JSON.stringify(body)) ?? [];
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toContain('toolu_a');
    expect(bodies[1]).toContain('toolu_b');
    expect(told.deltas.filter(({ type }) => type === 'call-arguments').length).toBeGreaterThan(4);
  });

  test('text comes in deltas with the attempt, and is whole in the record', async () => {
    const text = 'A long answer that comes in many small pieces, one after the other.';
    const model = await serve((server) =>
      server.onMessage('tell', { content: text }, { chunkSize: 4, latency: 2 }),
    );
    const told = await ask(model, 'Please tell.');
    const deltas = told.deltas.filter(({ type }) => type === 'text');
    expect(deltas.length).toBeGreaterThan(8);
    expect(deltas.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(deltas.map(({ text: piece }) => piece).join('')).toBe(text);
    expect(answerOf(told)).toBe(text);
  });

  test.each([
    { status: 429, type: 'rate_limit_error', kind: 'rate-limited', wait: 1000 },
    { status: 529, type: 'overloaded_error', kind: 'overloaded', wait: undefined },
    { status: 500, type: 'api_error', kind: 'unavailable', wait: undefined },
  ])('a $status is tried again as the log says, and then answers', async ({ status, type, kind, wait }) => {
    const error = {
      error: { type, message: 'Not now.' },
      status,
      ...(wait !== undefined && { retryAfter: wait / 1000 }),
    };
    const model = await serve((server) =>
      server
        .on({ userMessage: 'try', sequenceIndex: 0 }, error)
        .on({ userMessage: 'try', sequenceIndex: 1 }, { content: 'Now.' }),
    );
    const told = await ask(model, 'Just try.');
    const [failed] = all(told, 'request.failed');
    const [retry] = all(told, 'request.retry');
    expect(failed).toMatchObject({ problem: { kind, status }, maybeBilled: false });
    expect(failed?.raw?.bytes).toBeGreaterThan(0);
    expect(failed?.problem.retryAfterMs).toBe(wait);
    expect(retry).toMatchObject({ attempt: 2, reason: kind });
    expect((retry?.notBefore ?? 0) - (failed?.at ?? 0)).toBeGreaterThanOrEqual(wait ?? 1);
    const [answer] = all(told, 'response.received');
    expect((answer?.at ?? 0) - (failed?.at ?? 0)).toBeGreaterThanOrEqual(
      (retry?.notBefore ?? 0) - (failed?.at ?? 0),
    );
    expect(answerOf(told)).toBe('Now.');
    expect(mock?.getRequests()).toHaveLength(2);
  });

  test('a stream that is cut is an interrupted attempt with what had come, and is tried again', async () => {
    const content = 'This is going to break off somewhere in its middle.';
    const model = await serve((server) =>
      server
        .addFixture({
          match: { userMessage: 'cut', sequenceIndex: 0 },
          response: { content },
          chunkSize: 5,
          latency: 10,
          truncateAfterChunks: 6,
        })
        .on({ userMessage: 'cut', sequenceIndex: 1 }, { content: 'Whole.' }),
    );
    const told = await ask(model, 'Be cut.');
    const [failed] = all(told, 'request.failed');
    expect(failed).toMatchObject({ problem: { kind: 'interrupted' }, maybeBilled: true });
    expect(content).toContain(failed?.partial ?? 'nothing');
    expect(failed?.raw?.bytes).toBeGreaterThan(100);
    const texts = told.deltas.filter(({ type }) => type === 'text');
    expect(new Set(texts.map(({ attempt }) => attempt))).toEqual(new Set([1, 2]));
    expect(answerOf(told)).toBe('Whole.');
  });

  test.each([
    { status: 401, type: 'authentication_error', kind: 'authentication' },
    { status: 402, type: 'billing_error', kind: 'no-balance' },
    { status: 400, type: 'invalid_request_error', kind: 'bad-request' },
    { status: 413, type: 'request_too_large', kind: 'context-overflow' },
  ])('a $status ($type) ends the turn with one request', async ({ status, type, kind }) => {
    const model = await serve((server) =>
      server.on({ userMessage: 'fail' }, { error: { type, message: 'No.' }, status }),
    );
    const told = await ask(model, 'Now fail.');
    expect(all(told, 'request.failed')).toMatchObject([{ problem: { kind, status }, maybeBilled: false }]);
    expect(all(told, 'turn.ended')).toMatchObject([{ outcome: 'failed', reason: kind }]);
    expect(mock?.getRequests()).toHaveLength(1);
  });

  test('a reply that is no JSON is no answer', async () => {
    const model = await serve((server) => {
      server.addFixture({
        match: { userMessage: 'garble', sequenceIndex: 0 },
        response: { content: 'x' },
        chaos: { malformedRate: 1 },
      });
      server.on({ userMessage: 'garble', sequenceIndex: 1 }, { content: 'Clear.' });
    });
    const told = await ask(model, 'Do garble.');
    expect(all(told, 'request.failed')[0]?.problem.kind).toMatch(/bad-response|interrupted/);
  });

  test('the credential is sent, and stands in nothing that is kept or shown', async () => {
    const model = await serve((server) => server.onMessage('hello', { content: 'Hello.' }));
    const told = await ask(model, 'Say hello.');
    expect(mock?.getRequests().length).toBe(1);
    expect(told.everything).not.toContain(KEY);
  });
});

const answering = async (content: object | string, status = 200): Promise<Model> => {
  const rule = {
    path: '/v1/messages',
    match: '@',
    response: { status, content: typeof content === 'string' ? content : JSON.stringify(content) },
  };
  const app = createServer({ rules: [rule] } as never, '127.0.0.1', 0);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return anthropic({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credential: 'CONTRACT_KEY',
    env: { CONTRACT_KEY: KEY },
    // It cannot stream this API.
  }).model('claude-mock', { stream: false });
};

const message = (more: object): object => ({
  id: 'msg_mock',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Counted.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  ...more,
});

describe('mock-llm', () => {
  // It announces itself and each request.
  beforeEach(() => {
    const quiet = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => quiet.mockRestore());
  });

  test('cache counts are four classes that do not overlap', async () => {
    const usage = {
      input_tokens: 21,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 4000,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      output_tokens: 5,
    };
    const told = await ask(await answering(message({ usage })), 'Count.');
    expect(all(told, 'response.received')[0]?.usage).toEqual({
      input: 21,
      cacheWrite: 300,
      cacheWriteLong: 200,
      cacheRead: 4000,
      output: 5,
    });
  });

  test('a refusal ends the turn as refused, with its category', async () => {
    const refused = message({
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'It would harm.' },
    });
    const told = await ask(await answering(refused), 'Harm.');
    expect(all(told, 'turn.ended')).toMatchObject([{ outcome: 'refused', message: 'cyber: It would harm.' }]);
  });

  test('an unknown reason to stop is a failure that keeps the bytes', async () => {
    const told = await ask(await answering(message({ stop_reason: 'solar_flare' })), 'Go on.');
    expect(all(told, 'turn.ended')).toMatchObject([{ outcome: 'failed', reason: 'unknown-stop' }]);
    expect(all(told, 'response.received')[0]?.raw?.bytes).toBeGreaterThan(100);
  });

  test('an error inside a 200 is an error', async () => {
    const body = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low.' },
    };
    const told = await ask(await answering(body), 'Pay.');
    expect(all(told, 'turn.ended')).toMatchObject([{ outcome: 'failed', reason: 'no-balance' }]);
    expect(all(told, 'request.failed')).toHaveLength(1);
  });

  test('a server that repeats the credential puts it into no event, no blob and no output', async () => {
    const echo = JSON.stringify(message({ content: [{ type: 'text', text: 'AUTH' }] })).replace(
      'AUTH',
      'You sent {{jmes request headers.authorization}}.',
    );
    const told = await ask(await answering(echo), 'Repeat.');
    expect(answerOf(told)).toBe('You sent Bearer [secret CONTRACT_KEY].');
    expect(told.everything).not.toContain(KEY);
    const refused = await ask(
      await answering(
        '{"error":{"type":"authentication_error","message":"Bad key {{jmes request headers.authorization}}"}}',
        401,
      ),
      'Repeat.',
    );
    expect(all(refused, 'request.failed')[0]?.problem.message).toContain('[secret CONTRACT_KEY]');
    expect(refused.everything).not.toContain(KEY);
  });
});
