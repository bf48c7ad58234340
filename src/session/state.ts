/**
 * THE MIND: what a log means. The state is a small immutable value; closed history is in the log and in the
 * projections that are made from it, so a state costs the same after 10 steps and after 10,000.
 */
import type { Digest } from '../event/canonical.ts';
import { makerOf, type CallId } from '../event/call-id.ts';
import type { Actor, Content, Cut, Outcome, ResponseBlock, StopReason } from '../event/content.ts';
import {
  MODES,
  type AgentDefinition,
  type Condition,
  type Mode,
  type SeenLabel,
  type SelectionPolicy,
} from '../event/definition.ts';
import type { Choice } from '../event/choice.ts';
import type { WaitsFor } from '../event/summary.ts';
import type { EventData, RequestProblem, ToolRequest, TurnOutcome } from '../event/events.ts';

/** How a call was closed, and what the model is told. Exactly one for every call of a response. */
export type Closing =
  | {
      readonly kind: 'ok';
      readonly content: readonly Content[];
      readonly cut?: Cut;
      readonly nothing?: true;
      /** Where the result did not come from the attempt itself. */
      readonly by?: 'late-result' | 'reconcile' | 'person';
    }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'rejected'; readonly reason: string; readonly message: string }
  | { readonly kind: 'denied'; readonly by: string; readonly reason?: string }
  | { readonly kind: 'responded'; readonly by: string; readonly content: readonly Content[] }
  | { readonly kind: 'cancelled'; readonly started: boolean; readonly fork?: 'not-run' | 'unknown' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'withheld'; readonly mode: Mode; readonly message: string }
  | { readonly kind: 'given-up'; readonly by: string; readonly note?: string };

export type CallPhase =
  /** Allowed or approved; starts when it has been prepared, where its tool needs that. */
  | 'ready'
  /** A person is to be asked, once the preview is there. */
  | 'to-ask'
  | 'asking'
  /** Approved, and the tool's preview has changed since: it is to be asked again. */
  | 'stale'
  | 'started'
  /** The last attempt was suspended: it waits for the calls that it made, and is then started again. */
  | 'calling'
  /** The last attempt ended without a result; what follows is decided, or the tool is asked to reconcile. */
  | 'ended'
  /** Another attempt is planned, not before `notBefore`. */
  | 'retrying'
  | 'in-doubt'
  /** A person said that it did not happen: policy is asked again. */
  | 'reopened'
  | 'closed';

/**
 * A planned wait: not before a wall time, and never longer than `ms`, which is what was planned. Both, because a
 * restart must keep what is left of a wait and a wall clock that goes back must not prolong it.
 */
export type Pause = { readonly notBefore: number; readonly ms: number };

export const NO_PAUSE: Pause = { notBefore: 0, ms: 0 };

export type CallState = {
  readonly id: CallId;
  readonly tool: string;
  /** The provider's id. */
  readonly label: string;
  /** Canonical arguments: what is approved, run, logged and sent back. */
  readonly args: string;
  readonly phase: CallPhase;
  readonly rule: string;
  /** Attempts started so far. */
  readonly attempt: number;
  readonly pause: Pause;
  /** What the tool bound its preview to; `undefined` until prepared. */
  readonly prepared: { readonly preview: Digest; readonly title: string; readonly base: unknown } | undefined;
  /** Questions asked so far, and the digest that the current one is bound to. */
  readonly round: number;
  readonly digest: Digest | undefined;
  readonly decided: Decided | undefined;
  /** Of the question that stands or was answered. */
  readonly terms: Terms | undefined;
  /** Approved, and when what the preview is bound to was last seen to be still so. */
  readonly recheckedAt: number | undefined;
  /** Labels of what stood in the request that the call comes from. */
  readonly seen: readonly SeenLabel[];
  /** What people were told of last. */
  readonly told: string;
  readonly edited: boolean;
  readonly outcome: Outcome | Unfinished | undefined;
  readonly doubt: Doubt | undefined;
  /** An earlier attempt may have had its effect, and nothing has said otherwise since. */
  readonly unproven: boolean;
  /** A result that came late while another attempt was running. */
  readonly evidence: Extract<Outcome, { kind: 'ok' }> | undefined;
  readonly closing: Closing | undefined;
  /** When its first attempt was started: what its clock shows, where it must repeat. */
  readonly startedAt: number | undefined;
  /** The calls that it made, in order, and the attempts that ended for want of them. */
  readonly asked: readonly ToolRequest[];
  readonly suspensions: number;
  /** Labels of what those calls have said to it. */
  readonly heard: readonly SeenLabel[];
  /** Milliseconds of the longest call of its last suspension: they run side by side. */
  readonly innerMs: number;
};

/** How an attempt ended without an outcome of its own: its process was lost, or what `reconcile` found. */
export type Unfinished =
  | { readonly kind: 'lost' | 'absent' }
  | { readonly kind: 'unclear'; readonly reason: string };

export type Decided = {
  readonly do: 'approve' | 'edit' | 'reject' | 'respond';
  readonly by: Actor;
  readonly at: number;
  readonly seq: number;
  readonly digest: Digest;
  /** Digest of the decision itself, by which the same one is known again. */
  readonly content: Digest;
  readonly key: string | undefined;
};

/** Who may decide, and until when. Moments are wall time, milliseconds since 1970 UTC. */
export type Terms = {
  readonly by: readonly string[] | undefined;
  readonly fourEyes: boolean;
  readonly expiresAt: number | undefined;
  readonly escalates: { readonly at: number; readonly to: readonly string[] } | undefined;
  readonly escalated: boolean;
};

/** Leave that a person gave for further calls. */
export type GrantState = {
  /** The call whose approval gave it. */
  readonly call: CallId;
  readonly tool: string;
  readonly definition: Digest;
  readonly rule: string;
  readonly when: readonly Condition[];
  readonly expiresAt: number;
  /** Who gave it: leave is worth what this person's yes would be. */
  readonly by: Actor;
};

export type Doubt = {
  readonly reason: string;
  readonly since: number;
  readonly reconcileNote: string | undefined;
};

export type RequestPhase = 'open' | 'failed' | 'waiting' | 'answered' | 'dropped' | 'refused' | 'summarised';

export type RequestState = {
  readonly seq: number;
  /** UTF-8 bytes of the body. */
  readonly bytes: number;
  /** What it asks a summary of. */
  readonly summary: { readonly to: number; readonly bytes: number } | undefined;
  readonly step: number;
  readonly phase: RequestPhase;
  readonly attempt: number;
  readonly pause: Pause;
  readonly problem: RequestProblem | undefined;
  /** Labels of what stands in it. */
  readonly seen: readonly SeenLabel[];
  /** Why it was not sent. */
  readonly refusal: Refusal | undefined;
};

export type Refusal = {
  readonly outcome: 'stopped' | 'failed';
  readonly code: string;
  readonly message: string;
};

/** The part of a response that the decider still needs. */
export type ResponseState = {
  readonly seq: number;
  readonly stop: StopReason;
  readonly stopDetail: string | undefined;
  readonly calls: readonly Extract<ResponseBlock, { type: 'call' }>[];
  readonly hasText: boolean;
  /** UTF-8 bytes of its texts. */
  readonly textBytes: number;
  /** Whether the last block is a call, which an output limit may have cut. */
  readonly endsInCall: boolean;
  /** Tokens of output, where the provider counted them. */
  readonly outputTokens: number | undefined;
};

export type TurnState = {
  readonly turn: number;
  readonly acceptedSeq: number;
  /** Who asked. */
  readonly by: Actor;
  readonly step: number;
  readonly request: RequestState | undefined;
  readonly response: ResponseState | undefined;
  /** The calls of the current step, in order. */
  readonly calls: readonly CallState[];
  /** Calls that those made. */
  readonly inner: readonly CallState[];
  /** A message came that the last request does not hold. */
  readonly steered: boolean;
  readonly cancel: { readonly by: Actor; readonly at: number } | undefined;
  /** Earlier steps in a row none of whose calls could be used. */
  readonly invalidInARow: number;
  /** The calls of the last step as one text, and how many steps in a row asked for the same. */
  readonly signature: string;
  readonly repeats: number;
  /** Milliseconds of work; waiting for people is not counted. */
  readonly activeMs: number;
  /** The part of it that the calls of the current step took: as long as the longest of them. */
  readonly callsMs: number;
  /** US dollars, as far as known. */
  readonly cost: number;
  /** Drivers lost in a row in the middle of it: since an answer or a result came, or a person unparked it. */
  readonly losses: number;
  /** Summaries asked for in this turn. */
  readonly compactions: number;
};

export type TurnRecord = {
  readonly turn: number;
  readonly key: string;
  readonly fingerprint: Digest;
  readonly seq: number;
  readonly by: Actor;
  /** What its input is labelled as; it joins the conversation when the turn begins. */
  readonly labels: readonly SeenLabel[];
  readonly endedSeq: number | undefined;
  readonly outcome: TurnOutcome | 'withdrawn' | undefined;
  readonly reason: string | undefined;
};

/** A message that joined a running turn. */
export type SteerRecord = {
  readonly key: string;
  readonly fingerprint: Digest;
  readonly turn: number;
};

/** What people and programs have said about what requests hold. */
export type Wishes = {
  /** Instead of the agent's own policy. */
  readonly policy: SelectionPolicy | undefined;
  readonly out: readonly number[];
  readonly pinned: readonly number[];
};

export type Summary = EventData['history.summarised'] & { readonly seq: number };

export type SessionState = {
  readonly session: string;
  /** Whose part of the log this is: the session's own, or before a fork the parent's. Decisions are made in its name. */
  readonly origin: string;
  /** Where this session left its parent, if it did: turns that were accepted before and still open are closed. */
  readonly fork: { readonly seq: number; readonly by: Actor; readonly at: number } | undefined;
  /** Tried again and not done: nothing of it may be driven as if it were real. */
  readonly rehearsal: boolean;
  /** 0 before the first event. */
  readonly seq: number;
  readonly lastAt: number;
  readonly createdAt: number;
  readonly title: string;
  /** Empty where the store is not shared. */
  readonly tenant: string;
  readonly agent: AgentDefinition;
  readonly turns: readonly TurnRecord[];
  readonly steers: readonly SteerRecord[];
  readonly active: TurnState | undefined;
  /** Accepted turns that wait for the active one, in order. */
  readonly queue: readonly number[];
  /** Replies and failures of the model that are recorded: the position in a script. A lost attempt is no reply. */
  readonly modelReplies: number;
  /** The last request that was built, whose parts the next one can share. */
  readonly lastRequest: number | undefined;
  readonly wishes: Wishes;
  /** What the last request was made by. */
  readonly choice: Choice;
  readonly summary: Summary | undefined;
  /** A summary was asked for and is not made yet. */
  readonly compactionAsked: boolean;
  /** The last turn with reasoning that its provider signed over everything before it; 0 without any. */
  readonly signedTurn: number;
  /** Bytes and tokens of the last request that a provider counted, and the tokens of its answer. */
  readonly counted: Counted | undefined;
  /** Calls of ended turns whose outcome is still open: in doubt, or running on after a cancel. */
  readonly leftOpen: readonly CallState[];
  /** Tool and arguments of calls that were in doubt: a twin of one always asks a person. */
  readonly doubted: readonly string[];
  readonly grants: readonly GrantState[];
  /** Labels of what has come into the conversation so far, in a fixed order. */
  readonly seen: readonly SeenLabel[];
  /** What the session itself allows, and what the gate of the whole store was when it was last looked at. */
  readonly mode: { readonly session: Mode; readonly store: Mode };
  readonly parked: Parked | undefined;
  readonly waits: Waits;
  /** US dollars, as far as known; what a fork shares with its parent is counted there. */
  readonly cost: number;
  /** Whether some response came without a known cost, or an attempt without a response may have been billed. */
  readonly costUnknown: boolean;
};

/** The stricter of the session's mode and the store's. */
export const modeOf = ({ mode }: SessionState): Mode =>
  MODES.indexOf(mode.session) > MODES.indexOf(mode.store) ? mode.session : mode.store;
/** Nobody drives it until a person says so. */
export type Parked = EventData['session.parked'] & {
  /** Wall time, milliseconds since 1970 UTC. */
  readonly at: number;
};

/** What a session stands at, as its log says. Whether somebody works on it right now is the lease's to say. */
export type Waits = {
  readonly for: WaitsFor;
  /** Since when, wall time, milliseconds since 1970 UTC. */
  readonly since: number;
};

export type Counted = { readonly bytes: number; readonly tokens: number; readonly answerTokens: number };

export const twin = (tool: string, args: string): string => `${tool} ${args}`;

export const toolOf = (agent: AgentDefinition, name: string): AgentDefinition['tools'][number] | undefined =>
  agent.tools.find((tool) => tool.name === name);

/** All calls of the step: those of the response, then those that they made. */
export const stepCalls = ({ calls, inner }: TurnState): readonly CallState[] =>
  inner.length === 0 ? calls : [...calls, ...inner];

/** All calls that are of interest: of the running step, then those that ended turns have left open. */
export const knownCalls = ({ active, leftOpen }: SessionState): readonly CallState[] =>
  active ? [...stepCalls(active), ...leftOpen] : leftOpen;

/** The calls that a call made and that stand in the log already, in order. */
export const innerCalls = ({ inner }: TurnState, maker: CallId): readonly CallState[] =>
  inner.filter(({ id }) => makerOf(id) === maker);

/** Finds an open or recently closed call of the active step, or one that an ended turn left open. */
export const findCall = (state: SessionState, id: CallId): CallState | undefined =>
  (state.active && callIn(state.active, id)) ?? state.leftOpen.find((call) => call.id === id);

export const callIn = ({ calls, inner }: TurnState, id: CallId): CallState | undefined =>
  calls.find((call) => call.id === id) ?? inner.find((call) => call.id === id);

/** Attempts that count against a limit: one that was suspended has done what it could. */
export const triesOf = ({ attempt, suspensions }: CallState): number => attempt - suspensions;
