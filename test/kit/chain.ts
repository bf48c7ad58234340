/** Sealed events without a session behind them, for tests of stores. */
import { sha256, type Digest } from '../../src/event/canonical.ts';
import { genesis, seal, type StoredEvent } from '../../src/event/envelope.ts';
import type { NewEvent } from '../../src/event/events.ts';
import type { SessionStatus, SessionSummary } from '../../src/event/summary.ts';
import type { Blob, LogStore, Owner } from '../../src/log/store.ts';

export const noteEvent = (text: string): NewEvent => ({
  type: 'call.refused',
  data: { call: '1.1.1', code: 'note', message: text },
});

/** Events `from`..`from + texts.length - 1` of a chain whose event before has the hash `prev`. */
export const sealed = (
  session: string,
  texts: readonly string[],
  { from = 1, prev = genesis(session) }: { from?: number; prev?: Digest } = {},
): readonly StoredEvent[] => {
  const events: StoredEvent[] = [];
  let hash = prev;
  for (const [i, text] of texts.entries()) {
    const { stored } = seal(noteEvent(text), { seq: from + i, at: 1000 + i, prev: hash });
    hash = stored.hash;
    events.push(stored);
  }
  return events;
};

export const blobOf = (bytes: Uint8Array): Blob => ({ digest: sha256(bytes), bytes });

export const summary = (status: SessionStatus, updatedAt: number, agent = 'clerk'): SessionSummary => ({
  agent,
  tenant: '',
  title: `a ${status} one`,
  status,
  canGoOn: status === 'running',
  turns: 1,
  waiting: 0,
  inDoubt: 0,
  untold: 0,
  cost: null,
  createdAt: 1,
  updatedAt,
});

export const OWNER_A: Owner = { id: 'owner-a', host: 'one', boot: 'b', pid: 1, started: '1' };
export const OWNER_B: Owner = { id: 'owner-b', host: 'two', boot: 'b', pid: 2, started: '2' };

/** Appends texts at the head of a session, whatever it is. */
export const grow = async (
  store: LogStore,
  session: string,
  texts: readonly string[],
): Promise<readonly StoredEvent[]> => {
  const head = await store.head(session);
  const events = sealed(session, texts, {
    from: (head?.seq ?? 0) + 1,
    prev: head?.hash ?? genesis(session),
  });
  await store.append({ session, expected: head?.seq ?? 0, events });
  return events;
};
