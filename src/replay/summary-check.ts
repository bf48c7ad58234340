/**
 * Whether the line of a session in lists says what its log says. It is written when something in it changes that a
 * list is sorted or filtered by, so cost and time may be those of an earlier event.
 */
import { canonical } from '../event/canonical.ts';
import type { LogEvent } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import { evolve, initial } from '../session/evolve.ts';
import { summaryOf } from '../session/summary.ts';

/** The line as it is stored: its text, and the columns that lists are searched by. */
export type StoredSummary = {
  readonly summary: string | null;
  readonly agent: string | null;
  readonly status: string | null;
  readonly canGoOn: number | null;
  readonly updatedAt: number | null;
};

/** Undefined where it is true; else what is wrong. `events` are all of them, up to where the line was read. */
export const summaryProblem = (
  session: string,
  events: Iterable<LogEvent>,
  stored: StoredSummary,
): string | undefined => {
  const { summary, agent, status, canGoOn, updatedAt } = stored;
  let state = initial(session);
  const moments = new Set<string>();
  for (const event of events) {
    state = evolve(state, event);
    moments.add(momentOf(state.lastAt, state.costUnknown ? null : state.cost));
  }
  const now = summaryOf(state);
  if (summary === null) {
    // The store's own logs, of its gate and its tokens, have no agent and stand in no list.
    return now.agent === '' ? undefined : 'The session has no line in lists, so that no list shows it.';
  }
  const read = parsed(summary);
  if (read === undefined) return 'The line of the session in lists is no JSON.';
  const { cost, updatedAt: at } = read;
  const moment = momentOf(at, cost);
  if (!moments.has(moment))
    return `The line of the session in lists names a time and a cost (${moment}) that it never had.`;
  if (canonical({ ...now, cost, updatedAt: at }) !== canonical(read))
    return `The line of the session in lists says ${summary}; the log says ${JSON.stringify(now)}.`;
  if (agent !== now.agent || status !== now.status || canGoOn !== Number(now.canGoOn) || updatedAt !== at)
    return 'The columns that lists are searched by say something else than the log.';
  return undefined;
};

const momentOf = (at: Json | undefined, cost: Json | undefined): string => JSON.stringify([at, cost]);

const parsed = (text: string): Record<string, Json | undefined> | undefined => {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, Json>) : undefined;
  } catch {
    return undefined;
  }
};
