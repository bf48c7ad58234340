/** Changes of one part of a state: the active turn, its request, the money. */
import type { RequestState, SessionState, TurnState } from './state.ts';

export const inTurn = (
  state: SessionState,
  turn: number,
  change: (turn: TurnState) => TurnState,
): SessionState => (state.active?.turn === turn ? { ...state, active: change(state.active) } : state);

export const inRequest = (
  state: SessionState,
  turn: number,
  change: (request: RequestState) => RequestState,
): SessionState =>
  inTurn(state, turn, (active) => (active.request ? { ...active, request: change(active.request) } : active));

/** Money counts for the turn and for the session; an unknown amount is remembered as unknown. */
export const spent = (state: SessionState, turn: number, cost: number | undefined): SessionState => ({
  ...inTurn(state, turn, (active) => ({ ...active, cost: active.cost + (cost ?? 0) })),
  cost: state.cost + (cost ?? 0),
  costUnknown: state.costUnknown || cost === undefined,
});
