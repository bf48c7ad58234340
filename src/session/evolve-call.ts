/** What an event about one call means for that call. Total: a late or repeated event changes nothing. */
import type { EventData, LogEvent, Settlement } from '../event/events.ts';
import type { Outcome } from '../event/content.ts';
import { digestOf } from '../event/canonical.ts';
import type { Json } from '../event/json.ts';
import { isRechecked } from './preparing.ts';
import { NO_PAUSE, type CallState, type Closing, type Decided, type Pause } from './state.ts';

type CallEventType =
  | 'call.refused'
  | 'call.prepared'
  | 'approval.requested'
  | 'approval.decided'
  | 'approval.escalated'
  | 'approval.expired'
  | 'approval.invalidated'
  | 'call.withheld'
  | 'notice.sent'
  | 'call.started'
  | 'call.result'
  | 'call.suspended'
  | 'call.late'
  | 'call.retry'
  | 'call.reconciled'
  | 'call.failed'
  | 'call.doubted'
  | 'call.settled'
  | 'call.cancelled';

export type CallEvent = Extract<LogEvent, { type: CallEventType }>;

export const evolveCall = (call: CallState, event: CallEvent): CallState => {
  if (call.phase === 'closed') return call;
  switch (event.type) {
    case 'approval.requested':
    case 'approval.decided':
    case 'approval.escalated':
    case 'approval.expired':
    case 'approval.invalidated':
      return evolveQuestion(call, event);
    case 'notice.sent':
      return { ...call, told: event.data.topic };
    case 'call.withheld':
      return close(call, { kind: 'withheld', mode: event.data.mode, message: event.data.message });
    case 'call.refused':
      // Refused now, but an earlier attempt may have happened: nobody may say that it was not run.
      if (call.unproven)
        return { ...call, phase: 'ended', outcome: { kind: 'unclear', reason: event.data.code } };
      return close(call, { kind: 'rejected', reason: event.data.code, message: event.data.message });
    case 'call.prepared':
      return prepared(call, event);
    case 'call.started':
      return begun(call, event.data.attempt, event.at);
    case 'call.result':
      return event.data.attempt === call.attempt && call.phase === 'started'
        ? afterAttempt(call, event.data.outcome)
        : call;
    case 'call.suspended':
      return suspended(call, event.data);
    case 'call.late':
      return afterLate(call, event.data.attempt, event.data.outcome);
    case 'call.retry':
      return { ...call, phase: 'retrying', pause: pauseUntil(event.data.notBefore, event.at) };
    case 'call.reconciled':
      return reconciled(call, event.data.answer);
    case 'call.failed':
      return close(call, { kind: 'failed', code: event.data.code, message: event.data.message });
    case 'call.doubted':
      return {
        ...call,
        phase: 'in-doubt',
        doubt: {
          reason: event.data.reason,
          since: event.at,
          reconcileNote: call.doubt?.reconcileNote,
        },
      };
    case 'call.settled':
      return settled(call, event.data.settlement, event.data.by.name, event.data.note);
    case 'call.cancelled':
      return close(call, {
        kind: 'cancelled',
        started: call.attempt > 0,
        ...(event.data.fork && { fork: event.data.fork }),
      });
    default:
      return event satisfies never;
  }
};

const begun = (call: CallState, attempt: number, at: number): CallState => ({
  ...call,
  phase: 'started',
  attempt,
  outcome: undefined,
  startedAt: call.startedAt ?? at,
});

type QuestionEvent = Extract<CallEvent, { type: `approval.${string}` }>;

const evolveQuestion = (call: CallState, event: QuestionEvent): CallState => {
  switch (event.type) {
    case 'approval.requested': {
      const { digest, by, fourEyes = false, expiresAt, escalates } = event.data;
      const terms = { by, fourEyes, expiresAt, escalates, escalated: false };
      return { ...call, phase: 'asking', digest, round: call.round + 1, recheckedAt: undefined, terms };
    }
    case 'approval.decided':
      return decided(call, event);
    case 'approval.escalated': {
      const { terms } = call;
      if (!terms) return call;
      const by = terms.by && [...terms.by, ...event.data.to];
      return { ...call, terms: { ...terms, by, escalates: undefined, escalated: true } };
    }
    case 'approval.expired':
      return close(call, { kind: 'expired' });
    case 'approval.invalidated':
      return { ...call, phase: 'to-ask', decided: undefined };
    default:
      return event satisfies never;
  }
};

/** A preview made again after a person's yes: what it is bound to is still so, or it is to be asked again. */
const prepared = (call: CallState, { at, data: { preview, base } }: Prepared): CallState => {
  const { title } = preview;
  const made = { preview: digestOf(preview), title: typeof title === 'string' ? title : '', base };
  if (!isRechecked(call)) return { ...call, prepared: made };
  if (digestOf((call.prepared?.base ?? null) as Json) === digestOf(base ?? null))
    return { ...call, recheckedAt: at };
  return { ...call, phase: 'stale', prepared: made };
};

type Prepared = Extract<CallEvent, { type: 'call.prepared' }>;

export const pauseUntil = (notBefore: number, at: number): Pause => ({
  notBefore,
  ms: Math.max(0, notBefore - at),
});

const close = (call: CallState, closing: Closing): CallState => ({ ...call, phase: 'closed', closing });

const decided = (call: CallState, event: Extract<CallEvent, { type: 'approval.decided' }>): CallState => {
  // Only the question that stands is answered; the command handler refuses the rest before it is written.
  if (call.phase !== 'asking' || event.data.digest !== call.digest) return call;
  const { decision, by, digest, key } = event.data;
  const record: Decided = {
    do: decision.do,
    by,
    at: event.at,
    seq: event.seq,
    digest,
    content: digestOf(decision),
    key,
  };
  const answered: CallState = { ...call, decided: record };
  switch (decision.do) {
    case 'approve':
      return { ...answered, phase: 'ready' };
    case 'edit':
      return { ...answered, phase: 'reopened', args: decision.args, edited: true, prepared: undefined };
    case 'reject':
      return close(answered, {
        kind: 'denied',
        by: by.name,
        ...(decision.reason !== undefined && { reason: decision.reason }),
      });
    case 'respond':
      return close(answered, { kind: 'responded', by: by.name, content: decision.content });
    default:
      return decision satisfies never;
  }
};

const suspended = (call: CallState, { attempt, calls }: EventData['call.suspended']): CallState => {
  if (attempt !== call.attempt || call.phase !== 'started') return call;
  const asked = [...call.asked, ...calls];
  return { ...call, phase: 'calling', asked, suspensions: call.suspensions + 1, innerMs: 0 };
};

const afterAttempt = (call: CallState, outcome: Outcome): CallState => {
  if (outcome.kind === 'ok') return close({ ...call, outcome }, outcome);
  return outcome.kind === 'unknown' ? endedUnknown(call, outcome) : { ...call, phase: 'ended', outcome };
};

/** Ended without a proof of either end; a late result of an earlier attempt is one. */
export const endedUnknown = (call: CallState, outcome: NonNullable<CallState['outcome']>): CallState =>
  call.evidence
    ? close({ ...call, outcome }, { ...call.evidence, by: 'late-result' })
    : { ...call, phase: 'ended', outcome, unproven: true };

/**
 * Evidence. That an attempt has happened settles the call, whatever has been planned or asked since; that it has
 * failed says nothing about a later one. Another attempt that runs already is not disturbed.
 */
const afterLate = (call: CallState, attempt: number, outcome: Outcome): CallState => {
  // A tool that makes calls has no effect of its own: what an attempt before the suspension still says settles nothing.
  if (outcome.kind === 'unknown' || call.phase === 'calling') return call;
  if (call.phase === 'started' && attempt < call.attempt)
    return outcome.kind === 'ok' ? { ...call, evidence: outcome } : call;
  if (outcome.kind === 'ok') return close({ ...call, outcome }, { ...outcome, by: 'late-result' });
  if (attempt !== call.attempt || (call.phase !== 'in-doubt' && call.phase !== 'ended')) return call;
  const { code, message } = outcome;
  return close({ ...call, outcome }, { kind: 'failed', code, message });
};

const reconciled = (
  call: CallState,
  answer: Extract<CallEvent, { type: 'call.reconciled' }>['data']['answer'],
): CallState => {
  if (call.phase !== 'ended') return call;
  if (answer.happened === true) return close(call, { kind: 'ok', content: answer.content, by: 'reconcile' });
  if (answer.happened === false)
    return { ...call, phase: 'ended', outcome: { kind: 'absent' }, unproven: false };
  return {
    ...call,
    phase: 'ended',
    outcome: { kind: 'unclear', reason: 'reconcile-unknown' },
    doubt: { reason: 'reconcile-unknown', since: 0, reconcileNote: answer.note },
  };
};

const settled = (call: CallState, settlement: Settlement, by: string, note?: string): CallState => {
  if (call.phase !== 'in-doubt') return call;
  switch (settlement.answer) {
    case 'happened':
      return close(call, { kind: 'ok', content: settlement.content, by: 'person' });
    case 'give-up':
      return close(call, { kind: 'given-up', by, ...(note !== undefined && { note }) });
    case 'not-happened':
      // What was asked and answered before was about the attempt that is over.
      return {
        ...call,
        phase: 'reopened',
        pause: NO_PAUSE,
        prepared: undefined,
        digest: undefined,
        terms: undefined,
        unproven: false,
      };
    default:
      return settlement satisfies never;
  }
};
