/**
 * What a tool returned, as one of a closed set of outcomes. Three limits: what the model sees (`resultBytes`),
 * what the record keeps (`blobBytes`), and beyond that a producer is stopped; each cut says its numbers.
 */
import { sha256 } from '../event/canonical.ts';
import type { BlobRef, Content, Cut, Outcome } from '../event/content.ts';
import type { EffectKind } from '../event/effect-kind.ts';
import type { Blob } from '../log/store.ts';
import { ToolContent, type ContentPart } from '../tool/content.ts';
import { NotSerializable, resultJson } from './result-json.ts';

export type ResultLimits = { readonly resultBytes: number; readonly blobBytes: number };
export type EncodedResult = { readonly outcome: Outcome; readonly blobs: readonly Blob[] };

/** Room for the line that says what was left out. */
const MARKER_BYTES = 120;

/** A promise only of a stream: what else a tool returns is at hand. */
export const encodeResult = (
  value: unknown,
  effect: EffectKind,
  limits: ResultLimits,
): EncodedResult | Promise<EncodedResult> =>
  isStream(value) ? encodeStream(value, effect, limits) : encoded({ value, over: false }, effect, limits);

const encodeStream = async (
  stream: AsyncIterable<unknown>,
  effect: EffectKind,
  limits: ResultLimits,
): Promise<EncodedResult> => {
  let collected: Collected;
  try {
    collected = await collect(stream, limits.blobBytes);
  } catch (error) {
    // A stream that breaks off is the tool's failure, not one of what it returned.
    if (!(error instanceof NotSerializable)) throw error;
    return unkept(error, effect);
  }
  return encoded(collected, effect, limits);
};

const encoded = (collected: Collected, effect: EffectKind, limits: ResultLimits): EncodedResult => {
  try {
    return new ResultWriter(limits).write(collected);
  } catch (error) {
    // A revoked proxy throws wherever it is looked at.
    return unkept(
      error instanceof NotSerializable ? error : new NotSerializable('', 'cannot be read'),
      effect,
    );
  }
};

/** The tool ran; what it returned cannot be written down. For a tool with an effect that is no failure. */
const unkept = (error: NotSerializable, effect: EffectKind): EncodedResult => {
  const message = `The tool returned something that cannot be kept: ${error.message}.`;
  if (effect === 'none')
    return { outcome: { kind: 'failed', code: 'result-not-serializable', message }, blobs: [] };
  const content: Content[] = [{ type: 'text', text: `The tool ran. ${message}` }];
  return { outcome: { kind: 'ok', content }, blobs: [] };
};

type Collected = { readonly value: unknown; readonly over: boolean };

/** Streams are read to their end or to the limit, whichever comes first; the producer is then told to stop. */
const collect = async (stream: AsyncIterable<unknown>, max: number): Promise<Collected> => {
  const chunks = new Chunks();
  // Leaving the loop early calls return(), which is how an async iterable is told that nobody reads on.
  for await (const chunk of stream) {
    chunks.push(chunk);
    if (chunks.bytes > max) return { value: chunks.joined(), over: true };
  }
  return { value: chunks.joined(), over: false };
};

/** What a stream brought: text and bytes as they are, anything else as a line of JSON. One piece of bytes makes the whole bytes. */
class Chunks {
  readonly #chunks: (string | Uint8Array)[] = [];
  #text = true;
  bytes = 0;

  push(chunk: unknown): void {
    const piece =
      typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : `${resultJson(chunk ?? null)}\n`;
    this.#text &&= typeof piece === 'string';
    this.bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
    this.#chunks.push(piece);
  }

  joined(): string | Uint8Array {
    // Texts are joined as texts: a piece may end within a surrogate pair.
    if (this.#text) return this.#chunks.join('');
    return Buffer.concat(
      this.#chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)),
    );
  }
}

const isStream = (value: unknown): value is AsyncIterable<unknown> => {
  try {
    return value !== null && typeof value === 'object' && Symbol.asyncIterator in value;
  } catch {
    // A revoked proxy; what cannot be read is said when it is written.
    return false;
  }
};

class ResultWriter {
  readonly #limits: ResultLimits;
  readonly #blobs: Blob[] = [];
  #cut: Cut | undefined;

  constructor(limits: ResultLimits) {
    this.#limits = limits;
  }

  write({ value, over }: Collected): EncodedResult {
    if (value === undefined) return { outcome: { kind: 'ok', content: [], nothing: true }, blobs: [] };
    const parts = value instanceof ToolContent ? value.parts : [partOf(value)];
    const content = parts.map((part) => this.#part(part, over));
    const cut = this.#cut === undefined ? {} : { cut: this.#cut };
    return { outcome: { kind: 'ok', content, ...cut }, blobs: this.#blobs };
  }

  #part(part: ContentPart, over: boolean): Content {
    switch (part.kind) {
      case 'text':
        return { type: 'text', text: this.#bounded(part.text, over) };
      case 'json':
        return this.#json(resultJson(part.value), over);
      case 'json-text':
        return this.#json(part.text, over);
      case 'bytes':
        return this.#bytes(part);
      default:
        return part satisfies never;
    }
  }

  #json(text: string, over: boolean): Content {
    const shown = this.#bounded(text, over);
    // Cut JSON is no JSON any more.
    return shown === text ? { type: 'json', text } : { type: 'text', text: shown };
  }

  #bytes({ bytes, type, name }: Extract<ContentPart, { kind: 'bytes' }>): Content {
    if (bytes.length > this.#limits.blobBytes) {
      this.#cut = { bytes: bytes.length, kept: 0 };
      const what = name === undefined ? 'a file' : `the file "${name}"`;
      return {
        type: 'text',
        text: `[${what} of ${bytes.length} bytes was not kept: the limit is ${this.#limits.blobBytes}]`,
      };
    }
    return { type: 'blob', blob: { ...this.#keep(bytes, type), ...(name !== undefined && { name }) } };
  }

  #bounded(text: string, over: boolean): string {
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#limits.resultBytes && !over) return text;
    const room = Math.min(bytes, this.#limits.resultBytes) - MARKER_BYTES;
    const whole = bytes <= this.#limits.blobBytes ? this.#keep(Buffer.from(text), 'text/plain') : undefined;
    const shown = headAndTail(text, Math.max(0, room), { over, kept: whole !== undefined });
    this.#cut = { bytes, kept: Buffer.byteLength(shown), ...(whole && { whole }) };
    return shown;
  }

  #keep(bytes: Uint8Array, media: string): BlobRef {
    const digest = sha256(bytes);
    this.#blobs.push({ digest, bytes });
    return { digest, bytes: bytes.length, media };
  }
}

const partOf = (value: unknown): ContentPart => {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (value instanceof ArrayBuffer) return bytesPart(new Uint8Array(value));
  if (ArrayBuffer.isView(value))
    return bytesPart(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return { kind: 'json', value };
};

const bytesPart = (bytes: Uint8Array): ContentPart => ({ kind: 'bytes', bytes, type: mediaType(bytes) });

/** First bytes of common formats (the WHATWG MIME sniffing standard lists them). */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['25504446', 'application/pdf'],
  ['504b0304', 'application/zip'],
];
const SIGNATURE_BYTES = 8;

const mediaType = (bytes: Uint8Array): string => {
  const start = Buffer.from(bytes.subarray(0, SIGNATURE_BYTES)).toString('hex');
  return SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1] ?? 'application/octet-stream';
};

/** The beginning and the end of a text, cut between code points, with a line that counts what is missing. */
const headAndTail = (
  text: string,
  bytes: number,
  { over, kept }: { readonly over: boolean; readonly kept: boolean },
): string => {
  const headBytes = Math.ceil((bytes * 2) / 3);
  const buffer = Buffer.from(text);
  const head = wholePoints(buffer.subarray(0, headBytes), 'end');
  const tail = wholePoints(buffer.subarray(buffer.length - (bytes - headBytes)), 'start');
  const left = buffer.length - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const count = over ? `more than ${left}` : String(left);
  const rest = kept ? 'the record has the rest' : 'nobody kept them';
  return `${head}\n[… ${count} bytes left out here; ${rest} …]\n${tail}`;
};

/** Drops the bytes of a code point that was cut in half: continuation bytes start with the bits 10. */
const wholePoints = (bytes: Buffer, side: 'start' | 'end'): string => {
  if (side === 'start') {
    let from = 0;
    while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
    return bytes.toString('utf8', from);
  }
  let lead = bytes.length - 1;
  while (lead >= 0 && ((bytes[lead] ?? 0) & 0xc0) === 0x80) lead--;
  const first = bytes[lead] ?? 0;
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return bytes.toString('utf8', 0, lead >= 0 && lead + width > bytes.length ? lead : bytes.length);
};
