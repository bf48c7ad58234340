/** What falls due by itself: a question lapses, or goes to further people. */
import { stepCalls, type SessionState } from './state.ts';

/** The next such moment, wall time in milliseconds since 1970 UTC; undefined where nothing waits for time. */
export const wakeAtOf = ({ active }: SessionState): number | undefined => {
  let first: number | undefined;
  for (const { phase, terms } of active ? stepCalls(active) : []) {
    if (phase !== 'asking' || !terms) continue;
    for (const moment of [terms.expiresAt, terms.escalates?.at])
      if (moment !== undefined && (first === undefined || moment < first)) first = moment;
  }
  return first;
};
