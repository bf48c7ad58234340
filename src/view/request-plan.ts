/**
 * The manifest of a request that was sent, and of the next one as it would be: as the session stands, or after
 * something that nobody has decided yet. Nothing is recorded.
 */
import { badInput, bug } from '../errors.ts';
import type { Encoder } from '../context/encoding.ts';
import { nextRequest } from '../context/next-request.ts';
import { rebuildRequest, type RebuildSource, type WalkedRequest } from '../context/rebuild.ts';
import { RequestBuilder } from '../context/request-builder.ts';
import { sharedPrefix, type SharedPrefix } from '../context/shared-prefix.ts';
import type { Usage } from '../event/content.ts';
import { sha256 } from '../event/canonical.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { EventData, LogEvent, NewFact } from '../event/events.ts';
import { conclude } from '../session/conclude.ts';
import { evolve, initial } from '../session/evolve.ts';
import { next } from '../session/next.ts';
import type { SessionState } from '../session/state.ts';
import { countOf } from './format.ts';
import { manifestOf, type Manifest } from './manifest.ts';

export type SentPlan = {
  readonly number: number;
  readonly seq: number;
  readonly manifest: Manifest;
  /** What it begins with, of the request before; undefined for the first one. */
  readonly shared: SharedPrefix | undefined;
  readonly answer: EventData['response.received'] | undefined;
};

/** `number` counts the session's requests from 1. Throws `request-not-found`. */
export const sentPlan = async (
  session: string,
  events: readonly LogEvent[],
  requests: AsyncIterable<WalkedRequest>,
  number: number,
): Promise<SentPlan> => {
  let [count, last]: [number, WalkedRequest | undefined] = [0, undefined];
  for await (const request of requests) {
    count++;
    if (count === number) {
      const state = events.slice(0, request.seq).reduce(evolve, initial(session));
      return planOf(session, events, { number, request, last, state });
    }
    last = request;
  }
  throw badInput(
    'request-not-found',
    `Session ${session} has no request ${number}. It has ${countOf(count, 'request')}, counted from 1.`,
    { request: number, requests: count },
  );
};

export type Placed = {
  readonly number: number;
  readonly seq: number;
  /** The request before, if there is one. */
  readonly before: number | undefined;
  /** The session when it was built. */
  readonly state: SessionState;
  /** The session before the first event that is at hand; absent: all of them are. */
  readonly start?: SessionState;
  readonly source: RebuildSource;
};

/** The same for one request of a long session: it and the one before are rebuilt, from the events that are at hand. */
export const sentPlanAt = async (
  session: string,
  events: readonly (LogEvent | undefined)[],
  { number, seq, before, state, start, source }: Placed,
): Promise<SentPlan> => {
  const request = await walked(source, seq);
  const last = before === undefined ? undefined : await walked(source, before);
  return planOf(session, events, { number, request, last, state, ...(start && { start }) });
};

const walked = async (source: RebuildSource, seq: number): Promise<WalkedRequest> => {
  const { head, tail, parts } = await rebuildRequest(source, seq);
  const built = source.eventAt(seq);
  const kept = built?.type === 'request.built' ? (built.data.reuse?.parts ?? 0) : 0;
  return { seq, head, tail, parts: parts.map(({ text }) => text), seqs: parts.map((part) => part.seq), kept };
};

type Numbered = {
  readonly number: number;
  readonly request: WalkedRequest;
  readonly last: WalkedRequest | undefined;
  readonly state: SessionState;
  readonly start?: SessionState;
};

const planOf = (
  session: string,
  events: readonly (LogEvent | undefined)[],
  { number, request, last, state, start }: Numbered,
): SentPlan => {
  const { seq } = request;
  const before = events.slice(0, seq - 1);
  const answer = answerOf(events, seq);
  const shared = last && sharedPrefix(last, request, request.kept);
  const built = events[seq - 1];
  const bytes = built?.type === 'request.built' ? built.data.bytes : 0;
  const manifest = manifestOf(
    session,
    before,
    {
      ...request,
      sharedParts: shared && shared.place !== 'head' ? shared.parts : undefined,
      choice: state.choice,
      counted: countedBy(answer?.usage, bytes) ?? state.counted,
      question: built?.type === 'request.built' && built.data.summary !== undefined,
    },
    start,
  );
  return { number, seq, manifest, shared, answer };
};

const countedBy = (usage: Usage | undefined, bytes: number): SessionState['counted'] => {
  const tokens = usage ? usage.cacheRead + usage.cacheWrite + usage.input : 0;
  return tokens > 0 ? { bytes, tokens, answerTokens: usage?.output ?? 0 } : undefined;
};

const answerOf = (events: readonly (LogEvent | undefined)[], seq: number): SentPlan['answer'] => {
  for (const event of events.slice(seq)) {
    if (!event) continue;
    if (event.type === 'response.received') return event.data;
    if (event.type === 'request.built' || event.type === 'turn.ended') return undefined;
  }
  return undefined;
};

export type NextPlan = {
  /** Undefined where it would not be sent. */
  readonly manifest: Manifest | undefined;
  /** Why it would not be sent. */
  readonly refused: EventData['request.refused'] | undefined;
  readonly shared: SharedPrefix | undefined;
  /** Whether a summary is asked for first. */
  readonly summaryFirst: boolean;
  /** Nobody has written its message yet: one of no words stands for it. */
  readonly imagined: boolean;
  readonly state: SessionState;
};

export type PlanOptions = {
  readonly encoderOf: (agent: AgentDefinition) => Encoder | undefined;
  readonly last: WalkedRequest | undefined;
  /** What is supposed to have been decided. */
  readonly facts?: readonly NewFact[];
};

/** Throws `model-unknown` where this build does not have the adapter. */
export const nextPlan = (
  session: string,
  events: readonly LogEvent[],
  { encoderOf, last, facts = [] }: PlanOptions,
): NextPlan => {
  const supposed = new Supposed(session, encoderOf);
  for (const event of events) supposed.push(event);
  for (const fact of facts) supposed.suppose(fact);
  const imagined = supposed.state.active === undefined;
  if (imagined) supposed.suppose(imaginedTurn(supposed.state));
  const { state, builder } = supposed;
  if (!encoderOf(state.agent))
    throw badInput(
      'model-unknown',
      `This build has no adapter for ${state.agent.model.provider}, so that it cannot say what the next request would be.`,
      { provider: state.agent.model.provider },
    );
  const due = next(state).find((work) => work.kind === 'build');
  const turn = state.active?.turn ?? 0;
  const work = { kind: 'build', turn, step: (state.active?.step ?? 0) + 1 } as const;
  const made = nextRequest(builder, state, work);
  const common = { summaryFirst: due?.summary === true, imagined, state };
  if (made.type === 'request.refused')
    return { ...common, manifest: undefined, refused: made.data, shared: undefined };
  const shared = last && sharedPrefix(last, made);
  const choice = made.data.selection ?? state.choice;
  const manifest = manifestOf(session, supposed.events, {
    head: made.head,
    tail: made.tail,
    parts: made.parts,
    seqs: builder.seqs,
    sharedParts: shared && shared.place !== 'head' ? shared.parts : undefined,
    choice,
    counted: state.counted,
    question: false,
  });
  return { ...common, manifest, refused: undefined, shared };
};

/** A turn that nobody has asked for yet. */
const imaginedTurn = ({ turns }: SessionState): NewFact => {
  const turn = turns.length + 1;
  const input = [{ type: 'text', text: '…' }] as const;
  const by = { kind: 'runtime', name: 'plan' } as const;
  return {
    type: 'turn.accepted',
    data: { turn, key: `plan ${turn}`, fingerprint: sha256('plan'), input, by },
  };
};

/** Decisions that may follow from one fact; more means that conclude does not come to rest. */
const DECISIONS_MAX = 10_000;

class Supposed {
  readonly builder: RequestBuilder;
  readonly events: LogEvent[] = [];
  state: SessionState;

  constructor(session: string, encoderOf: PlanOptions['encoderOf']) {
    this.builder = new RequestBuilder(encoderOf);
    this.state = initial(session);
  }

  push(event: LogEvent): void {
    const before = this.state;
    this.state = evolve(before, event);
    this.builder.push(event, before, this.state);
    this.events.push(event);
  }

  suppose(fact: NewFact): void {
    this.push(this.#placed(fact));
    for (let i = 0; i < DECISIONS_MAX; i++) {
      const decision = conclude(this.state);
      if (!decision) return;
      this.push(this.#placed(decision));
    }
    throw bug('conclude comes to rest', { session: this.state.session });
  }

  #placed(event: NewFact | ReturnType<typeof conclude>): LogEvent {
    return { ...event, seq: this.state.seq + 1, at: this.state.lastAt } as LogEvent;
  }
}
