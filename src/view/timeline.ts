/**
 * A session as it passed in time: turns, steps, and a line per event with its bar on the turn's axis. The axis
 * counts work; while everything waits for a person it stands, so that an hour of waiting hides nothing.
 */
import type { CallId } from '../event/call-id.ts';
import type { LogEvent } from '../event/events.ts';
import { eventLine, type EventLine, type LineOptions } from './event-line.ts';
import { costWords } from './session-head.ts';
import type { Place, Reading } from './reading.ts';

export type Bar = {
  /** 0 to 1 on the turn's axis. */
  readonly from: number;
  readonly to: number;
  /** Work, or waiting for a person. */
  readonly kind: 'work' | 'waiting';
};

export type TimelineRow =
  | { readonly kind: 'turn'; readonly turn: number }
  | {
      readonly kind: 'step';
      readonly turn: number;
      readonly step: number;
      /** Milliseconds; undefined while the step is open. */
      readonly ms: number | undefined;
      readonly cost: string;
    }
  | {
      readonly kind: 'event';
      readonly line: EventLine;
      readonly at: number;
      /** Milliseconds; for what is open up to `now`. */
      readonly ms: number | undefined;
      readonly bar: Bar | undefined;
    };

export type TimelineOptions = LineOptions & {
  /** Milliseconds since 1970 UTC: what is open lasts until now. */
  readonly now: number;
  /** Rows of events at most; the last ones are kept. */
  readonly rowsMax?: number;
  /** Also the events that another line stands for. */
  readonly everyEvent?: boolean;
};

export type Timeline = { readonly rows: readonly TimelineRow[]; readonly above: number };

export const timeline = (reading: Reading, options: TimelineOptions): Timeline => {
  const told =
    options.everyEvent === true ? reading.events : reading.events.filter((event) => isTold(reading, event));
  const above = Math.max(0, told.length - (options.rowsMax ?? told.length));
  const shown = told.slice(above);
  const axes = new Axes(reading);
  const rows: TimelineRow[] = [];
  let place: Place = { turn: 0, step: 0 };
  for (const event of shown) {
    const next = sectionOf(reading, event);
    if (next.turn !== place.turn) rows.push({ kind: 'turn', turn: next.turn });
    if (next.step > 0 && (next.turn !== place.turn || next.step !== place.step))
      rows.push(stepRow(reading, next));
    place = next;
    rows.push(eventRow(reading, event, axes, options));
  }
  return { rows, above };
};

const sectionOf = (reading: Reading, event: LogEvent): Place => {
  const { turn, step } = reading.placeOf(event.seq);
  // A message that arrives while a turn runs is part of what happens there; the first one opens its turn.
  return turn === 0 ? { turn: 1, step: 0 } : { turn, step };
};

/** Events that another line stands for: a start whose end is there, a proposal, a preview that led to a question. */
const isTold = (reading: Reading, event: LogEvent): boolean => {
  switch (event.type) {
    case 'call.proposed':
      return false;
    case 'call.prepared':
      return false;
    case 'request.sent':
      return false;
    // What fell due then has a line of its own.
    case 'time.reached':
      return false;
    case 'call.started': {
      const call = reading.call(event.data.call);
      const lost = call.ended === undefined || call.started?.seq !== event.seq;
      return lost;
    }
    case 'call.failed':
      return reading.call(event.data.call).ended !== 'failed';
    default:
      return true;
  }
};

const stepRow = (reading: Reading, { turn, step }: Place): TimelineRow => {
  const request = reading.requestOf(turn, step);
  const next = reading.requestOf(turn, step + 1);
  const record = reading.state.turns[turn - 1];
  const endSeq = next?.seq ?? record?.endedSeq;
  const end = endSeq === undefined ? undefined : reading.events[endSeq - 1]?.at;
  const answer = request?.answer && reading.events[request.answer.seq - 1];
  const cost = answer?.type === 'response.received' ? answer.data.cost : undefined;
  return {
    kind: 'step',
    turn,
    step,
    ms: request && end !== undefined ? Math.max(0, end - request.at) : undefined,
    cost: answer ? costWords(cost ?? 0, cost === undefined) : '',
  };
};

const eventRow = (reading: Reading, event: LogEvent, axes: Axes, options: TimelineOptions): TimelineRow => {
  const line = eventLine(reading, event, options);
  const span = spanOf(reading, event);
  const open = span?.to === undefined && span !== undefined;
  const endAt = open ? options.now : event.at;
  const startAt = span ? (reading.events[span.from - 1]?.at ?? event.at) : event.at;
  const ms = line.ms ?? (open ? Math.max(0, endAt - startAt) : undefined);
  return { kind: 'event', line, at: event.at, ms, bar: axes.bar(event.seq, span) };
};

export type Span = {
  /** Events between which something lasted; no end where it is open. */
  readonly from: number;
  readonly to: number | undefined;
  readonly kind: Bar['kind'];
};

export const spanOf = (reading: Reading, event: LogEvent): Span | undefined => {
  switch (event.type) {
    case 'response.received':
    case 'request.failed': {
      const { turn, step } = event.data;
      const from = reading.requestOf(turn, step)?.seq ?? event.seq;
      return { from, to: event.seq, kind: 'work' };
    }
    case 'call.result':
    case 'call.late': {
      const started = reading.call(event.data.call).started?.seq;
      return {
        from: started !== undefined && started < event.seq ? started : event.seq,
        to: event.seq,
        kind: 'work',
      };
    }
    case 'call.started':
      return isOpen(reading, event.data.call, 'started')
        ? { from: event.seq, to: undefined, kind: 'work' }
        : { from: event.seq, to: event.seq, kind: 'work' };
    case 'approval.requested':
      return isOpen(reading, event.data.call, 'asking')
        ? { from: event.seq, to: undefined, kind: 'waiting' }
        : undefined;
    case 'call.doubted':
      return isOpen(reading, event.data.call, 'in-doubt')
        ? { from: event.seq, to: undefined, kind: 'waiting' }
        : undefined;
    case 'request.built':
    case 'driver.changed':
      return { from: event.seq, to: event.seq, kind: 'work' };
    default:
      return undefined;
  }
};

const isOpen = (reading: Reading, id: CallId, phase: string): boolean =>
  reading.openCall(id)?.phase === phase;

/** For each turn the milliseconds of work up to each of its events. */
class Axes {
  readonly #reading: Reading;
  readonly #axes = new Map<number, { readonly first: number; readonly worked: readonly number[] }>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  bar(seq: number, span: Span | undefined): Bar | undefined {
    if (!span) return undefined;
    const axis = this.#axisOf(this.#reading.placeOf(seq).turn);
    const total = axis.worked.at(-1) ?? 0;
    const position = (at: number): number => (total === 0 ? 0 : (axis.worked[at - axis.first] ?? 0) / total);
    return { from: position(span.from), to: span.to === undefined ? 1 : position(span.to), kind: span.kind };
  }

  #axisOf(turn: number): { readonly first: number; readonly worked: readonly number[] } {
    const known = this.#axes.get(turn);
    if (known) return known;
    const { state, events } = this.#reading;
    const record = state.turns[turn - 1];
    const first = record?.seq ?? 1;
    const axis = { first, worked: workedMs(events.slice(first - 1, record?.endedSeq ?? events.length)) };
    this.#axes.set(turn, axis);
    return axis;
  }
}

const workedMs = (events: readonly LogEvent[]): readonly number[] => {
  const worked: number[] = [];
  const running = new Set<string>();
  let sum = 0;
  let last = events[0]?.at ?? 0;
  for (const event of events) {
    if (running.size > 0) sum += Math.max(0, event.at - last);
    last = event.at;
    worked.push(sum);
    noteRunning(running, event);
  }
  return worked;
};

/** Work that is under way after an event: time passes on the axis while there is some. */
export const noteRunning = (running: Set<string>, event: LogEvent): void => {
  switch (event.type) {
    case 'request.built':
    case 'request.sent':
    case 'request.retry':
      running.add('request');
      return;
    case 'response.received':
    case 'request.failed':
      running.delete('request');
      return;
    case 'call.started':
      running.add(event.data.call);
      return;
    case 'call.result':
      running.delete(event.data.call);
      return;
    case 'driver.changed':
      running.clear();
      return;
    default:
      return;
  }
};
