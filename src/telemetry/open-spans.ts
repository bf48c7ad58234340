/** Spans that have begun, and those that have ended and were not told yet. */
import type { LogEvent } from '../event/events.ts';
import type { SessionState } from '../session/state.ts';
import {
  spanIdOf,
  traceIdOf,
  type Attributes,
  type InstrumentName,
  type Measure,
  type Span,
  type SpanEvent,
  type Told,
} from './span.ts';

/** One event, and the session before and after it. */
export type Step = {
  readonly before: SessionState;
  readonly event: LogEvent;
  readonly after: SessionState;
  readonly open: OpenSpans;
};

export type Begun = {
  readonly turn: number;
  readonly place: string;
  /** The place of the span that it is a part of. */
  readonly within?: string;
  readonly name: string;
  readonly kind: Span['kind'];
  readonly startMs: number;
  readonly attributes: Attributes;
};

export type Ending = {
  readonly endMs: number;
  readonly attributes?: Attributes;
  readonly error?: string | undefined;
  /** How long it took by the clock of whoever did it, milliseconds: more exact than the times of two commits. */
  readonly ms?: number;
};

type OpenSpan = Begun & { readonly events: SpanEvent[]; more: Attributes };

/** The place of a turn's own span. */
export const TURN = 'turn';

export class OpenSpans {
  readonly #session: string;
  readonly #open = new Map<string, OpenSpan>();
  #spans: Span[] = [];
  #measures: Measure[] = [];

  constructor(session: string) {
    this.#session = session;
  }

  begin(begun: Begun): void {
    this.#open.set(key(begun.turn, begun.place), { ...begun, events: [], more: {} });
  }

  has(turn: number, place: string): boolean {
    return this.#open.has(key(turn, place));
  }

  /** Places of a turn that are open and begin with this. */
  places(turn: number, prefix: string): readonly string[] {
    return [...this.#open.values()]
      .filter((span) => span.turn === turn && span.place.startsWith(prefix))
      .map(({ place }) => place);
  }

  /** Adds to an open span's attributes. */
  note(turn: number, place: string, attributes: Attributes): void {
    const span = this.#open.get(key(turn, place));
    if (span) span.more = { ...span.more, ...attributes };
  }

  /** An attribute of an open span that is a number; 0 where there is none. */
  count(turn: number, place: string, attribute: string): number {
    const value = this.#open.get(key(turn, place))?.more[attribute];
    return typeof value === 'number' ? value : 0;
  }

  mark(turn: number, place: string, event: SpanEvent): void {
    this.#open.get(key(turn, place))?.events.push(event);
  }

  /** Ends a span and answers how long it took, in seconds; undefined where it is not open. */
  end(turn: number, place: string, { endMs, attributes = {}, error, ms }: Ending): number | undefined {
    const span = this.#open.get(key(turn, place));
    if (!span) return undefined;
    this.#open.delete(key(turn, place));
    const traceId = traceIdOf(this.#session, turn);
    const { within, name, kind, events, more } = span;
    const startMs = ms === undefined ? span.startMs : Math.max(span.startMs, endMs - ms);
    // A wall clock that was set back must not make a span end before it began.
    const end = Math.max(startMs, endMs);
    this.#spans.push({
      traceId,
      spanId: spanIdOf(traceId, place),
      ...(within !== undefined && { parentId: spanIdOf(traceId, within) }),
      name,
      kind,
      startMs,
      endMs: end,
      attributes: {
        ...span.attributes,
        ...more,
        ...attributes,
        ...(error !== undefined && { 'error.type': error }),
      },
      events,
      ...(error !== undefined && { error }),
    });
    return (ms ?? end - startMs) / 1000;
  }

  measure(instrument: InstrumentName, value: number | undefined, attributes: Attributes): void {
    if (value !== undefined) this.#measures.push({ instrument, value, attributes });
  }

  /** What has ended since the last time. */
  take(): Told {
    const told = { spans: this.#spans, measures: this.#measures };
    this.#spans = [];
    this.#measures = [];
    return told;
  }
}

const key = (turn: number, place: string): string => `${turn} ${place}`;
