/** Who may answer a question, and how: the terms it was asked under against what a credential says. */
import { checkGrant, GRANT_MS_MAX } from '../effect/grant.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { RULE_ALWAYS, RULE_TWIN } from '../effect/policy.ts';
import type { Actor } from '../event/content.ts';
import type { ApprovalDecision } from '../event/events.ts';
import { toolOf, type CallState, type SessionState, type Terms } from './state.ts';

export type Objection = {
  readonly code: 'not-an-approver' | 'four-eyes' | 'approval-expired' | 'grant-invalid';
  readonly message: string;
};

export type Asked = {
  readonly decision: ApprovalDecision;
  readonly by: Actor;
  /** Wall time, milliseconds since 1970 UTC. */
  readonly now: number;
};

/** Why this person's decision is none; undefined where nothing is in its way. */
export const objection = (state: SessionState, call: CallState, asked: Asked): Objection | undefined => {
  const { terms } = call;
  const { decision, by, now } = asked;
  if (terms?.expiresAt !== undefined && terms.expiresAt <= now)
    return {
      code: 'approval-expired',
      message: `The question about call ${call.id} lapsed before your decision. Nothing is run.`,
    };
  if (terms && !mayDecide(terms, by))
    return {
      code: 'not-an-approver',
      message: `${by.name} may not decide about call ${call.id}. It waits for ${terms.by?.join(', ') ?? ''}.`,
    };
  const runs = decision.do === 'approve' || decision.do === 'edit';
  const asker = state.active?.by.name;
  if (runs && terms?.fourEyes === true && by.name === asker)
    return {
      code: 'four-eyes',
      message: `${by.name} asked for this turn, so somebody else has to approve call ${call.id}. You can reject it.`,
    };
  return decision.do === 'approve' ? grantObjection(state, call, decision) : undefined;
};

const mayDecide = ({ by }: Terms, actor: Actor): boolean =>
  by === undefined ||
  by.some((name) =>
    name.startsWith('role:') ? actor.roles?.includes(name.slice('role:'.length)) : name === actor.name,
  );

const objecting = (message: string): Objection => ({ code: 'grant-invalid', message });

const grantObjection = (
  state: SessionState,
  call: CallState,
  { grant }: Extract<ApprovalDecision, { do: 'approve' }>,
): Objection | undefined => {
  if (!grant) return undefined;
  if (
    call.rule === RULE_ALWAYS ||
    call.rule === RULE_TWIN ||
    toolOf(state.agent, call.tool)?.approval === 'always'
  )
    return objecting(
      `Call ${call.id} is one of those that are always asked about: approve it without a grant.`,
    );
  const decoded = decodeArguments(call.args);
  const problem = checkGrant(grant, decoded.ok ? decoded.value : null);
  if (problem === undefined) return undefined;
  return objecting(`The grant cannot be given: ${problem}. It lasts up to ${GRANT_MS_MAX} ms.`);
};
