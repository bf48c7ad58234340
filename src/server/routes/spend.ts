/** The bill of a stretch of days, and where prefixes broke in it: what the page of spend is made of. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { rebuildAll } from '../../context/rebuild.ts';
import { isOnrecordError } from '../../errors.ts';
import type { SessionRow } from '../../log/store.ts';
import { cacheReuse, type ReuseRow } from '../../view/cache-reuse.ts';
import { isZone } from '../../view/format.ts';
import { causeWords, lessWords, type CauseWords } from '../../view/reuse-words.ts';
import { spendReport } from '../../view/spend-report.ts';
import { json, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { whole } from '../schemas.ts';
import { recordFor } from '../shown.ts';
import { reuseViewShape, spendShape, type BreakView, type SessionReuse } from '../spend-shapes.ts';
import type { Caller } from '../tokens.ts';
import { changedSince, linesOf } from './costs.ts';
import { proving } from './proof.ts';

const DAYS = 14;
const DAYS_MAX = 92;
const DAY_MS: number = 24 * 60 * 60 * 1000;
/** Sessions that are named on the page. */
const SESSIONS_NAMED = 10;
/** Sessions whose requests are rebuilt and compared for one answer. */
const SESSIONS_COMPARED = 40;

const spend = createRoute({
  method: 'get',
  path: '/spend',
  summary: 'What was paid in the last days, by day, agent, model and session, with how long answers took.',
  description: 'Reads the logs of all sessions that changed in these days.',
  request: {
    query: z.object({
      days: whole(1)
        .optional()
        .openapi({ description: `1 to ${DAYS_MAX}, default ${DAYS}.` }),
      zone: z
        .string()
        .max(64)
        .optional()
        .openapi({ description: 'Zone of the days, as in Europe/Vienna; default UTC.' }),
    }),
  },
  responses: { 200: json(spendShape, 'The bill.'), default: PROBLEM },
});

const reuse = createRoute({
  method: 'get',
  path: '/reuse',
  summary: 'What the last changed sessions could reuse from their caches, and why not more.',
  request: { query: z.object({ days: whole(1).optional() }) },
  responses: { 200: json(reuseViewShape, 'By session.'), default: PROBLEM },
});

export const spendRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(spend, async (context) => {
    const caller = allow(context, 'read');
    const { days: count = DAYS, zone = 'UTC' } = context.req.valid('query');
    if (!isZone(zone))
      throw new ProblemError('parameter-invalid', `"${zone}" is no zone: write it as in Europe/Vienna.`);
    const { days, since, dayOf } = stretch(door.clock.now(), within(count), zone);
    const view = await proving(door, async () => {
      const { lines, unread } = await linesOf(door, caller, { session: undefined, since });
      const report = spendReport(lines, {
        days,
        dayOf,
        prices: await door.prices(),
        sessionsMax: SESSIONS_NAMED,
      });
      const titles = await titlesOf(
        door,
        caller,
        report.sessions.map(({ name }) => name),
      );
      return { ...report, zone, titles, unread };
    });
    return context.json(view, 200);
  });
  app.openapi(reuse, async (context) => {
    const caller = allow(context, 'read');
    const { days = DAYS } = context.req.valid('query');
    const since = door.clock.now() - within(days) * DAY_MS;
    return context.json(await proving(door, () => reuseOf(door, caller, since)), 200);
  });
};

const within = (days: number): number => {
  if (days <= DAYS_MAX) return days;
  throw new ProblemError(
    'parameter-invalid',
    `${days} days are more than the ${DAYS_MAX} that are read at once.`,
  );
};

/** The local days up to now. A day has 23 to 25 hours: it is found by its noon. */
const stretch = (now: number, count: number, zone: string) => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  const dayOf = (at: number): string => format.format(at);
  const noon = Date.parse(`${dayOf(now)}T12:00:00Z`);
  const days = Array.from({ length: count }, (_, i) =>
    new Date(noon - (count - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  );
  return { days, dayOf, since: now - (count + 1) * DAY_MS };
};

const titlesOf = async (door: Door, caller: Caller, sessions: readonly string[]) => {
  const titles: Record<string, { title: string; agent: string }> = Object.create(null) as Record<
    string,
    never
  >;
  for (const session of sessions) {
    const { state } = await recordFor(door, caller, session);
    titles[session] = { title: state.title, agent: state.agent.name };
  }
  return titles;
};

const reuseOf = async (door: Door, caller: Caller, since: number) => {
  const sessions: SessionReuse[] = [];
  let [unread, more] = [0, false];
  for await (const row of changedSince(door, caller, since)) {
    more = sessions.length >= SESSIONS_COMPARED;
    if (more) break;
    try {
      sessions.push(await reuseIn(door, caller, row));
    } catch (error) {
      // One damaged session does not hide the others; that it is missing is said.
      if (!isOnrecordError(error) || error.next !== 'corrupt') throw error;
      door.log.warn(error.message, { session: row.session });
      unread += 1;
    }
  }
  return { sessions, more, unread };
};

const reuseIn = async (door: Door, caller: Caller, { session }: SessionRow): Promise<SessionReuse> => {
  const { events, state } = await recordFor(door, caller, session);
  const requests = rebuildAll(events, (digest) => door.store.blob(digest));
  const rows = await cacheReuse(session, events, requests, { prices: await door.prices() });
  const counted = rows.filter(({ tokens }) => tokens !== undefined);
  return {
    session,
    title: state.title,
    agent: state.agent.name,
    requests: rows.length,
    tokens: counted.length === 0 ? null : counted.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    cacheRead: rows.reduce((sum, { reported }) => sum + (reported?.cacheRead ?? 0), 0),
    breaks: breaksIn(rows),
  };
};

/** Requests that shared less with the one before than they could have, by why. */
const breaksIn = (rows: readonly ReuseRow[]): readonly BreakView[] => {
  const found = new Map<string, BreakView>();
  for (const row of rows)
    for (const [at, { text, quotes }] of wordsOf(row).entries()) {
      const { count = 0, lostTokens = 0, lostUsd = 0 } = found.get(text) ?? {};
      found.set(text, {
        cause: text,
        quotes,
        count: count + 1,
        // What one request lost is told once, with its first cause.
        lostTokens: sumOf(lostTokens, at === 0 ? row.lostTokens : 0),
        lostUsd: sumOf(lostUsd, at === 0 ? row.lostUsd : 0),
        request: row.number,
        seq: row.seq,
      });
    }
  return [...found.values()];
};

const wordsOf = (row: ReuseRow): readonly CauseWords[] => {
  const less = lessWords(row);
  return [...row.causes.map(causeWords), ...(less === undefined ? [] : [{ text: less, quotes: [] }])];
};

/** What is not known makes the sum unknown. */
const sumOf = (sum: number | null, more: number | undefined): number | null =>
  sum === null || more === undefined ? null : sum + more;
