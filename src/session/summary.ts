/** A session in one line, for lists. */
import type { SessionStatus, SessionSummary } from '../event/summary.ts';
import type { SessionState } from './state.ts';
import { conclude } from './conclude.ts';
import { next, waiting, type Waiting } from './next.ts';
import { untold } from './notices.ts';
import { wakeAtOf } from './deadlines.ts';

/** The most urgent thing first: what a person can act on, then what went wrong, then the rest. */
export const statusOf = (
  state: SessionState,
  { approvals, inDoubt }: Waiting = waiting(state),
): SessionStatus => {
  if (inDoubt.length > 0) return 'in-doubt';
  if (approvals.length > 0) return 'waiting';
  if (state.active) return 'running';
  switch (state.turns.findLast(({ outcome }) => outcome !== 'withdrawn')?.outcome) {
    case undefined:
      return 'idle';
    case 'done':
      return 'done';
    case 'cancelled':
      return 'cancelled';
    default:
      return 'failed';
  }
};

/**
 * Whether a session can go on without anybody's answer. What only the store's gate holds can: it goes on by itself
 * as soon as the gate is open.
 */
export const canGoOn = (state: SessionState): boolean => !state.parked && goesOn(state);

const goesOn = (state: SessionState): boolean =>
  next(ungated(state)).length > 0 || conclude(state) !== undefined;

const ungated = (state: SessionState): SessionState =>
  state.mode.store === 'frozen' ? { ...state, mode: { ...state.mode, store: 'normal' } } : state;

export const summaryOf = (state: SessionState): SessionSummary => {
  const waits = waiting(state);
  const wakeAt = wakeAtOf(state);
  return {
    agent: state.agent.name,
    tenant: state.tenant,
    title: state.title,
    status: statusOf(state, waits),
    canGoOn: canGoOn(state),
    turns: state.turns.length,
    waiting: waits.approvals.length,
    inDoubt: waits.inDoubt.length,
    untold: untold(state).length,
    waits: state.waits,
    cost: state.costUnknown ? null : state.cost,
    createdAt: state.createdAt,
    updatedAt: state.lastAt,
    ...(wakeAt !== undefined && { wakeAt }),
  };
};
