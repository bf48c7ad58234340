/** Whose id a chain begins with: the session's own, or where it is a fork that of the session it came from. */
import { isOnrecordError } from '../errors.ts';
import { chainHash, genesis, open, type StoredEvent } from '../event/envelope.ts';

/** Answers `session` itself where no parent that its events name fits. */
export const originOf = (session: string, events: Iterable<StoredEvent>): string => {
  const [first, ...rest] = events;
  if (!first || begins(session, first)) return session;
  for (const stored of [first, ...rest]) {
    const parent = parentOf(stored);
    if (parent !== undefined && begins(parent, first)) return parent;
  }
  return session;
};

const begins = (session: string, first: StoredEvent): boolean =>
  chainHash(genesis(session), first.body) === first.hash;

const parentOf = (stored: StoredEvent): string | undefined => {
  if (!stored.body.includes('"parent":')) return undefined;
  try {
    const { parent } = open(stored).data as { readonly parent?: { readonly session?: unknown } };
    return typeof parent?.session === 'string' ? parent.session : undefined;
  } catch (error) {
    // An event that cannot be read is a finding of its own.
    if (isOnrecordError(error)) return undefined;
    throw error;
  }
};
