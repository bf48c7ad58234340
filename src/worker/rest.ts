/** How a session rests. */
import type { SessionStatus } from '../event/summary.ts';
import { waiting } from '../session/next.ts';
import type { SessionState } from '../session/state.ts';
import { statusOf } from '../session/summary.ts';

export type Rest = {
  readonly session: string;
  readonly seq: number;
  readonly status: SessionStatus;
  /** Calls that wait for a decision, and calls in doubt. */
  readonly approvals: readonly string[];
  readonly inDoubt: readonly string[];
};

export const restOf = (state: SessionState): Rest => ({
  session: state.session,
  seq: state.seq,
  status: statusOf(state),
  ...waiting(state),
});
