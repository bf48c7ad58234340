/**
 * A request that runs out of its time, on every adapter over a socket: what had come is on record, and why it ended is
 * the time. A provider that asks not to be asked again is not. A body that is too large is never sent.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Limits } from '../../src/event/definition.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { Model, ModelReply } from '../../src/model/model.ts';
import { BODY_BYTES_MAX } from '../../src/model/anthropic-encoder.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { REPLY_GRACE_MS } from '../../src/worker/jobs.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { FakeClock, seededRandom } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { DIALECTS } from './dialects.ts';
import type { Dialect } from './scenario.ts';

const REQUEST_MS = 60_000;

/** Answers every request so; counts them. */
const serve = async (
  answer: (response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly asked: { count: number } }> => {
  const asked = { count: 0 };
  const server = createServer((request, response) => {
    asked.count++;
    request.on('end', () => answer(response)).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

type Played = {
  readonly events: readonly LogEvent[];
  readonly blob: (digest: string) => Promise<string>;
};

/** With `overAt` the clock is a test's, and the request's time is over as soon as that many characters were said. */
const play = async (model: Model, limits: Partial<Limits>, overAt: number = Infinity): Promise<Played> => {
  const store = openSqlite(tempFile());
  const clock = new FakeClock();
  const agent = defineAgent({ name: 'clerk', instructions: 'Be brief.', model, limits });
  const runtime = await openRuntime({
    store,
    agents: [agent],
    random: seededRandom(5),
    ...(overAt !== Infinity && { clock }),
  });
  onTestFinished(async () => {
    const closed = runtime.close({ drainMs: 0 });
    clock.advance(0);
    await closed;
  });
  const { session } = await runtime.send({ agent: 'clerk', message: 'Begin.' });
  let said = 0;
  runtime.watch(session, ({ text }) => {
    if (said < overAt && said + text.length >= overAt) clock.advance(agent.definition.limits.requestMs);
    said += text.length;
  });
  await runtime.rest(session);
  return {
    events: (await store.read(session)).map(open),
    blob: async (digest) => Buffer.from((await store.blob(digest as never)) ?? []).toString('utf8'),
  };
};

const failedIn = ({ events }: Played): Extract<LogEvent, { type: 'request.failed' }>['data'] => {
  const failed = events.filter((event) => event.type === 'request.failed');
  if (failed.length !== 1 || !failed[0]) throw new Error(`${failed.length} attempts failed`);
  return failed[0].data;
};

const endOf = ({ events }: Played): unknown => events.findLast(({ type }) => type === 'turn.ended')?.data;

const next = (): never => {
  throw new Error('a model over a socket asks the server');
};

/** The first half of a stream in the words of an API, as text. */
const beginning = async (dialect: Dialect): Promise<string> => {
  const { url } = await serve((response) => {
    void dialect.serve({ text: 'One two three four five six seven eight.' }, response);
  });
  const whole = await (await fetch(url, { method: 'POST', body: '{}' })).text();
  return whole.slice(0, whole.indexOf('\n', whole.indexOf('" five six"')) + 1);
};

describe.each(DIALECTS)('$name', (dialect) => {
  test('what had come when the time was over is on record, with its bytes', async () => {
    const began = await beginning(dialect);
    const { url } = await serve((response) => {
      response.writeHead(200, {
        'content-type': dialect.key === undefined ? 'application/x-ndjson' : 'text/event-stream',
      });
      response.write(began);
    });
    const limits = { requestMs: REQUEST_MS, requestAttempts: 1 };
    const played = await play(dialect.model({ url, next }), limits, 'One two three'.length);
    const failed = failedIn(played);
    expect(failed).toMatchObject({
      problem: { kind: 'timeout', message: `The model gave no answer within ${REQUEST_MS} ms.` },
      maybeBilled: true,
      ms: REQUEST_MS,
    });
    expect(failed.partial).toMatch(/^One two three/);
    expect(await played.blob(failed.raw?.digest ?? '')).toBe(began);
    expect(endOf(played)).toMatchObject({ outcome: 'failed', reason: 'timeout' });
  });
});

const modelThat = (send: Model['send']): Model => ({
  definition: { provider: 'own', name: 'slow', params: {} },
  encoder: neutralEncoder,
  send,
});

test('a model that hands over nothing is left after the grace, and one that never stops, too', async () => {
  const played = await play(
    modelThat(() => new Promise(() => undefined)),
    { requestMs: 40, requestAttempts: 1 },
  );
  const failed = failedIn(played);
  expect(failed).toMatchObject({ problem: { kind: 'timeout' }, maybeBilled: true });
  expect(failed.ms).toBeGreaterThanOrEqual(40 + REPLY_GRACE_MS - 20);
});

test('an answer that is whole when the time is over is an answer', async () => {
  const answer: ModelReply = { kind: 'response', stop: 'end', content: [{ type: 'text', text: 'Just so.' }] };
  const atTheEnd: Model['send'] = ({ signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(answer), { once: true }));
  const played = await play(modelThat(atTheEnd), { requestMs: 40 });
  expect(endOf(played)).toMatchObject({ outcome: 'done' });
});

test('a provider that asks not to be asked again is asked once', async () => {
  const { url, asked } = await serve((response) => {
    response.writeHead(529, { 'content-type': 'application/json', 'x-should-retry': 'false' });
    response.end('{"type":"error","error":{"type":"overloaded_error","message":"Not today."}}');
  });
  const model = anthropic({ baseUrl: url, credential: 'K', env: { K: 'sk-ant-time-0123456789' } }).model('c');
  const played = await play(model, { requestAttempts: 4 });
  expect(asked.count).toBe(1);
  expect(failedIn(played).problem).toMatchObject({ kind: 'overloaded', status: 529, noRetry: true });
  expect(endOf(played)).toMatchObject({ outcome: 'failed', reason: 'overloaded' });
});

test('a model that throws keys puts none on record', async () => {
  const key = 'sk-proj-Zm9yZ2V0LW1lLW5vdC1wbGVhc2U';
  const played = await play(
    modelThat(() => Promise.reject(new Error(`401 for Authorization: Bearer ${key}`))),
    { requestAttempts: 1 },
  );
  expect(JSON.stringify(played.events)).not.toContain(key);
  expect(failedIn(played).problem.message).toBe('The model threw: 401 for Authorization: Bearer [key]');
});

test('a body over what the provider takes is not sent, and the turn says so', async () => {
  const { url, asked } = await serve((response) => void response.end('{}'));
  const provider = anthropic({ baseUrl: url, credential: 'K', env: { K: 'sk-ant-size-0123456789' } });
  // A parameter of that size is the shortest way there.
  const model = provider.model('c', { metadata: { user_id: 'x'.repeat(BODY_BYTES_MAX) } });
  expect(model.encoder.bytesMax).toBe(32 * 1024 * 1024);
  const played = await play(model, {});
  expect(asked.count).toBe(0);
  expect(played.events.map(({ type }) => type)).not.toContain('request.built');
  expect(endOf(played)).toMatchObject({
    outcome: 'failed',
    reason: 'request-too-large',
    message: expect.stringMatching(
      /^The request has 335\d{5} bytes; anthropic-messages\/anthropic takes at most 33554432\.$/,
    ) as string,
  });
});
