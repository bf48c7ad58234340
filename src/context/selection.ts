/**
 * Which turns a request leaves out: a function of the log and of sizes that follow from it. Pure, and a view: the
 * log keeps everything. What is chosen is recorded with the request that is built by it.
 *
 * Invariants: (1) whole turns, so that calls keep their results; (2) the running turn, pinned turns and turns with
 * calls still open are never left out; (3) the same log gives the same choice.
 */
import type { SelectionPolicy } from '../event/definition.ts';
import type { Choice, LeaveOutReason } from '../event/choice.ts';
import { callPosition } from '../event/call-id.ts';
import type { Refusal, SessionState } from '../session/state.ts';
import { estimateTokens } from './estimate.ts';

export const ALL: Choice = { out: [] };

export type Sizes = {
  /** UTF-8 bytes of what stands around the conversation. */
  readonly frame: number;
  /** UTF-8 bytes of a turn's parts. */
  turn(turn: number): number;
};

export type Chosen =
  | { readonly kind: 'chosen'; readonly choice: Choice }
  | ({ readonly kind: 'refused' } & Refusal);

export const policyOf = ({ wishes, agent }: SessionState): SelectionPolicy =>
  wishes.policy ?? agent.context?.select ?? { kind: 'all' };

/** Turns that stay whatever the policy says, and why. */
export const heldTurns = (state: SessionState): ReadonlyMap<number, 'pinned' | 'open-call' | 'running'> => {
  const held = new Map<number, 'pinned' | 'open-call' | 'running'>();
  for (const turn of state.wishes.pinned) held.set(turn, 'pinned');
  for (const call of state.leftOpen) held.set(callPosition(call.id).turn, 'open-call');
  if (state.active) held.set(state.active.turn, 'running');
  return held;
};

/** Whether a summary stands for all of a turn. */
export const isSummarised = ({ summary }: SessionState, turn: number): boolean =>
  summary !== undefined && turn < summary.turn && !summary.except.includes(turn);

export const choose = (state: SessionState, sizes: Sizes): Chosen => {
  const fixed = fixedRefusal(state, sizes.frame);
  if (fixed) return { kind: 'refused', ...fixed };
  const policy = policyOf(state);
  const { summary } = state;
  // Nothing to be left out: most steps of most sessions.
  if (policy.kind === 'all' && state.wishes.out.length === 0)
    return { kind: 'chosen', choice: summary ? { ...ALL, summary: summary.seq } : ALL };
  const held = heldTurns(state);
  const out = new Map<number, LeaveOutReason>();
  const leaveOut = (turn: number, why: LeaveOutReason): void => {
    if (!held.has(turn) && !out.has(turn) && !isSummarised(state, turn)) out.set(turn, why);
  };
  for (const turn of state.wishes.out) leaveOut(turn, 'by-hand');
  const last = lastTurn(state);
  if (policy.kind === 'last-turns')
    for (let turn = 1; turn <= last - policy.turns; turn++) leaveOut(turn, 'last-turns');
  if (policy.kind === 'budget') {
    for (const { from, to, why } of state.choice.out)
      for (let turn = from; why === 'budget' && turn <= to; turn++) leaveOut(turn, why);
    const refusal = fit(state, sizes, { tokens: policy.tokens, last, held, out, leaveOut });
    if (refusal) return { kind: 'refused', ...refusal };
  }
  return { kind: 'chosen', choice: { out: ranges(out), ...(summary && { summary: summary.seq }) } };
};

const lastTurn = ({ active, turns, queue }: SessionState): number =>
  active?.turn ?? turns.length - queue.length;

/** Once the budget is passed so much of it is left free, so that not every turn breaks the prefix again. */
const BUDGET_KEPT = 0.7;

type Fit = {
  readonly tokens: number;
  readonly last: number;
  readonly held: ReadonlyMap<number, string>;
  readonly out: ReadonlyMap<number, LeaveOutReason>;
  readonly leaveOut: (turn: number, why: LeaveOutReason) => void;
};

/** What has to stand in every request and alone is larger than allowed. */
const fixedRefusal = (state: SessionState, frameBytes: number): Refusal | undefined => {
  const policy = policyOf(state);
  const budget = policy.kind === 'budget' ? policy.tokens : Infinity;
  const limit = Math.min(budget, state.agent.context?.compactAtTokens ?? Infinity);
  if (limit === Infinity) return undefined;
  const tokens = estimateTokens(frameBytes, state.counted);
  if (tokens <= limit * slack(state)) return undefined;
  return tooLarge('the instructions and tool definitions alone have', tokens, limit);
};

/** Before a provider has counted anything, the estimate may well be twice too high: nothing fails by it. */
const slack = ({ counted }: SessionState): number => (counted ? 1 : 2);

const fit = (
  state: SessionState,
  sizes: Sizes,
  { tokens, last, held, out, leaveOut }: Fit,
): Refusal | undefined => {
  const estimate = (bytes: number): number => estimateTokens(bytes, state.counted);
  let bytes = sizes.frame + sizes.turn(0);
  for (let turn = 1; turn <= last; turn++) if (!out.has(turn)) bytes += sizes.turn(turn);
  if (estimate(bytes) <= tokens) return undefined;
  for (let turn = 1; turn <= last && estimate(bytes) > tokens * BUDGET_KEPT; turn++) {
    if (out.has(turn) || held.has(turn)) continue;
    bytes -= sizes.turn(turn);
    leaveOut(turn, 'budget');
  }
  if (estimate(bytes) <= tokens * slack(state)) return undefined;
  const why = [...held].map(([turn, reason]) => `turn ${turn} (${HELD_WORDS[reason] ?? reason})`).join(', ');
  return tooLarge(`what may not be left out, with ${why}, has`, estimate(bytes), tokens);
};

const HELD_WORDS: Readonly<Record<string, string>> = {
  pinned: 'pinned',
  'open-call': 'holds an open call',
  running: 'running',
};

const tooLarge = (what: string, tokens: number, budget: number): Refusal => ({
  outcome: 'failed',
  code: 'context-too-large',
  message: `The request does not fit its budget of ${budget} tokens: ${what} about ${tokens}.`,
});

/** Turns in a row with one reason as one entry. */
const ranges = (out: ReadonlyMap<number, LeaveOutReason>): Choice['out'] => {
  const found: { from: number; to: number; why: LeaveOutReason }[] = [];
  for (const [turn, why] of [...out].sort(([one], [other]) => one - other)) {
    const last = found.at(-1);
    if (last?.why === why && last.to === turn - 1) last.to = turn;
    else found.push({ from: turn, to: turn, why });
  }
  return found;
};
