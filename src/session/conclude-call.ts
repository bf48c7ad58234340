/** What follows for one call: the question to a person, another attempt, doubt, or the end of it. */
import { approvalDigest } from '../effect/approval.ts';
import { askTerms } from '../effect/policy.ts';
import type { ToolDefinition } from '../event/definition.ts';
import type { NewDecision } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import { backoffMs } from './backoff.ts';
import { concludeInner } from './conclude-inner.ts';
import { concludeReopened } from './conclude-proposal.ts';
import { isBeforeFork } from './evolve-turn.ts';
import { needsPreparing } from './preparing.ts';
import { modeOf, toolOf, triesOf, type CallState, type SessionState, type TurnState } from './state.ts';

/** Attempts of a call that the tool's own retry policy does not count: after a lost process, or when it is safe to repeat. */
export const SAFE_ATTEMPTS_MAX = 5;

export const concludeCall = (
  state: SessionState,
  turn: TurnState,
  call: CallState,
): NewDecision | undefined => {
  if (call.phase === 'closed') return undefined;
  if (isBeforeFork(state, turn.acceptedSeq)) return leftBehind(call);
  if (call.phase === 'in-doubt' || call.phase === 'started') return undefined;
  const tool = toolOf(state.agent, call.tool);
  if (call.phase === 'ended') return tool && afterAttempt(state, turn, call, tool);
  if (call.phase === 'calling') return turn.cancel ? stopped(call) : concludeInner(state, turn, call);
  if (turn.cancel) return call.unproven && tool?.effect !== 'none' ? doubt(call, 'cancelled') : stopped(call);
  const late = concludeTime(state, call);
  if (late) return late;
  if (call.phase === 'stale')
    return { type: 'approval.invalidated', data: { call: call.id, reason: 'preview-changed' } };
  const held = tool && concludeMode(state, call, tool);
  if (held) return held;
  if (call.phase === 'reopened') return concludeReopened(state, call);
  if (call.phase === 'to-ask' && tool && !needsPreparing(state, call)) return ask(state, call, tool);
  return undefined;
};

/** The question stands in the log with the digest of all that decides what would happen. */
const ask = (state: SessionState, call: CallState, tool: ToolDefinition): NewDecision => {
  const { by, fourEyes, expiresMs, escalate } = askTerms(state.agent.policy, call.rule);
  return {
    type: 'approval.requested',
    data: {
      call: call.id,
      digest: digestToApprove(state, call, tool),
      rule: call.rule,
      ...(by && { by }),
      ...(fourEyes === true && { fourEyes }),
      ...(expiresMs !== undefined && { expiresAt: state.lastAt + expiresMs }),
      ...(escalate && { escalates: { at: state.lastAt + escalate.afterMs, to: escalate.to } }),
    },
  };
};

/** Time is what the last event says. A yes that led to no start before the deadline is no yes any more. */
const concludeTime = (state: SessionState, call: CallState): NewDecision | undefined => {
  const { terms, phase } = call;
  // "ready" is before the start: what is tried again was started in time.
  const stands = phase === 'asking' || phase === 'stale' || phase === 'ready';
  if (!terms || !stands) return undefined;
  if (terms.expiresAt !== undefined && terms.expiresAt <= state.lastAt)
    return { type: 'approval.expired', data: { call: call.id } };
  if (phase === 'asking' && terms.escalates && terms.escalates.at <= state.lastAt)
    return { type: 'approval.escalated', data: { call: call.id, to: terms.escalates.to } };
  return undefined;
};

/** What the mode keeps from starting. A question that stands already stays; its answer meets the mode then. */
const concludeMode = (
  state: SessionState,
  call: CallState,
  tool: ToolDefinition,
): NewDecision | undefined => {
  const mode = modeOf(state);
  if (tool.effect === 'none' || call.phase === 'asking') return undefined;
  if (mode !== 'dry-run' && mode !== 'read-only') return undefined;
  // An earlier attempt may have happened: nobody may say that it was not run.
  if (call.unproven) return doubt(call, mode);
  if (mode === 'dry-run' && needsPreparing(state, call)) return undefined;
  return { type: 'call.withheld', data: { call: call.id, mode, message: withheld(mode, call) } };
};

const withheld = (mode: 'dry-run' | 'read-only', { tool, prepared }: CallState): string => {
  if (mode === 'read-only')
    return `This session is read-only: ${tool} was not run. Only tools that change nothing are run.`;
  const would = prepared && prepared.title !== '' ? ` It would: ${prepared.title}` : '';
  return `Dry run: ${tool} was not run and nothing was changed.${would}`;
};

export const digestToApprove = (
  state: SessionState,
  call: CallState,
  tool: ToolDefinition,
): ReturnType<typeof approvalDigest> =>
  approvalDigest({
    session: state.origin,
    call: call.id,
    definition: tool.digest,
    args: call.args,
    preview: call.prepared?.preview ?? null,
    base: (call.prepared?.base ?? null) as Json,
    round: call.phase === 'to-ask' ? call.round + 1 : call.round,
  });

const afterAttempt = (
  state: SessionState,
  turn: TurnState,
  call: CallState,
  tool: ToolDefinition,
): NewDecision | undefined => {
  switch (call.outcome?.kind) {
    case 'failed':
      return afterFailure(state, turn, call, tool);
    case 'unknown':
    case 'lost':
      return afterUnknown(state, turn, call, tool);
    case 'absent':
      if (turn.cancel) return stopped(call);
      return again(state, call, 'reconciled-not-happened') ?? failed(call, 'gave-up', tooOften(call));
    case 'unclear':
      return doubt(call, call.outcome.reason);
    default:
      return undefined;
  }
};

/** Started, and no result. What the tool does to the world says what may follow. */
const afterUnknown = (
  state: SessionState,
  turn: TurnState,
  call: CallState,
  tool: ToolDefinition,
): NewDecision | undefined => {
  const unknown = call.outcome?.kind === 'unknown' ? call.outcome : undefined;
  const reason = unknown?.code ?? 'process-lost';
  switch (tool.effect) {
    case 'none': {
      if (turn.cancel) return stopped(call);
      // A read that was lost with its process is made again; one that ran out of time is the model's to repeat.
      const left = !unknown || triesOf(call) < tool.retry.attempts;
      const repeated = left ? again(state, call, reason) : undefined;
      return repeated ?? failed(call, reason, unknown?.message ?? tooOften(call));
    }
    case 'idempotent':
      return (turn.cancel ? undefined : again(state, call, reason)) ?? doubt(call, reason);
    case 'reconcilable':
      // The tool is asked first: see next().
      return undefined;
    case 'once':
      return doubt(call, reason);
    default:
      return tool.effect satisfies never;
  }
};

const afterFailure = (
  state: SessionState,
  turn: TurnState,
  call: CallState,
  tool: ToolDefinition,
): NewDecision | undefined => {
  if (call.outcome?.kind !== 'failed') return undefined;
  const { code, message, retryable } = call.outcome;
  if (turn.cancel || retryable !== true || triesOf(call) >= tool.retry.attempts)
    // That this attempt had no effect proves nothing about an earlier one.
    return call.unproven && tool.effect !== 'none' ? doubt(call, code) : failed(call, code, message);
  const wait = backoffMs(`${state.origin} ${call.id} ${call.attempt + 1}`, call.attempt + 1, tool.retry);
  return retry(call, state.lastAt + wait, code);
};

const tooOften = (call: CallState): string => `No result after ${call.attempt} attempts.`;

/** Another attempt of a call that may safely be repeated; undefined where none is left. */
const again = (state: SessionState, call: CallState, reason: string): NewDecision | undefined =>
  triesOf(call) >= SAFE_ATTEMPTS_MAX ? undefined : retry(call, state.lastAt, reason);

const retry = (call: CallState, notBefore: number, reason: string): NewDecision => ({
  type: 'call.retry',
  data: { call: call.id, attempt: call.attempt + 1, notBefore, reason },
});

const failed = (call: CallState, code: string, message: string): NewDecision => ({
  type: 'call.failed',
  data: { call: call.id, attempt: call.attempt, code, message },
});

const stopped = (call: CallState): NewDecision => ({ type: 'call.cancelled', data: { call: call.id } });

/**
 * A call of the parent that was open where a fork begins. What came of it there is not known here, and a start in
 * the parent is no leave to start it here.
 */
export const leftBehind = (call: CallState): NewDecision => {
  const unknown =
    call.phase === 'started' || call.phase === 'calling' || call.phase === 'in-doubt' || call.unproven;
  return { type: 'call.cancelled', data: { call: call.id, fork: unknown ? 'unknown' : 'not-run' } };
};

const doubt = (call: CallState, reason: string): NewDecision => ({
  type: 'call.doubted',
  data: { call: call.id, attempt: call.attempt, reason },
});
