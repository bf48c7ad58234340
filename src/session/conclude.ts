/**
 * conclude(state) -> the next decision that follows from the log alone, or undefined.
 *
 * Whoever appends a fact appends with it every decision that conclude then yields, one after the other, so a
 * committed log always stands at a point where nothing more follows, and replay can compare each decision
 * byte for byte. Pure and total; the order of the cases is part of the log's meaning.
 */
import { callPosition } from '../event/call-id.ts';
import type { EventData, NewDecision, RequestProblemKind, TurnOutcome } from '../event/events.ts';
import type { Receipt } from '../event/content.ts';
import { backoffMs, REQUEST_BACKOFF_MS, REQUEST_BACKOFF_MS_MAX, RETRY_AFTER_MS_MAX } from './backoff.ts';
import { concludeCall, leftBehind } from './conclude-call.ts';
import { invalidSteps } from './evolve-request.ts';
import { isBeforeFork } from './evolve-turn.ts';
import { concludeProposal } from './conclude-proposal.ts';
import { spentRefusal } from './budget.ts';
import { exceptionsOf } from './summary-range.ts';
import { stepCalls, type CallState, type RequestState, type SessionState, type TurnState } from './state.ts';

export const conclude = (state: SessionState): NewDecision | undefined => {
  const turn = state.active;
  if (state.fork !== undefined) {
    const left = state.leftOpen.find((call) => isLeftBehind(state, call));
    if (left) return leftBehind(left);
  }
  if (!turn) return undefined;
  if (turn.request?.phase === 'failed') return afterFailure(state, turn, turn.request);
  if (turn.request?.refusal && !turn.cancel) {
    const { outcome, code, message } = turn.request.refusal;
    return end(turn, outcome, code, message);
  }
  const { request } = turn;
  if (request?.phase === 'answered' && request.summary && !turn.cancel) return judge(state, turn, request);
  const proposal = turn.request?.phase === 'answered' ? concludeProposal(state, turn) : undefined;
  if (proposal) return proposal;
  for (const call of stepCalls(turn)) {
    const decision = concludeCall(state, turn, call);
    if (decision) return decision;
  }
  return turn.cancel ? afterCancel(state, turn) : afterStep(state, turn);
};

/** Left open by a turn that had ended before the fork. */
const isLeftBehind = (state: SessionState, { id }: CallState): boolean =>
  isBeforeFork(state, state.turns[callPosition(id).turn - 1]?.seq ?? 0);

/** Each of them may have been paid for: a request that brings processes down is not sent for ever. */
const LOST_ATTEMPTS_MAX = 10;

const RETRIED: ReadonlySet<RequestProblemKind> = new Set([
  'rate-limited',
  'overloaded',
  'unavailable',
  'interrupted',
  'timeout',
  'bad-response',
]);

/** A request that brought no response: again, or the end of the turn. */
const afterFailure = (
  state: SessionState,
  turn: TurnState,
  { step, attempt, problem }: RequestState,
): NewDecision | undefined => {
  if (turn.cancel) return afterCancel(state, turn);
  const next = attempt + 1;
  if (!problem && attempt >= LOST_ATTEMPTS_MAX)
    return end(
      turn,
      'failed',
      'process-lost',
      `The process was lost ${attempt} times while this request was under way.`,
    );
  if (!problem)
    return {
      type: 'request.retry',
      data: {
        turn: turn.turn,
        step,
        attempt: next,
        notBefore: state.lastAt,
        reason: 'process-lost',
        maybeBilled: true,
      },
    };
  const name = `${state.origin} ${turn.turn}.${step} ${next}`;
  const planned = backoffMs(name, next, { baseMs: REQUEST_BACKOFF_MS, maxMs: REQUEST_BACKOFF_MS_MAX });
  const wait = problem.retryAfterMs ?? planned;
  const again =
    RETRIED.has(problem.kind) &&
    problem.noRetry !== true &&
    attempt < state.agent.limits.requestAttempts &&
    wait <= RETRY_AFTER_MS_MAX;
  if (!again) return end(turn, 'failed', problem.kind, problem.message);
  const spent = spentRefusal(state);
  if (spent) return end(turn, spent.outcome, spent.code, spent.message);
  return {
    type: 'request.retry',
    data: {
      turn: turn.turn,
      step,
      attempt: next,
      notBefore: state.lastAt + wait,
      reason: problem.kind,
      maybeBilled: false,
    },
  };
};

const landed = (call: CallState): boolean => call.closing?.kind === 'ok';
const unknown = (call: CallState): boolean =>
  call.phase === 'in-doubt' || (call.closing?.kind === 'cancelled' && call.closing.fork === 'unknown');

/** A cancelled turn ends when nothing of it is in flight any more; the receipt says what was left. */
const afterCancel = (state: SessionState, turn: TurnState): NewDecision | undefined => {
  if (turn.request?.phase === 'open') return undefined;
  const calls = stepCalls(turn);
  if (calls.some((call) => call.phase !== 'closed' && call.phase !== 'in-doubt')) return undefined;
  const ids = (keep: (call: CallState) => boolean): CallState['id'][] =>
    calls.filter(keep).map((call) => call.id);
  const receipt: Receipt = {
    landed: ids(landed),
    stopped: ids((call) => !landed(call) && !unknown(call)),
    inDoubt: ids(unknown),
  };
  const reason = isBeforeFork(state, turn.acceptedSeq) ? { reason: 'forked' } : {};
  return { type: 'turn.ended', data: { turn: turn.turn, outcome: 'cancelled', ...reason, receipt } };
};

/** All calls have their result: the turn ends here or another request follows. */
const afterStep = (state: SessionState, turn: TurnState): NewDecision | undefined => {
  const { response } = turn;
  if (turn.request?.phase === 'summarised') return afterLimits(state, turn);
  if (!response || turn.request?.phase !== 'answered') return undefined;
  if (stepCalls(turn).some((call) => call.phase !== 'closed')) return undefined;
  const { limits } = state.agent;
  if (response.stop === 'refusal')
    return end(turn, 'refused', 'refusal', response.stopDetail ?? 'The model declined to answer.');
  if (response.stop === 'context-overflow')
    return end(turn, 'failed', 'context-overflow', 'The model says that its context window is full.');
  if (response.stop === 'unknown')
    return end(
      turn,
      'failed',
      'unknown-stop',
      `The model stopped for an unknown reason: ${response.stopDetail ?? ''}.`,
    );
  // A message that came meanwhile is heard before the turn ends.
  if (turn.calls.length === 0 && response.stop !== 'paused' && !turn.steered) return answered(turn, response);
  if (invalidSteps(turn) >= limits.invalidCallsInARow)
    return limit(turn, 'invalidCallsInARow', `no call of ${invalidSteps(turn)} steps in a row could be used`);
  if (turn.repeats > limits.repeatedCalls + 1)
    return limit(turn, 'repeatedCalls', `the same calls were asked for ${turn.repeats} times in a row`);
  return afterLimits(state, turn);
};

const afterLimits = (state: SessionState, turn: TurnState): NewDecision | undefined => {
  const { limits } = state.agent;
  if (turn.step >= limits.stepsPerTurn)
    return limit(turn, 'stepsPerTurn', `the turn took ${turn.step} steps`);
  if (turn.activeMs >= limits.turnMs) return limit(turn, 'turnMs', `the turn worked for ${turn.activeMs} ms`);
  const spent = spentRefusal(state);
  return spent && end(turn, spent.outcome, spent.code, spent.message);
};

/** Whether a response is a summary that makes requests smaller. */
const judge = (
  state: SessionState,
  turn: TurnState,
  { seq, summary }: RequestState,
): NewDecision | undefined => {
  const { response } = turn;
  if (!response || !summary) return undefined;
  const data = { turn: turn.turn, request: seq, response: response.seq };
  const reason = discardReason(response, summary.bytes);
  if (reason) return { type: 'summary.discarded', data: { ...data, reason } };
  const exceptions = exceptionsOf(state, state.choice);
  return { type: 'history.summarised', data: { ...data, to: summary.to, ...exceptions } };
};

/** What a summary has around it in a request, at most, whatever the provider's form. */
const SUMMARY_FRAME_BYTES = 200;
/** A text inside JSON may take twice its bytes. */
const ESCAPED_BYTES_FACTOR = 2;

const discardReason = (
  { stop, hasText, textBytes }: NonNullable<TurnState['response']>,
  bytes: number,
): EventData['summary.discarded']['reason'] | undefined => {
  if (stop !== 'end' && stop !== 'stop-sequence') return 'incomplete';
  if (!hasText) return 'empty';
  return textBytes * ESCAPED_BYTES_FACTOR + SUMMARY_FRAME_BYTES < bytes ? undefined : 'not-smaller';
};

const answered = (turn: TurnState, response: NonNullable<TurnState['response']>): NewDecision => {
  if (response.stop === 'length')
    return end(turn, 'stopped', 'output-limit', 'The answer was cut at the output limit of the model.');
  const data = { turn: turn.turn, outcome: 'done' } as const;
  return { type: 'turn.ended', data: response.hasText ? data : { ...data, empty: true } };
};

const end = (turn: TurnState, outcome: TurnOutcome, reason: string, message: string): NewDecision => ({
  type: 'turn.ended',
  data: { turn: turn.turn, outcome, reason, message },
});

const limit = (turn: TurnState, name: string, what: string): NewDecision =>
  end(turn, 'stopped', name, `Stopped by the limit ${name}: ${what}.`);
