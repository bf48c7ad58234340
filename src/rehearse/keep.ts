/** A rehearsal put into a store as a session of its own. It stands there whole and is never driven on. */
import { DIGEST_LENGTH, type Digest } from '../event/canonical.ts';
import type { MemoryLog } from '../log/memory.ts';
import type { Blob, LogStore } from '../log/store.ts';

/** Digests that stand in an event, blobs or not: the store answers which of them it has. */
const DIGEST = new RegExp(`[0-9a-f]{${DIGEST_LENGTH}}`, 'g');

export const keep = async (from: MemoryLog, to: LogStore, session: string): Promise<string> => {
  const events = await from.read(session);
  const [row] = await from.sessions();
  const digests = new Set(events.flatMap(({ body }) => body.match(DIGEST) ?? []) as Digest[]);
  const blobs: Blob[] = [];
  for (const digest of digests) {
    const bytes = await from.blob(digest);
    if (bytes) blobs.push({ digest, bytes });
  }
  await to.append({ session, expected: 0, events, blobs, ...(row && { summary: row.summary }) });
  return session;
};
