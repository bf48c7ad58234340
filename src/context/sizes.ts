/** How large the turns of a conversation are in a request, and whether a body is larger than its provider takes. */
import type { Refusal, SessionState } from '../session/state.ts';
import type { Conversation, Entry } from './conversation.ts';
import type { Encoder } from './encoding.ts';
import { Selected } from './selected.ts';
import type { Sizes } from './selection.ts';

type Measure = { readonly frame: number; readonly bytesOf: (entry: Entry) => number };

/** Counted when the first turn is asked for: most policies ask for none. Turn 0 is the summary. */
export const turnSizes = (
  conversation: Conversation,
  state: SessionState,
  { frame, bytesOf }: Measure,
): Sizes => {
  let turns: Map<number, number> | undefined;
  return { frame, turn: (turn) => (turns ??= measured(conversation, state, bytesOf)).get(turn) ?? 0 };
};

const measured = (
  conversation: Conversation,
  { summary }: SessionState,
  bytesOf: (entry: Entry) => number,
): Map<number, number> => {
  const whole = new Selected(conversation, { out: [], ...(summary && { summary: summary.seq }) }, summary);
  const turns = new Map<number, number>();
  for (const i of conversation.entries.keys())
    for (const entry of whole.at(i)) turns.set(entry.turn, (turns.get(entry.turn) ?? 0) + bytesOf(entry));
  return turns;
};

export const sizeRefusal = ({ name, bytesMax = Infinity }: Encoder, bytes: number): Refusal | undefined =>
  bytes <= bytesMax
    ? undefined
    : {
        outcome: 'failed',
        code: 'request-too-large',
        message: `The request has ${bytes} bytes; ${name} takes at most ${bytesMax}.`,
      };
