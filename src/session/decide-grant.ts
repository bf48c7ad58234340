/** Taking leave back that was given for further calls. Pure. */
import { RULE_GRANT } from '../effect/policy.ts';
import type { CallId } from '../event/call-id.ts';
import type { Command, Decision } from './decide.ts';
import { stepCalls, type SessionState } from './state.ts';

/** One grant, or all that stand. Whoever may decide at all may: it only makes what follows ask again. */
export const decideRevoke = (
  state: SessionState,
  { call, by, reason }: Extract<Command, { kind: 'revoke' }>,
  now: number,
): Decision => {
  const known = new Set([...standing(state, now), ...aboutToRun(state)]);
  const taken = [...known].filter((grant) => call === undefined || grant === call);
  if (taken.length === 0)
    return {
      kind: 'refused',
      code: 'grant-not-found',
      message:
        call === undefined
          ? 'No grant stands in this session: there is nothing to take back.'
          : `No grant stands that was given with call ${call}: it has run out, or there was none.`,
    };
  return {
    kind: 'facts',
    facts: taken.map((grant) => ({
      type: 'grant.revoked',
      data: { grant, by, ...(reason !== undefined && { reason }) },
    })),
  };
};

const standing = ({ grants }: SessionState, now: number): readonly CallId[] =>
  grants.flatMap(({ call, expiresAt }) => (expiresAt > now ? [call] : []));

/** What a grant had let pass in its time and what was not started yet: it would run, also where the time is over by now. */
const aboutToRun = ({ active }: SessionState): readonly CallId[] =>
  (active ? stepCalls(active) : []).flatMap(({ phase, rule }) =>
    phase === 'ready' && rule.startsWith(RULE_GRANT) ? [rule.slice(RULE_GRANT.length) as CallId] : [],
  );
