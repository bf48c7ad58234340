/** What falls due by itself: a question lapses, or goes to further people. */
import type { SessionState } from './state.ts';

/** The next such moment, wall time in milliseconds since 1970 UTC; undefined where nothing waits for time. */
export const wakeAtOf = ({ active }: SessionState): number | undefined => {
  let first: number | undefined;
  for (const { phase, terms } of active?.calls ?? []) {
    if (phase !== 'asking' || !terms) continue;
    for (const moment of [terms.expiresAt, terms.escalates?.at])
      if (moment !== undefined && (first === undefined || moment < first)) first = moment;
  }
  return first;
};
