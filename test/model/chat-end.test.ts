/** How replies of servers that speak Chat Completions end: with an error inside, without an end, never, by a cancel. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { chatServer } from '../../src/model/chat.ts';
import { until } from '../kit/clock.ts';
import { content, delta, exchange, IDLE_MS, sse, stopOf, streamed, type Chunk } from './chat-stage.ts';
import { json, RequestTime, sendTo, standIn, stream } from './openai-stage.ts';

describe('an error inside a 200', () => {
  test.each<[string, Chunk, string]>([
    ['as an object', { error: { message: 'Busy.', code: 'server_is_overloaded' } }, 'overloaded'],
    ['with a status for a code', { error: { message: 'Slow down.', code: 429 } }, 'rate-limited'],
    ['as a text', { error: 'The model is gone.' }, 'bad-response'],
    [
      'as vLLM words it',
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens.",
        type: 'BadRequestError',
        code: 400,
      },
      'context-overflow',
    ],
    [
      'beside a choice',
      {
        choices: [
          { index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'Upstream.' } },
        ],
      },
      'unavailable',
    ],
  ])('%s', async (_, chunk, kind) => {
    const { reply } = await streamed(delta({ content: 'Ye' }), chunk);
    expect(reply).toMatchObject({ kind: 'failed', problem: { kind }, partial: 'Ye' });
    const alone = await exchange((__, response) => json(response, chunk));
    expect(alone.reply).toMatchObject({ kind: 'failed', problem: { kind } });
  });

  test('and JSON without a choice, a page, nothing at all, a broken event are no answers', async () => {
    expect(stopOf(await exchange((_, response) => json(response, { detail: 'Not Found' })))).toBe(
      'bad-response',
    );
    expect(stopOf(await exchange((_, response) => json(response, '<html>Sign in</html>')))).toBe(
      'bad-response',
    );
    expect(stopOf(await exchange((_, response) => json(response, '')))).toBe('bad-response');
    expect(stopOf(await streamed(delta({ content: 'Y' }), '{"choices":[{', delta({}, 'stop')))).toBe(
      'bad-response',
    );
  });
});

/** A wait for a connection that is only to be closed: not for a report of tokens, nor for a stream that is idle. */
const isShort = (ms: number): boolean => ms < 1000;

describe('the end of a stream', () => {
  test('needs no [DONE], and no empty line after the last event', async () => {
    const text = sse(delta({ content: 'Yes.' }), delta({}, 'stop')).trimEnd();
    const sent = await exchange((_, response) => stream(response, [text]));
    expect([stopOf(sent), content(sent)]).toEqual(['end', [{ type: 'text', text: 'Yes.' }]]);
  });

  test.each(['\r\n', '\r', '\n'])('is found whatever ends a line: %j', async (end) => {
    const text = `: a comment\n\nevent: message\nid: 1\n${sse(delta({ content: 'Yes.' }), delta({}, 'stop'), '[DONE]')}`;
    const sent = await exchange((_, response) => stream(response, [`\uFEFF${text.replaceAll('\n', end)}`]));
    expect(content(sent)).toEqual([{ type: 'text', text: 'Yes.' }]);
  });

  test('is not waited for when the server holds the connection open after [DONE]', async () => {
    const time = new RequestTime();
    const sent = exchange(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse(delta({ content: 'Yes.' }), delta({}, 'stop'), '[DONE]'));
      },
      { time },
    );
    await until('the end of the stream is waited for', () => time.waits.some(isShort));
    time.clock.advance(time.waits.find(isShort) ?? 0);
    expect(stopOf(await sent)).toBe('end');
  });

  test('that breaks after the answer takes nothing away from it', async () => {
    const sent = await exchange((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(delta({ content: 'Yes.' }), delta({}, 'stop')), () => response.destroy());
    });
    expect(stopOf(sent)).toBe('end');
  });

  test('that never comes is an interrupted reply after the idle time', async () => {
    const time = new RequestTime();
    let said = '';
    const sent = exchange(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse(delta({ content: 'Ye' })));
      },
      { time, onDelta: ({ text }) => void (said += text) },
    );
    await until('more is waited for', () => said === 'Ye' && time.clock.nextIn === IDLE_MS);
    time.clock.advance(IDLE_MS);
    expect((await sent).reply).toMatchObject({
      kind: 'failed',
      problem: { kind: 'interrupted' },
      partial: 'Ye',
    });
  });
});

test('a cancel ends the request on the wire', async () => {
  const closed = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const { url } = await standIn((_, response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse(delta({ content: 'Ye' })), () => started.resolve());
  });
  const abort = new AbortController();
  const sent = sendTo(chatServer({ name: 'vllm', baseUrl: url }).model('m'), { signal: abort.signal });
  await started.promise;
  abort.abort();
  expect((await sent).reply).toMatchObject({
    kind: 'failed',
    problem: { kind: 'cancelled' },
    maybeBilled: true,
  });
  await closed.promise;
});

test('nothing that the SDK finds in the environment reaches another server', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const found = {
    OPENAI_API_KEY: 'sk-of-the-environment',
    OPENAI_ADMIN_KEY: 'sk-admin-of-the-environment',
    OPENAI_ORG_ID: 'org-of-the-environment',
    OPENAI_PROJECT_ID: 'proj-of-the-environment',
    OPENAI_CUSTOM_HEADERS: 'x-extra: of-the-environment',
    OPENAI_BASE_URL: 'http://127.0.0.1:1/of-the-environment',
  };
  for (const [name, value] of Object.entries(found)) vi.stubEnv(name, value);
  const { url, heard } = await standIn((_, response) =>
    stream(response, [sse(delta({ content: 'Yes.' }, 'stop'), '[DONE]')]),
  );
  const { reply } = await sendTo(chatServer({ name: 'vllm', baseUrl: url }).model('m'));
  expect(reply.kind).toBe('response');
  expect(JSON.stringify(heard)).not.toContain('of-the-environment');
  expect(heard[0]?.headers).not.toHaveProperty('authorization');
});
