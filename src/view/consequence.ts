/**
 * What would follow from an answer, told before it is given: by the same pure functions that will decide once it
 * stands in the log, so that no second set of rules can say something else.
 */
import { Conversation } from '../context/conversation.ts';
import { resultText } from '../context/result-text.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { Actor } from '../event/content.ts';
import type { LogEvent, NewDecision, Settlement } from '../event/events.ts';
import { decodeArguments, schemaProblems, type ArgumentProblem } from '../effect/arguments.ts';
import { decide, type Command } from '../session/decide.ts';
import { evolve, initial } from '../session/evolve.ts';
import { findCall } from '../session/state.ts';
import type { Question } from './approval.ts';
import { trial, type SessionRecord } from './record.ts';

/** What happens to the call next. */
export type Follow =
  | { readonly kind: 'runs'; readonly attempt: number }
  /** A person is asked again, under this rule. */
  | { readonly kind: 'asks'; readonly rule: string }
  | { readonly kind: 'rejected'; readonly message: string }
  /** Nothing runs. */
  | { readonly kind: 'closed' };

export type EditTrial =
  /** Not JSON, or not what the tool takes; then `problems` says where. */
  | { readonly kind: 'invalid'; readonly message: string; readonly problems: readonly ArgumentProblem[] }
  | { readonly kind: 'same' }
  | {
      readonly kind: 'valid';
      /** Canonical. */
      readonly args: string;
      /** SHA-256 of the canonical arguments. */
      readonly digest: Digest;
      readonly follow: Follow;
    };

const SOMEBODY: Actor = { kind: 'person', name: 'somebody' };

/** Holds arguments that somebody has edited against the tool's schema and the policy. Records nothing. */
export const tryEdit = (
  record: SessionRecord,
  question: Question,
  text: string,
  by: Actor = SOMEBODY,
): EditTrial => {
  const decoded = decodeArguments(text);
  if (!decoded.ok) return { kind: 'invalid', message: decoded.message, problems: [] };
  const args = decoded.canonical;
  if (args === question.args) return { kind: 'same' };
  const { call, digest } = question;
  const command: Command = {
    kind: 'decide',
    call,
    digest,
    decision: { do: 'edit', args },
    by,
  };
  const decision = decide(record.state, command, record.state.lastAt);
  if (decision.kind === 'refused') {
    const found = question.definition ? schemaProblems(question.definition, decoded.value) : [];
    const problems = typeof found === 'string' ? [] : found;
    return { kind: 'invalid', message: decision.message, problems };
  }
  const facts = decision.kind === 'facts' ? decision.facts : [];
  const { decisions } = trial(record.state, facts);
  const attempt = (findCall(record.state, call)?.attempt ?? 0) + 1;
  return { kind: 'valid', args, digest: sha256(args), follow: followOf(decisions, call, attempt) };
};

const followOf = (decisions: readonly NewDecision[], call: CallId, attempt: number): Follow => {
  for (const decision of decisions) {
    if (decision.type === 'call.proposed' && decision.data.call === call)
      return decision.data.do === 'run'
        ? { kind: 'runs', attempt }
        : { kind: 'asks', rule: decision.data.rule };
    if (decision.type === 'call.rejected' && decision.data.call === call)
      return { kind: 'rejected', message: decision.data.message };
  }
  return { kind: 'closed' };
};

export type Settling = {
  readonly call: CallId;
  readonly settlement: Settlement;
  readonly by: Actor;
  readonly note?: string;
};

export type SettleTrial = {
  readonly follow: Follow;
  /** What the model is told, to the letter; absent where the call runs or is asked about first. */
  readonly told: string | undefined;
};

/** What a settlement would lead to. `undefined` where the call is not in doubt (any more). */
export const trySettle = (record: SessionRecord, settling: Settling): SettleTrial | undefined => {
  const { state } = record;
  const before = findCall(state, settling.call);
  const decision = decide(state, { kind: 'settle', ...settling }, state.lastAt);
  const [fact] = decision.kind === 'facts' ? decision.facts : [];
  if (!before || !fact) return undefined;
  const event = { ...fact, seq: state.seq + 1, at: state.lastAt };
  if (state.leftOpen.includes(before))
    return { follow: { kind: 'closed' }, told: noteAfterwards(record, event) };
  const after = findCall(evolve(state, event), settling.call);
  if (after?.phase === 'closed') return { follow: { kind: 'closed' }, told: resultText(after).text };
  const follow = followOf(trial(state, [fact]).decisions, settling.call, before.attempt + 1);
  return { follow, told: follow.kind === 'rejected' ? follow.message : undefined };
};

/** What the runtime says to the model about a call whose turn is over. */
const noteAfterwards = (
  { events, state: { session } }: SessionRecord,
  event: LogEvent,
): string | undefined => {
  const conversation = new Conversation();
  let state = initial(session);
  for (const one of [...events, event]) {
    const before = state;
    state = evolve(before, one);
    conversation.push(one, before, state);
  }
  const last = conversation.entries.at(-1);
  return last?.seq === event.seq && last.item.kind === 'note' ? last.item.text : undefined;
};
