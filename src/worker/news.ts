/** Whether a fact in hand still tells the log something: after an unclear commit it may stand there already. */
import { canonical } from '../event/canonical.ts';
import type { NewFact } from '../event/events.ts';
import { needsPreparing } from '../session/preparing.ts';
import { findCall, type SessionState } from '../session/state.ts';
import type { News } from './jobs.ts';

export const isNews = (state: SessionState, fact: NewFact): boolean => {
  switch (fact.type) {
    case 'response.received':
    case 'request.failed': {
      const { turn, step, attempt } = fact.data;
      const request = state.active?.turn === turn ? state.active.request : undefined;
      return request?.phase === 'open' && request.step === step && request.attempt === attempt;
    }
    case 'call.result':
    case 'call.suspended': {
      const call = findCall(state, fact.data.call);
      return call?.phase === 'started' && call.attempt === fact.data.attempt;
    }
    case 'call.prepared': {
      const call = findCall(state, fact.data.call);
      return call !== undefined && needsPreparing(state, call);
    }
    case 'call.refused': {
      const call = findCall(state, fact.data.call);
      return call !== undefined && call.phase !== 'closed' && call.phase !== 'started';
    }
    case 'call.reconciled':
      return findCall(state, fact.data.call)?.phase === 'ended';
    default:
      return true;
  }
};

/** Whether the log has this very result of this attempt already: said twice, it is no further evidence. */
export const isRecorded = (state: SessionState, fact: NewFact): boolean => {
  if (fact.type !== 'call.result') return false;
  const { call: id, attempt, outcome } = fact.data;
  const call = findCall(state, id);
  if (call?.attempt !== attempt || call.outcome === undefined) return false;
  return canonical(call.outcome) === canonical(outcome);
};

/** What a tool has said, for a log that expects nothing of it any more. That it was given up is no news of the tool. */
export const evidenceOf = (news: News): News | undefined => {
  const { fact, blobs } = news;
  if (fact.type === 'call.late') return news;
  if (fact.type !== 'call.result' || fact.data.outcome.kind === 'unknown') return undefined;
  return { fact: { type: 'call.late', data: fact.data }, blobs };
};
