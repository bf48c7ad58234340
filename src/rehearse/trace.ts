/** What a log did, step by step and call by call: what two runs of one conversation are compared by. */
import { makerOf, type CallId } from '../event/call-id.ts';
import type { Content, Usage } from '../event/content.ts';
import type { ApprovalDecision, LogEvent, TurnOutcome } from '../event/events.ts';
import type { JsonObject } from '../event/json.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { evolve, initial, rawArguments } from '../session/evolve.ts';
import { findCall, knownCalls, type CallState, type Closing, type SessionState } from '../session/state.ts';

export type TracedCall = {
  readonly id: CallId;
  /** Of the event that proposed or rejected it. */
  readonly seq: number;
  readonly tool: string;
  /** Canonical, as the model asked for it; what it wrote where that could not be used. */
  readonly args: string;
  /** What policy made of it: run, ask, or the reason of a rejection. */
  readonly verdict: string;
  readonly preview: JsonObject | undefined;
  /** What a person decided first, if asked. */
  readonly decision: ApprovalDecision | undefined;
  readonly closing: Closing | undefined;
};

export type TracedStep = {
  readonly turn: number;
  readonly step: number;
  /** Of the response. */
  readonly seq: number;
  readonly text: string;
  /** Of the response. */
  readonly calls: readonly TracedCall[];
  /** Those that these have made: they follow from what their makers are run with, not from the model. */
  readonly inner: readonly TracedCall[];
};

export type TracedTurn = {
  readonly turn: number;
  readonly seq: number;
  readonly input: readonly Content[];
  readonly steps: readonly TracedStep[];
  readonly outcome: TurnOutcome | undefined;
  readonly reason: string | undefined;
  /** What the model said last. */
  readonly answer: string;
};

/** What the model's answers took. `cost` is in US dollars; undefined where a part of it is unknown. */
export type Spent = {
  readonly requests: number;
  readonly calls: number;
  readonly cost: number | undefined;
  readonly usage: Usage | undefined;
  readonly modelMs: number;
};

export type Trace = { readonly turns: readonly TracedTurn[]; readonly spent: Spent };

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenStep = Omit<Open<TracedStep>, 'calls' | 'inner'> & {
  readonly calls: Open<TracedCall>[];
  readonly inner: Open<TracedCall>[];
};
type OpenTurn = Omit<Open<TracedTurn>, 'steps'> & { readonly steps: OpenStep[] };

export const traceOf = (session: string, events: Iterable<LogEvent>): Trace => {
  const tracer = new Tracer(session);
  for (const event of events) tracer.push(event);
  return { turns: tracer.turns, spent: tracer.spent };
};

const NO_USAGE: Usage = { cacheRead: 0, cacheWrite: 0, input: 0, output: 0 };

/** Takes a log event by event, so that a run can be traced while it goes on. */
export class Tracer {
  readonly turns: OpenTurn[] = [];
  readonly #calls = new Map<CallId, Open<TracedCall>>();
  #state: SessionState;
  #spent = { requests: 0, calls: 0, cost: 0, costUnknown: false, modelMs: 0 };
  #usage: Usage | undefined;

  constructor(session: string) {
    this.#state = initial(session);
  }

  get state(): SessionState {
    return this.#state;
  }

  get spent(): Spent {
    const { costUnknown, cost, ...rest } = this.#spent;
    return { ...rest, cost: costUnknown ? undefined : cost, usage: this.#usage };
  }

  call(id: CallId): TracedCall | undefined {
    return this.#calls.get(id);
  }

  push(event: LogEvent): void {
    this.#state = evolve(this.#state, event);
    switch (event.type) {
      case 'turn.accepted': {
        const { turn, input } = event.data;
        const open = { steps: [], outcome: undefined, reason: undefined, answer: '' };
        this.turns.push({ turn, seq: event.seq, input, ...open });
        break;
      }
      case 'response.received':
        this.#response(event);
        break;
      case 'call.proposed':
        this.#propose(event.data.call, event.seq, event.data.do);
        break;
      case 'call.rejected':
        this.#propose(event.data.call, event.seq, event.data.reason);
        break;
      case 'call.prepared':
        this.#change(event.data.call, { preview: event.data.preview });
        break;
      case 'approval.decided':
        this.#change(event.data.call, { decision: event.data.decision });
        break;
      case 'turn.ended': {
        const turn = this.turns[event.data.turn - 1];
        if (turn) Object.assign(turn, { outcome: event.data.outcome, reason: event.data.reason });
        break;
      }
      default:
        break;
    }
    for (const { id, closing } of knownCalls(this.#state)) if (closing) this.#change(id, { closing });
  }

  #response({ seq, data }: Extract<LogEvent, { type: 'response.received' }>): void {
    const { turn, step, content, usage, cost, ms } = data;
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
    const of = this.turns[turn - 1];
    of?.steps.push({ turn, step, seq, text, calls: [], inner: [] });
    if (of && text.trim() !== '') of.answer = text;
    this.#spent.requests++;
    this.#spent.modelMs += ms;
    this.#spent.cost += cost ?? 0;
    this.#spent.costUnknown ||= cost === undefined;
    if (!usage) return;
    const sum = this.#usage ?? NO_USAGE;
    this.#usage = {
      cacheRead: sum.cacheRead + usage.cacheRead,
      cacheWrite: sum.cacheWrite + usage.cacheWrite,
      input: sum.input + usage.input,
      output: sum.output + usage.output,
    };
  }

  /** What stands first counts: after an edit a call is proposed again, and may then be rejected. */
  #propose(id: CallId, seq: number, verdict: string): void {
    const call = findCall(this.#state, id);
    if (!call || this.#calls.has(id)) return;
    const traced = { id, seq, tool: call.tool, args: this.#argsOf(call), verdict };
    const open = { preview: undefined, decision: undefined, closing: call.closing };
    this.#calls.set(id, { ...traced, ...open });
    this.#spent.calls++;
    const added = this.#calls.get(id);
    const step = this.turns[(this.#state.active?.turn ?? 0) - 1]?.steps.at(-1);
    if (added) (makerOf(id) === undefined ? step?.calls : step?.inner)?.push(added);
  }

  /** A call that was rejected at once has no arguments of its own: the response has what the model wrote. */
  #argsOf({ args, id }: CallState): string {
    const { active } = this.#state;
    if (args !== '') return args;
    const raw = active ? rawArguments(active, id) : '';
    const decoded = decodeArguments(raw);
    return decoded.ok ? decoded.canonical : raw;
  }

  #change(id: CallId, change: Partial<TracedCall>): void {
    const call = this.#calls.get(id);
    if (call) Object.assign(call, change);
  }
}
