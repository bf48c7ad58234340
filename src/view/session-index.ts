/**
 * Where everything stands in a session, however long it is: which turn and step each event belongs to, when it was,
 * what each turn cost, and bookmarks from which a reading can go on. A few numbers an event; the events themselves stay
 * in the store. Pure: it is handed the events in order, once.
 */
import type { Frame } from '../context/rebuild.ts';
import type { EventType, LogEvent } from '../event/events.ts';
import type { SessionState } from '../session/state.ts';
import { contentText } from './brief.ts';
import { Reading, type Bookmark, type RequestReading } from './reading.ts';
import { costWords } from './session-head.ts';
import { noteRunning, type Bar, type Span } from './timeline.ts';

/** Events between two bookmarks: so many are read again at most to show any place. */
export const BOOKMARK_EVENTS = 1000;
/** Characters of a turn's first line. */
const TITLE_LENGTH_MAX = 160;

/** Consecutive events of one turn. A message that comes while a turn runs stands in that turn's section. */
export type Section = { readonly turn: number; readonly from: number };
export type StepStart = { readonly turn: number; readonly step: number; readonly from: number };

export type SectionHead = Section & {
  /** The last event so far. */
  readonly to: number;
  /** First line of the turn's message. */
  readonly title: string;
  /** Wall time, milliseconds since 1970 UTC. */
  readonly at: number;
  /** From its first event to its last. */
  readonly ms: number;
  readonly cost: string;
  readonly state: string;
};

export type StepHead = StepStart & { readonly ms: number | undefined; readonly cost: string };

const PART_TYPES: ReadonlySet<EventType> = new Set([
  'turn.accepted',
  'turn.steered',
  'response.received',
  'call.result',
]);

type Money = { readonly cost: number; readonly unknown: boolean };

export class SessionIndex {
  readonly session: string;
  readonly sections: Section[] = [];
  readonly steps: StepStart[] = [];
  readonly requests: RequestReading[] = [];
  /** Frames of the requests, in their order. */
  readonly #frames: (Frame | undefined)[] = [];
  /** Where it was forked from, if it was. */
  parent: { readonly session: string; readonly seq: number } | undefined;
  /** By event, at its seq less one. */
  readonly types: EventType[] = [];
  readonly times: number[] = [];
  readonly #worked: number[] = [];
  /** After every so many events; the first stands before all of them. */
  readonly #bookmarks: Bookmark[];
  readonly #titles = new Map<number, string>();
  readonly #costs = new Map<number, Money>();
  readonly #stepCosts = new Map<number, Money>();
  #running = new Set<string>();
  #reading: Reading;

  constructor(session: string) {
    this.session = session;
    this.#reading = new Reading(session);
    this.#bookmarks = [this.#reading.bookmark()];
  }

  /** The session as it stands at the last event. */
  get state(): SessionState {
    return this.#reading.state;
  }

  get head(): number {
    return this.state.seq;
  }

  /** The reading at the last event; events long before it are not at hand. */
  get reading(): Reading {
    return this.#reading;
  }

  push(event: LogEvent): void {
    this.#reading.push(event);
    const { turn, step } = this.#reading.placeOf(event.seq);
    this.types.push(event.type);
    this.times.push(event.at);
    this.#place(event.seq, Math.max(1, turn), step);
    this.#work(event);
    this.#note(event);
    if (event.seq % BOOKMARK_EVENTS === 0) this.#mark();
  }

  /** The last bookmark that stands before this event. */
  bookmarkBefore(seq: number): Bookmark {
    const at = Math.min(Math.floor((seq - 1) / BOOKMARK_EVENTS), this.#bookmarks.length - 1);
    const [first] = this.#bookmarks;
    return this.#bookmarks[Math.max(0, at)] ?? (first as Bookmark);
  }

  /** The section that an event stands in. */
  sectionAt(seq: number): number {
    return lastAtOrBefore(this.sections, (section) => section.from, seq);
  }

  stepAt(seq: number): number {
    return lastAtOrBefore(this.steps, (step) => step.from, seq);
  }

  /** The request that was built last at an event, counted from 1; 0 before the first. */
  requestAt(seq: number): number {
    return lastAtOrBefore(this.requests, (request) => request.seq, seq) + 1;
  }

  /** The frame of the request that was built at this event. */
  frameAt(seq: number): Frame | undefined {
    return this.#frames[this.requestAt(seq) - 1];
  }

  /** Events that could have become parts of a request, before this one. */
  partsBefore(seq: number): number {
    let count = 0;
    for (const type of this.types.slice(0, seq - 1)) if (PART_TYPES.has(type)) count++;
    return count;
  }

  sectionHead(at: number, state: SessionState): SectionHead | undefined {
    const section = this.sections[at];
    if (!section) return undefined;
    const { turn, from } = section;
    const to = Math.min(state.seq, (this.sections[at + 1]?.from ?? this.head + 1) - 1);
    const began = this.times[from - 1] ?? 0;
    return {
      turn,
      from,
      to,
      title: this.#titles.get(turn) ?? '',
      at: began,
      ms: Math.max(0, (this.times[to - 1] ?? began) - began),
      cost: moneyWords(this.#costAt(turn, state)),
      state: turnWords(state, turn),
    };
  }

  stepHead(at: number, state: SessionState): StepHead | undefined {
    const step = this.steps[at];
    if (!step) return undefined;
    const next = this.steps[at + 1];
    const turnEnd = state.turns[step.turn - 1]?.endedSeq;
    const to = next?.turn === step.turn ? next.from : turnEnd;
    const isOver = to !== undefined && to <= state.seq;
    return {
      ...step,
      ms: isOver ? Math.max(0, (this.times[to - 1] ?? 0) - (this.times[step.from - 1] ?? 0)) : undefined,
      cost: isOver || state.seq === this.head ? moneyWords(this.#stepCosts.get(step.from)) : '',
    };
  }

  /** What a turn cost up to a state; of one that had ended by then, all of it. */
  #costAt(turn: number, { active, seq }: SessionState): Money | undefined {
    const money = this.#costs.get(turn);
    return money && active?.turn === turn && seq < this.head ? { ...money, cost: active.cost } : money;
  }

  /** Where something stands on the axis of its section, which counts work and not waiting. */
  bar(seq: number, span: Span | undefined): Bar | undefined {
    if (!span) return undefined;
    const at = this.sectionAt(seq);
    const first = this.sections[at]?.from ?? 1;
    const last = (this.sections[at + 1]?.from ?? this.head + 1) - 1;
    const total = this.#worked[last - 1] ?? 0;
    const place = (event: number): number => {
      if (event < first || total === 0) return 0;
      return Math.min(1, (this.#worked[event - 1] ?? 0) / total);
    };
    return { from: place(span.from), to: span.to === undefined ? 1 : place(span.to), kind: span.kind };
  }

  #place(seq: number, turn: number, step: number): void {
    if (this.sections.at(-1)?.turn !== turn) {
      this.sections.push({ turn, from: seq });
      this.#running = new Set();
    }
    const last = this.steps.at(-1);
    if (step > 0 && (last?.turn !== turn || last.step !== step)) this.steps.push({ turn, step, from: seq });
  }

  #work(event: LogEvent): void {
    const isFirst = this.sections.at(-1)?.from === event.seq;
    const before = isFirst ? 0 : (this.#worked.at(-1) ?? 0);
    const passed = event.at - (this.times.at(-2) ?? event.at);
    this.#worked.push(!isFirst && this.#running.size > 0 ? before + Math.max(0, passed) : before);
    noteRunning(this.#running, event);
  }

  #note(event: LogEvent): void {
    const { costs } = this.#reading;
    for (const [turn, money] of costs) this.#costs.set(turn, money);
    switch (event.type) {
      case 'turn.accepted':
        this.#titles.set(event.data.turn, firstWords(contentText(event.data.input)));
        return;
      case 'session.forked':
        this.parent = { session: event.data.parent.session, seq: event.data.parent.seq };
        return;
      case 'request.built': {
        const request = this.#reading.requests.at(-1);
        if (request) this.requests.push(request);
        this.#frames.push(event.data.frame ?? this.#frames.at(-1));
        return;
      }
      case 'response.received': {
        const request = this.#reading.requests.at(-1);
        if (request) this.requests[this.requests.length - 1] = request;
        const step = this.steps.at(-1);
        if (step) this.#stepCosts.set(step.from, spent(this.#stepCosts.get(step.from), event.data.cost));
        return;
      }
      default:
        return;
    }
  }

  /** Goes on from here with a reading that has let go of the events before. */
  #mark(): void {
    const bookmark = this.#reading.bookmark();
    this.#bookmarks.push(bookmark);
    const { events } = this.#reading;
    this.#reading = new Reading(this.session, [], { from: bookmark });
    // What the next requests are made of is said by events just before.
    for (let at = Math.max(0, this.head - BOOKMARK_EVENTS); at < this.head; at++) {
      const event = events[at];
      if (event) this.#reading.events[at] = event;
    }
  }
}

/** Index of the last of these that begins at an event or before it; -1 where none does. */
const lastAtOrBefore = <T>(sorted: readonly T[], from: (one: T) => number, seq: number): number => {
  let [low, high] = [0, sorted.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const one = sorted[middle];
    if (one !== undefined && from(one) <= seq) low = middle + 1;
    else high = middle - 1;
  }
  return high;
};

const spent = (before: Money | undefined, cost: number | undefined): Money => ({
  cost: (before?.cost ?? 0) + (cost ?? 0),
  unknown: (before?.unknown ?? false) || cost === undefined,
});

const moneyWords = (money: Money | undefined): string => (money ? costWords(money.cost, money.unknown) : '');

const firstWords = (text: string): string => {
  const line = text.trimStart().split('\n', 1)[0] ?? '';
  return line.length <= TITLE_LENGTH_MAX ? line : `${line.slice(0, TITLE_LENGTH_MAX).toWellFormed()}…`;
};

const turnWords = (state: SessionState, turn: number): string => {
  const record = state.turns[turn - 1];
  if (record?.outcome !== undefined && (record.endedSeq ?? 0) <= state.seq) return record.outcome;
  if (state.active?.turn !== turn) return 'queued';
  const { calls } = state.active;
  if (calls.some(({ phase }) => phase === 'in-doubt')) return 'in doubt';
  return calls.some(({ phase }) => phase === 'asking') ? 'waiting' : 'running';
};
