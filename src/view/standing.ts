/** How a session stands at some point of its log: what is open, and what happens next. */
import type { SessionStatus } from '../event/summary.ts';
import { next, type Work } from '../session/next.ts';
import { knownCalls, type CallPhase, type CallState, type SessionState } from '../session/state.ts';
import { statusOf } from '../session/summary.ts';
import { argumentsBrief } from './brief.ts';
import { costWords } from './session-head.ts';

export type StandingCall = {
  readonly call: string;
  readonly tool: string;
  readonly about: string;
  readonly phase: CallPhase;
  readonly words: string;
  readonly attempts: number;
};

export type Standing = {
  readonly status: SessionStatus;
  readonly turns: number;
  /** The turn and step that are under way. */
  readonly turn: number | undefined;
  readonly step: number | undefined;
  /** Turns that wait for it. */
  readonly queue: readonly number[];
  /** Of the step under way, then those that ended turns have left open. */
  readonly calls: readonly StandingCall[];
  readonly cost: string;
  /** In words, in order: "build request 1.2", "start call 1.1.1". Nothing: it rests. */
  readonly next: readonly string[];
};

export const standing = (state: SessionState): Standing => ({
  status: statusOf(state),
  turns: state.turns.length,
  turn: state.active?.turn,
  step: state.active?.step,
  queue: state.queue,
  calls: knownCalls(state).map(standingCall),
  cost: costWords(state.cost, state.costUnknown),
  next: next(state).map(workWords),
});

const PHASES: Readonly<Record<CallPhase, string>> = {
  ready: 'may start',
  'to-ask': 'a person is to be asked',
  asking: 'waits for a person',
  stale: 'is asked about again',
  started: 'runs',
  calling: 'waits for the calls that it made',
  ended: 'ended without a result',
  retrying: 'is tried again',
  'in-doubt': 'in doubt',
  reopened: 'is judged again',
  closed: 'closed',
};

const standingCall = (call: CallState): StandingCall => ({
  call: call.id,
  tool: call.tool,
  about: argumentsBrief(call.args),
  phase: call.phase,
  words: call.closing ? `closed: ${call.closing.kind}` : PHASES[call.phase],
  attempts: call.attempt,
});

const workWords = (work: Work): string => {
  switch (work.kind) {
    case 'build':
      return `build the request of step ${work.turn}.${work.step}`;
    case 'resend':
      return `send the request of step ${work.turn}.${work.step} again, attempt ${work.attempt}`;
    case 'request':
      return `the answer of the model in step ${work.turn}.${work.step}`;
    case 'prepare':
      return `the preview of call ${work.call.id}`;
    case 'start':
      return `start call ${work.call.id}, attempt ${work.attempt}`;
    case 'execute':
      return `the result of call ${work.call.id}`;
    case 'reconcile':
      return `ask ${work.call.tool} what became of call ${work.call.id}`;
    default:
      return work satisfies never;
  }
};
