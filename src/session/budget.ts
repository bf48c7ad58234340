/** Whether there is money for another request. Looked at before each one: after a step, before a retry, at the start. */
import type { Refusal, SessionState } from './state.ts';

export const spentRefusal = ({ active, cost, agent: { limits } }: SessionState): Refusal | undefined => {
  if (active && active.cost >= limits.turnCostUsd)
    return reached('turnCostUsd', `the turn cost $${rounded(active.cost)}`);
  // A log from before this limit was there has none.
  if (cost >= (limits.sessionCostUsd ?? Infinity))
    return reached('sessionCostUsd', `the session cost $${rounded(cost)}`);
  return undefined;
};

/** Sums of binary fractions, as people would write them. */
const rounded = (usd: number): number => Number(usd.toFixed(9));

const reached = (code: string, what: string): Refusal => ({
  outcome: 'stopped',
  code,
  message: `Stopped by the limit ${code}: ${what}.`,
});
