/** What a session waits for, and since when: the first of these that holds. */
import type { WaitsFor } from '../event/summary.ts';
import { modeOf, type CallState, type SessionState, type Waits } from './state.ts';

const hasPhase = (calls: readonly CallState[], phase: CallState['phase']): boolean => {
  for (const call of calls) if (call.phase === phase) return true;
  return false;
};

const kindOf = (state: SessionState): WaitsFor => {
  const { active, leftOpen } = state;
  if (state.parked) return 'unpark';
  if (hasPhase(leftOpen, 'in-doubt')) return 'settlement';
  if (!active) return 'message';
  const { calls, inner } = active;
  if (hasPhase(calls, 'in-doubt') || hasPhase(inner, 'in-doubt')) return 'settlement';
  if (hasPhase(calls, 'asking') || hasPhase(inner, 'asking')) return 'decision';
  return modeOf(state) === 'frozen' ? 'mode' : 'worker';
};

/** The same value while it waits for the same. */
export const waitsOf = (state: SessionState, at: number): Waits => {
  const kind = kindOf(state);
  return state.waits.for === kind && state.seq > 0 ? state.waits : { for: kind, since: at };
};
