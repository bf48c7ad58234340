/** When history is summarised, and what a summary does not stand for. */
import { callPosition } from '../event/call-id.ts';
import type { Choice } from '../event/choice.ts';
import { COMPACTIONS_PER_TURN_MAX } from './evolve-context.ts';
import type { SessionState, TurnState } from './state.ts';

/** Turns that stay as they are: pinned, with open calls, or not in the request that is summarised. */
export const exceptedTurns = ({ wishes, leftOpen }: SessionState, { out }: Choice): readonly number[] => {
  const turns = new Set(wishes.pinned);
  for (const call of leftOpen) turns.add(callPosition(call.id).turn);
  for (const { from, to } of out) for (let turn = from; turn <= to; turn++) turns.add(turn);
  return [...turns].sort((one, other) => one - other);
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
  const excepted = new Set(exceptedTurns(state, state.choice));
  return state.turns.some(
    (record) => record.endedSeq !== undefined && record.endedSeq > since && !excepted.has(record.turn),
  );
};
