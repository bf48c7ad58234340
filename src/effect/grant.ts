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

export type Exact =
  | { readonly ok: true; readonly when: readonly Condition[] }
  /** JSON Pointer to a whole number beyond 2^53, which no condition names exactly. */
  | { readonly ok: false; readonly at: string };

/**
 * Conditions that hold for these very arguments and no others: every value the same, nothing added, nothing missing.
 * (A list and an object that has its indices as names count as the same; a tool's schema takes one of them.)
 */
export const exactly = (args: StrictValue, place: string = ''): Exact => {
  const when: Condition[] = [];
  const visit = (value: StrictValue, at: string): string | undefined => {
    if (typeof value === 'bigint') return at;
    if (value === null || typeof value !== 'object') {
      when.push({ at, equals: value });
      return undefined;
    }
    when.push({ at, only: Object.keys(value) });
    for (const [member, inner] of Object.entries<StrictValue>(value)) {
      const inexact = visit(inner, `${at}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      if (inexact !== undefined) return inexact;
    }
    return undefined;
  };
  const inexact = visit(args, place);
  return inexact === undefined ? { ok: true, when } : { ok: false, at: inexact };
};

/**
 * Conditions that hold for exactly what is at these places (JSON Pointers), lists and objects whole. Throws nothing: a
 * place that is not there, or that no condition can name exactly, gets one that does not hold for the call itself.
 */
export const sameValues = (args: StrictValue, places: readonly string[]): readonly Condition[] =>
  places.flatMap((at) => {
    const value = valueAt(args, at);
    const exact = value === undefined ? undefined : exactly(value, at);
    return exact?.ok === true ? exact.when : [NOWHERE];
  });

const NOWHERE: Condition = { at: '', equals: null };

const valueAt = (args: StrictValue, pointer: string): StrictValue | undefined => {
  let value: StrictValue | undefined = args;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, StrictValue>>)[key];
  }
  return value;
};
