/** A session in another store: the very same events, hashes and blobs, page by page, from wherever an earlier try ended. */
import { OnrecordError } from '../errors.ts';
import { open } from '../event/envelope.ts';
import { pages } from '../log/pages.ts';
import type { Append, Blob, LogStore, SessionRow } from '../log/store.ts';
import { blobsNamed } from '../replay/named-blobs.ts';

export type CopiedSession = { readonly events: number; readonly blobs: number };

/**
 * Copies what `to` does not have yet. `row` is what the list of `from` says of it, if it stands there. Forks come after
 * their parents. Throws `copy-conflict` where the other store has another session of that name.
 */
export const copySession = async (
  { from, to }: { readonly from: LogStore; readonly to: LogStore },
  session: string,
  row: SessionRow | undefined,
): Promise<CopiedSession> => {
  const there = await to.head(session);
  if (there) {
    const [same] = await from.read(session, there.seq, there.seq);
    if (same?.hash !== there.hash) throw conflict(session, there.seq, to);
  }
  const fork = there ? undefined : row?.fork;
  let expected = there?.seq ?? fork?.seq ?? 0;
  const copied = { events: 0, blobs: 0 };
  for await (const events of pages(from, session, { from: expected + 1 })) {
    const digests = new Set(events.flatMap((stored) => [...blobsNamed(open(stored).data)]));
    const blobs: Blob[] = [];
    for (const digest of digests) {
      const bytes = await from.blob(digest);
      // What was removed by rule is known by its digest alone; whether that is so the proof says afterwards.
      if (bytes) blobs.push({ digest, bytes });
    }
    const append: Append = {
      session,
      expected,
      events,
      blobs,
      ...(copied.events === 0 && fork && { fork }),
      ...(row && { summary: row.summary }),
    };
    await to.append(append);
    expected += events.length;
    copied.events += events.length;
    copied.blobs += blobs.length;
  }
  return copied;
};

const conflict = (session: string, seq: number, to: LogStore): OnrecordError =>
  new OnrecordError(
    `${to.name} has another session ${session}: its event ${seq} is not the one that was to be copied. Nothing of it was changed.`,
    { code: 'copy-conflict', next: 'look-again', details: { session, seq } },
  );

/** Parents before their forks; otherwise the order in which they came. */
export const parentsFirst = <T extends { readonly session: string }>(
  sessions: readonly T[],
  rows: ReadonlyMap<string, SessionRow>,
): readonly T[] => {
  const deep = (session: string): number => {
    let count = 0;
    for (let at = rows.get(session)?.fork; at; at = rows.get(at.parent)?.fork) count++;
    return count;
  };
  const depths = new Map(sessions.map(({ session }) => [session, deep(session)]));
  return sessions.toSorted((a, b) => (depths.get(a.session) ?? 0) - (depths.get(b.session) ?? 0));
};
