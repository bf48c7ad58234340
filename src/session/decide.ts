/**
 * decide(state, command) -> facts, or why not. Commands come from people and programs outside; what they say is
 * written only when it is about the question that stands. Pure.
 */
import { checkSchema, decodeArguments } from '../effect/arguments.ts';
import { digestOf, type Digest } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { Actor, Content } from '../event/content.ts';
import type { Mode, SeenLabel } from '../event/definition.ts';
import type { ApprovalDecision, NewFact, SelectionChange, Settlement } from '../event/events.ts';
import { decideCompaction, decideSelection } from './decide-context.ts';
import { decideRevoke } from './decide-grant.ts';
import { objection, type Objection } from './may-decide.ts';
import {
  findCall,
  toolOf,
  type CallState,
  type Decided,
  type SessionState,
  type TurnState,
} from './state.ts';

export type Command =
  | {
      readonly kind: 'send';
      readonly key: string;
      readonly input: readonly Content[];
      readonly by: Actor;
      readonly labels?: readonly SeenLabel[];
      /** What to do where a turn runs already; default `queue`. */
      readonly when?: WhenRunning;
    }
  /** Takes a turn back that has not begun. */
  | { readonly kind: 'withdraw'; readonly turn: number; readonly by: Actor; readonly reason?: string }
  | {
      readonly kind: 'decide';
      readonly call: CallId;
      readonly digest: Digest;
      readonly decision: ApprovalDecision;
      readonly by: Actor;
      readonly key?: string;
    }
  | {
      readonly kind: 'settle';
      readonly call: CallId;
      readonly settlement: Settlement;
      readonly by: Actor;
      readonly note?: string;
      readonly key?: string;
    }
  /** `turn`: this one or none, also where another runs by now. */
  | { readonly kind: 'cancel'; readonly by: Actor; readonly reason?: string; readonly turn?: number }
  | {
      readonly kind: 'set-mode';
      readonly scope: 'session' | 'store';
      readonly mode: Mode;
      readonly by: Actor;
      readonly reason?: string;
    }
  | {
      readonly kind: 'select';
      readonly change: SelectionChange;
      readonly by: Actor;
      readonly reason?: string;
      /** It is known that signed reasoning behind the cut goes. */
      readonly dropsReasoning?: true;
    }
  | { readonly kind: 'compact'; readonly by: Actor; readonly dropsReasoning?: true }
  | { readonly kind: 'unpark'; readonly by: Actor; readonly reason?: string }
  /** `call`: the one whose approval gave the leave; absent: all leave that stands. */
  | { readonly kind: 'revoke'; readonly call?: CallId; readonly by: Actor; readonly reason?: string };

/**
 * What a message does that finds a turn running: waits for its end, is refused, joins it at its next step, or has it
 * cancelled and goes first.
 */
export type WhenRunning = 'queue' | 'reject' | 'steer' | 'interrupt';

type DecideCommand = Extract<Command, { kind: 'decide' }>;
type SendCommand = Extract<Command, { kind: 'send' }>;

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
  | 'turn-running'
  | 'turn-not-waiting'
  | 'idempotency-key-reused'
  | 'call-not-found'
  | 'already-decided'
  | 'already-settled'
  | 'not-asked'
  | 'not-in-doubt'
  | 'digest-mismatch'
  | 'turn-cancelled'
  | Objection['code']
  | 'arguments-invalid'
  | 'nothing-to-cancel'
  | 'not-parked'
  | 'grant-not-found'
  | 'selection-invalid'
  | 'turn-not-found'
  | 'turn-held'
  | 'turn-summarised'
  | 'reasoning-signed'
  | 'nothing-to-summarise';

/** `now`: wall time, milliseconds since 1970 UTC, by which a deadline has passed or not. */
export const decide = (state: SessionState, command: Command, now: number): Decision => {
  switch (command.kind) {
    case 'send':
      return send(state, command);
    case 'decide':
      return decideApproval(state, command, now);
    case 'settle':
      return settle(state, command);
    case 'cancel':
      return cancel(state, command);
    case 'withdraw':
      return withdraw(state, command);
    case 'set-mode':
      return setMode(state, command);
    case 'select':
      return decideSelection(state, command);
    case 'compact':
      return decideCompaction(state, command);
    case 'unpark':
      return unpark(state, command);
    case 'revoke':
      return decideRevoke(state, command, now);
    default:
      return command satisfies never;
  }
};

const unpark = ({ parked }: SessionState, { by, reason }: Extract<Command, { kind: 'unpark' }>): Decision => {
  if (!parked) return refuse('not-parked', 'The session is not parked: it is driven whenever it can go on.');
  const data = { by, ...(reason !== undefined && { reason }) };
  return { kind: 'facts', facts: [{ type: 'session.unparked', data }] };
};

const refuse = (code: RefusalCode, message: string, decided?: Decided): Decision => ({
  kind: 'refused',
  code,
  message,
  ...(decided && { decided }),
});

const send = (state: SessionState, command: SendCommand): Decision => {
  const { key, input, labels = [], when = 'queue' } = command;
  const fingerprint = digestOf(labels.length > 0 ? { input, labels } : input);
  const isKnown = (one: { readonly key: string }): boolean => one.key === key;
  const known = state.turns.find(isKnown) ?? state.steers.find(isKnown);
  if (known && known.fingerprint === fingerprint) return { kind: 'replayed', turn: known.turn };
  if (known)
    return refuse(
      'turn-key-reused',
      `The key "${key}" names turn ${known.turn}, which has another content. Use a new key for a new message.`,
    );
  const { active } = state;
  if (!active) return accepted(state, command, { fingerprint });
  switch (when) {
    case 'queue':
      return accepted(state, command, { fingerprint });
    case 'reject':
      return refuse(
        'turn-running',
        `Turn ${active.turn} is running. Send the message again when it has ended.`,
      );
    case 'steer':
      return active.cancel ? accepted(state, command, { fingerprint }) : steer(active, command, fingerprint);
    case 'interrupt':
      return accepted(state, command, { fingerprint, interrupts: active });
    default:
      return when satisfies never;
  }
};

type Accepting = { readonly fingerprint: Digest; readonly interrupts?: TurnState };

const accepted = (
  state: SessionState,
  { key, input, by, labels = [] }: SendCommand,
  { fingerprint, interrupts }: Accepting,
): Decision => {
  const turn = state.turns.length + 1;
  const data = { turn, key, fingerprint, input, by, ...(labels.length > 0 && { labels }) };
  const accept: NewFact = { type: 'turn.accepted', data: interrupts ? { ...data, first: true } : data };
  if (!interrupts) return { kind: 'facts', turn, facts: [accept] };
  const reason = `for turn ${turn}`;
  const stop: NewFact = { type: 'turn.cancel_requested', data: { turn: interrupts.turn, by, reason } };
  // The message first: should the cancel end the running turn at once, the next one stands there already.
  return { kind: 'facts', turn, facts: interrupts.cancel ? [accept] : [accept, stop] };
};

const steer = (
  { turn }: TurnState,
  { key, input, by, labels = [] }: SendCommand,
  fingerprint: Digest,
): Decision => {
  const data = { turn, key, fingerprint, input, by, ...(labels.length > 0 && { labels }) };
  return { kind: 'facts', turn, facts: [{ type: 'turn.steered', data }] };
};

const withdraw = (state: SessionState, command: Extract<Command, { kind: 'withdraw' }>): Decision => {
  const { turn, by, reason } = command;
  const record = state.turns[turn - 1];
  if (record?.outcome === 'withdrawn') return { kind: 'replayed', turn };
  if (!state.queue.includes(turn))
    return refuse('turn-not-waiting', `Turn ${turn} does not wait: ${turnWords(state, turn)}.`);
  const data = { turn, by, ...(reason !== undefined && { reason }) };
  return { kind: 'facts', turn, facts: [{ type: 'turn.withdrawn', data }] };
};

const turnWords = (state: SessionState, turn: number): string => {
  const record = state.turns[turn - 1];
  if (!record) return 'there is none';
  return record.outcome === undefined
    ? 'it is running, cancel it instead'
    : `it has ended (${record.outcome})`;
};

const decideApproval = (
  state: SessionState,
  command: Extract<Command, { kind: 'decide' }>,
  now: number,
): Decision => {
  const { digest, decision, by } = command;
  const call = findCall(state, command.call);
  if (!call) return refuse('call-not-found', `No call ${command.call} waits in this session.`);
  if (call.decided && call.phase !== 'asking') return again(call.id, call.decided, command);
  if (call.closing?.kind === 'cancelled')
    return refuse('turn-cancelled', `The turn of call ${call.id} was cancelled. Nothing is run.`);
  if (call.closing?.kind === 'expired')
    return refuse('approval-expired', `The question about call ${call.id} has lapsed. Nothing is run.`);
  if (call.phase !== 'asking') return refuse('not-asked', `Call ${call.id} does not wait for a decision.`);
  if (digest !== call.digest)
    return refuse(
      'digest-mismatch',
      `What you saw is not what stands now: call ${call.id} waits under digest ${call.digest}. Look at it again.`,
    );
  const objected = objection(state, call, { decision, by, now });
  if (objected) return refuse(objected.code, objected.message);
  return decision.do === 'edit' ? edit(state, call, command, decision.args) : accept(command, decision);
};

const accept = ({ call, digest, by, key }: DecideCommand, decision: ApprovalDecision): Decision => {
  const data = { call, digest, decision, by, ...(key !== undefined && { key }) };
  return { kind: 'facts', facts: [{ type: 'approval.decided', data }] };
};

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
  if (command.key !== undefined && command.key === decided.key)
    return refuse(
      'idempotency-key-reused',
      `The key "${command.key}" names another decision about call ${call}. Use a new key for a new decision.`,
      decided,
    );
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
  return accept(command, { do: 'edit', args: decoded.canonical });
};

const settle = (state: SessionState, command: Extract<Command, { kind: 'settle' }>): Decision => {
  const { settlement, by, note, key } = command;
  const call = findCall(state, command.call);
  if (!call) return refuse('call-not-found', `No call ${command.call} is in doubt in this session.`);
  if (call.phase !== 'in-doubt')
    return refuse(
      call.doubt ? 'already-settled' : 'not-in-doubt',
      call.doubt
        ? `Call ${call.id} was settled already. Your answer did nothing.`
        : `Call ${call.id} is not in doubt.`,
    );
  const data = {
    call: call.id,
    settlement,
    by,
    ...(note !== undefined && { note }),
    ...(key !== undefined && { key }),
  };
  return { kind: 'facts', facts: [{ type: 'call.settled', data }] };
};

const cancel = (state: SessionState, command: Extract<Command, { kind: 'cancel' }>): Decision => {
  const { by, reason, turn: wanted } = command;
  const turn = state.active;
  if (wanted !== undefined && turn?.turn !== wanted) {
    if (state.turns[wanted - 1]?.outcome === 'cancelled') return { kind: 'replayed', turn: wanted };
    return refuse('nothing-to-cancel', `Turn ${wanted} does not run: ${turnWords(state, wanted)}.`);
  }
  if (!turn) return refuse('nothing-to-cancel', 'No turn is running or waiting in this session.');
  if (turn.cancel) return { kind: 'replayed', turn: turn.turn };
  const data = { turn: turn.turn, by, ...(reason !== undefined && { reason }) };
  return { kind: 'facts', turn: turn.turn, facts: [{ type: 'turn.cancel_requested', data }] };
};

const setMode = (state: SessionState, command: Extract<Command, { kind: 'set-mode' }>): Decision => {
  const { scope, mode, by, reason } = command;
  if (state.mode[scope] === mode) return { kind: 'replayed' };
  const data = { scope, mode, by, ...(reason !== undefined && { reason }) };
  return { kind: 'facts', facts: [{ type: 'mode.changed', data }] };
};
