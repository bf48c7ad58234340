/**
 * Real traffic of the Responses API, served over a socket: what the adapter reads is held against what the service
 * counted and against what the client that was recorded sent back in its next request.
 */
import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../src/model/model.ts';
import { itemsOf } from '../../src/model/openai-items.ts';
import { openai } from '../../src/model/openai.ts';
import { json, promptBlocks, sendTo, standIn, stream } from './openai-stage.ts';
import {
  fixtures,
  includes,
  recordedMissing,
  recordings,
  sseOf,
  type Exchanged,
  type JsonRecord,
} from './recorded.ts';

if (recordedMissing !== undefined) console.warn(recordedMissing);

const recorded = ['openai-responses.jsonl', 'mixed.jsonl'].flatMap((file) =>
  recordings(file, '/v1/responses'),
);
const exchanges = recorded.flat();
const replies = fixtures('openai/responses/').map((fixture): Exchanged => ({
  id: fixture.id,
  path: '/v1/responses',
  sent: {},
  status: fixture.kind === 'json' && fixture.body['error'] && !fixture.body['output'] ? 429 : 200,
  body: fixture.kind === 'json' ? fixture.body : undefined,
  sse: fixture.kind === 'stream' ? sseOf(fixture.data) : undefined,
}));

const served: Exchanged[] = [];
const stage = await standIn(async ({ headers }, response) => {
  const exchange = served[Number(headers['x-exchange'])];
  if (exchange?.sse !== undefined) return stream(response, [exchange.sse]);
  // White space as the service sends it.
  return json(response, JSON.stringify(exchange?.body, null, 2), exchange?.status);
});

const replay = async (exchange: Exchanged): Promise<ModelReply> => {
  const number = served.push(exchange) - 1;
  const headers = { 'x-exchange': String(number) };
  const provider = openai({ baseUrl: stage.url, headers });
  return (await sendTo(provider.model('stand-in'))).reply;
};

type Answered = Extract<ModelReply, { kind: 'response' }>;

const itemsBack = (reply: Answered): readonly string[] => itemsOf(promptBlocks(reply.content), true).items;

const answered = async (exchange: Exchanged): Promise<Answered> => {
  const reply = await replay(exchange);
  if (reply.kind === 'failed') throw new Error(`${exchange.id}: ${reply.problem.message}`);
  return reply;
};

const inputOf = ({ sent }: Exchanged): readonly JsonRecord[] =>
  Array.isArray(sent['input']) ? (sent['input'] as JsonRecord[]) : [];

const isNews = ({ type, role }: JsonRecord): boolean =>
  type === 'function_call_output' || role === 'user' || role === 'system' || role === 'developer';

/** What a later request of the conversation sent back of a reply: the items after those that led to it. */
const sentBack = (exchange: Exchanged, next: Exchanged): readonly JsonRecord[] => {
  const [before, after] = [inputOf(exchange), inputOf(next)];
  if (JSON.stringify(after.slice(0, before.length)) !== JSON.stringify(before)) return [];
  const rest = after.slice(before.length);
  const end = rest.findIndex(isNews);
  // An empty message is what an early client made of a reply without text.
  return (end < 0 ? rest : rest.slice(0, end)).filter(({ content }) => content !== '');
};

/** Replies of which the recorded client did not send back what it had got, and why. */
const NOT_SENT_BACK: Readonly<Record<string, string>> = {
  'test_tool_search/test_openai_client_tool_search_streaming#0': 'a search that the client ran itself',
  'test_openai_responses/test_background_mode_with_tool_vcr#0': 'queued; fetched later by its id',
  'test_openai_responses/test_openai_responses_model_mcp_server_tool#0': 'the test emptied the outputs',
  'test_openai_responses/test_openai_responses_stream#0': 'the item id stands in for the call id',
  'test_openai_responses/test_openai_responses_thinking_with_modified_history#0':
    'the test wrote another text',
};

/** The recorder wrote typographic signs of requests in ASCII. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/[‘’]/g, "'")
      .replaceAll(/[“”]/g, String.raw`\"`)
      .replaceAll('–', '-')
      .replaceAll('—', '--')
      .replaceAll('…', '...'),
  );

/** The recorded client writes plain texts in the short form, leaves out members, and words a search anew. */
const isSame = (own: JsonRecord, item: JsonRecord): boolean => {
  if (item['type'] === undefined) {
    const parts = own['type'] === 'message' ? (own['content'] as JsonRecord[]) : [];
    const text = parts.map((part) => part['text']).join('');
    return parts.length > 0 && plain(text) === plain(item['content']);
  }
  const { namespace: _, status, ...rest } = item;
  const { arguments: __, call_id: ___, ...searched } = rest;
  if (status !== null && status !== undefined && own['status'] !== status) return false;
  return includes(plain(own), plain(item['type'] === 'tool_search_call' ? searched : rest));
};

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

const responseOf = ({ body, sse }: Exchanged): JsonRecord => {
  if (body) return body;
  // One fixture holds two replies after each other; the first one ends the request.
  const events = (sse ?? '')
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonRecord);
  const last = events.find(({ type }) => /^response\.(completed|incomplete|failed)$/.test(String(type)));
  return (last?.['response'] ?? {}) as JsonRecord;
};

describe.skipIf(recordedMissing !== undefined)('a recorded reply of the Responses API', () => {
  it('is an answer, or a failure that says what happens next', async () => {
    const ends = new Map<string, number>();
    let kept = 0;
    for (const exchange of [...exchanges, ...replies]) {
      const reply = await replay(exchange);
      const end = reply.kind === 'failed' ? reply.problem.kind : `${reply.stop}: ${reply.stopDetail ?? ''}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      kept += Math.min(1, reply.bytes?.bytes.length ?? 0);
    }
    // Bytes are kept whatever came of them.
    expect(kept).toBe(exchanges.length + replies.length);
    expect(Object.fromEntries(ends)).toMatchInlineSnapshot(`
      {
        "bad-request": 1,
        "calls: ": 43,
        "end: ": 128,
        "no-balance": 2,
        "unknown: it asks for apply_patch_call, which this runtime does not answer": 3,
        "unknown: it asks for local_shell_call, which this runtime does not answer": 2,
        "unknown: it asks for mcp_approval_request, which this runtime does not answer": 4,
        "unknown: it asks for shell_call, which this runtime does not answer": 2,
        "unknown: it asks for tool_search_call, which this runtime does not answer": 1,
        "unknown: status "complete"": 2,
        "unknown: status "queued"": 4,
      }
    `);
  });

  it('goes back as the next recorded request sent it back', async () => {
    let compared = 0;
    const missed: string[] = [];
    for (const recording of recorded)
      for (const [i, exchange] of recording.entries()) {
        const later = recording.slice(i + 1).map((next) => sentBack(exchange, next));
        const back = later.find((items) => items.length > 0);
        if (!back || Object.hasOwn(NOT_SENT_BACK, exchange.id)) continue;
        const own = itemsBack(await answered(exchange)).map((item) => JSON.parse(item) as JsonRecord);
        let at = 0;
        for (const item of back) {
          const found = own.findIndex((one, k) => k >= at && isSame(one, item));
          if (found < 0) missed.push(`${exchange.id}: ${JSON.stringify(item).slice(0, 300)}`);
          at = found + 1;
        }
        compared += back.length;
      }
    expect(missed).toEqual([]);
    expect(compared).toBe(74);
  });

  it('goes back byte for byte: every item is what the service sent, text literals aside', async () => {
    let verbatim = 0;
    let equal = 0;
    for (const exchange of [...exchanges, ...replies]) {
      const reply = await replay(exchange);
      if (reply.kind === 'failed') continue;
      const received = Buffer.from(reply.bytes?.bytes ?? []).toString('utf8');
      for (const item of itemsBack(reply)) {
        const { type } = JSON.parse(item) as JsonRecord;
        const filled = type === 'message' || type === 'function_call';
        if (received.includes(item)) verbatim++;
        else if (filled && holds(received, item)) equal++;
        else throw new Error(`${exchange.id}: not as it came: ${item.slice(0, 300)}`);
      }
    }
    expect({ verbatim, equal }).toMatchInlineSnapshot(`
      {
        "equal": 3,
        "verbatim": 341,
      }
    `);
  });

  it('has each token counted once, in one of four classes', async () => {
    const [expected, found]: [unknown[], unknown[]] = [[], []];
    let cached = 0;
    for (const exchange of [...exchanges, ...replies]) {
      const { id } = exchange;
      const reply = await replay(exchange);
      const { cacheRead = 0, cacheWrite = 0, input = 0, output = 0 } = reply.usage ?? {};
      found.push({ id, read: cacheRead, written: cacheWrite, all: cacheRead + cacheWrite + input, output });
      const usage = (responseOf(exchange)?.['usage'] ?? {}) as JsonRecord;
      const details = (usage['input_tokens_details'] ?? {}) as JsonRecord;
      const [read, written] = [count(details['cached_tokens']), count(details['cache_write_tokens'])];
      const [all, said] = [count(usage['input_tokens']), count(usage['output_tokens'])];
      expected.push({ id, read, written, all, output: said });
      cached += read + written > 0 ? 1 : 0;
    }
    expect(found).toEqual(expected);
    expect(cached).toMatchInlineSnapshot(`21`);
  });
});

/** Whether an item whose texts were written anew says the same as one of the received ones. */
const holds = (received: string, item: string): boolean => {
  const wanted = JSON.stringify(JSON.parse(item));
  return received
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonRecord)
    .concat(received.startsWith('{') ? [JSON.parse(received) as JsonRecord] : [])
    .flatMap((event) => [
      event['item'],
      ...outputs(event),
      ...outputs((event['response'] ?? {}) as JsonRecord),
    ])
    .some((one) => JSON.stringify(one) === wanted);
};

const outputs = ({ output }: JsonRecord): readonly unknown[] => (Array.isArray(output) ? output : []);
