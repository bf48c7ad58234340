/**
 * npm run splits                      every recorded stream of every provider, split in two at every position
 * npm run splits -- --first 5000      no more than so many positions of each stream, spread over its length
 *
 * For each position the two pieces go through the decoder that the adapter uses: the official SDK's for Anthropic, the
 * own one for the OpenAI APIs. What an adapter makes of a reply is a function of its decoded events alone, so it is
 * read again only where they are other events than those of the whole stream; then the two readings are compared.
 *
 * Exit code 0: all the same, or no recordings at hand, which is said; 1: at least one position reads otherwise.
 */
import { parseArgs } from 'node:util';
import { MessageStream } from '../src/model/anthropic-reply.ts';
import { ChatStream } from '../src/model/chat-stream.ts';
import { EventDecoder } from '../src/model/openai-events.ts';
import type { EventReader } from '../src/model/openai-reading.ts';
import { ResponsesStream } from '../src/model/openai-stream.ts';
import { fixtures, recordedMissing, recordings, sseOf } from '../test/model/recorded.ts';

const { values } = parseArgs({ options: { first: { type: 'string' } } });
const positionsMax = values.first === undefined ? Infinity : Number(values.first);

const WRONG_SHOWN_MAX = 20;

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = { readonly id: string; readonly bytes: Bytes };
/** One event as the accumulator is given it. */
type Decoded = { readonly data: string; readonly last: boolean };
type Api = {
  readonly name: string;
  readonly streams: readonly Stream[];
  readonly decode: (pieces: readonly Bytes[]) => readonly Decoded[] | Promise<readonly Decoded[]>;
  readonly read: (events: readonly Decoded[]) => unknown;
};

const streamsOf = (
  files: readonly string[],
  path: string,
  prefixes: readonly string[],
): readonly Stream[] => {
  const recorded = files
    .flatMap((file) => recordings(file, path).flat())
    .flatMap(({ id, sse }) => (sse === undefined ? [] : [{ id, text: sse }]));
  const made = prefixes
    .flatMap(fixtures)
    .flatMap((one) =>
      one.kind === 'stream' ? [{ id: one.id, text: sseOf(one.data, path.endsWith('completions')) }] : [],
    );
  return [...recorded, ...made].map(({ id, text }) => ({ id, bytes: new TextEncoder().encode(text) }));
};

const ownDecoder = (pieces: readonly Bytes[]): readonly Decoded[] => {
  const decoder = new EventDecoder();
  const events = pieces.flatMap((piece) => decoder.push(piece));
  return [...events, ...decoder.end()];
};

const readBy =
  (reader: () => EventReader): Api['read'] =>
  (events) => {
    const made = reader();
    for (const { data, last } of events) made.push(data, last);
    return made.reading();
  };

const sdkDecoder = async (): Promise<Api['decode']> => {
  const { Stream: EventStream } = await import('@anthropic-ai/sdk/core/streaming');
  return async (pieces) => {
    const left = [...pieces];
    const body = new ReadableStream<Bytes>({
      pull: (controller) => {
        const piece = left.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    const events: Decoded[] = [];
    for await (const { data } of EventStream.rawEvents(new Response(body)))
      events.push({ data, last: false });
    return events;
  };
};

const readMessage = (events: readonly Decoded[]): unknown => {
  const deltas: unknown[] = [];
  const stream = new MessageStream([], (delta) => deltas.push(delta));
  const problems = events.map(({ data }) => stream.push(data)).filter((problem) => problem !== undefined);
  return { whole: stream.whole, message: stream.message(), problems, deltas };
};

const apis = async (): Promise<readonly Api[]> => [
  {
    name: 'OpenAI Responses',
    streams: streamsOf(['openai-responses.jsonl', 'mixed.jsonl'], '/v1/responses', ['openai/responses/']),
    decode: ownDecoder,
    read: readBy(() => new ResponsesStream(() => {})),
  },
  {
    name: 'Chat Completions',
    streams: streamsOf(['openai-chat.jsonl', 'mixed.jsonl'], '/v1/chat/completions', [
      'openai/chat/',
      'openai-compatible/chat/',
    ]),
    decode: ownDecoder,
    read: readBy(() => new ChatStream(() => {})),
  },
  {
    name: 'Anthropic Messages',
    streams: streamsOf(['anthropic.jsonl', 'mixed.jsonl'], '/v1/messages?beta=true', ['anthropic/']),
    decode: await sdkDecoder(),
    read: readMessage,
  },
];

/** Every position from before the first byte to behind the last one, or so many of them. */
function* positions(length: number): Generator<number> {
  const step = Math.max(1, (length + 1) / positionsMax);
  for (let at = 0; at <= length; at += step) yield Math.floor(at);
}

const sameEvents = (a: readonly Decoded[], b: readonly Decoded[]): boolean =>
  a.length === b.length && a.every(({ data, last }, i) => data === b[i]?.data && last === b[i].last);

type Count = { splits: number; readAgain: number; readonly wrong: string[] };

const trySplits = async ({ decode, read }: Api, { id, bytes }: Stream, count: Count): Promise<void> => {
  const whole = await decode([bytes]);
  const reading = JSON.stringify(read(whole));
  for (const at of positions(bytes.length)) {
    const events = await decode([bytes.subarray(0, at), bytes.subarray(at)]);
    count.splits++;
    if (sameEvents(events, whole)) continue;
    count.readAgain++;
    if (JSON.stringify(read(events)) !== reading) count.wrong.push(`${id} at byte ${at}`);
  }
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const number = (value: number): string => value.toLocaleString('en');

const run = async (api: Api): Promise<boolean> => {
  const count: Count = { splits: 0, readAgain: 0, wrong: [] };
  const began = performance.now();
  for (const stream of api.streams) await trySplits(api, stream, count);
  const bytes = api.streams.reduce((sum, stream) => sum + stream.bytes.length, 0);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  say(
    `${api.name}: ${number(api.streams.length)} streams of ${number(bytes)} bytes, split in two at ${number(count.splits)} positions in ${seconds} s; ` +
      `other events at ${number(count.readAgain)}, another reading at ${number(count.wrong.length)}`,
  );
  for (const wrong of count.wrong.slice(0, WRONG_SHOWN_MAX)) say(`  ${wrong}`);
  return count.wrong.length === 0;
};

if (recordedMissing !== undefined) say(recordedMissing);
else {
  let good = true;
  for (const api of await apis()) good = (await run(api)) && good;
  process.exitCode = good ? 0 : 1;
}
