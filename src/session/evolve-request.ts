/** What an event about a model request means: it is built, refused, sent, fails, is planned again, is answered. */
import type { EventData, LogEvent } from '../event/events.ts';
import { isSigned } from '../event/signed.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { pauseUntil } from './evolve-call.ts';
import { countedBy, responseOf, summaryReceived } from './evolve-context.ts';
import {
  NO_PAUSE,
  twin,
  type CallState,
  type RequestState,
  type ResponseState,
  type SessionState,
  type TurnState,
} from './state.ts';
import { inRequest, inTurn, spent } from './within.ts';

export type RequestEvent = Extract<
  LogEvent,
  {
    type:
      | 'request.built'
      | 'request.failed'
      | 'request.refused'
      | 'request.retry'
      | 'request.sent'
      | 'response.received';
  }
>;

export const evolveRequest = (state: SessionState, event: RequestEvent): SessionState => {
  switch (event.type) {
    case 'request.built':
      return requestBuilt(state, event.seq, event.data);
    case 'request.failed':
      return requestFailed(state, event.data);
    case 'request.refused':
      return requestRefused(state, event.seq, event.data);
    case 'request.retry':
      return inRequest(state, event.data.turn, (request) => ({
        ...request,
        phase: 'waiting',
        attempt: event.data.attempt,
        pause: pauseUntil(event.data.notBefore, event.at),
        problem: undefined,
      }));
    case 'request.sent':
      return inRequest(state, event.data.turn, (request) => ({ ...request, phase: 'open' }));
    case 'response.received':
      return responded(state, event.seq, event.data);
    default:
      return event satisfies never;
  }
};

const newRequest = (seq: number, step: number): RequestState => ({
  seq,
  step,
  phase: 'open',
  attempt: 1,
  pause: NO_PAUSE,
  bytes: 0,
  summary: undefined,
  problem: undefined,
  refusal: undefined,
  seen: [],
});

const requestBuilt = (state: SessionState, seq: number, data: EventData['request.built']): SessionState => ({
  ...inTurn(state, data.turn, (turn) => ({
    ...turn,
    step: data.step,
    invalidInARow: invalidSteps(turn),
    // A request for a summary answers nobody.
    steered: data.summary ? turn.steered : false,
    callsMs: 0,
    request: { ...newRequest(seq, data.step), bytes: data.bytes, summary: data.summary, seen: state.seen },
    response: undefined,
    calls: [],
    inner: [],
  })),
  lastRequest: seq,
  choice: data.selection ?? state.choice,
});

const requestRefused = (
  state: SessionState,
  seq: number,
  { turn, step, outcome, code, message }: EventData['request.refused'],
): SessionState =>
  inTurn(state, turn, (active) => ({
    ...active,
    request: { ...newRequest(seq, step), phase: 'refused', refusal: { outcome, code, message } },
  }));

const requestFailed = (state: SessionState, data: EventData['request.failed']): SessionState => {
  const { turn, problem, cost, maybeBilled } = data;
  const failed = inRequest(state, turn, (request) => ({ ...request, phase: 'failed', problem }));
  return {
    ...spent(failed, turn, cost ?? (maybeBilled ? undefined : 0)),
    modelReplies: state.modelReplies + 1,
  };
};

/** Steps in a row, this one included, none of whose calls could be used. */
export const invalidSteps = (turn: TurnState): number => {
  const mistaken = turn.calls.length > 0 && turn.calls.every(isMistake);
  return mistaken ? turn.invalidInARow + 1 : 0;
};

/** A denial is an answer of the policy, not a mistake of the model. */
const isMistake = ({ closing, attempt, round }: CallState): boolean =>
  closing?.kind === 'rejected' && closing.reason !== 'denied-by-policy' && attempt === 0 && round === 0;

const responded = (state: SessionState, seq: number, data: EventData['response.received']): SessionState => {
  if (state.active?.request?.summary) return summaryReceived(state, seq, data);
  const response = responseOf(seq, data);
  const answered = inRequest(state, data.turn, (request) => ({ ...request, phase: 'answered' }));
  const replied = inTurn(answered, data.turn, (turn) => {
    const signature = signatureOf(response);
    const same = signature !== '' && signature === turn.signature;
    return { ...turn, response, signature, repeats: same ? turn.repeats + 1 : 1 };
  });
  return {
    ...spent(replied, data.turn, data.cost),
    modelReplies: state.modelReplies + 1,
    signedTurn: data.content.some(isSigned) ? data.turn : state.signedTurn,
    counted: countedBy(state, data),
  };
};

/** The step's calls as one text, order aside: by it a step that repeats the last one is known. */
const signatureOf = (response: ResponseState): string =>
  response.calls
    .map(({ name, args }) => {
      const decoded = decodeArguments(args);
      return twin(name, decoded.ok ? decoded.canonical : args);
    })
    .sort()
    .join('\n');
