/**
 * next(state) -> work: the only place that says what happens next in the world. Pure: the driver performs the
 * work and appends what came of it. No work and nothing to conclude means that the session rests.
 */
import type { CallId } from '../event/call-id.ts';
import { needsPreparing } from './preparing.ts';
import { isCompactionDue } from './summary-range.ts';
import {
  innerCalls,
  modeOf,
  NO_PAUSE,
  stepCalls,
  toolOf,
  type CallState,
  type Pause,
  type SessionState,
  type TurnState,
} from './state.ts';

export type Work =
  /** Build the request of this step, record it, send it. */
  | {
      readonly kind: 'build';
      readonly turn: number;
      readonly step: number;
      /** Asks for a summary of what was said, before the turn goes on. */
      readonly summary?: true;
    }
  /** Send a recorded request again, not before a moment. */
  | {
      readonly kind: 'resend';
      readonly turn: number;
      readonly step: number;
      readonly attempt: number;
      readonly pause: Pause;
    }
  /** A request is under way. */
  | { readonly kind: 'request'; readonly turn: number; readonly step: number; readonly attempt: number }
  /** Let the tool check the arguments and make its preview. */
  | { readonly kind: 'prepare'; readonly call: CallState }
  /** Record the start of an attempt, then execute it. */
  | { readonly kind: 'start'; readonly call: CallState; readonly attempt: number; readonly pause: Pause }
  /** An attempt is under way. */
  | { readonly kind: 'execute'; readonly call: CallState; readonly attempt: number }
  /** Ask the tool what became of its last attempt. */
  | { readonly kind: 'reconcile'; readonly call: CallState };

/** The last answer: a driver asks several times about one state. */
let last: { readonly state: SessionState; readonly work: readonly Work[] } | undefined;

export const next = (state: SessionState): readonly Work[] => {
  if (last?.state !== state) last = { state, work: workOf(state) };
  return last.work;
};

const workOf = (state: SessionState): readonly Work[] => {
  const turn = state.active;
  if (!turn || state.parked) return [];
  const all = turnWork(state, turn);
  // What has begun ends; nothing is begun.
  return modeOf(state) === 'frozen' ? all.filter((work) => HAS_BEGUN.has(work.kind)) : all;
};

const HAS_BEGUN: ReadonlySet<Work['kind']> = new Set(['request', 'execute', 'reconcile']);

const turnWork = (state: SessionState, turn: TurnState): readonly Work[] => {
  const all: Work[] = [];
  for (const call of stepCalls(turn)) {
    const work = callWork(state, turn, call);
    if (work) all.push(work);
  }
  const request = requestWork(state, turn);
  if (request) all.push(request);
  return all;
};

const requestWork = (state: SessionState, turn: TurnState): Work | undefined => {
  const { request } = turn;
  switch (request?.phase) {
    case undefined:
      return turn.cancel ? undefined : buildWork(state, turn);
    case 'open':
      return { kind: 'request', turn: turn.turn, step: request.step, attempt: request.attempt };
    case 'waiting':
      return {
        kind: 'resend',
        turn: turn.turn,
        step: request.step,
        attempt: request.attempt,
        pause: request.pause,
      };
    case 'answered': {
      const proposed = turn.calls.length === turn.response?.calls.length;
      const done = proposed && stepCalls(turn).every((call) => call.phase === 'closed');
      return done && !turn.cancel ? buildWork(state, turn) : undefined;
    }
    case 'summarised':
      return turn.cancel ? undefined : buildWork(state, turn);
    default:
      return undefined;
  }
};

const buildWork = (state: SessionState, turn: TurnState): Work => {
  const summary = isCompactionDue(state, turn) && { summary: true as const };
  return { kind: 'build', turn: turn.turn, step: turn.step + 1, ...summary };
};

const callWork = (state: SessionState, turn: TurnState, call: CallState): Work | undefined => {
  switch (call.phase) {
    case 'to-ask':
      return needsPreparing(state, call) ? { kind: 'prepare', call } : undefined;
    case 'ready':
    case 'retrying':
      if (needsPreparing(state, call)) return { kind: 'prepare', call };
      return { kind: 'start', call, attempt: call.attempt + 1, pause: call.pause };
    case 'calling':
      return isAnswered(turn, call)
        ? { kind: 'start', call, attempt: call.attempt + 1, pause: NO_PAUSE }
        : undefined;
    case 'started':
      return { kind: 'execute', call, attempt: call.attempt };
    case 'ended':
      return asksTool(state, call) ? { kind: 'reconcile', call } : undefined;
    default:
      return undefined;
  }
};

/** Whether all calls that it made are closed, so that it can go on. */
const isAnswered = (turn: TurnState, { id, asked }: CallState): boolean => {
  const made = innerCalls(turn, id);
  return made.length === asked.length && made.every(({ phase }) => phase === 'closed');
};

const asksTool = (state: SessionState, call: CallState): boolean =>
  toolOf(state.agent, call.tool)?.effect === 'reconcilable' &&
  (call.outcome?.kind === 'lost' || call.outcome?.kind === 'unknown');

/** A name for one piece of work, by which a driver knows what it has in hand. */
export const workName = (work: Work): string => {
  switch (work.kind) {
    case 'build':
      return `build ${work.turn}.${work.step}`;
    case 'resend':
    case 'request':
      return `request ${work.turn}.${work.step}#${work.attempt}`;
    case 'prepare':
      return `prepare ${work.call.id}/${work.call.round}${work.call.prepared ? ' again' : ''}`;
    case 'start':
    case 'execute':
      return `attempt ${work.call.id}#${work.attempt}`;
    case 'reconcile':
      return `reconcile ${work.call.id}#${work.call.attempt}`;
    default:
      return work satisfies never;
  }
};

/** Whether two works have one name: of one attempt, its start and its execution are the same piece of work. */
export const isSameWork = (one: Work, other: Work): boolean => {
  switch (one.kind) {
    case 'build':
      return other.kind === 'build' && one.turn === other.turn && one.step === other.step;
    case 'resend':
    case 'request':
      return (
        (other.kind === 'resend' || other.kind === 'request') &&
        one.turn === other.turn &&
        one.step === other.step &&
        one.attempt === other.attempt
      );
    case 'start':
    case 'execute':
      return (
        (other.kind === 'start' || other.kind === 'execute') &&
        one.attempt === other.attempt &&
        one.call.id === other.call.id
      );
    case 'prepare':
      return (
        other.kind === 'prepare' &&
        one.call.id === other.call.id &&
        one.call.round === other.call.round &&
        !one.call.prepared === !other.call.prepared
      );
    case 'reconcile':
      return (
        other.kind === 'reconcile' && one.call.id === other.call.id && one.call.attempt === other.call.attempt
      );
    default:
      return one satisfies never;
  }
};

export type PlannedWork = Extract<Work, { pause: Pause }>;

/** Whether it is to begin, now or at a moment of its own. */
export const isPlanned = (work: Work): work is PlannedWork => work.kind === 'resend' || work.kind === 'start';

/** Whether it was begun in the world and has no result in the log. A driver that did not begin it has to say so first. */
export const isInFlight = ({ kind }: Work): boolean => kind === 'request' || kind === 'execute';

export const inFlight = (state: SessionState): readonly Work[] => next(state).filter(isInFlight);

export type Waiting = { readonly approvals: readonly CallId[]; readonly inDoubt: readonly CallId[] };

export const waiting = (state: SessionState): Waiting => {
  const active = state.active ? stepCalls(state.active) : [];
  const inDoubt = [...state.leftOpen, ...active].filter((call) => call.phase === 'in-doubt');
  return {
    approvals: active.filter((call) => call.phase === 'asking').map((call) => call.id),
    inDoubt: inDoubt.map((call) => call.id),
  };
};
