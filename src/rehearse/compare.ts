/**
 * Two runs of one conversation side by side: where they first did otherwise, what came of it, and what each took.
 * Deeds are compared (calls, their arguments, what policy made of them, how turns ended), and words beside them.
 */
import { isSame } from '../event/canonical.ts';
import type { Json, JsonObject } from '../event/json.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { twin } from '../session/state.ts';
import { firstDifference, type Difference } from '../replay/difference.ts';
import type { Spent, Trace, TracedCall, TracedStep, TracedTurn } from './trace.ts';

/** Events of the two logs that stand at one place; undefined where a run did not get there. */
export type Places = { readonly recorded: number | undefined; readonly rehearsed: number | undefined };

export type Divergence = {
  readonly turn: number;
  /** Undefined where the turns ended otherwise. */
  readonly step: number | undefined;
  readonly seq: Places;
  /** JSON Pointer: "/calls/0/args/to". */
  readonly path: string;
  readonly recorded: Json | undefined;
  readonly rehearsed: Json | undefined;
};

export type ComparedCall = { readonly id: string; readonly tool: string; readonly args: string };

export type OtherArguments = {
  readonly tool: string;
  readonly recorded: ComparedCall;
  readonly rehearsed: ComparedCall;
  readonly difference: Difference;
};

export type ComparedTurn = {
  readonly turn: number;
  readonly recorded: TurnEnd | undefined;
  readonly rehearsed: TurnEnd | undefined;
};
export type TurnEnd = {
  readonly outcome: string;
  readonly reason: string | undefined;
  readonly steps: number;
  readonly answer: string;
};

export type Comparison = {
  /** The same deeds from beginning to end. */
  readonly sameDeeds: boolean;
  /** The same words, too. */
  readonly sameWords: boolean;
  readonly divergence: Divergence | undefined;
  /** From the divergence on, calls that only one of them made, and those that both made with other arguments. */
  readonly onlyRecorded: readonly ComparedCall[];
  readonly onlyRehearsed: readonly ComparedCall[];
  readonly otherArguments: readonly OtherArguments[];
  readonly turns: readonly ComparedTurn[];
  readonly spent: { readonly recorded: Spent; readonly rehearsed: Spent };
};

/** `end: 'record'` where the rehearsal was ended because the record has not come further. */
export const compare = (recorded: Trace, rehearsed: Trace, end: 'both' | 'record' = 'both'): Comparison => {
  const divergence = firstDivergence(recorded, rehearsed, end);
  const after = divergence ? callsAfter(recorded, rehearsed, divergence) : NO_CALLS;
  const turns = pairs(recorded.turns, rehearsed.turns).map(([one, other], i) => ({
    turn: i + 1,
    recorded: one && turnEnd(one),
    rehearsed: other && turnEnd(other),
  }));
  return {
    sameDeeds: divergence === undefined,
    sameWords: isSame(wordsOf(recorded), wordsOf(rehearsed)),
    divergence,
    ...after,
    turns,
    spent: { recorded: recorded.spent, rehearsed: rehearsed.spent },
  };
};

const NO_CALLS = { onlyRecorded: [], onlyRehearsed: [], otherArguments: [] };

const pairs = <T>(ones: readonly T[], others: readonly T[]): (readonly [T | undefined, T | undefined])[] =>
  Array.from({ length: Math.max(ones.length, others.length) }, (_, i) => [ones[i], others[i]]);

const wordsOf = ({ turns }: Trace): Json => turns.map(({ steps }) => steps.map(({ text }) => text));

const turnEnd = ({ outcome, reason, steps, answer }: TracedTurn): TurnEnd => ({
  outcome: outcome ?? 'open',
  reason,
  steps: steps.length,
  answer,
});

const firstDivergence = (
  recorded: Trace,
  rehearsed: Trace,
  end: 'both' | 'record',
): Divergence | undefined => {
  for (const [i, [one, other]] of pairs(recorded.turns, rehearsed.turns).entries()) {
    for (const [j, [step, now]] of pairs(one?.steps ?? [], other?.steps ?? []).entries()) {
      const [before, after] = [stepValue(step), stepValue(now)];
      if (before !== undefined && after !== undefined && isSame(before, after)) continue;
      return found({ turn: i + 1, step: j + 1, seq: { recorded: step?.seq, rehearsed: now?.seq } }, [
        before,
        after,
      ]);
    }
    if (end === 'record' && one?.outcome === undefined) return undefined;
    const [before, after] = [outcomeValue(one), outcomeValue(other)];
    if (!isSame(before, after))
      return found({ turn: i + 1, step: undefined, seq: { recorded: one?.seq, rehearsed: other?.seq } }, [
        before,
        after,
      ]);
  }
  return undefined;
};

const found = (
  place: Pick<Divergence, 'turn' | 'step' | 'seq'>,
  [before, after]: readonly [Json | undefined, Json | undefined],
): Divergence => {
  if (before === undefined || after === undefined)
    return { ...place, path: '', recorded: before, rehearsed: after };
  const { path, recorded, now } = firstDifference(before, after);
  return { ...place, path, recorded, rehearsed: now };
};

/** What a step did. Its words are no deed. */
const stepValue = (step: TracedStep | undefined): Json | undefined =>
  step && { calls: step.calls.map(callValue) };

const callValue = ({ tool, args, verdict }: TracedCall): JsonObject => ({
  tool,
  args: argsValue(args),
  verdict,
});

const argsValue = (args: string): Json => {
  const decoded = decodeArguments(args);
  return decoded.ok ? (JSON.parse(decoded.canonical) as Json) : args;
};

const outcomeValue = (turn: TracedTurn | undefined): Json | undefined =>
  turn && { outcome: turn.outcome ?? 'open', ...(turn.reason !== undefined && { reason: turn.reason }) };

type CallsAfter = Pick<Comparison, 'onlyRecorded' | 'onlyRehearsed' | 'otherArguments'>;

const callsAfter = (recorded: Trace, rehearsed: Trace, from: Divergence): CallsAfter => {
  const now = callsFrom(rehearsed, from);
  const onlyRecorded: ComparedCall[] = [];
  for (const call of callsFrom(recorded, from)) {
    const at = now.findIndex((other) => twin(other.tool, other.args) === twin(call.tool, call.args));
    if (at >= 0) now.splice(at, 1);
    else onlyRecorded.push(call);
  }
  const otherArguments: OtherArguments[] = [];
  const left = onlyRecorded.filter((call) => {
    const at = now.findIndex(({ tool }) => tool === call.tool);
    const [other] = at < 0 ? [] : now.splice(at, 1);
    if (!other) return true;
    const difference = firstDifference(argsValue(call.args), argsValue(other.args));
    otherArguments.push({ tool: call.tool, recorded: call, rehearsed: other, difference });
    return false;
  });
  return { onlyRecorded: left, onlyRehearsed: now, otherArguments };
};

const callsFrom = ({ turns }: Trace, { turn, step }: Divergence): ComparedCall[] =>
  turns
    .flatMap(({ steps }) => steps)
    .filter((one) => one.turn > turn || (one.turn === turn && one.step >= (step ?? Infinity)))
    .flatMap(({ calls }) => calls)
    .map(({ id, tool, args }) => ({ id, tool, args }));
