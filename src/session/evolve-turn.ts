/** What an event about a turn means: it is accepted, joined, taken back, cancelled, forked away from, lost with its process, ended. */
import type { EventData, LogEvent } from '../event/events.ts';
import { endedUnknown } from './evolve-call.ts';
import { joinLabels } from './labels.ts';
import {
  stepCalls,
  type CallState,
  type RequestState,
  type SessionState,
  type TurnRecord,
  type TurnState,
} from './state.ts';
import { inTurn } from './within.ts';

export type TurnEvent = Extract<
  LogEvent,
  {
    type:
      | 'session.forked'
      | 'turn.accepted'
      | 'turn.steered'
      | 'turn.withdrawn'
      | 'turn.cancel_requested'
      | 'driver.changed'
      | 'turn.ended';
  }
>;

export const evolveTurn = (state: SessionState, event: TurnEvent): SessionState => {
  switch (event.type) {
    case 'session.forked':
      return forked(state, event);
    case 'turn.accepted':
      return accepted(state, event.seq, event.data);
    case 'turn.steered':
      return steered(state, event.data);
    case 'turn.withdrawn':
      return withdrawn(state, event.seq, event.data);
    case 'turn.cancel_requested':
      // Whoever stops it wants it looked at once more.
      return inTurn({ ...state, parked: undefined }, event.data.turn, (turn) => ({
        ...turn,
        cancel: { by: event.data.by, at: event.at },
        request: turn.request?.phase === 'waiting' ? { ...turn.request, phase: 'dropped' } : turn.request,
      }));
    case 'driver.changed':
      return processLost(state);
    case 'turn.ended':
      return ended(state, event.seq, event.data);
    default:
      return event satisfies never;
  }
};

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
  inner: [],
  steered: false,
  cancel,
  invalidInARow: 0,
  signature: '',
  repeats: 0,
  activeMs: 0,
  callsMs: 0,
  losses: 0,
  cost: 0,
  compactions: 0,
});

const accepted = (state: SessionState, seq: number, data: EventData['turn.accepted']): SessionState => {
  const { turn, key, fingerprint, input, by, labels = [] } = data;
  const open = { endedSeq: undefined, outcome: undefined, reason: undefined };
  const record: TurnRecord = { turn, key, fingerprint, seq, by, labels, ...open };
  const title = state.title === '' ? titleOf(input) : state.title;
  const turns = [...state.turns, record];
  const next = { ...state, title, turns };
  if (state.active) return { ...next, queue: data.first ? [turn, ...state.queue] : [...state.queue, turn] };
  return { ...next, active: newTurn(record), seen: joinLabels(state.seen, labels) };
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
  turns: closed(state.turns, turn, { endedSeq: seq, outcome: 'withdrawn' }),
});

/** A long session has as many records as turns: the others are not looked at. */
const closed = (
  turns: readonly TurnRecord[],
  turn: number,
  end: Pick<TurnRecord, 'endedSeq' | 'outcome'> & Partial<Pick<TurnRecord, 'reason'>>,
): readonly TurnRecord[] => {
  const record = turns[turn - 1];
  return record ? turns.with(turn - 1, { ...record, ...end }) : turns;
};

const TITLE_LENGTH_MAX = 80;

const titleOf = (input: EventData['turn.accepted']['input']): string => {
  const text = input.find((content) => content.type === 'text')?.text ?? '';
  const line = text.trim().split('\n', 1)[0] ?? '';
  const points = Array.from(line);
  return points.length <= TITLE_LENGTH_MAX ? line : `${points.slice(0, TITLE_LENGTH_MAX - 1).join('')}…`;
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
  // A request that was under way may have been answered, and paid for.
  const costUnknown = state.costUnknown || active.request?.phase === 'open';
  const [calls, inner] = [active.calls.map(lost), active.inner.map(lost)];
  const losses = active.losses + 1;
  return { ...state, costUnknown, active: { ...active, request, calls, inner, losses } };
};

const ended = (state: SessionState, seq: number, data: EventData['turn.ended']): SessionState => {
  const open =
    state.active?.turn === data.turn ? stepCalls(state.active).filter((call) => !call.closing) : [];
  const { outcome, reason } = data;
  const turns = closed(state.turns, data.turn, { endedSeq: seq, outcome, reason });
  const [next, ...queue] = state.queue;
  const record = next === undefined ? undefined : turns[next - 1];
  return {
    ...state,
    turns,
    queue,
    // A turn that waited where a fork was made is the parent's to work on.
    active: record && newTurn(record, isBeforeFork(state, record.seq) ? state.fork : undefined),
    seen: joinLabels(state.seen, record?.labels),
    leftOpen: [...state.leftOpen, ...open],
  };
};

/** Whether something of this seq is shared with the parent of a fork. */
export const isBeforeFork = ({ fork }: SessionState, seq: number): boolean =>
  fork !== undefined && seq < fork.seq;
