/**
 * One request to an OpenAI API, or to a server like it: the official SDK makes the HTTP request, the exchange below it
 * keeps the bytes, and the reply is read from its text. Whatever happens becomes a value.
 */
import { isOnrecordError } from '../errors.ts';
import type { Delta, ModelReply, ModelRequest } from './model.ts';
import { EventDecoder, type ServerEvent } from './openai-events.ts';
import { broken, type EventReader, type Reading } from './openai-reading.ts';
import type { Exchange } from './provider/exchange.ts';
import { loadSdk, type Connection } from './provider/provider.ts';
import { ownToolName } from './provider/tool-name.ts';

/** How an API's replies are read. */
export type Dialect = {
  /** Relative to the base URL. */
  readonly path: string;
  readonly reader: (onDelta: (delta: Delta) => void) => EventReader;
  /** A reply that is not streamed, as JSON text. */
  readonly whole: (raw: string) => Reading;
};

/** How long a server may take for what it adds to an answer that is there (usage), and then to end the reply. */
const ADDITION_MS = 5_000;
const CLOSING_MS = 250;

/** The SDK wants a key; the exchange takes it off and puts the real one on. */
const NO_KEY = 'none';

/** The SDK's own limit until the headers come is out of reach: the agent's `requestMs` counts. */
const SDK_TIMEOUT_MS: number = 2 ** 31 - 1;

export const sendThrough = async (
  connection: Connection,
  request: ModelRequest,
  dialect: Dialect,
): Promise<ModelReply> => {
  try {
    const opened = connection.open(request);
    if ('refused' in opened) return opened.refused;
    return await converse(opened.exchange, request, { connection, dialect });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    // Only what is wrong on this side comes here: nothing was sent.
    const hint = isOnrecordError(thrown) && thrown.hint !== undefined ? ` ${thrown.hint}` : '';
    return { kind: 'failed', maybeBilled: false, problem: { kind: 'bad-request', message: message + hint } };
  }
};

const converse = async (
  exchange: Exchange,
  request: ModelRequest,
  { connection, dialect }: { readonly connection: Connection; readonly dialect: Dialect },
): Promise<ModelReply> => {
  const { OpenAI } = await loadSdk('openai', () => import('openai'));
  const client = new OpenAI({
    apiKey: NO_KEY,
    baseURL: connection.baseUrl,
    fetch: exchange.fetch,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    // The SDK finds them in the environment; they are nobody's business at another server.
    ...(!isOpenai(connection.baseUrl) && { organization: null, project: null }),
    logLevel: 'off',
  });
  const began = request.monotonic();
  let firstTokenMs: number | undefined;
  const reader = dialect.reader((delta) => {
    firstTokenMs ??= exchange.since(began);
    exchange.onDelta(delta);
  });
  const partial = (): { readonly partial?: string } => {
    const reading = reader.reading();
    return reading.kind === 'failed' && reading.partial !== undefined ? { partial: reading.partial } : {};
  };
  try {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' };
    const sent = client.post(dialect.path, { body: exchange.body, headers, signal: exchange.signal });
    const response = await sent.asResponse();
    const streamed = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const reading = streamed
      ? await readStream(response, reader, request)
      : readWhole(await response.text(), dialect);
    if (reading.kind === 'failed') {
      const { problem, kind: _, ...seen } = reading;
      return exchange.failed(problem, seen);
    }
    const { kind: _, ...answer } = reading;
    const content = answer.content.map((block) =>
      block.type === 'call' ? { ...block, name: ownToolName(block.name, request.agent.tools) } : block,
    );
    return exchange.answered({ ...answer, content, firstTokenMs: firstTokenMs ?? exchange.since(began) });
  } catch (thrown) {
    return exchange.failed({ thrown }, partial());
  }
};

const isOpenai = (url: string): boolean => /(^|\.)openai\.com$/.test(new URL(url).hostname);

const readWhole = (text: string, dialect: Dialect): Reading => {
  try {
    JSON.parse(text);
  } catch {
    return broken('bad-response', 'The reply is no JSON', { partial: '', text });
  }
  return dialect.whole(text);
};

/** Reads until the reply is complete and its connection is free for the next one, as far as the server lets it. */
const readStream = async (
  response: Response,
  reader: EventReader,
  request: ModelRequest,
): Promise<Reading> => {
  const body = response.body?.getReader();
  const decoder = new EventDecoder();
  const take = (events: readonly ServerEvent[]): void => {
    for (const { data, last } of events) reader.push(data, last);
  };
  for (; body;) {
    const chunk = await nextChunk(body, reader, request);
    if (!chunk) break;
    take(decoder.push(chunk));
  }
  take(decoder.end());
  return reader.reading();
};

type Body = ReadableStreamDefaultReader<Uint8Array>;

/** The next bytes; undefined at the end, or when an answer that is there has been waited for long enough. */
const nextChunk = async (
  body: Body,
  reader: EventReader,
  { sleep, signal }: ModelRequest,
): Promise<Uint8Array | undefined> => {
  if (reader.state === 'open') return (await body.read()).value;
  const waited = new AbortController();
  const patience = sleep(
    reader.state === 'ended' ? ADDITION_MS : CLOSING_MS,
    AbortSignal.any([waited.signal, signal]),
  );
  try {
    const read = body.read().then(({ value }) => value);
    const chunk = await Promise.race([read, patience.then(() => undefined)]);
    if (chunk === undefined) await body.cancel();
    return chunk;
  } catch {
    // The answer is there; that the connection then broke changes nothing about it.
    return undefined;
  } finally {
    waited.abort();
  }
};
