/** Field cases about providers, through the real adapters and a stand-in server on a socket. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { readEvents } from '../../src/client/server-events.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import { chatServer } from '../../src/model/chat.ts';
import type { Model } from '../../src/model/model.ts';
import { priceList } from '../../src/cost/prices.ts';
import { calm, until } from '../kit/clock.ts';
import { sse, delta, fn } from '../model/chat-stage.ts';
import { anthropicEvents, anthropicSse } from '../model/scenario-anthropic.ts';
import { Bench, repliesOf } from './bench.ts';
import { expectEffects, expectLog, expectRun } from './expected.ts';
import type { Plan } from './plan.ts';

type Answer = (response: ServerResponse, n: number) => unknown;

/** A server that answers the n-th request; what it was sent is kept. */
export const standIn = async (
  answer: Answer,
): Promise<{ readonly url: string; readonly bodies: string[] }> => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      answer(response, bodies.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
};

export const events = (response: ServerResponse): ServerResponse => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return response;
};

const claude = (url: string): Model =>
  anthropic({ baseUrl: url, credential: 'FIELD_KEY', env: { FIELD_KEY: 'sk-ant-field-0000000001' } }).model(
    'claude-field',
  );
export const chat = (url: string, params = {}): Model =>
  chatServer({ name: 'field', baseUrl: url }).model('stand-in', params);

/** Lets planned waits pass until the session rests. No time passes while a socket is waited for, which has deadlines. */
const playOut = async (bench: Bench): Promise<void> => {
  let over = false;
  const rest = bench.rest().then(() => (over = true));
  await until('the session rests', async () => {
    if ((await bench.events()).at(-1)?.type === 'request.retry') await bench.later(1000);
    return over;
  });
  await rest;
};

const read = async (pieces: readonly Uint8Array[]): Promise<readonly string[]> => {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const found: string[] = [];
  for await (const { data } of readEvents(stream)) found.push(data);
  return found;
};

export const PROVIDERS: Readonly<Record<string, Plan>> = {
  'FC-03': async (given) => {
    const cut = given.input.model?.[0]?.calls?.[0]?.args_raw ?? '';
    const { url, bodies } = await standIn((response, n) => {
      const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: n === 1 ? 300 : 5 } };
      const call = delta({
        tool_calls: [{ index: 0, id: 'c1', type: 'function', function: fn('note', cut) }],
      });
      events(response).end(
        n === 1
          ? sse(call, delta({}, 'tool_calls'), usage, '[DONE]')
          : sse(delta({ content: 'ok' }), delta({}, 'stop'), usage, '[DONE]'),
      );
    });
    const bench = new Bench(
      { ...given, input: { ...given.input, tools: { note: { effect: 'write', approval: 'never' } } } },
      { model: chat(url, { max_tokens: 300 }) },
    );
    await bench.play();
    await expectRun(bench, 'completed');
    await expectLog(bench, given.expect.log ?? []);
    const sent = JSON.parse(bodies[1] ?? '') as {
      messages: {
        role: string;
        tool_calls?: { id: string; function: { arguments: string } }[];
        tool_call_id?: string;
      }[];
    };
    const [call] = sent.messages.find(({ role }) => role === 'assistant')?.tool_calls ?? [];
    expect(JSON.parse(call?.function.arguments ?? 'none')).toEqual({});
    expect(sent.messages.find(({ role }) => role === 'tool')?.tool_call_id).toBe(call?.id);
    expect(JSON.stringify(await bench.events())).toContain('aaaa');
  },
  'FC-24': async (given) => {
    const [, again, last] = repliesOf(given.input.model ?? []);
    if (!again || !last) throw new Error('three answers');
    const seen = Promise.withResolvers<void>();
    const { url, bodies } = await standIn((response, n) => {
      if (n > 1) return events(response).end(anthropicSse(anthropicEvents(n === 2 ? again : last)));
      const whole = anthropicSse(
        anthropicEvents({
          text: 'I will send it. ',
          calls: [{ tool: 'send_mail', args: { to: 'a@corp.example' }, id: 'c1' }],
        }),
      );
      // In the middle of the arguments, once somebody has seen the text before them.
      const cut = whole.lastIndexOf('input_json_delta') + 60;
      events(response).write(whole.slice(0, cut));
      return seen.promise.then(() => response.socket?.resetAndDestroy());
    });
    const bench = new Bench(given, { model: claude(url) });
    await bench.open();
    const deltas: { readonly attempt: number }[] = [];
    await bench.send();
    bench.runtime.watch(bench.session, (one) => {
      deltas.push(one);
      if (one.type === 'text' && one.text.includes('. ')) seen.resolve();
    });
    await playOut(bench);
    await expectRun(bench, 'completed');
    await expectLog(bench, [
      'model.request',
      'model.attempt_failed',
      'model.request',
      'model.response',
      'tool.finished c1',
      'run.ended',
    ]);
    expectEffects(bench, { send_mail: 1 });
    expect(bodies[1]).toBe(bodies[0]);
    const failed = (await bench.events()).find((event) => event.type === 'request.failed');
    expect(failed).toMatchObject({
      data: { maybeBilled: true, raw: { bytes: expect.any(Number) }, problem: { kind: 'interrupted' } },
    });
    expect(JSON.stringify(failed)).toContain('I will send it.');
    expect(new Set(deltas.map(({ attempt }) => attempt))).toEqual(new Set([1, 2]));
  },
  'FC-26': async (given) => {
    const bytes = Buffer.from(String(given.input['sse_bytes']));
    const wanted = (given.expect['events'] as readonly string[] | undefined) ?? [];
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(await read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(wanted);
    expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(wanted);
    // A provider's stream goes another way: the same answer, whatever the slices.
    const whole = Buffer.from(
      sse(delta({ content: 'é😀' }), delta({}, 'stop'), '[DONE]').replaceAll('\n', '\r\n'),
    );
    for (const cut of [
      1,
      ...Array.from(whole.keys()).filter((i) => i % 13 === 0),
      whole.indexOf(0xc3) + 1,
      whole.indexOf(0xf0) + 2,
    ]) {
      const { url } = await standIn((response) => {
        // Some turns of the event loop in which the first part can be read by itself.
        events(response).write(
          whole.subarray(0, cut),
          () => void calm().then(() => response.end(whole.subarray(cut))),
        );
      });
      const bench = new Bench({ ...given, input: {} }, { model: chat(url) });
      await bench.play();
      await expectRun(bench, 'completed');
      expect(
        JSON.stringify((await bench.events()).find((event) => event.type === 'response.received')),
      ).toContain('é😀');
    }
  },
  'FC-29': async (given) => {
    const { url } = await standIn((response, n) => {
      const body = given.input.model?.[n - 1]?.http?.body;
      if (body === undefined)
        return events(response).end(sse(delta({ content: 'ok' }), delta({}, 'stop'), '[DONE]'));
      return response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    const bench = new Bench(given, { model: chat(url) });
    await bench.open();
    await bench.send();
    await playOut(bench);
    await expectRun(bench, 'completed');
    const failed = (await bench.events()).filter((event) => event.type === 'request.failed');
    expect(failed.map((event) => event.type === 'request.failed' && event.data.problem.kind)).toEqual([
      'rate-limited',
      'unavailable',
    ]);
    expect(JSON.stringify(failed)).not.toMatch(/TypeError/);
  },
  'FC-32': async (given) => {
    const { url } = await standIn((response) => {
      const list = [
        {
          type: 'message_start',
          message: {
            id: 'm',
            type: 'message',
            role: 'assistant',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 27, cache_read_input_tokens: 1000, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { input_tokens: 27, cache_read_input_tokens: 1000, output_tokens: 47 },
        },
        { type: 'message_stop' },
      ];
      events(response).end(anthropicSse(list));
    });
    const prices = priceList(
      [
        {
          provider: 'anthropic',
          model: 'claude-field',
          base: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
          tiers: [],
        },
      ] as never,
      { source: 'case', date: '2026-01-01' },
    );
    const bench = new Bench(given, { model: claude(url), prices });
    await bench.play();
    await expectRun(bench, 'completed');
    const response = (await bench.events()).find((event) => event.type === 'response.received');
    expect(response).toMatchObject({ data: { usage: { input: 27, cacheRead: 1000, output: 47 } } });
    if (response?.type === 'response.received') expect(response.data.cost).toBeCloseTo(0.001086, 9);
  },
};
