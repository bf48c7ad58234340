/** What stands where something was removed: by which rule, how much it was, and its digest. */
import { canonical, sha256, type Digest } from '../event/canonical.ts';
import type { Json } from '../event/json.ts';
import type { Payload } from './payload.ts';

const MARKER = /^\[removed by [^\]]+: [\d]+ bytes, sha256 ([0-9a-f]{64})\]$/;

export const markerOf = (rule: string, text: string): string =>
  `[removed by ${rule}: ${Buffer.byteLength(text)} bytes, sha256 ${sha256(text)}]`;

/** The digest of what was removed; undefined for a text that is no marker. */
export const markedDigest = (text: string): Digest | undefined =>
  MARKER.exec(text)?.[1] as Digest | undefined;

/** A value of the same shape in place of a payload, so that whatever reads events can read this one. */
export const replacementOf = ({ kind, path, value }: Payload, rule: string): Json => {
  const text = typeof value === 'string' ? value : canonical(value);
  const marker = markerOf(rule, text);
  if (kind === 'args') return canonical({ removed: marker });
  if (kind === 'json') return canonical(marker);
  if (kind !== 'value') return marker;
  switch (path.at(-1)) {
    case 'preview':
      return { title: marker, blocks: [] };
    case 'when':
      return [];
    default:
      return { removed: marker };
  }
};
