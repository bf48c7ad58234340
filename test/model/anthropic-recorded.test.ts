/**
 * Real exchanges with the Anthropic API, served over a socket to the adapter and the official SDK under it. Promises:
 * what came back is read so that it returns as the next recorded request returned it; the counts are the
 * provider's; the stored reply is the reply; where a stream is cut into chunks changes nothing.
 */
import { integer, sample } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anthropicEncoder } from '../../src/model/anthropic-encoder.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import type { Model, ModelReply } from '../../src/model/model.ts';
import { json, promptBlocks, sendTo, standIn, stream } from './openai-stage.ts';
import { fixtures, recordedMissing, recordings, sseOf, type Exchanged, type JsonRecord } from './recorded.ts';

if (recordedMissing !== undefined) console.warn(`\n${recordedMissing} (recorded Anthropic exchanges)\n`);

const conversations = ['anthropic.jsonl', 'mixed.jsonl'].flatMap((file) =>
  recordings(file, '/v1/messages?beta=true'),
);
const exchanges = conversations.flat();
const streams = [
  ...exchanges.flatMap(({ id, sse }) => (sse === undefined ? [] : [{ id, bytes: Buffer.from(sse) }])),
  ...fixtures('anthropic/').flatMap((fixture) =>
    fixture.kind === 'stream' ? [{ id: fixture.id, bytes: Buffer.from(sseOf(fixture.data)) }] : [],
  ),
];

const KEY = 'sk-ant-recorded-0123456789';

const modelAt = (url: string, fetch?: typeof globalThis.fetch): Model =>
  anthropic({
    baseUrl: new URL(url).origin,
    credential: 'STAND_IN_KEY',
    env: { STAND_IN_KEY: KEY },
    ...(fetch && { fetch }),
  }).model('claude-stand-in');

type Response = Extract<ModelReply, { kind: 'response' }>;

const answered = (reply: ModelReply): Response => {
  if (reply.kind === 'response') return reply;
  throw new Error(`The reply is a failure: ${JSON.stringify(reply.problem)}`);
};

/** Two values are one where only what the recording project dropped tells them apart: it sent back neither. */
const DROPPED: ReadonlySet<string> = new Set(['cache_control', 'caller', 'citations']);

/** The recorder wrote requests, not replies, with plain quotes, dashes and spaces. */
const folded = (text: string): string =>
  text
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(/[\u2013\u2014]/g, '-')
    .replaceAll('\u2026', '...')
    .replaceAll(/[\u00a0\u202f]/g, ' ');

const plain = (value: unknown): unknown => {
  if (typeof value === 'string') return folded(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !DROPPED.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, plain(member)]),
  );
};

type Message = { readonly role: string; readonly content: unknown };

const messagesOf = ({ sent }: Exchanged): readonly Message[] =>
  (sent['messages'] ?? []) as readonly Message[];

/** What the next request of the same conversation said that the model had said. */
const sentBack = (one: Exchanged, rest: readonly Exchanged[]): unknown => {
  const before = messagesOf(one);
  const next = rest.find((other) => {
    const messages = messagesOf(other);
    return (
      messages[before.length]?.role === 'assistant' &&
      JSON.stringify(plain(messages.slice(0, before.length))) === JSON.stringify(plain(before))
    );
  });
  return next && messagesOf(next)[before.length]?.content;
};

/** The text blocks that stand side by side as one: where they are split says nothing. */
const joined = (content: unknown): unknown => {
  const blocks = (
    typeof content === 'string' ? [{ type: 'text', text: content }] : content
  ) as readonly JsonRecord[];
  const all: JsonRecord[] = [];
  for (const block of plain(blocks) as readonly JsonRecord[]) {
    const last = all.at(-1);
    if (last?.['type'] === 'text' && block['type'] === 'text')
      all[all.length - 1] = { type: 'text', text: `${String(last['text'])}${String(block['text'])}` };
    else all.push(block);
  }
  return all;
};

const encoder = anthropicEncoder('anthropic');

const encoded = (reply: Response): readonly JsonRecord[] => {
  const by = { provider: 'anthropic', name: 'claude' };
  const [element] = encoder.elements({ kind: 'assistant', blocks: promptBlocks(reply.content), by });
  return element === undefined ? [] : (JSON.parse(element) as { content: JsonRecord[] }).content;
};

type Counts = Record<string, number>;

/**
 * Usage as the recording has it, by a way of its own: of a stream the last count of each key. Tokens of a compaction
 * are billed, too, and stand apart.
 */
const recordedUsage = ({ body, sse }: Exchanged): Counts => {
  const text = sse ?? JSON.stringify(body);
  const iterations = [...text.matchAll(/"iterations":(\[.*?\])/g)].at(-1)?.[1] ?? '[]';
  const found: Counts = {};
  for (const [, key = '', value] of text
    .replaceAll(/"iterations":\[.*?\]/g, '')
    .matchAll(/"((?:cache_creation_input|cache_read_input|input|output)_tokens)":(\d+)/g))
    found[key] = Number(value);
  for (const { type, ...counts } of JSON.parse(iterations) as (Counts & { type: unknown })[])
    if (type === 'compaction')
      for (const key of Object.keys(found)) found[key] = (found[key] ?? 0) + (counts[key] ?? 0);
  return found;
};

describe.skipIf(recordedMissing !== undefined)('recorded exchanges with Anthropic', () => {
  test(
    'every reply is read, returns as it was returned, and is stored as it came',
    { timeout: 120_000 },
    async () => {
      let current: Exchanged | undefined;
      const { url, heard } = await standIn(async (_, response) => {
        if (current?.sse !== undefined) await stream(response, [current.sse]);
        else json(response, current?.body ?? {}, current?.status);
      });
      const model = modelAt(url);
      const counted = { replies: 0, streams: 0, returned: 0, cached: 0 };
      for (const conversation of conversations)
        for (const [i, exchange] of conversation.entries()) {
          current = exchange;
          const body = JSON.stringify({ ...exchange.sent, stream: exchange.sse !== undefined });
          const reply = answered((await sendTo(model, { body })).reply);
          expect(heard.at(-1)?.body).toBe(body);
          counted.replies++;
          const came = exchange.sse ?? JSON.stringify(exchange.body);
          expect(Buffer.from(reply.bytes?.bytes ?? []).toString('utf8')).toBe(came);
          if (exchange.sse !== undefined) counted.streams++;

          const usage = recordedUsage(exchange);
          const { id } = exchange;
          expect({ id, known: reply.stop !== 'unknown', ...reply.usage }).toEqual({
            id,
            known: true,
            input: usage['input_tokens'] ?? 0,
            output: usage['output_tokens'] ?? 0,
            cacheRead: usage['cache_read_input_tokens'] ?? 0,
            cacheWrite: usage['cache_creation_input_tokens'] ?? 0,
          });
          if ((reply.usage?.cacheRead ?? 0) > 0) counted.cached++;
          const back = sentBack(exchange, conversation.slice(i + 1));
          if (back === undefined) continue;
          counted.returned++;
          expect({ id, content: joined(encoded(reply)) }).toEqual({ id, content: joined(back) });
        }
      console.log('recorded Anthropic exchanges:', counted);
      expect(counted.replies).toBeGreaterThan(130);
      expect(counted.returned).toBeGreaterThan(40);
      expect(counted.streams).toBeGreaterThan(10);
      expect(counted.cached).toBeGreaterThan(0);
    },
  );

  test('every block goes back with every member that it came with', async () => {
    for (const { body } of exchanges) {
      if (body === undefined) continue;
      const text = JSON.stringify(body);
      const { model } = served(() => new globalThis.Response(text, JSON_TYPE));
      const content = (body['content'] ?? []) as readonly JsonRecord[];
      const reply = answered((await sendTo(model)).reply);
      const mine = encoded(reply);
      expect(mine).toEqual(
        content
          .filter(({ type, text: said }) => type !== 'text' || String(said).trim() !== '')
          .map((block) => withoutNulls(block)),
      );
    }
  });
});

const JSON_TYPE = { headers: { 'content-type': 'application/json' } };
const STREAM_TYPE = { headers: { 'content-type': 'text/event-stream' } };

/** `citations: null` on a text says nothing, and is not sent back. */
const withoutNulls = (block: JsonRecord): JsonRecord =>
  block['type'] === 'text' && block['citations'] === null ? { type: 'text', text: block['text'] } : block;

const served = (answer: () => globalThis.Response): { readonly model: Model } => ({
  model: modelAt('http://127.0.0.1:9', () => Promise.resolve(answer())),
});

const chunked = (chunks: readonly Uint8Array[]): globalThis.Response => {
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = chunks[next++];
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
  return new globalThis.Response(body, STREAM_TYPE);
};

/** What of a reply must not depend on the chunks. */
const essence = async (chunks: readonly Uint8Array[]): Promise<string> => {
  const { reply, deltas } = await sendTo(served(() => chunked(chunks)).model);
  const { content, usage, stop, bytes } = answered(reply);
  const text = { text: '', reasoning: '', 'call-arguments': '' };
  for (const delta of deltas) text[delta.type] += delta.text;
  return JSON.stringify([content, usage, stop, text, Buffer.from(bytes?.bytes ?? []).toString('base64')]);
};

const WHOLE_BYTES_MAX = 3300;
const SAMPLED = 40;

describe.skipIf(recordedMissing !== undefined)('a stream cut anywhere is the same reply', () => {
  test('into single bytes: every stream at every byte at once', { timeout: 240_000 }, async () => {
    let cuts = 0;
    for (const { id, bytes } of streams) {
      const singles = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
      expect({ id, reply: await essence(singles) }).toEqual({ id, reply: await essence([bytes]) });
      cuts += singles.length - 1;
    }
    console.log(`${streams.length} streams as single bytes, ${cuts} cuts`);
    expect(streams.length).toBeGreaterThan(25);
  });

  test('in two: small streams at every byte, the others at a sample', { timeout: 240_000 }, async () => {
    const counted = { everywhere: 0, sampled: 0, cuts: 0 };
    const different: string[] = [];
    for (const { id, bytes } of streams) {
      const whole = await essence([bytes]);
      const everywhere = bytes.length <= WHOLE_BYTES_MAX;
      const size = bytes.length - 1;
      const places = everywhere
        ? Array.from({ length: size }, (_, i) => i + 1)
        : sample(integer({ min: 1, max: size }), { numRuns: SAMPLED, seed: size });
      for (const at of places) {
        const cut = [bytes.subarray(0, at), bytes.subarray(at)];
        if ((await essence(cut)) !== whole) different.push(`${id} cut at ${at}`);
      }
      counted[everywhere ? 'everywhere' : 'sampled']++;
      counted.cuts += places.length;
    }
    console.log('streams cut in two:', counted);
    expect(different).toEqual([]);
    expect(counted.everywhere).toBeGreaterThan(5);
  });

  test(
    'and ended anywhere before its last event it is no reply, but its bytes are kept',
    { timeout: 120_000 },
    async () => {
      const counted = { cuts: 0 };
      for (const { id, bytes } of streams) {
        const last = bytes.indexOf('"message_stop"');
        if (last < 0) continue;
        const ends = sample(integer({ min: 0, max: last }), { numRuns: 12, seed: last });
        for (const end of [...ends, last]) {
          const { reply } = await sendTo(served(() => chunked([bytes.subarray(0, end)])).model);
          expect({ id, end, ...reply }).toMatchObject({
            id,
            end,
            kind: 'failed',
            problem: { kind: 'interrupted' },
            maybeBilled: true,
          });
          expect(reply.bytes?.bytes.length ?? 0).toBe(end);
          counted.cuts++;
        }
      }
      console.log('streams ended early:', counted);
      expect(counted.cuts).toBeGreaterThan(300);
    },
  );
});
