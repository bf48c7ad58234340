/**
 * The body of an answer, decoded and counted. The limit is on decoded bytes as they come out of the
 * decoder; the length that a server announces is never looked at.
 */
import { type Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolError } from '../tool.ts';
import { quote, refuse } from './allow.ts';

export const ACCEPT_ENCODING = 'gzip, br';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** One decoder at most: a body packed twice unfolds a thousandfold squared. Error: encoding-refused. */
const decoderFor = (header: string | readonly string[] | undefined): Transform | undefined => {
  const names = [header ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  const [name, ...more] = names;
  if (name === undefined) return undefined;
  const make = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (more.length > 0 || !make)
    throw refuse(
      'encoding-refused',
      `The answer is packed as ${quote(names.join(', '))}. One of gzip, deflate and br is read, and only once.`,
      { encoding: names.join(', ') },
    );
  return make();
};

const tooLarge = (limit: number, counted: 'decoded' | 'wire'): ToolError =>
  refuse('body-too-large', `The body has more than ${limit} bytes. Ask for a smaller part of it.`, {
    limit,
    counted,
  });

/** Errors: encoding-refused, body-too-large, body-broken. */
export const readBody = async (
  body: Readable,
  encoding: string | readonly string[] | undefined,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
): Promise<Uint8Array> => {
  const decoder = decoderFor(encoding);
  const chunks: Uint8Array[] = [];
  /** Passes on, or throws; the pipeline then destroys both ends. */
  const counting = (counted: 'decoded' | 'wire') =>
    async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      let total = 0;
      for await (const chunk of source) {
        total += chunk.length;
        if (total > bytesMax) throw tooLarge(bytesMax, counted);
        yield chunk;
      }
    };
  const collect = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of source) chunks.push(chunk);
  };
  try {
    if (decoder)
      // Packed bytes are counted too: members that unfold to nothing could go on for ever.
      await pipeline(body, counting('wire'), decoder, counting('decoded'), collect, { signal });
    else await pipeline(body, counting('decoded'), collect, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    throw new ToolError('The body ended early or could not be unpacked. Try again later.', {
      code: 'body-broken',
      retryable: true,
    });
  }
  return Buffer.concat(chunks);
};
