/** A log of notes that holds together: what every test of a store ends with. */
import { expect } from 'vitest';
import { chainHash, genesis, open } from '../../src/event/envelope.ts';
import type { LogStore } from '../../src/log/store.ts';

/** Every seq from 1 on without a gap, each linked to the one before. */
export const expectChain = async (store: LogStore, session: string): Promise<readonly string[]> => {
  const events = await store.read(session);
  let prev = genesis(session);
  for (const [i, event] of events.entries()) {
    expect(event.seq).toBe(i + 1);
    expect(event.hash).toBe(chainHash(prev, event.body));
    prev = event.hash;
  }
  return events.map((event) => {
    const opened = open(event);
    return opened.type === 'call.refused' ? opened.data.message : '';
  });
};
