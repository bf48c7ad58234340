/** decide() for what requests hold: what people say is checked against the session as it stands. Pure. */
import type { SelectionPolicy } from '../event/definition.ts';
import type { SelectionChange } from '../event/events.ts';
import type { Command, Decision, RefusalCode } from './decide.ts';
import type { SessionState } from './state.ts';
import { callPosition } from '../event/call-id.ts';
import { hasHistory } from './summary-range.ts';

const refuse = (code: RefusalCode, message: string): Decision => ({ kind: 'refused', code, message });

export const decideSelection = (
  state: SessionState,
  { change, by, reason, dropsReasoning }: Extract<Command, { kind: 'select' }>,
): Decision => {
  const problem = change.do === 'policy' ? policyProblem(change.policy) : turnsProblem(state, change);
  if (problem) return problem;
  if (changesNothing(state, change)) return { kind: 'replayed' };
  const breaks = brokenFrom(state, change);
  if (breaks !== undefined && !dropsReasoning) return refuse('reasoning-signed', signedMessage(breaks));
  const data = {
    change: sorted(change),
    by,
    ...(reason !== undefined && { reason }),
    ...(breaks !== undefined && { dropsReasoning: true as const }),
  };
  return { kind: 'facts', facts: [{ type: 'selection.changed', data }] };
};

export const decideCompaction = (
  state: SessionState,
  { by, dropsReasoning }: Extract<Command, { kind: 'compact' }>,
): Decision => {
  if (state.compactionAsked) return { kind: 'replayed' };
  if (!hasHistory(state, state.active))
    return refuse(
      'nothing-to-summarise',
      'Nothing was said since the last summary that one could stand for.',
    );
  const breaks = state.signedTurn > 0;
  if (breaks && !dropsReasoning) return refuse('reasoning-signed', signedMessage(1));
  const data = { by, ...(breaks && { dropsReasoning: true as const }) };
  return { kind: 'facts', facts: [{ type: 'compaction.requested', data }] };
};

const sorted = (change: SelectionChange): SelectionChange =>
  change.do === 'policy'
    ? change
    : { ...change, turns: [...new Set(change.turns)].sort((one, other) => one - other) };

const policyProblem = (policy: SelectionPolicy | undefined): Decision | undefined => {
  const count = policy?.kind === 'budget' ? policy.tokens : policy?.kind === 'last-turns' ? policy.turns : 1;
  if (Number.isSafeInteger(count) && count >= 1) return undefined;
  return refuse(
    'selection-invalid',
    `"${count}" is no number of ${policy?.kind === 'budget' ? 'tokens' : 'turns'}. It takes a whole number from 1 up.`,
  );
};

const turnsProblem = (
  state: SessionState,
  { do: wish, turns }: Exclude<SelectionChange, { do: 'policy' }>,
): Decision | undefined => {
  if (turns.length === 0) return refuse('selection-invalid', 'No turn was named.');
  for (const turn of turns) {
    if (state.turns[turn - 1] === undefined)
      return refuse('turn-not-found', `There is no turn ${turn}. The session has ${state.turns.length}.`);
    if (wish !== 'leave-out' && wish !== 'pin') continue;
    const { summary } = state;
    if (summary && turn < summary.turn && !summary.except.includes(turn))
      return refuse(
        'turn-summarised',
        `Turn ${turn} is part of a summary, event ${summary.seq}, and stands in no request itself.`,
      );
    const held = wish === 'leave-out' && heldMessage(state, turn);
    if (held) return refuse('turn-held', held);
  }
  return undefined;
};

const heldMessage = (state: SessionState, turn: number): string | undefined => {
  if (state.turns[turn - 1]?.endedSeq === undefined)
    return `Turn ${turn} has not ended. What it is about stays in every request.`;
  const open = state.leftOpen.find((call) => callPosition(call.id).turn === turn);
  return open && `Turn ${turn} holds call ${open.id}, which is still open. Settle it first.`;
};

const changesNothing = ({ wishes }: SessionState, change: SelectionChange): boolean => {
  if (change.do === 'policy') return JSON.stringify(wishes.policy) === JSON.stringify(change.policy);
  const { do: wish, turns } = change;
  const list = wish === 'pin' || wish === 'unpin' ? wishes.pinned : wishes.out;
  const wanted = wish === 'pin' || wish === 'leave-out';
  return turns.every((turn) => list.includes(turn) === wanted);
};

/** The turn from which on signed reasoning would stand behind something else than it was signed over. */
const brokenFrom = ({ signedTurn }: SessionState, change: SelectionChange): number | undefined => {
  if (signedTurn === 0 || change.do === 'unpin') return undefined;
  if (change.do === 'policy')
    return change.policy === undefined || change.policy.kind === 'all' ? undefined : 1;
  const first = Math.min(...change.turns);
  return signedTurn >= first && change.do !== 'pin' ? first : undefined;
};

const signedMessage = (turn: number): string =>
  `The model signed its reasoning over everything before it. From turn ${turn} on it would no longer be valid, ` +
  'so that later requests go without it. Decide so explicitly.';
