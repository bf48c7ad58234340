/** A run as server-sent events: one protocol's words for each beat, with the headers that proxies understand. */
import type { Context } from 'hono';
import { REPLAYED } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { streamOf } from '../frames.ts';
import { beats, type Begun } from './run.ts';
import type { Beat } from './beat.ts';

/** What one protocol makes of beats. Made anew for each stream. */
export type Telling = {
  /** The texts of server-sent events, whole, with their ends. */
  tell(beat: Beat): string;
};

export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** A comment: nothing happened, and the stream is open. */
export const ALIVE = ': still here\n\n';

export const tellRun = (
  context: Context<DoorEnv>,
  door: Door,
  begun: Begun,
  {
    telling,
    headers = {},
  }: { readonly telling: Telling; readonly headers?: Readonly<Record<string, string>> },
): Response => {
  const closed = door.meter.stream(context.get('caller').token);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, context.req.raw.signal]);
  const running = beats(door, begun, signal);
  const texts = async function* (): AsyncGenerator<string, void, undefined> {
    for await (const beat of running) {
      const text = beat.kind === 'alive' ? ALIVE : telling.tell(beat);
      if (text !== '') yield text;
    }
  };
  const onEnd = (): void => {
    stop.abort();
    closed();
  };
  return new Response(streamOf(texts(), onEnd), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...(begun.replayed && { [REPLAYED]: 'true' }),
      ...headers,
    },
  });
};
