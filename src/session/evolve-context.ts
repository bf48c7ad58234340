/** The part of evolve() that is about what requests hold: wishes of people, summaries, the provider's own counts. */
import type { EventData, LogEvent, SelectionChange } from '../event/events.ts';
import type { Counted, ResponseState, SessionState, Wishes } from './state.ts';
import { inRequest, inTurn, spent } from './within.ts';

/** A summary that was no use is not asked for again in the same turn. */
export const COMPACTIONS_PER_TURN_MAX = 3;

type ContextEvent = Extract<
  LogEvent,
  { type: 'selection.changed' | 'compaction.requested' | 'history.summarised' | 'summary.discarded' }
>;

export const evolveContext = (state: SessionState, event: ContextEvent): SessionState => {
  switch (event.type) {
    case 'selection.changed':
      return { ...state, wishes: wished(state.wishes, event.data.change) };
    case 'compaction.requested':
      return { ...state, compactionAsked: true };
    case 'history.summarised':
      return {
        ...summaryMade(state, event.data.turn, 1),
        summary: { ...event.data, seq: event.seq },
      };
    case 'summary.discarded':
      return summaryMade(state, event.data.turn, COMPACTIONS_PER_TURN_MAX);
    default:
      return event satisfies never;
  }
};

const wished = (wishes: Wishes, change: SelectionChange): Wishes => {
  if (change.do === 'policy') return { ...wishes, policy: change.policy };
  const { turns } = change;
  const without = (list: readonly number[]): readonly number[] =>
    list.filter((turn) => !turns.includes(turn));
  const withThem = (list: readonly number[]): readonly number[] =>
    [...without(list), ...turns].sort((one, other) => one - other);
  const { do: wish } = change;
  switch (wish) {
    case 'leave-out':
      return { ...wishes, out: withThem(wishes.out), pinned: without(wishes.pinned) };
    case 'take-back':
      return { ...wishes, out: without(wishes.out) };
    case 'pin':
      return { ...wishes, pinned: withThem(wishes.pinned), out: without(wishes.out) };
    case 'unpin':
      return { ...wishes, pinned: without(wishes.pinned) };
    default:
      return wish satisfies never;
  }
};

const summaryMade = (state: SessionState, turn: number, compactions: number): SessionState => ({
  ...inTurn(
    inRequest(state, turn, (request) => ({ ...request, phase: 'summarised' })),
    turn,
    (active) => ({
      ...active,
      compactions: active.compactions + compactions,
    }),
  ),
  compactionAsked: false,
});

/** A response to a request for a summary is no part of the conversation, and no call in it is one. */
export const summaryReceived = (
  state: SessionState,
  seq: number,
  data: EventData['response.received'],
): SessionState => {
  const answered = inRequest(state, data.turn, (request) => ({ ...request, phase: 'answered' }));
  const response: ResponseState = { ...responseOf(seq, data), calls: [], endsInCall: false };
  const calls = data.content.some((block) => block.type === 'call');
  const replied = inTurn(answered, data.turn, (turn) => ({
    ...turn,
    response: calls ? { ...response, stop: 'calls' } : response,
  }));
  return { ...spent(replied, data.turn, data.cost), modelReplies: state.modelReplies + 1 };
};

export const responseOf = (seq: number, data: EventData['response.received']): ResponseState => {
  const { content, stop, stopDetail, usage } = data;
  const calls: ResponseState['calls'][number][] = [];
  let hasText = false;
  let textBytes = 0;
  for (const block of content) {
    if (block.type === 'call') calls.push(block);
    if (block.type !== 'text') continue;
    hasText ||= block.text.trim() !== '';
    textBytes += Buffer.byteLength(block.text);
  }
  const endsInCall = content.at(-1)?.type === 'call';
  return { seq, stop, stopDetail, calls, hasText, textBytes, endsInCall, outputTokens: usage?.output };
};

export const countedBy = (
  state: SessionState,
  { usage, turn }: EventData['response.received'],
): Counted | undefined => {
  const { active } = state;
  if (!usage || active?.turn !== turn || !active.request) return state.counted;
  const tokens = usage.cacheRead + usage.cacheWrite + usage.input;
  if (tokens === 0) return state.counted;
  return { bytes: active.request.bytes, tokens, answerTokens: usage.output };
};
