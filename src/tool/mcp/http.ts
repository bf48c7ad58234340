/**
 * A tool server behind HTTP: the SDK's streamable transport, over a fetch that keeps the exact text of every answer,
 * masks secrets, counts bytes, and opens no stream that nobody asked for.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { SecretMask } from '../../secret/mask.ts';
import { MESSAGE_BYTES_MAX, type Exchanges } from './exchange.ts';

/** Of the body of a refusal. */
const REFUSAL_BYTES_MAX: number = 64 * 1024;

export type FetchOptions = {
  readonly exchanges: Exchanges;
  readonly mask: SecretMask;
  /** What goes out with every request to the server, and to nobody else. */
  readonly headers: () => Readonly<Record<string, string>>;
};

export const keptFetch =
  ({ exchanges, mask, headers }: FetchOptions): FetchLike =>
  async (url, init = {}) => {
    const all = new Headers(init.headers);
    // News of the list comes with each look at it, which is before each call: no stream is kept open for it.
    if (init.method === 'GET' && !all.has('last-event-id')) return new Response(null, { status: 405 });
    for (const [name, value] of Object.entries(headers())) all.set(name, value);
    const response = await fetch(url, { ...init, headers: all, redirect: 'manual' });
    const { body } = response;
    if (body === null) return response;
    const kind = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
    if (kind === 'text/event-stream' && response.ok) {
      const events = keptEvents(body, { exchanges, mask, id: idIn(init.body) });
      return copyOf(response, ReadableStream.from(events));
    }
    const text = mask.apply(await readText(body, response.ok ? MESSAGE_BYTES_MAX : REFUSAL_BYTES_MAX));
    if (response.ok) exchanges.received(text);
    return copyOf(response, text);
  };

const copyOf = (response: Response, body: string | ReadableStream): Response => {
  const headers = new Headers(response.headers);
  // The body is unpacked, and has another length.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
};

const tooLarge = (max: number): Error => new Error(`the server sent more than ${max} bytes`);

const readText = async (body: ReadableStream<Uint8Array>, max: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early closes the stream.
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > max) throw tooLarge(max);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const idIn = (body: unknown): string | number | undefined => {
  if (typeof body !== 'string') return undefined;
  const { id } = JSON.parse(body) as { readonly id?: string | number };
  return id;
};

type Kept = Pick<FetchOptions, 'exchanges' | 'mask'> & {
  /** The request that the stream answers. */
  readonly id: string | number | undefined;
};

/** An end of line, or of an event, at the very end of what is there may be half of a longer one. */
const EVENT_END = /\r\n\r\n|\n\n|\r\r(?!$)/;

/** Passes server-sent events on, each as a whole, masked, and keeps the messages in them. */
async function* keptEvents(body: ReadableStream<Uint8Array>, kept: Kept): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let rest = '';
  let canGoOn = false;
  try {
    for await (const chunk of body) {
      rest += decoder.decode(chunk, { stream: true });
      for (let found = EVENT_END.exec(rest); found; found = EVENT_END.exec(rest)) {
        const end = found.index + found[0].length;
        const event = kept.mask.apply(rest.slice(0, end));
        rest = rest.slice(end);
        canGoOn ||= keep(event, kept);
        yield Buffer.from(event);
      }
      if (rest.length > MESSAGE_BYTES_MAX) throw tooLarge(MESSAGE_BYTES_MAX);
    }
  } finally {
    // With the id of an event the SDK asks for the rest; without one no answer can come any more.
    if (kept.id !== undefined && !canGoOn)
      kept.exchanges.ended(kept.id, new Error('the stream ended without an answer'));
  }
}

/** True where the server can be asked for what comes behind this event. */
const keep = (event: string, { exchanges }: Kept): boolean => {
  const lines = event.split(/\r\n|\n|\r/);
  const data = lines.flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
  if (data.length > 0) exchanges.received(data.join('\n'));
  return lines.some((line) => /^id: ?./.test(line));
};
