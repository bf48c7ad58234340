/**
 * Real traffic of the Chat Completions API, served over a socket: what the adapter reads is held against what the
 * service counted and against what the recorded client sent back in its next request.
 */
import { describe, expect, it } from 'vitest';
import { chatEncoder } from '../../src/model/chat-encoder.ts';
import { chatServer } from '../../src/model/chat.ts';
import type { ModelReply } from '../../src/model/model.ts';
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

const recorded = recordings('openai-chat.jsonl', '/v1/chat/completions').concat(
  recordings('openai-responses.jsonl', '/v1/chat/completions'),
);
const exchanges = recorded.flat();
const replies = ['openai/chat/', 'openai-compatible/chat/'].flatMap(fixtures).map((fixture): Exchanged => ({
  id: fixture.id,
  path: '/v1/chat/completions',
  sent: {},
  status: fixture.kind === 'json' && fixture.body['error'] ? 400 : 200,
  body: fixture.kind === 'json' ? fixture.body : undefined,
  sse: fixture.kind === 'stream' ? sseOf(fixture.data, true) : undefined,
}));

const served: Exchanged[] = [];
const stage = await standIn(async ({ headers }, response) => {
  const exchange = served[Number(headers['x-exchange'])];
  if (exchange?.sse !== undefined) return stream(response, [exchange.sse]);
  return json(response, JSON.stringify(exchange?.body, null, 2), exchange?.status);
});

const replay = async (exchange: Exchanged): Promise<ModelReply> => {
  const number = served.push(exchange) - 1;
  const headers = { 'x-exchange': String(number) };
  const provider = chatServer({ name: 'vllm', baseUrl: stage.url, headers });
  return (await sendTo(provider.model('stand-in'))).reply;
};

const by = { provider: 'vllm', name: 'stand-in' };

const messagesBack = (reply: Extract<ModelReply, { kind: 'response' }>): readonly JsonRecord[] =>
  chatEncoder(by.provider)
    .elements({ kind: 'assistant', blocks: promptBlocks(reply.content), by })
    .map((element) => JSON.parse(element) as JsonRecord);

const messagesOf = ({ sent }: Exchanged): readonly JsonRecord[] => sent['messages'] as JsonRecord[];

/** What a later request of the conversation sent back of a reply. */
const sentBack = (exchange: Exchanged, next: Exchanged): readonly JsonRecord[] => {
  const [before, after] = [messagesOf(exchange), messagesOf(next)];
  if (JSON.stringify(after.slice(0, before.length)) !== JSON.stringify(before)) return [];
  const rest = after.slice(before.length);
  const end = rest.findIndex(({ role }) => role !== 'assistant');
  return end < 0 ? rest : rest.slice(0, end);
};

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

const usageSent = ({ body, sse }: Exchanged): JsonRecord => {
  const chunks = (sse ?? '')
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonRecord);
  return ((body ?? chunks.findLast(({ usage }) => usage))?.['usage'] ?? {}) as JsonRecord;
};

describe.skipIf(recordedMissing !== undefined)('a recorded reply of the Chat Completions API', () => {
  it('is an answer, or a failure that says what happens next', async () => {
    const ends = new Map<string, number>();
    for (const exchange of [...exchanges, ...replies]) {
      const reply = await replay(exchange);
      const end = reply.kind === 'failed' ? reply.problem.kind : `${reply.stop}: ${reply.stopDetail ?? ''}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    expect(Object.fromEntries(ends)).toMatchInlineSnapshot(`
      {
        "bad-request": 2,
        "calls: ": 54,
        "end: ": 68,
      }
    `);
  });

  it('goes back as the next recorded request sent it back', async () => {
    let compared = 0;
    const missed: string[] = [];
    for (const recording of recorded)
      for (const [i, exchange] of recording.entries()) {
        const [back] = recording.slice(i + 1).flatMap((next) => sentBack(exchange, next));
        if (!back) continue;
        const reply = await replay(exchange);
        const [own] = reply.kind === 'response' ? messagesBack(reply) : [];
        if (!includes(own, back)) missed.push(`${exchange.id}: ${JSON.stringify([back, own]).slice(0, 800)}`);
        compared++;
      }
    expect(missed).toEqual([]);
    expect(compared).toBe(40);
  });

  it('has each token counted once, in one of four classes', async () => {
    const [expected, found]: [unknown[], unknown[]] = [[], []];
    let cached = 0;
    for (const exchange of [...exchanges, ...replies]) {
      const { id } = exchange;
      const reply = await replay(exchange);
      const { cacheRead = 0, cacheWrite = 0, input = 0, output = 0 } = reply.usage ?? {};
      found.push({
        id,
        read: cacheRead,
        prompt: cacheRead + cacheWrite + input,
        all: cacheRead + cacheWrite + input + output,
      });
      const usage = usageSent(exchange);
      const details = (usage['prompt_tokens_details'] ?? {}) as JsonRecord;
      const read = count(details['cached_tokens']);
      expected.push({ id, read, prompt: count(usage['prompt_tokens']), all: count(usage['total_tokens']) });
      cached += read > 0 ? 1 : 0;
    }
    expect(found).toEqual(expected);
    expect(cached).toMatchInlineSnapshot(`5`);
  });

  it('of a server that thinks aloud keeps the thoughts, and gives them back where they came from', async () => {
    const thinking = replies.filter(({ id }) => id.includes('xai'));
    expect(thinking).toHaveLength(4);
    for (const exchange of thinking) {
      const reply = await replay(exchange);
      const [own] = reply.kind === 'response' ? messagesBack(reply) : [];
      expect(own?.['reasoning_content']).toMatch(/^First, the user/);
    }
  });
});
