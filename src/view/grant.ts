/** Leave that people gave for further calls of a session, as it stands. */
import type { Actor } from '../event/content.ts';
import type { ApprovalDecision } from '../event/events.ts';
import type { GrantState } from '../session/state.ts';
import type { SessionRecord } from './record.ts';

export type StandingGrant = GrantState & {
  readonly by: Actor;
  /** The event that gave it. */
  readonly seq: number;
  readonly at: number;
};

/** Oldest first; some of them may have run out by now. */
export const grants = ({ events, state }: SessionRecord): readonly StandingGrant[] =>
  state.grants.flatMap((grant) => {
    const given = events.findLast(
      (event) =>
        event.type === 'approval.decided' &&
        event.data.call === grant.call &&
        event.at + (grantMs(event.data.decision) ?? 0) === grant.expiresAt,
    );
    return given?.type === 'approval.decided'
      ? [{ ...grant, by: given.data.by, seq: given.seq, at: given.at }]
      : [];
  });

const grantMs = (decision: ApprovalDecision): number | undefined =>
  decision.do === 'approve' ? decision.grant?.forMs : undefined;
