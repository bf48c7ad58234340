/** How much is worked on at once: by one worker, and over all workers of a store. */
import { badInput } from '../errors.ts';

/** Sessions that one worker drives at once; most of the time a session waits for a model. */
export const SESSIONS_AT_ONCE = 1000;

type Counts = Readonly<Record<string, number>>;

export type WorkLimits = {
  /** Sessions that this worker drives at once. Default SESSIONS_AT_ONCE. */
  readonly sessions?: number;
  /** Sessions of an agent that all workers together drive at once, by the agent's name; `*` for every other. Default: no limit of its own. */
  readonly agents?: Counts;
  /** Sessions of a tenant that all workers together drive at once, likewise. */
  readonly tenants?: Counts;
  /** Calls of a tool that this worker runs at once, likewise. */
  readonly tools?: Counts;
};

/** The number for a name, or the one for every other. */
export const limitOf = (counts: Counts | undefined, name: string): number | undefined =>
  counts && (Object.hasOwn(counts, name) ? counts[name] : counts['*']);

const KINDS = ['agents', 'tenants', 'tools'] as const;

/** What is wrong with limits that somebody wrote down; undefined where nothing is. */
export const workLimitsProblem = (limits: unknown): string | undefined => {
  if (limits === undefined) return undefined;
  if (!isRecord(limits)) return 'work must be an object: { sessions: 200, tenants: { "*": 50 } }';
  for (const [name, value] of Object.entries(limits)) {
    if (name === 'sessions') {
      if (!isCount(value)) return `work.sessions is ${shown(value)}; it takes a whole number from 1 up`;
      continue;
    }
    if (!KINDS.some((kind) => kind === name))
      return `work has "${name}"; it takes sessions, ${KINDS.join(', ')}`;
    if (!isRecord(value)) return `work.${name} must be an object of numbers by name: { "*": 50 }`;
    const [wrong] = Object.entries(value).filter(([, count]) => !isCount(count));
    if (wrong) return `work.${name}["${wrong[0]}"] is ${shown(wrong[1])}; it takes a whole number from 1 up`;
  }
  return undefined;
};

/** Throws `work-limits-invalid`. */
export const checkWorkLimits = (limits: WorkLimits | undefined): WorkLimits => {
  const problem = workLimitsProblem(limits);
  if (problem !== undefined)
    throw badInput('work-limits-invalid', `The limits of a worker are wrong: ${problem}.`);
  return limits ?? {};
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);
