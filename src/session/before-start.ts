/** What has to be said before a call is started at a moment: that its time is over. Pure; undefined where it may start. */
import { RULE_GRANT } from '../effect/policy.ts';
import type { Actor } from '../event/content.ts';
import type { CallId } from '../event/call-id.ts';
import type { NewFact } from '../event/events.ts';
import { isRechecked } from './preparing.ts';
import type { CallState, SessionState } from './state.ts';

const RUNTIME: Actor = { kind: 'runtime', name: 'onrecord' };

export const beforeStart = (state: SessionState, call: CallState, at: number): NewFact | undefined => {
  if (call.phase !== 'ready') return undefined;
  // What was decided in time and could not start in time is not started late.
  const due = call.terms?.expiresAt;
  if (due !== undefined && due <= at) return { type: 'time.reached', data: { due } };
  // Nor on a look that was taken at another moment than this one: that time has gone on is news.
  if (isRechecked(call) && call.recheckedAt !== at) return { type: 'time.reached', data: { due: at } };
  // Nor by leave that stood when the call was let pass and does not any more.
  const grant = grantOf(call);
  if (grant === undefined) return undefined;
  const reason = whyNot(state, grant, at);
  return reason === undefined ? undefined : { type: 'grant.revoked', data: { grant, by: RUNTIME, reason } };
};

/** The grant that let a call pass. */
const grantOf = ({ rule }: CallState): CallId | undefined =>
  rule.startsWith(RULE_GRANT) ? (rule.slice(RULE_GRANT.length) as CallId) : undefined;

/** Why a grant does not stand at a moment; undefined where it does. */
const whyNot = ({ grants }: SessionState, grant: CallId, at: number): string | undefined => {
  const given = grants.find(({ call }) => call === grant);
  // Its own yes came to nothing, or newer ones have taken its place.
  if (!given) return 'it does not stand any more';
  return given.expiresAt > at ? undefined : 'its time is over';
};
