/**
 * A session read whole: its events and what they mean. Every reading for people begins with one. Also tries
 * facts that nobody has recorded, to say beforehand what would follow from them.
 */
import { bug } from '../errors.ts';
import type { LogEvent, NewDecision, NewFact } from '../event/events.ts';
import { conclude } from '../session/conclude.ts';
import { evolve, initial } from '../session/evolve.ts';
import type { SessionState } from '../session/state.ts';

export type SessionRecord = {
  /** All of them, in order. */
  readonly events: readonly LogEvent[];
  readonly state: SessionState;
};

export const recordOf = (session: string, events: readonly LogEvent[]): SessionRecord => {
  let state = initial(session);
  for (const event of events) state = evolve(state, event);
  return { events, state };
};

/** The event at a seq: events of a record have no gaps. */
export const eventAt = ({ events }: SessionRecord, seq: number): LogEvent | undefined => events[seq - 1];

export type Trial = { readonly state: SessionState; readonly decisions: readonly NewDecision[] };

/** Decisions that may follow from one fact; more means that conclude does not come to rest. */
const DECISIONS_MAX = 10_000;

/** What would stand after these facts and every decision that follows from them. Records nothing. */
export const trial = (state: SessionState, facts: readonly NewFact[]): Trial => {
  let tried = state;
  const decisions: NewDecision[] = [];
  const push = (event: NewFact | NewDecision): void => {
    tried = evolve(tried, { ...event, seq: tried.seq + 1, at: tried.lastAt });
  };
  for (const fact of facts) {
    push(fact);
    for (let decision = conclude(tried); decision; decision = conclude(tried)) {
      if (decisions.length >= DECISIONS_MAX) throw bug('conclude comes to rest', { session: state.session });
      decisions.push(decision);
      push(decision);
    }
  }
  return { state: tried, decisions };
};
