/**
 * decide(state, command) -> facts, or why not. Commands come from people and programs outside; what they say is
 * written only when it is about the question that stands. Pure.
 */
import { checkSchema, decodeArguments } from '../effect/arguments.ts';
import { digestOf, type Digest } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { Actor, Content } from '../event/content.ts';
import type { ApprovalDecision, NewFact, SelectionChange, Settlement } from '../event/events.ts';
import { decideCompaction, decideSelection } from './decide-context.ts';
import { findCall, toolOf, type CallState, type Decided, type SessionState } from './state.ts';

export type Command =
  | {
      readonly kind: 'send';
      readonly key: string;
      readonly input: readonly Content[];
      readonly by: Actor;
    }
  | {
      readonly kind: 'decide';
      readonly call: CallId;
      readonly digest: Digest;
      readonly decision: ApprovalDecision;
      readonly by: Actor;
    }
  | {
      readonly kind: 'settle';
      readonly call: CallId;
      readonly settlement: Settlement;
      readonly by: Actor;
      readonly note?: string;
    }
  | { readonly kind: 'cancel'; readonly by: Actor; readonly reason?: string }
  | {
      readonly kind: 'select';
      readonly change: SelectionChange;
      readonly by: Actor;
      readonly reason?: string;
      /** It is known that signed reasoning behind the cut goes. */
      readonly dropsReasoning?: true;
    }
  | { readonly kind: 'compact'; readonly by: Actor; readonly dropsReasoning?: true };

export type Decision =
  | { readonly kind: 'facts'; readonly facts: readonly NewFact[]; readonly turn?: number }
  /** Said before, with the same content: the first answer stands. */
  | { readonly kind: 'replayed'; readonly turn?: number; readonly decided?: Decided }
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      readonly message: string;
      readonly decided?: Decided;
    };

export type RefusalCode =
  | 'turn-key-reused'
  | 'call-not-found'
  | 'already-decided'
  | 'already-settled'
  | 'not-asked'
  | 'not-in-doubt'
  | 'digest-mismatch'
  | 'turn-cancelled'
  | 'arguments-invalid'
  | 'nothing-to-cancel'
  | 'selection-invalid'
  | 'turn-not-found'
  | 'turn-held'
  | 'turn-summarised'
  | 'reasoning-signed'
  | 'nothing-to-summarise';

export const decide = (state: SessionState, command: Command): Decision => {
  switch (command.kind) {
    case 'send':
      return send(state, command);
    case 'decide':
      return decideApproval(state, command);
    case 'settle':
      return settle(state, command);
    case 'cancel':
      return cancel(state, command);
    case 'select':
      return decideSelection(state, command);
    case 'compact':
      return decideCompaction(state, command);
    default:
      return command satisfies never;
  }
};

const refuse = (code: RefusalCode, message: string, decided?: Decided): Decision => ({
  kind: 'refused',
  code,
  message,
  ...(decided && { decided }),
});

const send = (state: SessionState, { key, input, by }: Extract<Command, { kind: 'send' }>): Decision => {
  const fingerprint = digestOf(input);
  const known = state.turns.find((turn) => turn.key === key);
  if (known && known.fingerprint === fingerprint) return { kind: 'replayed', turn: known.turn };
  if (known)
    return refuse(
      'turn-key-reused',
      `The key "${key}" names turn ${known.turn}, which has another content. Use a new key for a new message.`,
    );
  const turn = state.turns.length + 1;
  return {
    kind: 'facts',
    turn,
    facts: [{ type: 'turn.accepted', data: { turn, key, fingerprint, input, by } }],
  };
};

const decideApproval = (state: SessionState, command: Extract<Command, { kind: 'decide' }>): Decision => {
  const { digest, decision, by } = command;
  const call = findCall(state, command.call);
  if (!call) return refuse('call-not-found', `No call ${command.call} waits in this session.`);
  if (call.decided && call.phase !== 'asking') return again(call.id, call.decided, command);
  if (call.closing?.kind === 'cancelled')
    return refuse('turn-cancelled', `The turn of call ${call.id} was cancelled. Nothing is run.`);
  if (call.phase !== 'asking') return refuse('not-asked', `Call ${call.id} does not wait for a decision.`);
  if (digest !== call.digest)
    return refuse(
      'digest-mismatch',
      `What you saw is not what stands now: call ${call.id} waits under digest ${call.digest}. Look at it again.`,
    );
  if (decision.do !== 'edit') return accept(command.call, digest, decision, by);
  return edit(state, call, command, decision.args);
};

const accept = (call: CallId, digest: Digest, decision: ApprovalDecision, by: Actor): Decision => ({
  kind: 'facts',
  facts: [{ type: 'approval.decided', data: { call, digest, decision, by } }],
});

/** The same decision by the same person is the first one's answer; any other comes too late. */
export const again = (
  call: CallId,
  decided: Decided,
  command: Extract<Command, { kind: 'decide' }>,
): Decision => {
  const same =
    decided.content === digestOf(canonicalDecision(command.decision)) &&
    decided.digest === command.digest &&
    decided.by.name === command.by.name;
  if (same) return { kind: 'replayed', decided };
  return refuse(
    'already-decided',
    `Call ${call} was decided already: ${decided.do} by ${decided.by.name}. Your decision did nothing.`,
    decided,
  );
};

/** An edit is recorded with canonical arguments, however they were written. */
const canonicalDecision = (decision: ApprovalDecision): ApprovalDecision => {
  if (decision.do !== 'edit') return decision;
  const decoded = decodeArguments(decision.args);
  return decoded.ok ? { do: 'edit', args: decoded.canonical } : decision;
};

const edit = (
  state: SessionState,
  call: CallState,
  command: Extract<Command, { kind: 'decide' }>,
  args: string,
): Decision => {
  const decoded = decodeArguments(args);
  if (!decoded.ok) return refuse('arguments-invalid', decoded.message);
  const tool = toolOf(state.agent, call.tool);
  const problem = tool && checkSchema(tool, decoded.value);
  if (problem !== undefined) return refuse('arguments-invalid', problem);
  return accept(command.call, command.digest, { do: 'edit', args: decoded.canonical }, command.by);
};

const settle = (state: SessionState, command: Extract<Command, { kind: 'settle' }>): Decision => {
  const { settlement, by, note } = command;
  const call = findCall(state, command.call);
  if (!call) return refuse('call-not-found', `No call ${command.call} is in doubt in this session.`);
  if (call.phase !== 'in-doubt')
    return refuse(
      call.doubt ? 'already-settled' : 'not-in-doubt',
      call.doubt
        ? `Call ${call.id} was settled already. Your answer did nothing.`
        : `Call ${call.id} is not in doubt.`,
    );
  const data = { call: call.id, settlement, by, ...(note !== undefined && { note }) };
  return { kind: 'facts', facts: [{ type: 'call.settled', data }] };
};

const cancel = (state: SessionState, { by, reason }: Extract<Command, { kind: 'cancel' }>): Decision => {
  const turn = state.active;
  if (!turn) return refuse('nothing-to-cancel', 'No turn is running or waiting in this session.');
  if (turn.cancel) return { kind: 'replayed', turn: turn.turn };
  const data = { turn: turn.turn, by, ...(reason !== undefined && { reason }) };
  return { kind: 'facts', turn: turn.turn, facts: [{ type: 'turn.cancel_requested', data }] };
};
