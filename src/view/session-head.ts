/** What stands above a session and its turns: title, state, size, cost. */
import type { SessionStatus } from '../event/summary.ts';
import type { TurnOutcome } from '../event/events.ts';
import { waiting } from '../session/next.ts';
import { statusOf } from '../session/summary.ts';
import type { Mark } from './event-line.ts';
import { countOf, formatCost, formatShare } from './format.ts';
import { cacheShare, type Reading } from './reading.ts';

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  'in-doubt': 'in doubt',
  waiting: 'waiting for a person',
  failed: 'failed',
  running: 'running',
  idle: 'idle',
  cancelled: 'cancelled',
  done: 'done',
};

export const STATUS_MARKS: Readonly<Record<SessionStatus, Mark>> = {
  'in-doubt': 'doubt',
  waiting: 'wait',
  failed: 'fail',
  running: 'run',
  idle: 'decision',
  cancelled: 'cancelled',
  done: 'ok',
};

export type SessionHead = {
  readonly session: string;
  readonly title: string;
  readonly agent: string;
  readonly status: SessionStatus;
  readonly events: number;
  /** In words: "$0.1589", "unknown", "$0.0120 and an unknown part". */
  readonly cost: string;
  /** 0 to 1; undefined where no provider said anything. */
  readonly cacheShare: number | undefined;
  readonly waiting: number;
  readonly inDoubt: number;
};

export const costWords = (cost: number, unknown: boolean): string => {
  if (!unknown) return formatCost(cost);
  return cost > 0 ? `${formatCost(cost)} and an unknown part` : formatCost(undefined);
};

export const sessionHead = (reading: Reading): SessionHead => {
  const { state } = reading;
  const { approvals, inDoubt } = waiting(state);
  return {
    session: state.session,
    title: state.title,
    agent: state.agent.name,
    status: statusOf(state),
    events: state.seq,
    cost: costWords(state.cost, state.costUnknown),
    cacheShare: cacheShare(reading.usage),
    waiting: approvals.length,
    inDoubt: inDoubt.length,
  };
};

/** `19 events, $0.0411, 45 % of input from cache` */
export const totalsText = (head: SessionHead): string => {
  const cost = head.cost === 'unknown' ? 'cost unknown' : head.cost;
  const cache = head.cacheShare === undefined ? [] : [`${formatShare(head.cacheShare)} of input from cache`];
  return [countOf(head.events, 'event'), cost, ...cache].join(', ');
};

export type TurnHead = {
  readonly turn: number;
  /** The first event and the last one so far. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  /** "waiting", "running", "queued" or how it ended. */
  readonly state: 'in doubt' | 'waiting' | 'running' | 'queued' | 'withdrawn' | TurnOutcome;
  readonly cost: string;
};

export const turnHead = (reading: Reading, turn: number): TurnHead | undefined => {
  const { state, events, costs } = reading;
  const record = state.turns[turn - 1];
  if (!record) return undefined;
  const cost = costs.get(turn);
  return {
    turn,
    from: record.seq,
    to: record.endedSeq ?? state.seq,
    at: events[record.seq - 1]?.at ?? 0,
    state: turnState(reading, turn),
    cost: cost ? costWords(cost.cost, cost.unknown) : '',
  };
};

const turnState = ({ state }: Reading, turn: number): TurnHead['state'] => {
  const outcome = state.turns[turn - 1]?.outcome;
  if (outcome) return outcome;
  if (state.active?.turn !== turn) return 'queued';
  const { calls } = state.active;
  if (calls.some((call) => call.phase === 'in-doubt')) return 'in doubt';
  return calls.some((call) => call.phase === 'asking') ? 'waiting' : 'running';
};
