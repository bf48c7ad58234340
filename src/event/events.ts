/**
 * THE VOCABULARY: every fact and decision that can be written. A fact brings news from outside; a decision
 * follows from the earlier events by a pure function and is compared byte for byte by replay.
 *
 * Adding an event: its shape here, its case in session/evolve.ts, its emitter, one spec.
 */
import type { Digest } from './canonical.ts';
import type { CallId } from './call-id.ts';
import type { Actor, BlobRef, Content, Outcome, ResponseBlock, StopReason, Usage } from './content.ts';
import type { AgentDefinition } from './definition.ts';
import type { Json, JsonObject } from './json.ts';

/** A piece of a request part: literal text, or the text of an earlier event at a JSON Pointer, plain or as a JSON string. */
export type PartPiece = string | readonly [seq: number, pointer: string, as: 'json' | 'raw'];
export type PartTemplate = { readonly seq: number; readonly pieces: readonly PartPiece[] };

/** What a failed model request means for what happens next. */
export type RequestProblemKind =
  | 'rate-limited'
  | 'overloaded'
  | 'unavailable'
  | 'interrupted'
  | 'timeout'
  | 'bad-response'
  | 'bad-request'
  | 'authentication'
  | 'no-balance'
  | 'context-overflow'
  | 'cancelled';

export type RequestProblem = {
  readonly kind: RequestProblemKind;
  readonly message: string;
  readonly status?: number;
  /** What the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number;
};

/** What one request and its reply looked like on the wire beside their bodies. Headers by an allow list, names in lower case. */
export type Wire = {
  readonly url: string;
  /** Absent: no reply began. */
  readonly status?: number;
  readonly sent: Readonly<Record<string, string>>;
  readonly received: Readonly<Record<string, string>>;
};

export type TurnOutcome = 'done' | 'failed' | 'refused' | 'stopped' | 'cancelled';

/** What a cancel left behind. */
export type Receipt = {
  readonly landed: readonly CallId[];
  readonly stopped: readonly CallId[];
  readonly inDoubt: readonly CallId[];
};

export type ApprovalDecision =
  | { readonly do: 'approve' }
  /** `args` is canonical JSON text, validated before it is recorded. */
  | { readonly do: 'edit'; readonly args: string }
  | { readonly do: 'reject'; readonly reason?: string }
  | { readonly do: 'respond'; readonly content: readonly Content[] };

export type Settlement =
  | { readonly answer: 'happened'; readonly content: readonly Content[] }
  | { readonly answer: 'not-happened' }
  | { readonly answer: 'give-up' };

/** Facts, by type: the shape of `data` at version 1. */
export type FactData = {
  'session.created': {
    readonly agent: AgentDefinition;
    readonly program: string;
    readonly title?: string;
    readonly parent?: { readonly session: string; readonly seq: number; readonly hash: Digest };
  };
  'agent.updated': { readonly agent: AgentDefinition; readonly program: string };
  'turn.accepted': {
    readonly turn: number;
    /** Names the intended input: the same key is the same turn. */
    readonly key: string;
    /** Digest of the input, by which another content under the same key is refused. */
    readonly fingerprint: Digest;
    readonly input: readonly Content[];
    readonly by: Actor;
  };
  'turn.cancel_requested': { readonly turn: number; readonly by: Actor; readonly reason?: string };
  'driver.changed': { readonly epoch: number; readonly reason: 'process-lost' };
  'request.failed': {
    readonly turn: number;
    readonly step: number;
    readonly attempt: number;
    readonly problem: RequestProblem;
    /** Whether the provider may bill this attempt although no response was recorded. */
    readonly maybeBilled: boolean;
    readonly partial?: string;
    readonly usage?: Usage;
    readonly ms: number;
    /** The reply as it came, as far as it came. */
    readonly raw?: BlobRef;
    readonly wire?: Wire;
  };
  'response.received': {
    readonly turn: number;
    readonly step: number;
    readonly attempt: number;
    readonly stop: StopReason;
    /** The provider's own words where `stop` needs them: a refusal's category, an unknown reason. */
    readonly stopDetail?: string;
    readonly content: readonly ResponseBlock[];
    readonly usage?: Usage;
    /** US dollars; absent means unknown, never 0. */
    readonly cost?: number;
    readonly firstTokenMs?: number;
    readonly ms: number;
    /** The reply as it came. */
    readonly raw?: BlobRef;
    readonly wire?: Wire;
    readonly responseId?: string;
  };
  /** The tool's own validation or preview refused the arguments: nothing was started. */
  'call.refused': { readonly call: CallId; readonly code: string; readonly message: string };
  /** `preview` is what a person is shown; `base` what the tool bound it to. */
  'call.prepared': { readonly call: CallId; readonly preview: JsonObject; readonly base?: Json };
  'approval.decided': {
    readonly call: CallId;
    /** The digest that the person was shown. */
    readonly digest: Digest;
    readonly decision: ApprovalDecision;
    readonly by: Actor;
  };
  'call.result': {
    readonly call: CallId;
    readonly attempt: number;
    readonly outcome: Outcome;
    readonly ms: number;
  };
  /** A result that came after its attempt was given up: evidence, never a replacement. */
  'call.late': {
    readonly call: CallId;
    readonly attempt: number;
    readonly outcome: Outcome;
    readonly ms: number;
  };
  'call.reconciled': {
    readonly call: CallId;
    readonly attempt: number;
    readonly answer:
      | { readonly happened: true; readonly content: readonly Content[] }
      | { readonly happened: false }
      | { readonly happened: 'unknown'; readonly note: string };
  };
  'call.settled': {
    readonly call: CallId;
    readonly settlement: Settlement;
    readonly by: Actor;
    readonly note?: string;
  };
};

/** Decisions, by type: the shape of `data` at version 1. */
export type DecisionData = {
  'request.built': {
    readonly turn: number;
    readonly step: number;
    /** The earlier request whose first `parts` parts come first here, too. */
    readonly reuse?: { readonly request: number; readonly parts: number };
    readonly parts: readonly PartTemplate[];
    /** The last node of the prefix chain over the head and all parts. */
    readonly chain: Digest;
    /** Bytes before the first part and after the last, in the blob store; absent where they are those of the reused request. */
    readonly frame?: { readonly head: Digest; readonly tail: Digest };
    /** UTF-8 bytes of the whole body. */
    readonly bytes: number;
  };
  'request.retry': {
    readonly turn: number;
    readonly step: number;
    readonly attempt: number;
    /** Not before this wall time, milliseconds since 1970 UTC. */
    readonly notBefore: number;
    readonly reason: RequestProblemKind | 'process-lost';
    readonly maybeBilled: boolean;
  };
  'request.sent': { readonly turn: number; readonly step: number; readonly attempt: number };
  'call.proposed': {
    readonly call: CallId;
    readonly tool: string;
    readonly label: string;
    /** Canonical arguments that a person gave; absent where they are what the model's text means. */
    readonly args?: string;
    readonly do: 'run' | 'ask';
    /** The rule that said so. */
    readonly rule: string;
  };
  /** Never started; the model gets an error result. */
  'call.rejected': {
    readonly call: CallId;
    readonly tool: string;
    readonly label: string;
    readonly reason: string;
    readonly message: string;
  };
  'approval.requested': { readonly call: CallId; readonly digest: Digest; readonly rule: string };
  'call.started': { readonly call: CallId; readonly attempt: number };
  'call.retry': {
    readonly call: CallId;
    readonly attempt: number;
    readonly notBefore: number;
    readonly reason: string;
  };
  /** No further attempt: known to have had no effect, or a read that brought nothing. */
  'call.failed': {
    readonly call: CallId;
    readonly attempt: number;
    readonly code: string;
    readonly message: string;
  };
  'call.doubted': { readonly call: CallId; readonly attempt: number; readonly reason: string };
  /** Closed without a start: the turn was cancelled. */
  'call.cancelled': { readonly call: CallId };
  'turn.ended': {
    readonly turn: number;
    readonly outcome: TurnOutcome;
    /** The limit's name, or the problem's kind. */
    readonly reason?: string;
    readonly message?: string;
    readonly receipt?: Receipt;
    readonly empty?: true;
  };
};

export type EventData = FactData & DecisionData;
export type EventType = keyof EventData;
export type FactType = keyof FactData;
export type DecisionType = keyof DecisionData;

type Of<T extends EventType> = { [K in T]: { readonly type: K; readonly data: EventData[K] } }[T];

/** An event before it has a place in a log. */
export type NewEvent = Of<EventType>;
export type NewFact = Of<FactType>;
export type NewDecision = Of<DecisionType>;

/** An event at its place. */
export type LogEvent = NewEvent & {
  /** 1 for the first event of a session. The only order. */
  readonly seq: number;
  /** Wall clock when it was appended, milliseconds since 1970 UTC. Information, never an order. */
  readonly at: number;
};

/** The version each type is written with. A reader upcasts lower ones and refuses higher ones. */
export const EVENT_VERSION = 1;

const DECISIONS: Readonly<Record<DecisionType, true>> = {
  'request.built': true,
  'request.retry': true,
  'request.sent': true,
  'call.proposed': true,
  'call.rejected': true,
  'approval.requested': true,
  'call.started': true,
  'call.retry': true,
  'call.failed': true,
  'call.doubted': true,
  'call.cancelled': true,
  'turn.ended': true,
};

const FACTS: Readonly<Record<FactType, true>> = {
  'session.created': true,
  'agent.updated': true,
  'turn.accepted': true,
  'turn.cancel_requested': true,
  'driver.changed': true,
  'request.failed': true,
  'response.received': true,
  'call.refused': true,
  'call.prepared': true,
  'approval.decided': true,
  'call.result': true,
  'call.late': true,
  'call.reconciled': true,
  'call.settled': true,
};

export const isDecision = (event: NewEvent): event is NewDecision => Object.hasOwn(DECISIONS, event.type);
export const isEventType = (type: string): type is EventType =>
  Object.hasOwn(DECISIONS, type) || Object.hasOwn(FACTS, type);
