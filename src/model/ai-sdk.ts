/**
 * Any language model of the AI SDK (specification v4), as the user of this package made it. It brings its own way to
 * the provider, its own credential and its own wire format; on record are the options of the call and the parts of
 * the answer, which are its exact form here. One call is one attempt: models of this kind do not retry.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { badInput } from '../errors.ts';
import type { JsonObject } from '../event/json.ts';
import type { RequestProblem } from '../event/events.ts';
import type { Wire } from '../event/content.ts';
import { aiSdkEncoder, checkAiSdkParams } from './ai-sdk-encoder.ts';
import { aiSdkProblem } from './ai-sdk-problem.ts';
import { PartStream } from './ai-sdk-parts.ts';
import type { Model, ModelReply, ModelRequest } from './model.ts';
import { interrupted, REPLY_BYTES_MAX, STREAM_IDLE_MS } from './provider/exchange.ts';
import { receivedHeaders } from './provider/headers.ts';
import { withoutKeys } from './provider/key-like.ts';
import { UNBILLED } from './provider/problem.ts';
import { toolNamesProblem } from './provider/tool-name.ts';

/** A model of the AI SDK by its shape, so that nobody needs its package who has no such model. */
export type AiSdkModel = {
  readonly specificationVersion: 'v4';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
};

export type AiSdkOptions = {
  /** Call options of the specification, for example `maxOutputTokens` or `providerOptions`. */
  readonly params?: JsonObject;
  /** Milliseconds without a part after which a stream is given up. */
  readonly idleMs?: number;
};

export const isAiSdkModel = (value: unknown): value is AiSdkModel =>
  typeof value === 'object' &&
  value !== null &&
  'specificationVersion' in value &&
  'doStream' in value &&
  typeof value.doStream === 'function';

/** Throws `model-invalid` for another version of the specification, `model-params-refused`. */
export const aiSdkModel = (given: AiSdkModel, options: AiSdkOptions = {}): Model => {
  const { params = {}, idleMs = STREAM_IDLE_MS } = options;
  if (!isAiSdkModel(given) || given.specificationVersion !== 'v4')
    throw badInput(
      'model-invalid',
      `The model is no AI SDK language model of specification "v4" but "${String((given as Partial<AiSdkModel>).specificationVersion)}". Use the packages of AI SDK 7.`,
    );
  checkAiSdkParams(params);
  const model = given as unknown as LanguageModelV4;
  const provider = `ai-sdk/${model.provider}`;
  return {
    definition: { provider, name: model.modelId, params },
    encoder: aiSdkEncoder(provider),
    refuses: (agent) => toolNamesProblem(agent.tools),
    send: async (request) => new Call(model, request, idleMs).run(),
  };
};

const SILENT = Symbol('silent');

class Call {
  readonly #model: LanguageModelV4;
  readonly #request: ModelRequest;
  readonly #idleMs: number;
  readonly #stopper = new AbortController();
  readonly #lines: string[] = [];
  #size = 0;
  #parts: PartStream;
  #began: number;
  #firstTokenMs: number | undefined;
  #wire: Wire | undefined;

  constructor(model: LanguageModelV4, request: ModelRequest, idleMs: number) {
    this.#model = model;
    this.#request = request;
    this.#idleMs = idleMs;
    this.#began = request.monotonic();
    this.#parts = new PartStream(request.agent.tools, (delta) => {
      this.#firstTokenMs ??= Math.max(0, Math.round(request.monotonic() - this.#began));
      request.onDelta(delta);
    });
  }

  async run(): Promise<ModelReply> {
    try {
      const { signal } = this.#request;
      const abortSignal = AbortSignal.any([signal, this.#stopper.signal]);
      const options = exactly(this.#request.body()) as LanguageModelV4CallOptions;
      const { stream, request, response } = await this.#model.doStream({ ...options, abortSignal });
      this.#wire = wireOf(request?.url, response?.headers);
      const problem = await this.#read(stream.getReader());
      if (problem || signal.aborted) return this.#failed(problem);
      const firstTokenMs = this.#firstTokenMs;
      const answer = this.#parts.answer();
      return {
        kind: 'response',
        ...answer,
        ...(firstTokenMs !== undefined && { firstTokenMs }),
        ...this.#seen(),
      };
    } catch (thrown) {
      return this.#failed(aiSdkProblem(thrown, Date.now()));
    }
  }

  /** Reads to the end; answers a problem where it is no good one. */
  async #read(
    reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  ): Promise<RequestProblem | undefined> {
    try {
      for (;;) {
        const next = await this.#next(reader);
        if (next === SILENT) return interrupted(`it brought nothing for ${this.#idleMs} ms.`);
        if (next.done) break;
        if (next.value.type === 'error') {
          this.#keep({
            type: 'error',
            error: withoutKeys(String((next.value.error as Error | undefined)?.message)),
          });
          return aiSdkProblem(next.value.error, Date.now());
        }
        this.#keep(next.value);
        if (this.#size > REPLY_BYTES_MAX)
          return {
            kind: 'bad-response',
            message: `The reply has more than ${REPLY_BYTES_MAX} bytes, the limit.`,
          };
        this.#parts.push(next.value);
      }
    } finally {
      void reader.cancel().catch(() => undefined);
    }
    const reason = this.#parts.reason;
    if (!reason || reason.unified === 'interrupted') return interrupted('it ended without its finish part.');
    if (reason.unified === 'error')
      return {
        kind: 'bad-response',
        message: `The model ended with an error (${reason.raw ?? 'no reason given'}).`,
      };
    return undefined;
  }

  async #next(
    reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  ): Promise<Awaited<ReturnType<typeof reader.read>> | typeof SILENT> {
    const arrived = new AbortController();
    const waited = this.#request.sleep(this.#idleMs, arrived.signal).then((): typeof SILENT => SILENT);
    try {
      const first = await Promise.race([reader.read(), waited]);
      if (first === SILENT) this.#stopper.abort(new Error('the stream was silent'));
      return first;
    } finally {
      arrived.abort();
    }
  }

  #keep(part: object): void {
    const line = JSON.stringify(part, base64Bytes);
    this.#size += Buffer.byteLength(line) + 1;
    this.#lines.push(line);
  }

  #failed(problem: RequestProblem | undefined): ModelReply {
    const cancelled: RequestProblem = { kind: 'cancelled', message: 'The request was cancelled.' };
    const found = this.#request.signal.aborted ? cancelled : (problem ?? cancelled);
    const { partial, usage } = this.#parts;
    const seen = { ...(partial !== undefined && { partial }), ...(usage && { usage }) };
    const begun = partial !== undefined || usage !== undefined;
    const unsure = found.status === undefined ? !UNBILLED.has(found.kind) : found.kind === 'timeout';
    return { kind: 'failed', problem: found, maybeBilled: begun || unsure, ...seen, ...this.#seen() };
  }

  #seen(): Pick<ModelReply, 'bytes' | 'wire'> {
    const bytes = Buffer.from(this.#lines.map((line) => `${line}\n`).join(''));
    return {
      ...(this.#wire && { wire: this.#wire }),
      ...(bytes.length > 0 && { bytes: { bytes, media: 'application/x-ndjson' } }),
    };
  }
}

const base64Bytes = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;

const wireOf = (
  url: string | undefined,
  headers: Readonly<Record<string, string>> | undefined,
): Wire | undefined => {
  if (url === undefined && headers === undefined) return undefined;
  const parsed = URL.parse(url ?? '');
  const where = parsed ? parsed.origin + parsed.pathname : '';
  return { url: where, sent: {}, received: receivedHeaders(new Headers(headers)) };
};

/** Numbers that no double holds stay as they were written, wherever the model's code prints them again. */
const exactly = (body: string): unknown =>
  JSON.parse(body, ((_: string, value: unknown, context: { source?: string }) => {
    const { source } = context;
    return typeof value === 'number' && source !== undefined && JSON.stringify(value) !== source
      ? rawJson(source)
      : value;
  }) as (this: unknown, key: string, value: unknown) => unknown);

/** In Node since 21; its types come with a later library. */
const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;
