/**
 * Recorded streams of both APIs, in pieces and cut short: wherever the bytes are split the answer is the same, and
 * wherever they end early there is no answer.
 */
import { describe, expect, it } from 'vitest';
import { ChatStream } from '../../src/model/chat-stream.ts';
import { chatServer } from '../../src/model/chat.ts';
import type { Model, ModelReply } from '../../src/model/model.ts';
import { EventDecoder } from '../../src/model/openai-events.ts';
import type { EventReader, Reading } from '../../src/model/openai-reading.ts';
import { ResponsesStream } from '../../src/model/openai-stream.ts';
import { openai } from '../../src/model/openai.ts';
import { LONG } from '../kit/long.ts';
import { sendTo, standIn, stream } from './openai-stage.ts';
import { fixtures, recordedMissing, recordings, sseOf } from './recorded.ts';

if (recordedMissing !== undefined) console.warn(recordedMissing);

/** Streams up to this size are split in two at every position, all others at so many spread over their length. */
const WHOLE_BYTES_MAX = LONG ? 9000 : 1500;
const SAMPLED = 40;

type Stream = { readonly id: string; readonly bytes: Uint8Array };

const streamsOf = (
  files: readonly string[],
  path: string,
  prefixes: readonly string[],
): readonly Stream[] => {
  const recorded = files.flatMap((file) => recordings(file, path).flat());
  const found = recorded.flatMap(({ id, sse }) => (sse === undefined ? [] : [{ id, text: sse }]));
  const made = prefixes
    .flatMap(fixtures)
    .flatMap((one) =>
      one.kind === 'stream' ? [{ id: one.id, text: sseOf(one.data, !path.endsWith('responses')) }] : [],
    );
  return [...found, ...made].map(({ id, text }) => ({ id, bytes: Buffer.from(text) }));
};

type Api = {
  readonly name: string;
  readonly streams: readonly Stream[];
  readonly reader: () => EventReader;
  readonly model: (options: { readonly baseUrl: string; readonly fetch?: typeof fetch }) => Model;
};

const APIS: readonly Api[] = [
  {
    name: 'Responses',
    streams: streamsOf(['openai-responses.jsonl'], '/v1/responses', ['openai/responses/']),
    reader: () => new ResponsesStream(() => {}),
    model: (options) => openai(options).model('split'),
  },
  {
    name: 'Chat Completions',
    streams: streamsOf(['openai-chat.jsonl'], '/v1/chat/completions', [
      'openai/chat/',
      'openai-compatible/chat/',
    ]),
    reader: () => new ChatStream(() => {}),
    model: (options) => chatServer({ name: 'vllm', ...options }).model('split'),
  },
];

const read = (reader: EventReader, pieces: readonly Uint8Array[]): Reading => {
  const decoder = new EventDecoder();
  for (const piece of pieces) for (const { data, last } of decoder.push(piece)) reader.push(data, last);
  for (const { data, last } of decoder.end()) reader.push(data, last);
  return reader.reading();
};

const split = (bytes: Uint8Array, at: number): readonly Uint8Array[] => [
  bytes.subarray(0, at),
  bytes.subarray(at),
];

const positions = ({ length }: Uint8Array): readonly number[] =>
  length <= WHOLE_BYTES_MAX
    ? Array.from({ length: length + 1 }, (_, at) => at)
    : Array.from({ length: SAMPLED }, (_, i) => Math.floor(((i + 0.37) * length) / SAMPLED));

/** Answers with these pieces, one chunk each, without a socket. */
const inPieces =
  (pieces: readonly Uint8Array[]): typeof fetch =>
  async () =>
    new Response(
      new ReadableStream({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      }),
      { headers: { 'content-type': 'text/event-stream; charset=utf-8' } },
    );

/** A reply without times and addresses. */
const essence = (reply: ModelReply): unknown => ({ ...reply, wire: undefined, firstTokenMs: undefined });

/** Whether an end stands in these bytes that can make an answer of them. */
const hasEnd = (bytes: Uint8Array): boolean =>
  /"type":\s?"response\.(completed|incomplete|failed)"|"finish_reason":\s?"|"type":\s?"error"/.test(
    Buffer.from(bytes).toString('utf8'),
  );

describe.skipIf(recordedMissing !== undefined).each(APIS)(
  'streams of $name',
  ({ streams, reader, model, name }) => {
    it('read the same split in two anywhere', () => {
      let tried = 0;
      const wrong: string[] = [];
      for (const { id, bytes } of streams) {
        const whole = JSON.stringify(read(reader(), [bytes]));
        for (const at of positions(bytes)) {
          if (JSON.stringify(read(reader(), split(bytes, at))) !== whole) wrong.push(`${id} at ${at}`);
          tried++;
        }
      }
      console.log(`${name}: ${streams.length} streams split in two at ${tried} positions`);
      expect(wrong).toEqual([]);
    }, 240_000);

    it('read the same split at every byte at once, through the SDK and the exchange', async () => {
      for (const { bytes } of streams) {
        const each = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
        const baseUrl = 'http://127.0.0.1:1/v1';
        const whole = await sendTo(model({ baseUrl, fetch: inPieces([bytes]) }));
        const pieces = await sendTo(model({ baseUrl, fetch: inPieces(each) }));
        expect(essence(pieces.reply)).toEqual(essence(whole.reply));
        expect(pieces.deltas).toEqual(whole.deltas);
      }
    }, 240_000);

    it('are no answer when they end early, wherever that is', () => {
      let tried = 0;
      const wrong: string[] = [];
      for (const { id, bytes } of streams) {
        const whole = read(reader(), [bytes]);
        for (const at of positions(bytes)) {
          const kept = bytes.subarray(0, at);
          const cut = read(reader(), [kept]);
          tried++;
          if (cut.kind === 'failed' && cut.problem.kind === 'interrupted') continue;
          // From its end on the answer is there; usage may still be missing.
          const same = { ...cut, usage: undefined };
          if (JSON.stringify(same) !== JSON.stringify({ ...whole, usage: undefined }))
            wrong.push(`${id} at ${at}`);
          if (!hasEnd(kept)) wrong.push(`${id} at ${at}: an answer without an end`);
        }
      }
      console.log(`${name}: ${streams.length} streams cut at ${tried} positions`);
      expect(wrong).toEqual([]);
    }, 240_000);

    it('read the same over a socket in random pieces, and cut there they are interrupted', async () => {
      const picked = streams.filter((_, i) => i % 5 === 0);
      let seed = 20_261_129;
      const random = (max: number): number => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % max;
      };
      for (const { bytes } of picked) {
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < bytes.length;) {
          const size = 1 + random(Math.ceil(bytes.length / 8));
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        const { url } = await standIn((_, response) => stream(response, pieces));
        const { reply } = await sendTo(model({ baseUrl: url }));
        const whole = await sendTo(model({ baseUrl: url, fetch: inPieces([bytes]) }));
        expect(essence(reply)).toMatchObject(essence(whole.reply) as object);
        const { url: cutting } = await standIn((_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(bytes.subarray(0, Math.floor(bytes.length / 3)), () => response.destroy());
        });
        const cut = await sendTo(model({ baseUrl: cutting }));
        expect(cut.reply).toMatchObject({
          kind: 'failed',
          problem: { kind: 'interrupted' },
          maybeBilled: true,
        });
      }
    }, 120_000);
  },
);
