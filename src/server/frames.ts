/**
 * Server-sent events (WHATWG HTML, 9.2) of one session: its log from any position, and, in between, what its model is
 * just saying. A reader pulls: one that is slow waits for itself, and no session waits for a reader.
 */
import type { Clock } from '../clock.ts';
import type { LogEvent } from '../event/events.ts';
import type { StreamDelta } from '../worker/jobs.ts';
import type { Runtime } from '../worker/runtime.ts';

/** Pieces of a model's text that are kept for a reader; beyond them the oldest are dropped, the log has the whole. */
const DELTAS_MAX = 1000;

export type FrameOptions = {
  readonly session: string;
  /** The first seq. */
  readonly from: number;
  /** Sends what the model is just saying, too. */
  readonly deltas: boolean;
  /** What it said since somebody began to listen, before the first frame was asked for. */
  readonly heard?: Listening | undefined;
  /** Only events that this says yes to; positions are those of the log all the same. */
  readonly wanted: (event: LogEvent) => boolean;
  /** Ends the stream after this event. */
  readonly isLast: (event: LogEvent) => boolean;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  /** Aborted when the server stops. */
  readonly closing: AbortSignal;
};

export type Listening = {
  /** Ends it and hands over what was heard; nothing the second time. */
  stop(): readonly StreamDelta[];
};

/** Keeps what a session's model says from now on. */
export const listen = (runtime: Runtime, session: string): Listening => {
  const deltas: StreamDelta[] = [];
  const unwatch = runtime.watch(session, (delta) => keep(deltas, delta));
  return {
    stop: () => {
      unwatch();
      return deltas.splice(0);
    },
  };
};

const keep = (deltas: StreamDelta[], delta: StreamDelta): void => {
  deltas.push(delta);
  if (deltas.length > DELTAS_MAX) deltas.shift();
};

export type Frame =
  | { readonly kind: 'event'; readonly event: LogEvent }
  | { readonly kind: 'delta'; readonly delta: StreamDelta }
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'end'; readonly reason: 'finished' | 'server-stops' | 'token-ended' };

/** Everything that a stream carries, in order, until it ends or nobody reads. */
export async function* frames(
  runtime: Runtime,
  clock: Clock,
  options: FrameOptions,
): AsyncGenerator<Frame, void, undefined> {
  const { session, from, signal, closing, wanted, isLast } = options;
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, closing, stop.signal]);
  const news = new Newsstand(options.heartbeatMs, clock);
  const unwatch = options.deltas ? runtime.watch(session, (delta) => news.delta(delta)) : undefined;
  news.deltas.push(...(options.heard?.stop() ?? []));
  const log = runtime.follow(session, { from, signal: ended });
  let next = news.when(log.next());
  ended.addEventListener('abort', () => news.wake(), { once: true });
  try {
    for (;;) {
      const event = await news.wait();
      // What was said before an event comes before it.
      for (const delta of news.deltas.splice(0)) yield { kind: 'delta', delta };
      if (signal.aborted) return;
      if (closing.aborted) {
        yield { kind: 'end', reason: 'server-stops' };
        return;
      }
      if (event === 'quiet') {
        yield { kind: 'heartbeat' };
        continue;
      }
      if (event === 'woken') continue;
      const { value, done } = await next;
      if (done || !value) return;
      if (wanted(value)) yield { kind: 'event', event: value };
      if (isLast(value)) {
        yield { kind: 'end', reason: 'finished' };
        return;
      }
      next = news.when(log.next());
    }
  } finally {
    news.close();
    unwatch?.();
    stop.abort();
    await log.return();
  }
}

/** Where a stream waits: for the log, for a word of the model, for the time of a heartbeat. */
class Newsstand {
  readonly deltas: StreamDelta[] = [];
  readonly #heartbeatMs: number;
  readonly #clock: Clock;
  #raised = Promise.withResolvers<void>();
  #logHasNews = false;
  #timer: { cancel(): void } | undefined;

  constructor(heartbeatMs: number, clock: Clock) {
    this.#heartbeatMs = heartbeatMs;
    this.#clock = clock;
  }

  /** Notes when the log has its next event. */
  when<T>(read: Promise<T>): Promise<T> {
    const ready = (): void => {
      this.#logHasNews = true;
      this.wake();
    };
    read.then(ready, ready);
    return read;
  }

  delta(delta: StreamDelta): void {
    keep(this.deltas, delta);
    this.wake();
  }

  wake(): void {
    this.#raised.resolve();
  }

  async wait(): Promise<'log' | 'woken' | 'quiet'> {
    let quiet = false;
    this.#timer = this.#clock.after(
      this.#heartbeatMs,
      () => {
        quiet = true;
        this.wake();
      },
      true,
    );
    await this.#raised.promise;
    this.#timer.cancel();
    this.#raised = Promise.withResolvers();
    if (this.#logHasNews) {
      this.#logHasNews = false;
      return 'log';
    }
    return quiet ? 'quiet' : 'woken';
  }

  close(): void {
    this.#timer?.cancel();
  }
}

/** A frame as it goes over the wire. Only log events have an id: a reader comes back to a place in the log. */
export const frameText = (frame: Frame): string => {
  switch (frame.kind) {
    case 'event': {
      const { seq, at, type, data } = frame.event;
      return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, at, type, data })}\n\n`;
    }
    case 'delta':
      return `event: delta\ndata: ${JSON.stringify(frame.delta)}\n\n`;
    case 'heartbeat':
      return ': still here\n\n';
    case 'end':
      return `event: end\ndata: ${JSON.stringify({ reason: frame.reason })}\n\n`;
    default:
      return frame satisfies never;
  }
};

/** A body that asks for the next frame when the reader has taken the last one. */
export const streamOf = (
  source: AsyncGenerator<string, void, undefined>,
  onEnd: () => void,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await source.next();
          if (value !== undefined) return controller.enqueue(encoder.encode(value));
          if (done === true) {
            onEnd();
            controller.close();
          }
        } catch (error) {
          onEnd();
          controller.error(error);
        }
      },
      async cancel() {
        onEnd();
        await source.return();
      },
    },
    { highWaterMark: 0 },
  );
};
