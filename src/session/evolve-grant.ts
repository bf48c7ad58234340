/** Leave for further calls: given with an approval, void with it, taken back by a person. */
import { RULE_GRANT } from '../effect/policy.ts';
import type { LogEvent } from '../event/events.ts';
import type { CallEvent } from './evolve-call.ts';
import { findCall, toolOf, type CallState, type GrantState, type SessionState } from './state.ts';

/** Leave for further calls that a session holds at a time; the oldest goes first. */
const GRANTS_MAX = 100;

export const noteGrant = (state: SessionState, event: CallEvent): SessionState => {
  // A yes that came to nothing gives no leave either.
  if (event.type === 'approval.invalidated' || event.type === 'approval.expired')
    return { ...state, grants: state.grants.filter(({ call }) => call !== event.data.call) };
  if (event.type !== 'approval.decided' || event.data.decision.do !== 'approve') return state;
  const { grant } = event.data.decision;
  const call = findCall(state, event.data.call);
  const tool = call && toolOf(state.agent, call.tool);
  if (!grant || !tool || call.phase !== 'asking' || call.digest !== event.data.digest) return state;
  const { when, forMs } = grant;
  const given: GrantState = {
    call: call.id,
    tool: tool.name,
    definition: tool.digest,
    rule: call.rule,
    when,
    expiresAt: event.at + forMs,
    by: event.data.by,
  };
  const valid = state.grants.filter(({ expiresAt }) => expiresAt > event.at);
  return { ...state, grants: [...valid, given].slice(-GRANTS_MAX) };
};

/**
 * What it had let pass and nobody has started is judged again, as if it had just been proposed. What has begun ends: an
 * attempt, and another one of a call that was started while it stood.
 */
export const revokeGrant = (
  state: SessionState,
  { data: { grant: id } }: Extract<LogEvent, { type: 'grant.revoked' }>,
): SessionState => {
  const { active } = state;
  const grants = state.grants.filter(({ call }) => call !== id);
  const judgedAgain = (call: CallState): CallState =>
    call.phase === 'ready' && call.rule === `${RULE_GRANT}${id}` ? { ...call, phase: 'reopened' } : call;
  return {
    ...state,
    grants,
    active: active && {
      ...active,
      calls: active.calls.map(judgedAgain),
      inner: active.inner.map(judgedAgain),
    },
  };
};
