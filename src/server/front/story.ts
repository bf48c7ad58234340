/**
 * A run, told from the log and the pieces of the model's text: a pure fold over frames. It holds what `evolve` makes
 * of the log and what was told already, and nothing else; read again from the log, a run is told the same.
 */
import { callPosition } from '../../event/call-id.ts';
import type { Usage } from '../../event/content.ts';
import type { LogEvent } from '../../event/events.ts';
import { resultText } from '../../context/result-text.ts';
import { evolve, initial } from '../../session/evolve.ts';
import {
  findCall,
  innerCalls,
  stepCalls,
  type CallState,
  type SessionState,
  type TurnState,
} from '../../session/state.ts';
import type { Frame } from '../frames.ts';
import { doubtId, questionId } from './answer-id.ts';
import type { Beat, DoubtfulCall, Needs, Question } from './beat.ts';
import { Speech } from './speech.ts';

export type RunPlace = {
  readonly session: string;
  /** The event that the run begins with: its message, or the first answer that it brings. */
  readonly begins: (event: LogEvent) => boolean;
  /** Questions and doubts that the run itself answers: it does not rest on one of them. */
  readonly answers?: ReadonlySet<string>;
  /** Where the turn rested before this event, it has gone on since. Absent: the run ends where the turn first rests. */
  readonly restsFrom?: number;
  /** The log's head when pieces of text began to be heard: requests sent after it are heard whole. */
  readonly heardFrom: number;
};

type Built = Extract<LogEvent, { type: 'request.built' }>['data'];

const NO_USAGE: Usage = { cacheRead: 0, cacheWrite: 0, input: 0, output: 0 };

export class Story {
  readonly #place: RunPlace;
  readonly #speech: Speech;
  readonly #told = new Set<string>();
  #state: SessionState;
  #turn = 0;
  #step = 0;
  #usage = NO_USAGE;
  #stop: Extract<Beat, { kind: 'end' }>['stop'];

  constructor(place: RunPlace) {
    this.#place = place;
    this.#state = initial(place.session);
    this.#speech = new Speech(place.session);
  }

  /** What the frame tells. After a beat `rest`, `end` or `cut` nothing more is told. */
  take(frame: Frame): readonly Beat[] {
    switch (frame.kind) {
      case 'event':
        return this.#event(frame.event);
      case 'delta':
        return this.#turn === 0 || frame.delta.turn === this.#turn ? this.#speech.delta(frame.delta) : [];
      case 'heartbeat':
        return [{ kind: 'alive' }];
      case 'end':
        return [{ kind: 'cut' }];
      default:
        return frame satisfies never;
    }
  }

  #event(event: LogEvent): readonly Beat[] {
    const before = this.#state;
    this.#state = evolve(before, event);
    const begins = this.#turn === 0 && this.#place.begins(event);
    if (begins) this.#turn = turnOf(event);
    if (this.#turn === 0) {
      // What was told of this turn in an earlier run is not told again; a new request has new calls.
      if (event.type === 'request.built') this.#told.clear();
      for (const { key } of this.#standing()) this.#told.add(key);
      return [];
    }
    const beats: Beat[] = begins ? [this.#begin(event, before)] : [];
    beats.push(...this.#said(event, before));
    for (const { key, beat } of this.#standing())
      if (!this.#told.has(key)) {
        this.#told.add(key);
        beats.push(beat);
      }
    return [...beats, ...this.#last(event)];
  }

  #begin({ seq, at, type }: LogEvent, before: SessionState): Beat {
    // Answers go on in a step that an earlier run has told the beginning of.
    this.#step = before.active?.turn === this.#turn ? before.active.step : 0;
    return {
      kind: 'begin',
      session: this.#place.session,
      turn: this.#turn,
      seq,
      at,
      steered: type === 'turn.steered',
    };
  }

  #said(event: LogEvent, before: SessionState): readonly Beat[] {
    if (event.type === 'approval.decided') return decisionBeats(event, before, this.#state);
    if (!('turn' in event.data) || event.data.turn !== this.#turn) return [];
    if (before.active?.request?.summary !== undefined && event.type !== 'request.built')
      return this.#summary(event);
    switch (event.type) {
      case 'request.built':
        return event.data.summary ? [] : this.#built(event.data, event.seq);
      case 'request.sent':
        return this.#speech.sent(event.data, this.#isHeard(event.seq));
      case 'request.failed':
        return this.#speech.failed();
      case 'response.received':
        this.#usage = added(this.#usage, event.data.usage);
        return this.#speech.received(event.data, event.data.content);
      case 'request.retry':
        // A process was lost: nothing said that its attempt failed.
        return this.#speech.failed();
      default:
        return [];
    }
  }

  /** What a model writes for its own later requests is no part of what it says. */
  #summary(event: LogEvent): readonly Beat[] {
    if (event.type === 'response.received') this.#usage = added(this.#usage, event.data.usage);
    if (event.type === 'response.received' || event.type === 'request.failed') this.#speech.failed();
    return [];
  }

  /** A request is built to be sent at once; only further attempts have a word of their own. */
  #built({ turn, step }: Built, seq: number): readonly Beat[] {
    return [...this.#stepTo(step), ...this.#speech.sent({ turn, step, attempt: 1 }, this.#isHeard(seq))];
  }

  #isHeard(seq: number): boolean {
    return seq > this.#place.heardFrom;
  }

  #stepTo(step: number): readonly Beat[] {
    if (step === this.#step) return [];
    const beats = [...this.#stepEnd(), { kind: 'step' as const, step }];
    this.#step = step;
    this.#told.add(`step ${step}`);
    return beats;
  }

  #stepEnd(): readonly Beat[] {
    return this.#told.has(`step ${this.#step}`) ? [{ kind: 'step-end', step: this.#step }] : [];
  }

  /** What stands in the turn now, each thing under a name by which it is told once. */
  *#standing(): Generator<{ readonly key: string; readonly beat: Beat }> {
    const { active } = this.#state;
    if (!active || (this.#turn !== 0 && active.turn !== this.#turn)) return;
    for (const call of stepCalls(active)) {
      const text = this.#speech.text;
      yield { key: `call ${call.id}`, beat: { kind: 'call', call, text } };
      const question = questionOf(call);
      if (question) yield { key: `question ${question.id}`, beat: { kind: 'question', question } };
      const doubt = doubtOf(call);
      if (doubt) yield { key: `doubt ${doubt.id}`, beat: { kind: 'doubt', doubt } };
      if (call.phase === 'closed')
        yield {
          key: `result ${call.id}`,
          beat: { kind: 'result', call, ...resultText(call, innerCalls(active, call.id)) },
        };
    }
  }

  #last(event: LogEvent): readonly Beat[] {
    const { at } = event;
    const usage = this.#usage;
    if (event.type === 'turn.withdrawn' && event.data.turn === this.#turn) {
      const { reason } = event.data;
      return [{ kind: 'end', outcome: 'withdrawn', reason, message: undefined, stop: undefined, usage, at }];
    }
    if (event.type === 'turn.ended' && event.data.turn === this.#turn) {
      const { outcome, reason, message } = event.data;
      const stop = this.#stop;
      return [...this.#stepEnd(), { kind: 'end', outcome, reason, message, stop, usage, at }];
    }
    this.#stop = this.#state.active?.response?.stop ?? this.#stop;
    const needs = event.seq >= (this.#place.restsFrom ?? 0) ? this.#needs() : undefined;
    return needs ? [...this.#stepEnd(), { kind: 'rest', needs, usage, at }] : [];
  }

  /** What people have to answer, where nothing goes on without them. */
  #needs(): Needs | undefined {
    const { active } = this.#state;
    if (active?.turn !== this.#turn) return undefined;
    const needs = needsOf(active);
    const own = this.#place.answers;
    return needs && [...needs.questions, ...needs.doubts].some(({ id }) => own?.has(id)) ? undefined : needs;
  }
}

/** What people have to answer before the turn goes on; undefined while something of it can still go on. */
export const needsOf = (turn: TurnState): Needs | undefined => {
  // A call that waits for its own calls has nothing to ask: they have.
  const open = stepCalls(turn).filter(({ phase }) => phase !== 'closed' && phase !== 'calling');
  if (turn.cancel || open.length === 0 || turn.response?.calls.length !== turn.calls.length) return undefined;
  if (open.some(({ phase }) => phase !== 'asking' && phase !== 'in-doubt')) return undefined;
  return {
    questions: open.flatMap((call) => questionOf(call) ?? []),
    doubts: open.flatMap((call) => doubtOf(call) ?? []),
  };
};

const questionOf = (call: CallState): Question | undefined => {
  const { id, phase, digest } = call;
  return phase === 'asking' && digest ? { id: questionId(id, digest), call, digest } : undefined;
};

const doubtOf = (call: CallState): DoubtfulCall | undefined =>
  call.phase === 'in-doubt' ? { id: doubtId(call), call } : undefined;

export const turnOf = ({ data }: LogEvent): number => {
  if ('turn' in data) return data.turn;
  return 'call' in data ? callPosition(data.call).turn : 0;
};

const decisionBeats = (
  { data }: Extract<LogEvent, { type: 'approval.decided' }>,
  before: SessionState,
  after: SessionState,
): readonly Beat[] => {
  const call = findCall(after, data.call);
  if (!call || findCall(before, data.call)?.phase !== 'asking') return [];
  const { decision, digest } = data;
  const approved = decision.do === 'approve' || decision.do === 'edit';
  const reason = decision.do === 'reject' ? decision.reason : undefined;
  return [{ kind: 'decision', id: questionId(data.call, digest), call, approved, reason }];
};

const added = (sum: Usage, usage: Usage | undefined): Usage =>
  usage
    ? {
        cacheRead: sum.cacheRead + usage.cacheRead,
        cacheWrite: sum.cacheWrite + usage.cacheWrite,
        input: sum.input + usage.input,
        output: sum.output + usage.output,
      }
    : sum;
