/** Lines of a stream of bytes, each bounded before it is kept whole. */
import { badInput } from '../errors.ts';
import { BUNDLE_BYTES_MAX, LINE_BYTES_MAX } from './format.ts';

export type ByteLine = {
  readonly bytes: Uint8Array;
  /** Whether a line feed ended it; false for what stands behind the last one. */
  readonly ended: boolean;
};

const LINE_FEED = 0x0a;

/** Throws `bundle-limit`. */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ByteLine> {
  let kept: Uint8Array[] = [];
  let [length, all] = [0, 0];
  const keep = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > LINE_BYTES_MAX) throw tooLong('a line', LINE_BYTES_MAX);
    if (piece.length > 0) kept.push(piece);
  };
  for await (const chunk of chunks) {
    all += chunk.length;
    if (all > BUNDLE_BYTES_MAX) throw tooLong('the file', BUNDLE_BYTES_MAX);
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED); to >= 0; to = chunk.indexOf(LINE_FEED, from)) {
      keep(chunk.subarray(from, to));
      yield { bytes: Buffer.concat(kept), ended: true };
      [kept, length, from] = [[], 0, to + 1];
    }
    keep(chunk.subarray(from));
  }
  if (length > 0) yield { bytes: Buffer.concat(kept), ended: false };
}

const tooLong = (what: string, limit: number): Error =>
  badInput('bundle-limit', `This bundle is too large: ${what} has more than ${limit} bytes.`, {
    what,
    limit,
  });
