/** Every blob that an event names: members called digest beside bytes and media, and the frames of requests. */
import { DIGEST_LENGTH, type Digest } from '../event/canonical.ts';

/** What tools and agents wrote as they liked: a digest in there names nothing of ours. */
const FOREIGN: ReadonlySet<string> = new Set(['agent', 'base', 'preview']);

export const blobsNamed = (data: unknown): readonly Digest[] => {
  const found: Digest[] = [];
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) return value.forEach(walk);
    const { digest, bytes, media, head, tail } = value as Record<string, unknown>;
    if (isDigest(digest) && typeof bytes === 'number' && typeof media === 'string') found.push(digest);
    if (isDigest(head) && isDigest(tail)) found.push(head, tail);
    for (const [key, member] of Object.entries(value)) if (!FOREIGN.has(key)) walk(member);
  };
  walk(data);
  return found;
};

export const isDigest = (value: unknown): value is Digest =>
  typeof value === 'string' && value.length === DIGEST_LENGTH && /^[0-9a-f]+$/.test(value);
