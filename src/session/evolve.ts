/**
 * evolve(state, event) -> state: the only interpreter of what a log means.
 *
 * Invariants: (1) total over every log that the runtime wrote: it never throws and never refuses; (2) no clock,
 * no randomness: time enters as `at`; (3) a call has at most one closing, and a closed call stays closed.
 */
import { callPosition } from '../event/call-id.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { LIMITS_DEFAULT } from '../event/definition.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { endedUnknown, evolveCall, pauseUntil, type CallEvent } from './evolve-call.ts';
import { evolveSession } from './evolve-session.ts';
import { joinLabels, labelsOf } from './labels.ts';
import {
  findCall,
  NO_PAUSE,
  toolOf,
  twin,
  type CallState,
  type GrantState,
  type RequestState,
  type ResponseState,
  type SessionState,
  type TurnRecord,
  type TurnState,
} from './state.ts';

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
  leftOpen: [],
  doubted: [],
  grants: [],
  seen: [],
  mode: { session: 'normal', store: 'normal' },
  cost: 0,
  costUnknown: false,
});

export const evolve = (state: SessionState, event: LogEvent): SessionState => {
  const counted = countWork(state, event);
  return { ...apply(counted, event), seq: event.seq, lastAt: event.at };
};

const apply = (state: SessionState, event: LogEvent): SessionState => {
  switch (event.type) {
    case 'session.forked':
      return forked(state, event);
    case 'session.created':
    case 'agent.updated':
    case 'mode.changed':
    case 'token.added':
    case 'token.revoked':
    case 'time.reached':
      return evolveSession(state, event);
    case 'turn.accepted':
      return accepted(state, event.seq, event.data);
    case 'turn.steered':
      return steered(state, event.data);
    case 'turn.withdrawn':
      return withdrawn(state, event.seq, event.data);
    case 'turn.cancel_requested':
      return inTurn(state, event.data.turn, (turn) => ({
        ...turn,
        cancel: { by: event.data.by, at: event.at },
        request: turn.request?.phase === 'waiting' ? { ...turn.request, phase: 'dropped' } : turn.request,
      }));
    case 'driver.changed':
      return processLost(state);
    case 'request.built':
      return requestBuilt(state, event.seq, event.data);
    case 'request.failed':
      return {
        ...inRequest(state, event.data.turn, (request) => ({
          ...request,
          phase: 'failed',
          problem: event.data.problem,
        })),
        modelReplies: state.modelReplies + 1,
      };
    case 'request.retry':
      return inRequest(state, event.data.turn, (request) => ({
        ...request,
        phase: 'waiting',
        attempt: event.data.attempt,
        pause: pauseUntil(event.data.notBefore, event.at),
        problem: undefined,
      }));
    case 'request.sent':
      return inRequest(state, event.data.turn, (request) => ({ ...request, phase: 'open' }));
    case 'response.received':
      return responded(state, event.seq, event.data);
    case 'turn.ended':
      return ended(state, event.seq, event.data);
    case 'call.proposed':
      return proposed(state, event.data);
    case 'call.rejected':
      return rejected(state, event.data);
    default:
      return evolveCalls(state, event);
  }
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
      const { calls = [], callsMs = 0 } = state.active ?? {};
      const call = calls.find((one) => one.id === event.data.call);
      const longest = (call && toolOf(state.agent, call.tool)?.timeoutMs) ?? 0;
      const more = Math.max(0, Math.min(event.data.ms, longest) - callsMs);
      const counted = worked(state, more);
      return counted.active
        ? { ...counted, active: { ...counted.active, callsMs: callsMs + more } }
        : counted;
    }
    default:
      return state;
  }
};

const worked = (state: SessionState, ms: number): SessionState =>
  state.active ? { ...state, active: { ...state.active, activeMs: state.active.activeMs + ms } } : state;

/** The past is the parent's. What was open in it is closed here: see conclude(). */
const forked = (
  state: SessionState,
  { seq, at, data }: Extract<LogEvent, { type: 'session.forked' }>,
): SessionState => {
  const fork = { seq, by: data.by, at };
  const own = {
    ...state,
    origin: data.session,
    fork,
    createdAt: at,
    title: data.title ?? state.title,
    // Leave that was given to the parent is none for the fork.
    grants: [],
    cost: 0,
    costUnknown: false,
  };
  const { active } = state;
  if (!active) return own;
  const answered = active.request === undefined || active.request.phase === 'answered';
  const request: RequestState | undefined = answered
    ? active.request
    : { ...active.request, phase: 'dropped' };
  return { ...own, active: { ...active, request, cancel: { by: data.by, at } } };
};

const inTurn = (state: SessionState, turn: number, change: (turn: TurnState) => TurnState): SessionState =>
  state.active?.turn === turn ? { ...state, active: change(state.active) } : state;

const inRequest = (
  state: SessionState,
  turn: number,
  change: (request: RequestState) => RequestState,
): SessionState =>
  inTurn(state, turn, (active) => (active.request ? { ...active, request: change(active.request) } : active));

const newTurn = (
  { turn, seq, by }: Pick<TurnRecord, 'turn' | 'seq' | 'by'>,
  cancel?: TurnState['cancel'],
): TurnState => ({
  turn,
  acceptedSeq: seq,
  by,
  step: 0,
  request: undefined,
  response: undefined,
  calls: [],
  steered: false,
  cancel,
  invalidInARow: 0,
  signature: '',
  repeats: 0,
  activeMs: 0,
  callsMs: 0,
  cost: 0,
});

const accepted = (state: SessionState, seq: number, data: EventData['turn.accepted']): SessionState => {
  const { turn, key, fingerprint, input, by } = data;
  const open = { endedSeq: undefined, outcome: undefined, reason: undefined };
  const record: TurnRecord = { turn, key, fingerprint, seq, by, ...open };
  const title = state.title === '' ? titleOf(input) : state.title;
  const turns = [...state.turns, record];
  const next = { ...state, title, turns, seen: joinLabels(state.seen, data.labels) };
  if (state.active) return { ...next, queue: data.first ? [turn, ...state.queue] : [...state.queue, turn] };
  return { ...next, active: newTurn(record) };
};

const steered = (state: SessionState, data: EventData['turn.steered']): SessionState => {
  const { key, fingerprint, turn } = data;
  return {
    ...inTurn(state, turn, (active) => ({ ...active, steered: true })),
    steers: [...state.steers, { key, fingerprint, turn }],
    seen: joinLabels(state.seen, data.labels),
  };
};

const withdrawn = (
  state: SessionState,
  seq: number,
  { turn }: EventData['turn.withdrawn'],
): SessionState => ({
  ...state,
  queue: state.queue.filter((other) => other !== turn),
  turns: state.turns.map((record) =>
    record.turn === turn ? { ...record, endedSeq: seq, outcome: 'withdrawn' } : record,
  ),
});

const TITLE_LENGTH_MAX = 80;

const titleOf = (input: EventData['turn.accepted']['input']): string => {
  const text = input.find((content) => content.type === 'text')?.text ?? '';
  const line = text.trim().split('\n', 1)[0] ?? '';
  const points = Array.from(line);
  return points.length <= TITLE_LENGTH_MAX ? line : `${points.slice(0, TITLE_LENGTH_MAX - 1).join('')}…`;
};

const requestBuilt = (state: SessionState, seq: number, data: EventData['request.built']): SessionState => ({
  ...inTurn(state, data.turn, (turn) => ({
    ...turn,
    step: data.step,
    invalidInARow: invalidSteps(turn),
    steered: false,
    callsMs: 0,
    request: {
      seq,
      step: data.step,
      phase: 'open',
      attempt: 1,
      pause: NO_PAUSE,
      problem: undefined,
      seen: state.seen,
    },
    response: undefined,
    calls: [],
  })),
  lastRequest: seq,
});

/** Steps in a row, this one included, none of whose calls could be used. */
export const invalidSteps = (turn: TurnState): number => {
  const mistaken = turn.calls.length > 0 && turn.calls.every(isMistake);
  return mistaken ? turn.invalidInARow + 1 : 0;
};

/** A denial is an answer of the policy, not a mistake of the model. */
const isMistake = ({ closing, attempt, round }: CallState): boolean =>
  closing?.kind === 'rejected' && closing.reason !== 'denied-by-policy' && attempt === 0 && round === 0;

const responded = (state: SessionState, seq: number, data: EventData['response.received']): SessionState => {
  const response: ResponseState = {
    seq,
    stop: data.stop,
    stopDetail: data.stopDetail,
    calls: data.content.filter((block) => block.type === 'call'),
    hasText: data.content.some((block) => block.type === 'text' && block.text.trim() !== ''),
    endsInCall: data.content.at(-1)?.type === 'call',
  };
  const answered = inRequest(state, data.turn, (request) => ({ ...request, phase: 'answered' }));
  const cost = data.cost ?? 0;
  return {
    ...inTurn(answered, data.turn, (turn) => {
      const signature = signatureOf(response);
      const same = signature !== '' && signature === turn.signature;
      return { ...turn, response, signature, repeats: same ? turn.repeats + 1 : 1, cost: turn.cost + cost };
    }),
    modelReplies: state.modelReplies + 1,
    cost: state.cost + cost,
    costUnknown: state.costUnknown || data.cost === undefined,
  };
};

/** The step's calls as one text, order aside: by it a step that repeats the last one is known. */
const signatureOf = (response: ResponseState): string =>
  response.calls
    .map(({ name, args }) => {
      const decoded = decodeArguments(args);
      return twin(name, decoded.ok ? decoded.canonical : args);
    })
    .sort()
    .join('\n');

const proposed = (state: SessionState, data: EventData['call.proposed']): SessionState => {
  const { turn, index } = callPosition(data.call);
  return inTurn(state, turn, (active) => {
    const raw = active.response?.calls[index - 1]?.args ?? '';
    const decoded = data.args === undefined ? decodeArguments(raw) : undefined;
    const args = decoded?.ok ? decoded.canonical : (data.args ?? raw);
    const before = active.calls.find((call) => call.id === data.call);
    const phase = data.do === 'run' ? 'ready' : 'to-ask';
    // Proposed again after an edit: the same call with other arguments.
    const said = { args, phase, rule: data.rule, seen: data.seen ?? [] } as const;
    if (before) return withCall(active, { ...before, ...said, prepared: undefined });
    return withCall(active, { ...newCall(data, args), ...said });
  });
};

const rejected = (state: SessionState, data: EventData['call.rejected']): SessionState =>
  inTurn(state, callPosition(data.call).turn, (active) => {
    const { reason, message } = data;
    const before = active.calls.find((call) => call.id === data.call);
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
  rechecked: false,
  seen: [],
  told: '',
  edited: false,
  outcome: undefined,
  doubt: undefined,
  unproven: false,
  evidence: undefined,
  closing: undefined,
});

const withCall = (turn: TurnState, call: CallState): TurnState => {
  const at = turn.calls.findIndex((other) => other.id === call.id);
  if (at < 0) return { ...turn, calls: [...turn.calls, call] };
  return { ...turn, calls: turn.calls.with(at, call) };
};

/** Events about one call: in the active step, or left open by an ended turn. */
const evolveCalls = (before: SessionState, event: CallEvent): SessionState => {
  const id = event.data.call;
  const state = noteGrant(noteResult(before, event), event);
  const unknown =
    event.type === 'call.doubted' || (event.type === 'call.cancelled' && event.data.fork === 'unknown');
  const doubted = unknown ? noteDoubt(state, id) : state.doubted;
  const turn = state.active;
  const call = turn?.calls.find((other) => other.id === id);
  if (turn && call) return { ...state, doubted, active: withCall(turn, evolveCall(call, event)) };
  const open = state.leftOpen.find((other) => other.id === id);
  if (!open) return { ...state, doubted };
  const next = evolveCall(open, event);
  // Nothing of an ended turn is started again: once somebody has answered, the desk is done with it.
  const answered = next.phase === 'closed' || next.phase === 'reopened';
  const rest = state.leftOpen.filter((other) => other.id !== id);
  return { ...state, doubted, leftOpen: answered ? rest : [...rest, next] };
};

/** Whatever a tool says comes into the conversation, its failures and late results too. */
const noteResult = (state: SessionState, event: CallEvent): SessionState => {
  if (event.type !== 'call.result' && event.type !== 'call.late' && event.type !== 'call.reconciled')
    return state;
  const tool = findCall(state, event.data.call)?.tool;
  if (tool === undefined) return state;
  const seen = joinLabels(state.seen, labelsOf(toolOf(state.agent, tool)));
  return seen === state.seen ? state : { ...state, seen };
};

/** Leave for further calls that a session holds at a time; the oldest goes first. */
const GRANTS_MAX = 100;

const noteGrant = (state: SessionState, event: CallEvent): SessionState => {
  if (event.type !== 'approval.decided' || event.data.decision.do !== 'approve') return state;
  const { grant } = event.data.decision;
  const call = findCall(state, event.data.call);
  const tool = call && toolOf(state.agent, call.tool);
  if (!grant || !tool || call.phase !== 'asking' || call.digest !== event.data.digest) return state;
  const { when, forMs } = grant;
  const given: GrantState = {
    call: call.id,
    tool: tool.name,
    definition: tool.digest,
    rule: call.rule,
    when,
    expiresAt: event.at + forMs,
  };
  const valid = state.grants.filter(({ expiresAt }) => expiresAt > event.at);
  return { ...state, grants: [...valid, given].slice(-GRANTS_MAX) };
};

const noteDoubt = (state: SessionState, id: CallState['id']): readonly string[] => {
  const call = state.active?.calls.find((other) => other.id === id);
  const signature = call && twin(call.tool, call.args);
  if (signature === undefined || state.doubted.includes(signature)) return state.doubted;
  return [...state.doubted, signature];
};

const lost = (call: CallState): CallState =>
  call.phase === 'started' ? endedUnknown(call, { kind: 'lost' }) : call;

/** What was in flight when the last driver was lost has no result and will get none from it. */
const processLost = (state: SessionState): SessionState => {
  const { active } = state;
  if (!active) return state;
  const request: RequestState | undefined =
    active.request?.phase === 'open'
      ? { ...active.request, phase: 'failed', problem: undefined }
      : active.request;
  return { ...state, active: { ...active, request, calls: active.calls.map(lost) } };
};

const ended = (state: SessionState, seq: number, data: EventData['turn.ended']): SessionState => {
  const open = state.active?.turn === data.turn ? state.active.calls.filter((call) => !call.closing) : [];
  const turns = state.turns.map((record) =>
    record.turn === data.turn
      ? { ...record, endedSeq: seq, outcome: data.outcome, reason: data.reason }
      : record,
  );
  const [next, ...queue] = state.queue;
  const record = next === undefined ? undefined : turns[next - 1];
  return {
    ...state,
    turns,
    queue,
    // A turn that waited where a fork was made is the parent's to work on.
    active: record && newTurn(record, isBeforeFork(state, record.seq) ? state.fork : undefined),
    leftOpen: [...state.leftOpen, ...open],
  };
};

/** Whether something of this seq is shared with the parent of a fork. */
export const isBeforeFork = ({ fork }: SessionState, seq: number): boolean =>
  fork !== undefined && seq < fork.seq;
