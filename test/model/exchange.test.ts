/**
 * The wire under the adapters, over real sockets: one POST of the recorded bytes to one origin, ended by cancel,
 * silence or size, with the credential in its place and nowhere else.
 */
import { array, assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import { LIMITS_DEFAULT, type Limits } from '../../src/event/definition.ts';
import type { EventData, EventType } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import type { Model, ModelRequest } from '../../src/model/model.ts';
import { Credential } from '../../src/model/provider/credential.ts';
import { DRAIN_MS, Exchange, type ExchangeOptions } from '../../src/model/provider/exchange.ts';
import { MaskedDeltas } from '../../src/model/provider/masked.ts';
import { SecretMask } from '../../src/secret/mask.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { FakeClock, until } from '../kit/clock.ts';
import { agentOf, RequestTime, sendTo } from './openai-stage.ts';
import { anthropicEvents, anthropicSse } from './scenario-anthropic.ts';

const KEY = 'sk-ant-wire-1234567890ab';

type Server = {
  readonly url: string;
  readonly requests: IncomingMessage[];
  readonly sockets: Set<Socket>;
  /** Requests whose connection the client gave up. */
  readonly closed: { count: number };
};

const serve = async (
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<Server> => {
  const sockets = new Set<Socket>();
  const closed = { count: 0 };
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.on('close', () => {
      if (!response.writableEnded) closed.count++;
    });
    request.on('end', () => answer(response, request)).resume();
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets, closed };
};

const STREAM = { 'content-type': 'text/event-stream' };
const EVENTS = anthropicEvents({ text: 'One two three four five six seven.' });
/** The message has begun and says something. */
const BEGUN = anthropicSse(EVENTS.slice(0, 4));

const modelAt = (baseUrl: string, more: Parameters<typeof anthropic>[0] = {}): Model =>
  anthropic({ baseUrl, credential: 'WIRE_KEY', env: { WIRE_KEY: KEY }, ...more }).model('claude-wire');

type Played = {
  readonly runtime: Runtime;
  readonly session: string;
  readonly facts: <T extends EventType>(type: T) => Promise<readonly EventData[T][]>;
};

const begin = async (model: Model, limits: Partial<Limits> = {}, clock?: FakeClock): Promise<Played> => {
  const agent = defineAgent({ name: 'clerk', instructions: 'Be brief.', model, limits });
  const store = new MemoryLog();
  const runtime = await openRuntime({ store, agents: [agent], ...(clock && { clock }) });
  onTestFinished(async () => {
    const closed = runtime.close({ drainMs: 0 });
    clock?.advance(0);
    await closed;
  });
  const { session } = await runtime.send({ agent: 'clerk', message: 'Count.' });
  return {
    runtime,
    session,
    facts: async <T extends EventType>(type: T) =>
      (await store.read(session))
        .map(open)
        .filter((event) => event.type === type)
        .map(({ data }) => data as EventData[T]),
  };
};

describe('how an exchange ends', () => {
  test('a cancel closes the socket, and what had come is kept', async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).write(BEGUN));
    const { runtime, session, facts } = await begin(modelAt(server.url));
    const deltas: string[] = [];
    runtime.watch(session, (delta) => deltas.push(delta.text));
    await until('text has come', () => deltas.length > 0);
    await runtime.cancel(session);
    await until('the server sees the socket close', () => server.closed.count === 1);
    expect(await runtime.rest(session)).toMatchObject({ status: 'cancelled' });
    expect(await facts('request.failed')).toMatchObject([
      {
        problem: { kind: 'cancelled' },
        maybeBilled: true,
        partial: 'One two t',
        raw: { bytes: BEGUN.length },
      },
    ]);
  });

  test('a cancel before the headers closes the socket, too', async () => {
    const server = await serve(() => undefined);
    const { runtime, session, facts } = await begin(modelAt(server.url));
    await until('the request is there', () => server.requests.length === 1);
    await runtime.cancel(session);
    await until('the server sees the socket close', () => server.closed.count === 1);
    await runtime.rest(session);
    expect(await facts('request.failed')).toMatchObject([
      { problem: { kind: 'cancelled' }, maybeBilled: true },
    ]);
  });

  test('a stream that falls silent is given up after its idle time', async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).write(BEGUN));
    const time = new RequestTime();
    let said = '';
    const sent = sendTo(modelAt(server.url, { idleMs: 60 }), {
      time,
      onDelta: ({ text }) => void (said += text),
    });
    await until('more is waited for', () => said !== '' && time.clock.nextIn === 60);
    time.clock.advance(60);
    const { reply } = await sent;
    expect(reply).toMatchObject({
      kind: 'failed',
      maybeBilled: true,
      partial: 'One two t',
      problem: { kind: 'interrupted', message: 'The stream brought nothing for 60 ms.' },
    });
    expect(Buffer.from(reply.bytes?.bytes ?? []).toString()).toBe(BEGUN);
    await until('the server sees the socket close', () => server.closed.count === 1);
  });

  test('pings keep a slow stream alive', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const server = await serve((response) => begun.resolve(response.writeHead(200, STREAM)));
    const time = new RequestTime();
    const sent = sendTo(modelAt(server.url, { idleMs: 150 }), { time });
    const response = await begun.promise;
    const pings = Array.from({ length: 6 }, () => anthropicSse([{ type: 'ping' }]));
    for (const [i, piece] of [BEGUN, ...pings].entries()) {
      response.write(piece);
      // One wait for the first piece, one for what follows each.
      await until(`piece ${i} has come`, () => time.waits.length === i + 2);
      time.clock.advance(100);
    }
    response.end(anthropicSse(EVENTS.slice(4)));
    expect((await sent).reply).toMatchObject({ kind: 'response', stop: 'end' });
  });

  test('the answer may take as long as the agent allows, and no longer', async () => {
    const server = await serve(() => undefined);
    const clock = new FakeClock();
    const limits = { requestMs: 80, requestAttempts: 1 };
    const { runtime, session, facts } = await begin(modelAt(server.url), limits, clock);
    await until('the request is there', () => server.requests.length === 1);
    clock.advance(79);
    expect(server.closed.count).toBe(0);
    clock.advance(1);
    await runtime.rest(session);
    expect(await facts('request.failed')).toMatchObject([
      { problem: { kind: 'timeout' }, maybeBilled: true },
    ]);
    await until('the server sees the socket close', () => server.closed.count === 1);
  });

  test('a message that is whole is an answer although the server holds the stream open', async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).write(anthropicSse(EVENTS)));
    const time = new RequestTime();
    const sent = sendTo(modelAt(server.url), { time });
    await until('the rest is waited for', () => time.waits.includes(DRAIN_MS));
    time.clock.advance(DRAIN_MS);
    expect((await sent).reply).toMatchObject({ kind: 'response', stop: 'end' });
    await until('the server sees the socket close', () => server.closed.count === 1);
  });

  test('a message that is whole stays one, whatever comes after it: silence, a cancel, a broken socket', async () => {
    const responses: ServerResponse[] = [];
    const server = await serve((response) => {
      responses.push(response);
      response.writeHead(200, STREAM).write(anthropicSse(EVENTS));
    });
    const ends: readonly ((time: RequestTime, cancel: AbortController) => void)[] = [
      ({ clock }) => clock.advance(50),
      (_, cancel) => cancel.abort(),
      () => responses.at(-1)?.destroy(),
    ];
    for (const end of ends) {
      const [time, cancel] = [new RequestTime(), new AbortController()];
      const sent = sendTo(modelAt(server.url, { idleMs: 50 }), { time, signal: cancel.signal });
      await until('the rest is waited for', () => time.waits.includes(DRAIN_MS) && time.clock.nextIn === 50);
      end(time, cancel);
      expect((await sent).reply.kind).toBe('response');
    }
  });

  test('connections are used again, although a stream ends a little after its message', async () => {
    const server = await serve((response) => {
      response.writeHead(200, STREAM).write(anthropicSse(EVENTS));
      setTimeout(() => response.end(), 40);
    });
    for (let i = 0; i < 12; i++) {
      // Its time stands still: the end may come as late as it will.
      const { reply } = await sendTo(modelAt(server.url), { time: new RequestTime() });
      expect(reply.kind).toBe('response');
    }
    expect(server.requests).toHaveLength(12);
    expect(server.sockets.size).toBeLessThan(4);
  });

  test('nobody listens: nothing was sent, so nothing is billed', async () => {
    const { reply } = await sendTo(modelAt(`http://127.0.0.1:${await deafPort()}`));
    expect(reply).toMatchObject({ kind: 'failed', maybeBilled: false, problem: { kind: 'unavailable' } });
    expect(JSON.stringify(reply)).toContain('ECONNREFUSED');
  });

  test('a socket that breaks before the headers may have been billed', async () => {
    const server = await serve((response) => response.destroy());
    const { reply } = await sendTo(modelAt(server.url));
    expect(reply).toMatchObject({ kind: 'failed', maybeBilled: true, problem: { kind: 'unavailable' } });
  });
});

/** A port on which nobody listens, and nobody else can: the near end of a connection has it. */
const deafPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(near, 'connect');
  onTestFinished(() => {
    near.destroy();
    server.closeAllConnections();
    server.close();
  });
  return near.localPort ?? 0;
};

const exchangeTo = (baseUrl: string, more: Partial<ExchangeOptions> = {}): Exchange => {
  const request: ModelRequest = {
    body: () => '{"a":1}',
    agent: agentOf({ provider: 'anthropic', name: 'claude', params: {} }, { limits: LIMITS_DEFAULT }),
    turn: 1,
    step: 1,
    attempt: 1,
    modelCall: 1,
    signal: new AbortController().signal,
    onDelta: () => undefined,
    monotonic: () => performance.now(),
    sleep: (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
  };
  const credential = new Credential({ name: 'WIRE_KEY', value: KEY, from: 'environment', origin: baseUrl });
  return new Exchange({ request, baseUrl, credential, ...more });
};

describe('what leaves', () => {
  const POST = { method: 'POST', body: '{"a":1}' };

  test('only the recorded bytes, once, to one origin', async () => {
    const [server, other] = [
      await serve((response) => response.end('{}')),
      await serve((response) => response.end('{}')),
    ];
    const refused: [string, RequestInit][] = [
      [other.url, POST],
      [server.url, { ...POST, body: '{"a":2}' }],
      [server.url, { ...POST, method: 'PUT' }],
      [server.url.replace('http:', 'https:'), POST],
    ];
    for (const [url, init] of refused) {
      const exchange = exchangeTo(server.url);
      await expect(exchange.fetch(url, init)).rejects.toThrow('was about to');
      expect(exchange.failed({ thrown: new Error('x') }, {})).toMatchObject({
        problem: { kind: 'bad-request' },
        maybeBilled: false,
      });
    }
    const exchange = exchangeTo(server.url);
    await (await exchange.fetch(server.url, POST)).text();
    await expect(exchange.fetch(server.url, POST)).rejects.toThrow('second request');
    expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
  });

  test('a redirect is not followed, and the key goes nowhere else', async () => {
    const other = await serve((response) => response.end('{}'));
    for (const status of [301, 302, 307, 308]) {
      const server = await serve((response) =>
        response.writeHead(status, { location: `${other.url}/v1/messages` }).end(),
      );
      const { reply } = await sendTo(modelAt(server.url));
      expect(reply).toMatchObject({
        kind: 'failed',
        maybeBilled: false,
        problem: { kind: 'bad-request', status },
      });
    }
    expect(other.requests).toEqual([]);
  });

  test("the provider's own key stays at the provider's own origin", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(anthropicSse(EVENTS)));
    vi.stubEnv('ANTHROPIC_API_KEY', KEY);
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', KEY);
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', `x-other: ${KEY}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { reply } = await sendTo(anthropic({ baseUrl: server.url }).model('claude-wire'));
    expect(reply.kind).toBe('response');
    expect(JSON.stringify(server.requests[0]?.rawHeaders)).not.toContain(KEY);
  });

  test('the environment of the SDK sends a request nowhere else', async () => {
    const [server, other] = [
      await serve((response) => response.writeHead(200, STREAM).end(anthropicSse(EVENTS))),
      await serve((response) => response.end('{}')),
    ];
    vi.stubEnv('ANTHROPIC_BASE_URL', other.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    await sendTo(modelAt(server.url));
    expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
  });

  test("a user's headers are sent, a second credential among them is not", async () => {
    const server = await serve((response) => response.writeHead(200, STREAM).end(anthropicSse(EVENTS)));
    await sendTo(
      modelAt(server.url, { headers: { 'X-Team': 'blue', 'X-Api-Key': 'another', Cookie: 'a=b' } }),
    );
    const { headers } = server.requests[0] ?? { headers: {} };
    expect(headers).toMatchObject({ 'x-team': 'blue', authorization: `Bearer ${KEY}` });
    expect(headers).not.toHaveProperty('x-api-key');
    expect(headers).not.toHaveProperty('cookie');
  });
});

describe('what comes back', () => {
  test('a reply over its limit ends the exchange', async () => {
    const server = await serve((response) => {
      response.writeHead(200, STREAM);
      const more = (): void => {
        if (!response.destroyed && response.write('x'.repeat(1000))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    const exchange = exchangeTo(server.url, { replyBytesMax: 5000 });
    const response = await exchange.fetch(server.url, { method: 'POST', body: '{"a":1}' });
    await expect(response.text()).rejects.toThrow('5000 bytes');
    expect(exchange.failed(undefined, {})).toMatchObject({
      problem: { kind: 'bad-response', message: 'The reply has more than 5000 bytes, the limit.' },
    });
    await until('the server sees the socket close', () => server.closed.count === 1);
  });

  test('bytes are kept as they came, and headers by an allow list', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const server = await serve((response) => {
      const more = {
        'request-id': 'req_7',
        'set-cookie': 'session=1',
        'anthropic-ratelimit-requests-remaining': '9',
      };
      response.writeHead(200, { 'content-type': 'application/octet-stream', ...more });
      response.write(bytes.subarray(0, 100), () => response.end(bytes.subarray(100)));
    });
    const exchange = exchangeTo(server.url);
    await (
      await exchange.fetch(`${server.url}/v1/x?secret=1`, { method: 'POST', body: '{"a":1}' })
    ).arrayBuffer();
    const reply = exchange.failed({ kind: 'bad-response', message: 'no' }, {});
    expect(Buffer.from(reply.bytes?.bytes ?? [])).toEqual(bytes);
    expect(reply.wire).toMatchObject({ url: `${server.url}/v1/x`, status: 200 });
    expect(Object.keys(reply.wire?.received ?? {}).sort()).toEqual([
      'anthropic-ratelimit-requests-remaining',
      'content-type',
      'date',
      'request-id',
    ]);
  });

  test('bytes that repeat the key are kept without it, all others as they are', async () => {
    const server = await serve((response) =>
      response.end(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`key ${KEY}!`)])),
    );
    const exchange = exchangeTo(server.url);
    await (await exchange.fetch(server.url, { method: 'POST', body: '{"a":1}' })).arrayBuffer();
    const { bytes } = exchange.failed({ kind: 'bad-response', message: KEY }, { partial: `it is ${KEY}` });
    expect(Buffer.from(bytes?.bytes ?? []).toString('latin1')).toBe('\u00ff\u00fekey [secret WIRE_KEY]!');
  });

  test('streamed text shows no key, however it is split, and keeps every other character in order', () => {
    const piece = oneof(
      constantFrom(KEY, KEY.slice(0, 7), KEY.slice(3), 's', 'sk-', 'x'),
      string({ maxLength: 4 }),
    );
    assert(
      property(array(piece), array(integer({ min: 1, max: 9 }), { minLength: 1 }), (pieces, sizes) => {
        const text = pieces.join('');
        const shown: string[] = [];
        const mask = new SecretMask([{ name: 'K', value: KEY }]);
        const deltas = new MaskedDeltas(mask, (delta) => shown.push(delta.text));
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          deltas.push({ type: 'text', text: text.slice(at, at + size) });
          at += size;
        }
        deltas.end();
        expect(shown.join('')).toBe(mask.apply(text));
        expect(shown.every((one) => one !== '')).toBe(true);
      }),
    );
  });

  test('text of another kind lets what waited go first', () => {
    const shown: string[] = [];
    const mask = new SecretMask([{ name: 'K', value: KEY }]);
    const deltas = new MaskedDeltas(mask, ({ type, text }) => shown.push(`${type} ${text}`));
    deltas.push({ type: 'reasoning', text: 'sk-ant' });
    deltas.push({ type: 'text', text: 'a' });
    deltas.push({ type: 'call-arguments', index: 0, text: 'sk-' });
    deltas.push({ type: 'call-arguments', index: 1, text: 'x' });
    expect(shown).toEqual(['reasoning sk-ant', 'text a', 'call-arguments sk-', 'call-arguments x']);
  });
});
