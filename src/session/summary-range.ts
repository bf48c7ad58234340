/** When history is summarised, and what a summary does not stand for. */
import { callPosition } from '../event/call-id.ts';
import type { Choice } from '../event/choice.ts';
import type { EventData } from '../event/events.ts';
import { COMPACTIONS_PER_TURN_MAX } from './evolve-context.ts';
import type { SessionState, TurnState } from './state.ts';

type Exceptions = Pick<EventData['history.summarised'], 'except' | 'partly'>;

/** What a summary does not stand for: turns that are pinned, have open calls, or are not in the request that is summarised. */
export const exceptionsOf = (state: SessionState, { out }: Choice): Exceptions => {
  const { wishes, leftOpen, summary } = state;
  const turns = new Set(wishes.pinned);
  for (const call of leftOpen) turns.add(callPosition(call.id).turn);
  // In the request for the summary these stand as they did before: behind what the last summary says of them.
  const partly = [...turns].flatMap((turn) => {
    const from = isOut(out, turn) ? undefined : keptFrom(summary, turn);
    return from === undefined ? [] : [{ turn, from }];
  });
  for (const { from, to } of out) for (let turn = from; turn <= to; turn++) turns.add(turn);
  const except = [...turns].sort((one, other) => one - other);
  return { except, ...(partly.length > 0 && { partly }) };
};

const isOut = (out: Choice['out'], turn: number): boolean =>
  out.some(({ from, to }) => turn >= from && turn <= to);

/** The first event of a turn that is not summed up already; undefined where nothing of the turn is. */
const keptFrom = (summary: SessionState['summary'], turn: number): number | undefined => {
  if (!summary || turn > summary.turn) return undefined;
  if (!summary.except.includes(turn)) return summary.to + 1;
  return summary.partly?.find((one) => one.turn === turn)?.from;
};

/** Asked for by somebody, or because the last request was too large; as long as there is something to summarise. */
export const isCompactionDue = (state: SessionState, turn: TurnState): boolean => {
  const threshold = state.agent.context?.compactAtTokens;
  const { counted } = state;
  const large =
    threshold !== undefined && counted !== undefined && counted.tokens + counted.answerTokens >= threshold;
  if (!(state.compactionAsked || large)) return false;
  if (turn.compactions >= COMPACTIONS_PER_TURN_MAX || turn.request?.phase === 'summarised') return false;
  return hasHistory(state, turn);
};

/** Something was said since the last summary that a summary may stand for, the input of the running turn aside. */
export const hasHistory = (state: SessionState, turn: TurnState | undefined): boolean => {
  if (turn && turn.step > 0 && !state.wishes.pinned.includes(turn.turn)) return true;
  const since = state.summary?.to ?? 0;
  const excepted = new Set(exceptionsOf(state, state.choice).except);
  return state.turns.some(
    (record) => record.endedSeq !== undefined && record.endedSeq > since && !excepted.has(record.turn),
  );
};
