/** What became of a call that does not wait any more: the answer to "why did my decision do nothing?". */
import type { Digest } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { Actor } from '../event/content.ts';
import type { Mode } from '../event/definition.ts';
import type { ApprovalDecision, LogEvent, Settlement } from '../event/events.ts';
import { findCall } from '../session/state.ts';
import type { SessionRecord } from './record.ts';

export type GivenDecision = {
  readonly seq: number;
  readonly at: number;
  readonly by: Actor;
  readonly digest: Digest;
  readonly decision: ApprovalDecision;
};

export type Fate =
  | { readonly kind: 'unknown-call' }
  /** Still waits for a decision or a settlement. */
  | { readonly kind: 'open' }
  | ({ readonly kind: 'decided' } & GivenDecision)
  | {
      readonly kind: 'settled';
      readonly seq: number;
      readonly at: number;
      readonly by: Actor;
      readonly settlement: Settlement;
    }
  /** Nobody decided before the deadline. */
  | { readonly kind: 'lapsed'; readonly seq: number; readonly at: number }
  /** The mode kept it from starting; nobody was asked. */
  | { readonly kind: 'withheld'; readonly seq: number; readonly at: number; readonly mode: Mode }
  /** The turn was cancelled, or the session branched off, before anybody decided. */
  | { readonly kind: 'cancelled'; readonly at: number; readonly by: Actor | undefined }
  /** Nobody was ever asked about it. */
  | { readonly kind: 'not-asked' };

/** `what` says which kind of answer somebody wanted to give. */
export const fateOf = (record: SessionRecord, call: CallId, what: 'decide' | 'settle'): Fate => {
  const { events, state } = record;
  const about = events.filter((event) => 'call' in event.data && event.data.call === call);
  if (about.length === 0) return { kind: 'unknown-call' };
  const phase = findCall(state, call)?.phase;
  if (phase === (what === 'decide' ? 'asking' : 'in-doubt')) return { kind: 'open' };
  const settled = about.findLast((event) => event.type === 'call.settled');
  if (what === 'settle' && settled?.type === 'call.settled') {
    const { by, settlement } = settled.data;
    return { kind: 'settled', seq: settled.seq, at: settled.at, by, settlement };
  }
  const decided =
    what === 'decide' ? about.findLast((event) => event.type === 'approval.decided') : undefined;
  if (decided?.type === 'approval.decided') return { kind: 'decided', ...given(decided) };
  const lapsed = about.findLast((event) => event.type === 'approval.expired');
  if (lapsed) return { kind: 'lapsed', seq: lapsed.seq, at: lapsed.at };
  const withheld = about.findLast((event) => event.type === 'call.withheld');
  if (withheld?.type === 'call.withheld')
    return { kind: 'withheld', seq: withheld.seq, at: withheld.at, mode: withheld.data.mode };
  const cancelled = about.find((event) => event.type === 'call.cancelled');
  if (!cancelled) return { kind: 'not-asked' };
  return { kind: 'cancelled', at: cancelled.at, by: cancelledBy(events, cancelled.seq) };
};

/** Who asked for the cancel, or for the fork, that ended a call. */
export const cancelledBy = (events: readonly LogEvent[], seq: number): Actor | undefined => {
  const asked = events.findLast(
    (event) => (event.type === 'turn.cancel_requested' || event.type === 'session.forked') && event.seq < seq,
  );
  return asked?.type === 'turn.cancel_requested' || asked?.type === 'session.forked'
    ? asked.data.by
    : undefined;
};

/** The decision that was recorded on exactly this question, whatever became of the call since. */
export const decisionOn = (
  { events }: SessionRecord,
  call: CallId,
  digest: Digest,
): GivenDecision | undefined => {
  for (const event of events)
    if (event.type === 'approval.decided' && event.data.call === call && event.data.digest === digest)
      return given(event);
  return undefined;
};

const given = ({ seq, at, data }: Extract<LogEvent, { type: 'approval.decided' }>): GivenDecision => ({
  seq,
  at,
  by: data.by,
  digest: data.digest,
  decision: data.decision,
});
