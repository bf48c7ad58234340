/**
 * evolve(state, event) -> state: the only interpreter of what a log means.
 *
 * Invariants: (1) total over every log that the runtime wrote: it never throws and never refuses; (2) no clock,
 * no randomness: time enters as `at`; (3) a call has at most one closing, and a closed call stays closed.
 */
import { callPosition, makerOf } from '../event/call-id.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { LIMITS_DEFAULT, type SeenLabel } from '../event/definition.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { evolveContext } from './evolve-context.ts';
import { evolveCall, pauseUntil, type CallEvent } from './evolve-call.ts';
import { noteGrant, revokeGrant } from './evolve-grant.ts';
import { evolveRequest } from './evolve-request.ts';
import { evolveSession } from './evolve-session.ts';
import { evolveTurn } from './evolve-turn.ts';
import { joinLabels, labelsOf } from './labels.ts';
import {
  callIn,
  findCall,
  NO_PAUSE,
  toolOf,
  twin,
  type CallState,
  type SessionState,
  type TurnState,
} from './state.ts';
import { waitsOf } from './waits.ts';
import { inTurn } from './within.ts';

const NO_AGENT: SessionState['agent'] = {
  name: '',
  instructions: '',
  model: { provider: '', name: '', params: {} },
  tools: [],
  policy: { rules: [] },
  limits: LIMITS_DEFAULT,
};

export const initial = (session: string): SessionState => ({
  session,
  origin: session,
  fork: undefined,
  rehearsal: false,
  seq: 0,
  lastAt: 0,
  createdAt: 0,
  title: '',
  tenant: '',
  agent: NO_AGENT,
  turns: [],
  steers: [],
  active: undefined,
  queue: [],
  modelReplies: 0,
  lastRequest: undefined,
  wishes: { policy: undefined, out: [], pinned: [] },
  choice: { out: [] },
  summary: undefined,
  compactionAsked: false,
  signedTurn: 0,
  counted: undefined,
  leftOpen: [],
  doubted: [],
  grants: [],
  seen: [],
  mode: { session: 'normal', store: 'normal' },
  parked: undefined,
  waits: { for: 'message', since: 0 },
  cost: 0,
  costUnknown: false,
});

export const evolve = (state: SessionState, event: LogEvent): SessionState => {
  const counted = countWork(gotFurther(state, event), event);
  const after = apply(counted, event);
  return { ...after, waits: waitsOf(after, event.at), seq: event.seq, lastAt: event.at };
};

const apply = (state: SessionState, event: LogEvent): SessionState => {
  switch (event.type) {
    case 'session.created':
    case 'agent.updated':
    case 'mode.changed':
    case 'token.added':
    case 'token.revoked':
    case 'session.parked':
    case 'session.unparked':
    case 'time.reached':
      return evolveSession(state, event);
    case 'session.forked':
    case 'turn.accepted':
    case 'turn.steered':
    case 'turn.withdrawn':
    case 'turn.cancel_requested':
    case 'driver.changed':
    case 'turn.ended':
      return evolveTurn(state, event);
    case 'selection.changed':
    case 'compaction.requested':
    case 'history.summarised':
    case 'summary.discarded':
      return evolveContext(state, event);
    case 'request.built':
    case 'request.failed':
    case 'request.refused':
    case 'request.retry':
    case 'request.sent':
    case 'response.received':
      return evolveRequest(state, event);
    case 'call.proposed':
      return proposed(state, event.data);
    case 'call.rejected':
      return rejected(state, event.data);
    case 'grant.revoked':
      return revokeGrant(state, event);
    default:
      return evolveCalls(state, event);
  }
};

/** A driver that brings an answer or a result was not taken down by the session: losses before it are no row with later ones. */
const gotFurther = (state: SessionState, { type }: LogEvent): SessionState => {
  if (type !== 'response.received' && type !== 'call.result' && type !== 'call.suspended') return state;
  const { active } = state;
  return active && active.losses > 0 ? { ...state, active: { ...active, losses: 0 } } : state;
};

/**
 * How long a turn has worked, from what the facts say of themselves: they were measured by a clock that never jumps.
 * The wall times of two events say nothing: a machine may have slept, a clock may have been set in between. Where
 * the measuring clock goes on while a machine sleeps, nothing has worked for longer than it was allowed to.
 */
const countWork = (state: SessionState, event: LogEvent): SessionState => {
  switch (event.type) {
    case 'response.received':
    case 'request.failed':
      return worked(state, Math.min(event.data.ms, state.agent.limits.requestMs));
    case 'request.retry':
      return worked(state, pauseUntil(event.data.notBefore, event.at).ms);
    case 'call.result': {
      // Calls of a step run side by side.
      if (makerOf(event.data.call)) return innerWorked(state, event.data);
      const { active } = state;
      if (!active) return state;
      const more = Math.max(0, allowedMs(state, event.data) - active.callsMs);
      const { activeMs, callsMs } = active;
      return { ...state, active: { ...active, activeMs: activeMs + more, callsMs: callsMs + more } };
    }
    case 'call.suspended':
      // One after the other: what a program does between its calls, and then the longest of them.
      return worked(state, allowedMs(state, event.data));
    default:
      return state;
  }
};

/** Milliseconds of an attempt, as far as its tool may take them. */
const allowedMs = (
  state: SessionState,
  { call: id, ms }: { readonly call: CallState['id']; readonly ms: number },
): number => {
  const call = state.active && callIn(state.active, id);
  return Math.min(ms, (call && toolOf(state.agent, call.tool)?.timeoutMs) ?? 0);
};

const innerWorked = (state: SessionState, data: EventData['call.result']): SessionState => {
  const maker = state.active?.calls.find(({ id }) => id === makerOf(data.call));
  if (!maker) return state;
  const more = Math.max(0, allowedMs(state, data) - maker.innerMs);
  const counted = worked(state, more);
  const active = counted.active && withCall(counted.active, { ...maker, innerMs: maker.innerMs + more });
  return { ...counted, active };
};

const worked = (state: SessionState, ms: number): SessionState =>
  state.active ? { ...state, active: { ...state.active, activeMs: state.active.activeMs + ms } } : state;

const proposed = (state: SessionState, data: EventData['call.proposed']): SessionState => {
  return inTurn(state, callPosition(data.call).turn, (active) => {
    const raw = rawArguments(active, data.call);
    const decoded = data.args === undefined ? decodeArguments(raw) : undefined;
    const args = decoded?.ok ? decoded.canonical : (data.args ?? raw);
    const before = callIn(active, data.call);
    const phase = data.do === 'run' ? 'ready' : 'to-ask';
    // Proposed again after an edit: the same call with other arguments.
    const said = { args, phase, rule: data.rule, seen: data.seen ?? [] } as const;
    if (before) return withCall(active, { ...before, ...said, prepared: undefined });
    return withCall(active, { ...newCall(data, args), ...said });
  });
};

/** What was written where the call was asked for: by the model, or by the call that made it. */
export const rawArguments = (turn: TurnState, id: CallState['id']): string => {
  const { index, inner } = callPosition(id);
  if (inner === undefined) return turn.response?.calls[index - 1]?.args ?? '';
  return turn.calls[index - 1]?.asked[inner - 1]?.args ?? '';
};

const rejected = (state: SessionState, data: EventData['call.rejected']): SessionState =>
  inTurn(state, callPosition(data.call).turn, (active) => {
    const { reason, message } = data;
    const before = callIn(active, data.call);
    const closing = { kind: 'rejected', reason, message } as const;
    const closed: CallState = { ...(before ?? newCall(data, '')), phase: 'closed', closing };
    return withCall(active, closed);
  });

const newCall = (data: { call: CallState['id']; tool: string; label: string }, args: string): CallState => ({
  id: data.call,
  tool: data.tool,
  label: data.label,
  args,
  phase: 'ready',
  rule: '',
  attempt: 0,
  pause: NO_PAUSE,
  prepared: undefined,
  round: 0,
  digest: undefined,
  decided: undefined,
  terms: undefined,
  recheckedAt: undefined,
  seen: [],
  told: '',
  edited: false,
  outcome: undefined,
  doubt: undefined,
  unproven: false,
  evidence: undefined,
  closing: undefined,
  startedAt: undefined,
  asked: [],
  suspensions: 0,
  heard: [],
  innerMs: 0,
});

const withCall = (turn: TurnState, call: CallState): TurnState =>
  makerOf(call.id) === undefined
    ? { ...turn, calls: replaced(turn.calls, call) }
    : { ...turn, inner: replaced(turn.inner, call) };

const replaced = (calls: readonly CallState[], call: CallState): readonly CallState[] => {
  const at = calls.findIndex((other) => other.id === call.id);
  return at < 0 ? [...calls, call] : calls.with(at, call);
};

/** Events about one call: in the active step, or left open by an ended turn. */
const evolveCalls = (before: SessionState, event: CallEvent): SessionState => {
  const id = event.data.call;
  const state = noteGrant(noteResult(before, event), event);
  const unknown =
    event.type === 'call.doubted' || (event.type === 'call.cancelled' && event.data.fork === 'unknown');
  const doubted = unknown ? noteDoubt(state, id) : state.doubted;
  const turn = state.active;
  const call = turn && callIn(turn, id);
  if (turn && call) return { ...state, doubted, active: withCall(turn, evolveCall(call, event)) };
  const open = state.leftOpen.find((other) => other.id === id);
  if (!open) return { ...state, doubted };
  const next = evolveCall(open, event);
  // Nothing of an ended turn is started again: once somebody has answered, the desk is done with it.
  const answered = next.phase === 'closed' || next.phase === 'reopened';
  const rest = state.leftOpen.filter((other) => other.id !== id);
  return { ...state, doubted, leftOpen: answered ? rest : [...rest, next] };
};

/** Whatever a tool says comes into the conversation: results, failures, refusals, the title of what it would do. */
const SAYS: ReadonlySet<CallEvent['type']> = new Set([
  'call.result',
  'call.late',
  'call.reconciled',
  'call.refused',
  'call.withheld',
]);

const noteResult = (state: SessionState, event: CallEvent): SessionState => {
  if (!SAYS.has(event.type)) return state;
  const tool = findCall(state, event.data.call)?.tool;
  if (tool === undefined) return state;
  const labels = labelsOf(toolOf(state.agent, tool));
  const heard = noteHeard(state, event.data.call, labels);
  const seen = joinLabels(heard.seen, labels);
  return seen === heard.seen ? heard : { ...heard, seen };
};

/** What an inner call says may be in whatever its maker does next. */
const noteHeard = (state: SessionState, id: CallState['id'], labels: readonly SeenLabel[]): SessionState => {
  const { active } = state;
  const maker = active?.calls.find((call) => call.id === makerOf(id));
  if (!active || !maker) return state;
  const heard = joinLabels(maker.heard, labels);
  return heard === maker.heard ? state : { ...state, active: withCall(active, { ...maker, heard }) };
};

const noteDoubt = (state: SessionState, id: CallState['id']): readonly string[] => {
  const call = state.active && callIn(state.active, id);
  const signature = call && twin(call.tool, call.args);
  if (signature === undefined || state.doubted.includes(signature)) return state.doubted;
  return [...state.doubted, signature];
};
