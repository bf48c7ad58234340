/**
 * THE VOCABULARY: every fact and decision that can be written. A fact brings news from outside; a decision
 * follows from the earlier events by a pure function and is compared byte for byte by replay.
 *
 * Adding an event: its shape here, its case in session/evolve.ts, its emitter, one spec. Changing one: its new
 * shape here, and an entry in upcasts.ts that lifts the old one; logs that were written stay as they are.
 */
import type { Digest } from './canonical.ts';
import type { CallId } from './call-id.ts';
import type { Choice } from './choice.ts';
import type {
  Actor,
  BlobRef,
  Content,
  Outcome,
  PriceMark,
  Receipt,
  Remarks,
  ResponseBlock,
  StopReason,
  Usage,
  Wire,
} from './content.ts';
import type { AgentDefinition, Condition, Mode, SeenLabel, SelectionPolicy } from './definition.ts';
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
  /** The provider asked not to be asked again. */
  readonly noRetry?: true;
};

/** A call that a call makes: the tool, and canonical JSON text of the arguments. */
export type ToolRequest = { readonly tool: string; readonly args: string };

export type TurnOutcome = 'done' | 'failed' | 'refused' | 'stopped' | 'cancelled';

/** Leave for further calls like one that was approved: the same tool, asked about by the same rule. */
export type Grant = {
  /** All must hold for the arguments of a call that is to run without a question. */
  readonly when: readonly Condition[];
  /** Milliseconds that it lasts. */
  readonly forMs: number;
};

export type ApprovalDecision =
  | { readonly do: 'approve'; readonly grant?: Grant }
  /** `args` is canonical JSON text, validated before it is recorded. */
  | { readonly do: 'edit'; readonly args: string }
  | { readonly do: 'reject'; readonly reason?: string }
  | { readonly do: 'respond'; readonly content: readonly Content[] };

export type Settlement =
  | { readonly answer: 'happened'; readonly content: readonly Content[] }
  | { readonly answer: 'not-happened' }
  | { readonly answer: 'give-up' };

/** What a person or program says about what requests hold. Turns are named by number. */
export type SelectionChange =
  | { readonly do: 'leave-out' | 'take-back' | 'pin' | 'unpin'; readonly turns: readonly number[] }
  /** Instead of the agent's own; absent: the agent's again. */
  | { readonly do: 'policy'; readonly policy?: SelectionPolicy };

/** Facts, by type: the shape of `data` at version 1. */
export type FactData = {
  'session.created': {
    /** Whose log this is: the log of a fork begins with its parent's. Absent where only the reader knows. */
    readonly session?: string;
    readonly agent: AgentDefinition;
    readonly program: string;
    readonly title?: string;
    readonly mode?: Mode;
    /** Whose session it is, where several parties share a store. */
    readonly tenant?: string;
    /** Nothing in it was done in the world: another session was tried again, up to that event of it. */
    readonly rehearsal?: { readonly session: string; readonly seq: number; readonly hash: Digest };
  };
  /** From here on the log is another session's. All before it is the parent's, shared and not copied. */
  'session.forked': {
    readonly session: string;
    /** `hash` is that of the parent's event `seq`, the one before this. */
    readonly parent: { readonly session: string; readonly seq: number; readonly hash: Digest };
    /** Names the fork: the same key at the same place of the same parent is the same fork. */
    readonly key: string;
    readonly by: Actor;
    readonly program: string;
    readonly title?: string;
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
    /** What the input is, where it is not the asker's own word: a mail that came in, a customer's file. */
    readonly labels?: readonly SeenLabel[];
    /** Goes before the turns that wait already: the running one was cancelled for it. */
    readonly first?: true;
  };
  /** A further message to the running turn: it joins at the next step. Its key names it as a turn's key would. */
  'turn.steered': {
    readonly turn: number;
    readonly key: string;
    readonly fingerprint: Digest;
    readonly input: readonly Content[];
    readonly by: Actor;
    readonly labels?: readonly SeenLabel[];
  };
  /** A turn that had not begun was taken back. */
  'turn.withdrawn': { readonly turn: number; readonly by: Actor; readonly reason?: string };
  /**
   * What may start from here on. `store` is the gate of the whole store, as the session's driver found it: it
   * stands at event `seq` of the control log.
   */
  'mode.changed':
    | { readonly scope: 'session'; readonly mode: Mode; readonly by: Actor; readonly reason?: string }
    | {
        readonly scope: 'store';
        readonly mode: Mode;
        readonly by: Actor;
        readonly reason?: string;
        readonly seq?: number;
      };
  /** A credential for the HTTP door, in the log `tokens`. Only its digest is kept. */
  'token.added': {
    readonly id: string;
    readonly name: string;
    readonly kind: 'person' | 'program';
    readonly hash: Digest;
    readonly roles: readonly string[];
    readonly tenant?: string;
    /** Wall time, milliseconds since 1970 UTC. */
    readonly expiresAt?: number;
    readonly by: Actor;
  };
  'token.revoked': { readonly id: string; readonly by: Actor };
  /** A moment was reached that a deadline or an escalation waits for. */
  'time.reached': { readonly due: number };
  /** People were told of a question or a call in doubt, or could not be. */
  'notice.sent': {
    readonly call: CallId;
    /** What about: "asked 1", "escalated 1", "in-doubt 2". */
    readonly topic: string;
    readonly channels: readonly {
      readonly name: string;
      readonly attempts: number;
      readonly problem?: string;
    }[];
  };
  'selection.changed': {
    readonly change: SelectionChange;
    readonly by: Actor;
    readonly reason?: string;
    /** Who decided it knows that signed reasoning behind the cut is taken out of later requests. */
    readonly dropsReasoning?: true;
  };
  /** History is to be summarised before the next request, whatever its size. */
  'compaction.requested': { readonly by: Actor; readonly dropsReasoning?: true };
  'turn.cancel_requested': { readonly turn: number; readonly by: Actor; readonly reason?: string };
  /**
   * Nobody drives it any more until a person says so: its drivers were lost or failed again and again, `tries` times.
   * `message` is what is known of why.
   */
  'session.parked': {
    readonly reason: 'driver-lost' | 'driver-failed';
    readonly tries: number;
    readonly message: string;
  };
  'session.unparked': { readonly by: Actor; readonly reason?: string };
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
    /** US dollars, where the usage of a failed attempt is known. */
    readonly cost?: number;
    readonly price?: PriceMark;
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
    /** Absent where the model itself said what it cost. */
    readonly price?: PriceMark;
    readonly firstTokenMs?: number;
    readonly ms: number;
    /** The reply as it came. */
    readonly raw?: BlobRef;
    readonly wire?: Wire;
    readonly responseId?: string;
    readonly remarks?: Remarks;
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
    /** The sender's name for this answer, by which the same one is known again. */
    readonly key?: string;
  };
  /**
   * Leave for further calls is taken back; `grant` names the call whose approval gave it. What it had let pass and was
   * not started is judged again without it.
   */
  'grant.revoked': { readonly grant: CallId; readonly by: Actor; readonly reason?: string };
  'call.result': {
    readonly call: CallId;
    readonly attempt: number;
    readonly outcome: Outcome;
    readonly ms: number;
  };
  /** The attempt ended without a result: it goes on when these calls, which it makes of other tools, are closed. */
  'call.suspended': {
    readonly call: CallId;
    readonly attempt: number;
    /** In order, behind those that it made before. At least one. */
    readonly calls: readonly ToolRequest[];
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
    readonly key?: string;
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
    /**
     * Characters of what is new in it (NUL, halves of surrogate pairs) that no provider takes and that U+FFFD stands
     * for in the request; the events they come from keep them. Absent: none.
     */
    readonly replaced?: number;
    /** Another choice than the request before was made by. */
    readonly selection?: Choice;
    /** Asks for a summary of what stands in it up to event `to`, whose parts have so many UTF-8 bytes. */
    readonly summary?: { readonly to: number; readonly bytes: number };
  };
  /**
   * The summary in a response stands in later requests for what was said up to event `to`, except for the turns it
   * names, which stay as they are or were not in its request, and for the input of the turn that was running.
   * `partly`: of these turns only what was said from that event on stays; for what stands before it the summary before
   * this one stood, so this one does.
   */
  'history.summarised': {
    readonly turn: number;
    readonly request: number;
    readonly response: number;
    readonly to: number;
    readonly except: readonly number[];
    readonly partly?: readonly { readonly turn: number; readonly from: number }[];
  };
  /** The response is no summary that makes requests smaller: everything stays as it is. */
  'summary.discarded': {
    readonly turn: number;
    readonly request: number;
    readonly response: number;
    readonly reason: 'empty' | 'incomplete' | 'not-smaller';
  };
  /** Not sent, because a limit is reached or the request could not be right; the turn ends with it. */
  'request.refused': {
    readonly turn: number;
    readonly step: number;
    readonly outcome: 'stopped' | 'failed';
    /** The limit's name, or what is wrong. */
    readonly code: string;
    readonly message: string;
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
    /** Labels of the texts that stood in the request which this call comes from. */
    readonly seen?: readonly SeenLabel[];
  };
  /** Never started; the model gets an error result. */
  'call.rejected': {
    readonly call: CallId;
    readonly tool: string;
    readonly label: string;
    readonly reason: string;
    readonly message: string;
  };
  'approval.requested': {
    readonly call: CallId;
    readonly digest: Digest;
    readonly rule: string;
    /** Who may decide; absent: whoever may decide at all. */
    readonly by?: readonly string[];
    readonly fourEyes?: true;
    /** Wall time, milliseconds since 1970 UTC. */
    readonly expiresAt?: number;
    readonly escalates?: { readonly at: number; readonly to: readonly string[] };
  };
  'approval.escalated': { readonly call: CallId; readonly to: readonly string[] };
  /** Nobody decided in time, or what was decided came to nothing before its deadline. */
  'approval.expired': { readonly call: CallId };
  /** What was approved is not what would run now: it is asked again. */
  'approval.invalidated': { readonly call: CallId; readonly reason: 'preview-changed' };
  /** Not started, because of the mode; the model is told. */
  'call.withheld': { readonly call: CallId; readonly mode: Mode; readonly message: string };
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
  /** Closed without a result: the turn was cancelled, or a fork left the call behind. */
  'call.cancelled': {
    readonly call: CallId;
    /** What the parent had of it where the fork begins: nothing run, or a start whose outcome is not known here. */
    readonly fork?: 'not-run' | 'unknown';
  };
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

const DECISIONS: Readonly<Record<DecisionType, true>> = {
  'request.built': true,
  'history.summarised': true,
  'summary.discarded': true,
  'request.refused': true,
  'request.retry': true,
  'request.sent': true,
  'call.proposed': true,
  'call.rejected': true,
  'approval.requested': true,
  'approval.escalated': true,
  'approval.expired': true,
  'approval.invalidated': true,
  'call.withheld': true,
  'call.started': true,
  'call.retry': true,
  'call.failed': true,
  'call.doubted': true,
  'call.cancelled': true,
  'turn.ended': true,
};

const FACTS: Readonly<Record<FactType, true>> = {
  'session.created': true,
  'session.forked': true,
  'agent.updated': true,
  'turn.accepted': true,
  'turn.steered': true,
  'turn.withdrawn': true,
  'mode.changed': true,
  'token.added': true,
  'token.revoked': true,
  'time.reached': true,
  'notice.sent': true,
  'selection.changed': true,
  'compaction.requested': true,
  'turn.cancel_requested': true,
  'session.parked': true,
  'session.unparked': true,
  'driver.changed': true,
  'request.failed': true,
  'response.received': true,
  'call.refused': true,
  'call.prepared': true,
  'approval.decided': true,
  'grant.revoked': true,
  'call.result': true,
  'call.suspended': true,
  'call.late': true,
  'call.reconciled': true,
  'call.settled': true,
};

export const EVENT_TYPES: readonly EventType[] = [
  ...Object.keys(FACTS),
  ...Object.keys(DECISIONS),
] as EventType[];

export const isDecision = (event: NewEvent): event is NewDecision => Object.hasOwn(DECISIONS, event.type);
export const isEventType = (type: string): type is EventType =>
  Object.hasOwn(DECISIONS, type) || Object.hasOwn(FACTS, type);
