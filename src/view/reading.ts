/**
 * A session as readers know it, folded event by event: the state, and beside it what the views need of closed
 * history (requests, calls, places of events). One pass, whatever is shown afterwards.
 */
import { callPosition, type CallId } from '../event/call-id.ts';
import type { Usage } from '../event/content.ts';
import type { EventData, LogEvent, PartTemplate } from '../event/events.ts';
import { expandTemplate } from '../context/template.ts';
import { evolve, initial, rawArguments } from '../session/evolve.ts';
import { inFlight } from '../session/next.ts';
import { findCall, type CallState, type SessionState } from '../session/state.ts';

export type RequestReading = {
  /** Counted from 1 over the session. */
  readonly number: number;
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly at: number;
  readonly parts: number;
  readonly bytes: number;
  /** Bytes that the request before did not have; all of them where nothing is shared. */
  readonly newBytes: number;
  /** Whether what stands before the conversation (instructions, tools, model) is another than before. */
  readonly newFrame: boolean;
  /** Whether it asks for a summary of what was said. */
  readonly summary: boolean;
  /** The response, once it is there. */
  readonly answer: { readonly seq: number; readonly usage: Usage | undefined } | undefined;
};

export type CallReading = {
  readonly id: CallId;
  readonly tool: string;
  /** Canonical arguments as they stand; what the model wrote where they could not be used. */
  readonly args: string;
  /** What the preview says it acts on, or its heading. */
  readonly about: string | undefined;
  readonly started: { readonly seq: number; readonly at: number } | undefined;
  readonly asked: { readonly seq: number; readonly at: number } | undefined;
  readonly rule: string;
  readonly attempt: number;
  /** How the last attempt ended, if it did. */
  readonly ended: 'ok' | 'failed' | 'unknown' | 'suspended' | undefined;
};

export type Place = { readonly turn: number; readonly step: number };

/** What a reading has to know to go on behind an event without those before it. */
export type Bookmark = {
  readonly state: SessionState;
  readonly place: Place;
  readonly requests: number;
  readonly request: RequestReading | undefined;
  /** Calls of the turn that runs, and those that earlier turns left open. */
  readonly calls: ReadonlyMap<CallId, CallReading>;
  readonly costs: ReadonlyMap<number, { readonly cost: number; readonly unknown: boolean }>;
  readonly usage: Usage | undefined;
};

export type ReadingOptions = {
  /** Goes on behind this place: events before it are not at hand. */
  readonly from?: Bookmark;
  /** What the lines are told from, where it is not the last event that was read: a call may be closed by then. */
  readonly standing?: SessionState;
  /** The session's requests, where they are known beyond what is read. */
  readonly requests?: readonly RequestReading[];
};

export class Reading {
  readonly events: LogEvent[] = [];
  readonly requests: RequestReading[] = [];
  readonly calls: Map<CallId, CallReading> = new Map();
  /** US dollars by turn, as far as known, and whether some of it is not. */
  readonly costs: Map<number, { readonly cost: number; readonly unknown: boolean }> = new Map();
  /** What was under way when a process was lost, by the event that says so. */
  readonly lost: Map<number, readonly string[]> = new Map();
  usage: Usage | undefined;
  #state: SessionState;
  readonly #standing: SessionState | undefined;
  readonly #known: ReadonlyMap<number, RequestReading>;
  readonly #places: Place[] = [];
  readonly #requestBySeq = new Map<number, RequestReading>();
  readonly #requestByStep = new Map<string, number>();

  constructor(session: string, events: Iterable<LogEvent> = [], options: ReadingOptions = {}) {
    const { from, standing, requests = [] } = options;
    this.#state = from?.state ?? initial(session);
    this.#standing = standing;
    this.#known = new Map(requests.map((request) => [request.seq, request]));
    if (from) this.#goOn(from);
    for (const event of events) this.push(event);
  }

  #goOn({ state, place, requests, request, calls, costs, usage }: Bookmark): void {
    // Holes, so that every event, place and request stands at its number.
    this.events.length = state.seq;
    this.#places.length = state.seq;
    if (state.seq > 0) this.#places[state.seq - 1] = place;
    this.requests.length = requests;
    if (request) {
      this.requests[requests - 1] = request;
      this.#requestBySeq.set(request.seq, request);
      this.#requestByStep.set(`${request.turn}.${request.step}`, request.seq);
    }
    for (const [id, call] of calls) this.calls.set(id, call);
    for (const [turn, cost] of costs) this.costs.set(turn, cost);
    this.usage = usage;
  }

  /** From where another reading can go on. */
  bookmark(): Bookmark {
    const { active, leftOpen } = this.#state;
    const open = [...this.calls].filter(
      ([id]) => callPosition(id).turn === active?.turn || leftOpen.some((call) => call.id === id),
    );
    const cost = active && this.costs.get(active.turn);
    return {
      state: this.#state,
      place: this.placeOf(this.#state.seq),
      requests: this.requests.length,
      request: this.requests.at(-1),
      calls: new Map(open),
      costs: new Map(active && cost ? [[active.turn, cost]] : []),
      usage: this.usage,
    };
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The turn and step that were under way at an event; turn 0 before the first. */
  placeOf(seq: number): Place {
    return this.#places[seq - 1] ?? { turn: 0, step: 0 };
  }

  requestAt(seq: number): RequestReading | undefined {
    return this.#known.get(seq) ?? this.#requestBySeq.get(seq);
  }

  /** The request of a step that was built last. */
  requestOf(turn: number, step: number): RequestReading | undefined {
    const seq = this.#requestByStep.get(`${turn}.${step}`);
    return seq === undefined ? undefined : this.requestAt(seq);
  }

  call(id: CallId): CallReading {
    return this.calls.get(id) ?? { ...NO_CALL, id };
  }

  /** The call where it still is of interest: in the active step, or left open by an ended turn. */
  openCall(id: CallId): CallState | undefined {
    const call = findCall(this.#standing ?? this.#state, id);
    return call?.phase === 'closed' ? undefined : call;
  }

  push(event: LogEvent): void {
    const before = this.#state;
    this.#state = evolve(before, event);
    this.events.push(event);
    const active = this.#state.active ?? before.active;
    const turn = before.active?.turn ?? this.#state.active?.turn ?? this.#places.at(-1)?.turn ?? 0;
    const step = active?.turn === turn ? active.step : (before.active?.step ?? 0);
    this.#places.push({ turn, step });
    if (event.type === 'driver.changed') this.lost.set(event.seq, this.#underWay(before));
    // A request that was under way may have been paid for.
    if (event.type === 'driver.changed' && before.active?.request?.phase === 'open')
      this.#spend(before.active.turn, undefined);
    this.#count(event);
  }

  #underWay(state: SessionState): readonly string[] {
    return inFlight(state).map((work) => {
      if (work.kind === 'execute') return `${work.call.tool} ${work.call.id}`;
      return `request ${this.requests.length}`;
    });
  }

  #count(event: LogEvent): void {
    switch (event.type) {
      case 'session.forked':
        // What the past has taken is counted in the parent.
        this.usage = undefined;
        return;
      case 'request.built':
        return this.#request(event.seq, event.at, event.data);
      case 'response.received':
        return this.#answered(event.seq, event.data);
      case 'request.failed':
        this.#spend(event.data.turn, event.data.cost ?? (event.data.maybeBilled ? undefined : 0));
        if (event.data.usage) this.#use(event.data.usage);
        return;
      case 'call.proposed':
        return this.#proposed(event.data);
      case 'call.rejected':
        if (!this.calls.has(event.data.call)) this.#rejected(event.data);
        return;
      case 'call.prepared':
        return this.#change(event.data.call, { about: aboutOf(event.data.preview) });
      case 'approval.requested':
        return this.#change(event.data.call, { asked: { seq: event.seq, at: event.at } });
      case 'call.started':
        return this.#change(event.data.call, {
          started: { seq: event.seq, at: event.at },
          attempt: event.data.attempt,
          ended: undefined,
        });
      case 'call.suspended':
        return this.#change(event.data.call, { ended: 'suspended' });
      case 'call.result':
        return this.#change(event.data.call, { ended: event.data.outcome.kind });
      case 'approval.decided': {
        const { call, decision } = event.data;
        if (decision.do === 'edit') this.#change(call, { args: decision.args, about: undefined });
        return;
      }
      default:
        return;
    }
  }

  #request(seq: number, at: number, data: EventData['request.built']): void {
    const last = data.reuse && this.#requestBySeq.get(data.reuse.request);
    const shared = !data.frame && last && data.reuse?.parts === last.parts;
    const request: RequestReading = {
      number: this.requests.length + 1,
      seq,
      turn: data.turn,
      step: data.step,
      at,
      parts: (data.reuse?.parts ?? 0) + data.parts.length,
      bytes: data.bytes,
      newBytes: shared ? data.bytes - last.bytes : this.#newBytes(data),
      newFrame: data.frame !== undefined,
      summary: data.summary !== undefined,
      answer: undefined,
    };
    this.requests.push(request);
    this.#requestBySeq.set(seq, request);
    this.#requestByStep.set(`${data.turn}.${data.step}`, seq);
  }

  /** Where not all of the request before is shared: what was made anew, with its commas. */
  #newBytes({ frame, parts, bytes }: EventData['request.built']): number {
    if (frame || !parts.every((part) => this.#isAtHand(part))) return bytes;
    const eventAt = (seq: number): LogEvent | undefined => this.events[seq - 1];
    return parts.reduce((sum, part) => sum + Buffer.byteLength(expandTemplate(part.pieces, eventAt)) + 1, 0);
  }

  /** Behind a bookmark, what a part is made of may stand before it. Then all of the request counts as new. */
  #isAtHand({ pieces }: PartTemplate): boolean {
    return pieces.every((piece) => typeof piece === 'string' || this.events[piece[0] - 1] !== undefined);
  }

  #answered(seq: number, data: EventData['response.received']): void {
    const last = this.requests.at(-1);
    if (last) {
      const request = { ...last, answer: { seq, usage: data.usage } };
      this.requests[this.requests.length - 1] = request;
      this.#requestBySeq.set(request.seq, request);
    }
    this.#spend(data.turn, data.cost);
    if (data.usage) this.#use(data.usage);
  }

  #spend(turn: number, cost: number | undefined): void {
    const known = this.costs.get(turn) ?? { cost: 0, unknown: false };
    this.costs.set(turn, { cost: known.cost + (cost ?? 0), unknown: known.unknown || cost === undefined });
  }

  #use(usage: Usage): void {
    const sum = this.usage ?? { cacheRead: 0, cacheWrite: 0, input: 0, output: 0 };
    this.usage = {
      cacheRead: sum.cacheRead + usage.cacheRead,
      cacheWrite: sum.cacheWrite + usage.cacheWrite,
      input: sum.input + usage.input,
      output: sum.output + usage.output,
    };
  }

  #proposed({ call, tool, rule }: EventData['call.proposed']): void {
    const args = findCall(this.#state, call)?.args ?? '';
    this.calls.set(call, {
      ...NO_CALL,
      ...this.calls.get(call),
      id: call,
      tool,
      rule,
      args,
      about: undefined,
    });
  }

  /** A call that was refused before it was proposed has only what the model wrote. */
  #rejected({ call, tool }: EventData['call.rejected']): void {
    const { active } = this.#state;
    const args = active ? rawArguments(active, call) : '';
    this.calls.set(call, { ...NO_CALL, id: call, tool, args });
  }

  #change(id: CallId, change: Partial<CallReading>): void {
    this.calls.set(id, { ...this.call(id), ...change });
  }
}

const NO_CALL: CallReading = {
  id: '0.0.0',
  tool: '',
  args: '',
  about: undefined,
  started: undefined,
  asked: undefined,
  rule: '',
  attempt: 0,
  ended: undefined,
};

const aboutOf = ({ title, target }: EventData['call.prepared']['preview']): string | undefined => {
  if (typeof target === 'string' && target !== '') return target;
  return typeof title === 'string' ? title : undefined;
};

/** Tokens of a request as the provider counted them. */
export const tokensIn = (usage: Usage): number => usage.cacheRead + usage.cacheWrite + usage.input;

/** The part of all input that came from the cache; undefined where nothing is known. */
export const cacheShare = (usage: Usage | undefined): number | undefined =>
  usage && tokensIn(usage) > 0 ? usage.cacheRead / tokensIn(usage) : undefined;
