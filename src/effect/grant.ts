/** Leave for further calls: what makes one valid, and the usual one. */
import type { Condition } from '../event/definition.ts';
import type { Grant } from '../event/events.ts';
import type { StrictValue } from '../event/strict.ts';
import { conditionProblem } from './policy-check.ts';
import { fitsAll } from './policy.ts';

export const GRANT_MS: number = 60 * 60 * 1000;
export const GRANT_MS_MAX: number = 7 * 24 * 60 * 60 * 1000;
const CONDITIONS_MAX = 50;

/** What is wrong with a grant given for a call with these arguments; undefined where nothing is. */
export const checkGrant = ({ when, forMs }: Grant, args: StrictValue): string | undefined => {
  if (!Number.isInteger(forMs) || forMs < 1 || forMs > GRANT_MS_MAX)
    return `${forMs} ms is no time it can last`;
  if (!Array.isArray(when) || when.length > CONDITIONS_MAX)
    return `it takes at most ${CONDITIONS_MAX} conditions`;
  for (const condition of when) {
    const problem = conditionProblem(condition);
    if (problem !== undefined) return `it ${problem}`;
    if (!fitsAll(condition, args)) return `its condition at "${condition.at}" does not fit the call itself`;
  }
  return undefined;
};

/** Conditions that hold for exactly the values at these places (JSON Pointers). Throws nothing: a place without a plain value is refused later. */
export const sameValues = (args: StrictValue, places: readonly string[]): readonly Condition[] =>
  places.map((at) => ({ at, equals: plain(valueAt(args, at)) }));

const valueAt = (args: StrictValue, pointer: string): StrictValue | undefined => {
  let value: StrictValue | undefined = args;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as Record<string, StrictValue>)[key];
  }
  return value;
};

const plain = (value: StrictValue | undefined): string | number | boolean | null =>
  // A whole number beyond 2^53 cannot be named exactly, and leave for its neighbours is not what is meant.
  value === undefined || typeof value === 'object' || typeof value === 'bigint' ? null : value;
