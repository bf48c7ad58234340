/** Server-sent events as an answer: counted, ended with whoever reads, and with the token that they were opened by. */
import type { Context } from 'hono';
import type { Door, DoorEnv } from './door.ts';
import { frameText, streamOf } from './frames.ts';

/** `texts` is asked for the next piece when the reader has taken the last one; the signal says that nobody reads. */
export const streamResponse = (
  context: Context<DoorEnv>,
  { meter, tokens }: Door,
  texts: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>,
): Response => {
  // Only the headers are asked for: nobody would ever read, or leave, a stream.
  if (context.req.method === 'HEAD') return new Response(null, { headers: STREAM_HEADERS });
  const { token } = context.get('caller');
  const closed = meter.stream(token);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, context.req.raw.signal]);
  const guarded = async function* (): AsyncGenerator<string, void, undefined> {
    for await (const text of texts(signal)) {
      // A token that was taken away must not go on reading through a stream that it opened before.
      if (!(await tokens.stands(token))) {
        yield frameText({ kind: 'end', reason: 'token-ended' });
        return;
      }
      yield text;
    }
  };
  const onEnd = (): void => {
    stop.abort();
    closed();
  };
  return new Response(streamOf(guarded(), onEnd), { headers: STREAM_HEADERS });
};

const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // A proxy that collects the answer first would show nothing until the end.
  'x-accel-buffering': 'no',
};
