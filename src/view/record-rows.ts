/** The record as rows of a list: every event one row, told as it stands at a place of the log. */
import type { LogEvent } from '../event/events.ts';
import { isDecision } from '../event/events.ts';
import { eventLine, type LineOptions, type Mark } from './event-line.ts';
import type { Reading } from './reading.ts';
import type { SessionIndex } from './session-index.ts';
import { spanOf, type Bar } from './timeline.ts';

export type RecordRow = {
  readonly seq: number;
  /** Wall time, milliseconds since 1970 UTC. */
  readonly at: number;
  readonly type: string;
  /** News from outside, or what follows from it. */
  readonly isFact: boolean;
  readonly mark: Mark;
  readonly who: string;
  readonly text: string;
  readonly detail?: string;
  /** Before the text: "waits for a person", "proposed, may run". */
  readonly state?: string;
  /** Milliseconds that it took; absent where it took none, or takes them still. */
  readonly ms?: number;
  /** On the time axis of its turn, 0 to 1. */
  readonly bar?: Bar;
  readonly isOpen?: true;
  readonly call?: string;
  /** The request that was built last then, counted from 1; 0 before the first. */
  readonly request: number;
  readonly turn: number;
  readonly step: number;
};

/** Characters of a row's text; what does not fit into it is in the event. */
const TEXT_LENGTH_MAX = 300;

export const recordRow = (
  index: SessionIndex,
  reading: Reading,
  event: LogEvent,
  options: LineOptions,
): RecordRow => {
  const { seq, mark, who, text, detail, state, ms } = eventLine(reading, event, options);
  const stands = event.type === 'call.proposed' && state !== undefined ? `proposed, ${state}` : state;
  const span = spanOf(reading, event);
  const bar = index.bar(seq, span);
  const call = 'call' in event.data ? event.data.call : undefined;
  return {
    seq,
    at: event.at,
    type: event.type,
    isFact: !isDecision(event),
    mark,
    who: cut(who),
    text: cut(text),
    ...(detail !== undefined && { detail: cut(detail) }),
    ...(stands !== undefined && { state: stands }),
    ...(ms !== undefined && { ms }),
    ...(bar && { bar }),
    ...(span && span.to === undefined && { isOpen: true }),
    ...(call !== undefined && { call }),
    request: index.requestAt(seq),
    ...placeOf(index, seq),
  };
};

const placeOf = (index: SessionIndex, seq: number): { readonly turn: number; readonly step: number } => {
  const { turn = 0 } = index.sections[index.sectionAt(seq)] ?? {};
  const step = index.steps[index.stepAt(seq)];
  return { turn, step: step?.turn === turn ? step.step : 0 };
};

const cut = (text: string): string =>
  text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX).toWellFormed()}…`;
