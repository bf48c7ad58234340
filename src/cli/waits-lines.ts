/** What a session waits for and since when, as a line under its head. */
import { systemClock } from '../clock.ts';
import type { LogStore } from '../log/store.ts';
import type { SessionState } from '../session/state.ts';
import { waitsText } from '../view/waits.ts';
import { dim, line, SIGN, theirs, type Shown } from './terminal/shown.ts';

/** Nothing for one that has come to its end: the next message is nobody's duty. */
export const waitsLines = async (
  store: LogStore,
  { session, waits, parked }: SessionState,
): Promise<readonly Shown[]> => {
  if (waits.for === 'message') return [];
  const now = systemClock.now();
  const [row] = await store.sessions({ names: [session], limit: 1 });
  const driven = row?.lease !== undefined && row.lease.until > now;
  const text = theirs(waitsText({ waits }, { now, driven }));
  if (!parked) return [dim(text)];
  return [line`${SIGN.fail} Parked after ${parked.tries} tries: ${theirs(parked.message)}`, dim(text)];
};
