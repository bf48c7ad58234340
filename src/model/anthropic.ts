/**
 * Anthropic Messages as a provider. The official SDK makes the headers and decodes the stream; bytes, waits, retries
 * and errors are the runtime's (model/provider/exchange.ts).
 */
import type { Anthropic as AnthropicClient } from '@anthropic-ai/sdk';
import type { Stream as EventStream } from '@anthropic-ai/sdk/core/streaming';
import type { Json, JsonObject } from '../event/json.ts';
import { anthropicEncoder, checkAnthropicParams } from './anthropic-encoder.ts';
import { MessageStream, readMessage } from './anthropic-reply.ts';
import type { Model, ModelReply, ModelRequest } from './model.ts';
import { interrupted, type Exchange } from './provider/exchange.ts';
import { Connection, loadSdk, type Provider, type ProviderOptions } from './provider/provider.ts';
import { toolNamesProblem } from './provider/tool-name.ts';

export const ANTHROPIC_URL = 'https://api.anthropic.com';
const SDK = '@anthropic-ai/sdk';
/** What the SDK sends with its requests; the list of models is asked for without it. */
const API_VERSION = '2026-10-21';

/** The SDK's own limit until the headers come is out of reach: the agent's `requestMs` counts. */
const SDK_TIMEOUT_MS: number = 2 ** 31 - 1;

export type AnthropicOptions = ProviderOptions & {
  /** Names the provider in the record. Default `anthropic`; another server of the same API has its own name. */
  readonly name?: string;
};

/**
 * The Anthropic provider. Key: `ANTHROPIC_API_KEY`. `params` of a model go into the request as they are, but for
 * `betas`, which become a header, `tools`, which are added to the agent's own (server tools), and `cache_control`,
 * which stands at the instructions, too (`null` for no marks at all). Throws `provider-invalid`.
 */
export const anthropic = (options: AnthropicOptions = {}): Provider => {
  const { name: provider = 'anthropic' } = options;
  const connection = new Connection(
    { provider, baseUrl: ANTHROPIC_URL, credentialNames: ['ANTHROPIC_API_KEY'] },
    options,
  );
  return {
    name: provider,
    connection,
    model: (name, params = {}) => anthropicModel(connection, name, params),
    probe: { path: '/v1/models', headers: { 'anthropic-version': API_VERSION } },
  };
};

/** Throws `model-params-refused`. */
const anthropicModel = (connection: Connection, name: string, params: JsonObject): Model => {
  checkAnthropicParams(params);
  const { provider } = connection;
  return {
    definition: { provider, name, params },
    encoder: anthropicEncoder(provider),
    refuses: (agent) => toolNamesProblem(agent.tools),
    send: async (request) => {
      const opened = connection.open(request);
      return 'refused' in opened ? opened.refused : converse(connection, opened.exchange, request);
    },
  };
};

const converse = async (
  { baseUrl }: Connection,
  exchange: Exchange,
  request: ModelRequest,
): Promise<ModelReply> => {
  const began = request.monotonic();
  let firstTokenMs: number | undefined;
  const { tools } = request.agent;
  const stream = new MessageStream(tools, (delta) => {
    firstTokenMs ??= exchange.since(began);
    exchange.onDelta(delta);
  });
  const seen = (): { partial?: string; usage?: NonNullable<MessageStream['usage']> } => ({
    ...(stream.partial !== undefined && { partial: stream.partial }),
    ...(stream.usage && { usage: stream.usage }),
  });
  try {
    const { Anthropic, rawEvents } = await loadSdk(SDK, load);
    const client = new Anthropic({
      // The credential is put in below the SDK; this only keeps it from looking for one.
      apiKey: 'onrecord',
      authToken: null,
      webhookKey: null,
      baseURL: baseUrl,
      fetch: exchange.fetch,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      logLevel: 'off',
    });
    const response = await client
      .post('/v1/messages', {
        body: exchange.body,
        headers: { 'content-type': 'application/json', ...betaHeader(request.agent.model.params['betas']) },
        signal: exchange.signal,
      })
      .asResponse();
    if (response.headers.get('content-type')?.includes('json') === true) {
      const read = readMessage(await response.text(), tools);
      return 'kind' in read ? exchange.failed(read, {}) : exchange.answered(read);
    }
    const events = rawEvents(response);
    for await (const { data } of untilWhole(events, stream)) {
      const problem = stream.push(data);
      if (problem) return exchange.failed(problem, seen());
    }
    if (!stream.whole)
      return exchange.failed(interrupted('it ended without its message_stop event.'), seen());
    await exchange.drain(events);
    return exchange.answered({
      ...stream.message(),
      ...(firstTokenMs !== undefined && { firstTokenMs }),
    });
  } catch (thrown) {
    return exchange.failed({ thrown }, seen());
  }
};

/** Leaves the rest of the stream unread, for `drain`. */
async function* untilWhole<T>(events: AsyncIterator<T>, stream: MessageStream): AsyncGenerator<T> {
  while (!stream.whole) {
    const { done, value } = await events.next();
    if (done === true) return;
    yield value;
  }
}

const betaHeader = (betas: Json | undefined): Readonly<Record<string, string>> =>
  Array.isArray(betas) && betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {};

const load = async (): Promise<{
  readonly Anthropic: typeof AnthropicClient;
  readonly rawEvents: typeof EventStream.rawEvents;
}> => {
  const [{ Anthropic }, { Stream }] = await Promise.all([
    import('@anthropic-ai/sdk'),
    import('@anthropic-ai/sdk/core/streaming'),
  ]);
  return { Anthropic, rawEvents: (response) => Stream.rawEvents(response) };
};
