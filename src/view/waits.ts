/** What a session waits for, in words. */
import type { SessionSummary, WaitsFor } from '../event/summary.ts';
import { formatDuration } from './format.ts';

const WAITS_WORDS: Readonly<Record<WaitsFor, string>> = {
  decision: 'a decision',
  settlement: 'somebody who knows what happened',
  unpark: 'somebody who unparks it',
  mode: 'its mode to be lifted',
  worker: 'a worker',
  message: 'a message',
};

/** The same in a word or two, for tables. */
const WAITS_SHORT: Readonly<Record<WaitsFor, string>> = {
  decision: 'decision',
  settlement: 'settlement',
  unpark: 'unpark',
  mode: 'mode',
  worker: 'worker',
  message: 'message',
};

type Waiting = Pick<SessionSummary, 'waits'>;

/** `driven`: whether somebody has its lease. Times are wall time, milliseconds since 1970 UTC. */
export type WaitsOptions = { readonly now: number; readonly driven: boolean };

/** `decision 3 min`; empty where an older program wrote the row last. */
export const waitsShort = ({ waits }: Waiting, { now, driven }: WaitsOptions): string => {
  if (!waits) return '';
  const since = formatDuration(Math.max(0, now - waits.since));
  return waits.for === 'worker' && driven ? `driven ${since}` : `${WAITS_SHORT[waits.for]} ${since}`;
};

/** `Waits for a decision, for 3 min` */
export const waitsText = ({ waits }: Waiting, { now, driven }: WaitsOptions): string => {
  if (!waits) return '';
  const since = formatDuration(Math.max(0, now - waits.since));
  if (waits.for === 'worker' && driven) return `A worker drives it, for ${since}`;
  return `Waits for ${WAITS_WORDS[waits.for]}, for ${since}`;
};
