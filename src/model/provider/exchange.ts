/**
 * One model request on the wire, below the official SDKs. An SDK builds headers, decodes the stream and types the
 * errors; the exchange owns what the record depends on. Give `fetch`, `body` and `signal` to an SDK client made with
 * `maxRetries: 0`, read the reply, and hand whatever became of it to `failed()` or `answered()`.
 *
 * Invariants: (1) one POST per exchange, of exactly the bytes that the log holds, to one origin; redirects are not
 * followed; (2) the credential is put in here and nowhere above, and is taken out of everything that comes back;
 * (3) every byte of the reply is kept, up to a limit, whatever becomes of it; (4) a silent stream, an oversized
 * reply and a cancel end the exchange, and the first reason counts.
 */
import { bug, isOnrecordError } from '../../errors.ts';
import type { RequestProblem } from '../../event/events.ts';
import type { Wire } from '../../event/content.ts';
import type { SecretMask } from '../../secret/mask.ts';
import type { Delta, ModelReply, ModelRequest } from '../model.ts';
import type { Credential } from './credential.ts';
import { outgoing, receivedHeaders, sentHeaders } from './headers.ts';
import { maskBytes, MaskedDeltas, maskJson } from './masked.ts';
import { httpProblem, PROBLEM_CHARS_MAX, UNBILLED } from './problem.ts';
import { systemFetch, type Fetch } from './system-fetch.ts';

/** A stream that brings nothing for so long is dead. The providers send pings more often than that. */
export const STREAM_IDLE_MS = 120_000;
export const REPLY_BYTES_MAX: number = 64 * 1024 * 1024;
/** How long the rest of a stream is waited for after its terminal event. */
export const DRAIN_MS = 1000;
/** Of a reply with an error status. */
export const ERROR_BYTES_MAX: number = 1024 * 1024;

export type ExchangeOptions = {
  readonly request: ModelRequest;
  /** As the SDK client gets it, for example `https://api.anthropic.com`. */
  readonly baseUrl: string;
  /** Absent for servers that want none. */
  readonly credential?: Credential | undefined;
  /** How the credential is sent. Default `bearer`. */
  readonly auth?: 'bearer' | 'x-api-key' | undefined;
  /** Further headers, as the user of the model gave them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: undici, through the proxy that the environment names. */
  readonly fetch?: Fetch | undefined;
  /** Milliseconds. Default STREAM_IDLE_MS. */
  readonly idleMs?: number | undefined;
  /** Default REPLY_BYTES_MAX. */
  readonly replyBytesMax?: number | undefined;
};

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Chunk = Awaited<ReturnType<Reader['read']>>;
type Failed = Extract<ModelReply, { kind: 'failed' }>;
type Answered = Extract<ModelReply, { kind: 'response' }>;
type Seen = { readonly partial?: string; readonly usage?: NonNullable<Failed['usage']> };

/** Errors of a connection that never came about: nothing was sent, so nothing is billed. */
const NOT_CONNECTED =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT|CERT|SSL|TLS/;
const NO_BODY_STATUS: ReadonlySet<number> = new Set([204, 205, 304]);

export class Exchange {
  /** The exact text to send. */
  readonly body: string;
  /** For the SDK's call: aborted on cancel and when the exchange gives up. */
  readonly signal: AbortSignal;
  /** For the SDK's client. */
  readonly fetch: Fetch;
  /** For text as it comes, credentials taken out. */
  readonly onDelta: (delta: Delta) => void;
  readonly #options: ExchangeOptions;
  readonly #mask: SecretMask | undefined;
  readonly #deltas: MaskedDeltas | undefined;
  readonly #stopper = new AbortController();
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #sent: Headers | undefined;
  #url: string;
  #response: Response | undefined;
  #ended = false;
  /** Why this side ended the exchange. */
  #verdict: RequestProblem | undefined;
  /** What the way out threw. */
  #broken: unknown;

  constructor(options: ExchangeOptions) {
    const { request } = options;
    this.#options = options;
    this.#url = options.baseUrl;
    this.body = request.body();
    this.signal = AbortSignal.any([request.signal, this.#stopper.signal]);
    this.fetch = (input, init) => this.#post(input, init);
    this.#mask = options.credential?.mask();
    this.#deltas = this.#mask && new MaskedDeltas(this.#mask, request.onDelta);
    this.onDelta = (delta) => (this.#deltas ? this.#deltas.push(delta) : request.onDelta(delta));
  }

  /** The reply so far, as it came. */
  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  /** Whether the server ended the reply's body itself. Says nothing about the reply being whole. */
  get ended(): boolean {
    return this.#ended;
  }

  get received(): Headers {
    return this.#response?.headers ?? new Headers();
  }

  /** Milliseconds since `began` on the request's own clock. */
  since(began: number): number {
    return Math.max(0, Math.round(this.#options.request.monotonic() - began));
  }

  /**
   * Reads what follows the terminal event, so that the connection can be used again; a server that holds it open is
   * left after DRAIN_MS.
   */
  async drain(rest: AsyncIterator<unknown>): Promise<void> {
    const { request } = this.#options;
    const read = async (): Promise<'read'> => {
      while ((await rest.next()).done !== true);
      return 'read';
    };
    const patience = new AbortController();
    const first = await Promise.race([
      // What breaks after the end of the message takes nothing away from it.
      read().catch(() => 'read' as const),
      request.sleep(DRAIN_MS, patience.signal).then(() => 'late' as const),
    ]);
    patience.abort();
    if (first === 'late') this.#stopper.abort(new Error('the reply was whole'));
  }

  /** A whole reply, with what was seen on the wire. What befell the exchange after its end takes nothing away. */
  answered(reply: Omit<Answered, 'bytes' | 'wire' | 'kind'>): ModelReply {
    return this.#seal({ kind: 'response', ...reply });
  }

  /**
   * What became of a request that brought no whole reply. `why` is a problem that the adapter found in the reply (an
   * error event, no end event), or what the SDK threw; the exchange's own reasons and an error status go first.
   */
  failed(why: RequestProblem | { readonly thrown: unknown } | undefined, seen: Seen): ModelReply {
    const problem = this.#problem(why);
    return this.#seal({ kind: 'failed', problem, maybeBilled: this.#maybeBilled(problem, seen), ...seen });
  }

  #problem(why: RequestProblem | { readonly thrown: unknown } | undefined): RequestProblem {
    if (this.#options.request.signal.aborted)
      return this.#verdict ?? { kind: 'cancelled', message: 'The request was cancelled.' };
    if (this.#verdict) return this.#verdict;
    const response = this.#response;
    if (response && !response.ok)
      return httpProblem(
        {
          status: response.status,
          headers: response.headers,
          body: Buffer.from(this.bytes()).toString('utf8'),
        },
        Date.now(),
      );
    if (why && 'kind' in why) return why;
    const said = wordsOf(this.#broken ?? why?.thrown);
    if (!response) {
      const kind = this.#broken === undefined ? 'bad-request' : 'unavailable';
      return { kind, message: `No reply from ${this.#url}: ${said}`.slice(0, PROBLEM_CHARS_MAX) };
    }
    if (this.#broken !== undefined) return interrupted(said);
    const message = `The reply could not be read: ${said}`.slice(0, PROBLEM_CHARS_MAX);
    return { kind: 'bad-response', message, status: response.status };
  }

  #maybeBilled({ kind }: RequestProblem, { partial, usage }: Seen): boolean {
    if (!this.#sent) return false;
    if (partial !== undefined || usage) return true;
    // A gateway that lost patience may have had the model work.
    if (this.#response) return this.#response.ok ? !UNBILLED.has(kind) : kind === 'timeout';
    return this.#broken === undefined || !NOT_CONNECTED.test(codesOf(this.#broken));
  }

  #seal<T extends ModelReply>(reply: T): T {
    this.#deltas?.end();
    const response = this.#response;
    const wire: Wire = {
      url: this.#url,
      ...(response && { status: response.status }),
      sent: sentHeaders(this.#sent),
      received: receivedHeaders(response?.headers),
    };
    const media = response?.headers.get('content-type') ?? 'application/octet-stream';
    const raw = this.bytes();
    const bytes = this.#mask ? maskBytes(this.#mask, raw) : raw;
    return { ...this.#clean({ ...reply, wire }), ...(bytes.length > 0 && { bytes: { bytes, media } }) };
  }

  #clean<T>(value: T): T {
    return this.#mask ? maskJson(this.#mask, value) : value;
  }

  #stop(problem: RequestProblem): Error {
    this.#verdict ??= problem;
    const stopped = new Error(problem.message);
    this.#stopper.abort(stopped);
    return stopped;
  }

  async #post(...[input, init]: Parameters<Fetch>): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = this.#admitted(url, init);
    this.#url = url.origin + url.pathname;
    this.#sent = headers;
    const send = this.#options.fetch ?? systemFetch;
    let response: Response;
    try {
      response = await send(url, {
        method: 'POST',
        headers,
        body: this.body,
        redirect: 'manual',
        signal: this.signal,
      });
    } catch (thrown) {
      this.#broken = thrown;
      throw thrown;
    }
    this.#response = response;
    const { status, statusText } = response;
    const max = response.ok ? (this.#options.replyBytesMax ?? REPLY_BYTES_MAX) : ERROR_BYTES_MAX;
    const stream = response.body ? this.#captured(response.body, max) : null;
    if (!stream) this.#ended = true;
    if (response.ok && !NO_BODY_STATUS.has(status))
      return new Response(stream, { status, statusText, headers: response.headers });
    // An error is read whole here: an SDK may look at no more than a part of it.
    const whole = stream ? await new Response(stream).arrayBuffer() : null;
    const shown = status >= 200 && status < 600 ? status : 502;
    return new Response(NO_BODY_STATUS.has(shown) ? null : whole, {
      status: shown,
      headers: response.headers,
    });
  }

  /** The headers to send, where the request is the one that the log holds. Throws before anything leaves. */
  #admitted(url: URL, init: RequestInit | undefined): Headers {
    const refuse = (message: string): Error => this.#stop({ kind: 'bad-request', message });
    const { baseUrl, credential, auth, headers } = this.#options;
    if (this.#sent) throw refuse('A second request was about to be sent for one attempt.');
    const { origin } = new URL(baseUrl);
    if (url.origin !== origin)
      throw refuse(`The request was about to go to ${url.origin} instead of ${origin}.`);
    if (init?.method?.toUpperCase() !== 'POST' || init.body !== this.body)
      throw refuse('The request was about to be sent with other bytes than those on record.');
    try {
      return outgoing(new Headers(init.headers), { credential, auth, extra: headers, origin });
    } catch (thrown) {
      throw isOnrecordError(thrown) ? refuse(thrown.message) : thrown;
    }
  }

  /** The reply's body, each chunk kept as it passes. Read on demand, so that a slow reader slows the server. */
  #captured(body: ReadableStream<Uint8Array>, bytesMax: number): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await this.#next(reader);
            if (done) {
              this.#ended = true;
              return controller.close();
            }
            this.#chunks.push(value);
            this.#size += value.length;
            if (this.#size > bytesMax)
              throw this.#stop({
                kind: 'bad-response',
                message: `The reply has more than ${bytesMax} bytes, the limit.`,
              });
            controller.enqueue(value);
          } catch (thrown) {
            this.#broken ??= thrown;
            controller.error(thrown);
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** The next chunk, or the end of patience. */
  async #next(reader: Reader): Promise<Chunk> {
    const { request, idleMs = STREAM_IDLE_MS } = this.#options;
    const arrived = new AbortController();
    const silence = request.sleep(idleMs, arrived.signal).then(() => {
      // The sleep also ends when the chunk is there.
      if (arrived.signal.aborted) return undefined;
      throw this.#stop({ kind: 'interrupted', message: `The stream brought nothing for ${idleMs} ms.` });
    });
    try {
      const first = await Promise.race([reader.read(), silence]);
      if (!first) throw bug('a wait for a chunk ends with the chunk or with its time');
      return first;
    } finally {
      arrived.abort();
    }
  }
}

/** A stream that ended without its end event, or broke off. */
export const interrupted = (how: string): RequestProblem => ({
  kind: 'interrupted',
  message: `The stream broke off before its end: ${how}`.slice(0, PROBLEM_CHARS_MAX),
});

const causes = (thrown: unknown): readonly unknown[] => {
  const found: unknown[] = [];
  for (let at = thrown; at !== undefined && at !== null && found.length < 8; at = (at as Error).cause)
    found.push(at);
  return found;
};

const codesOf = (thrown: unknown): string =>
  causes(thrown)
    .map((cause) => (cause as NodeJS.ErrnoException).code ?? '')
    .join(' ');

/** The innermost cause says most: "fetch failed" says nothing. */
const wordsOf = (thrown: unknown): string => {
  const last = causes(thrown).at(-1);
  if (last === undefined) return 'no reason given.';
  if (!(last instanceof Error)) return typeof last === 'string' ? last : typeof last;
  const { code } = last as NodeJS.ErrnoException;
  const message = last.message === '' ? last.name : last.message;
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
};
