/** What waits for people: questions and calls in doubt, and their answers. Reading one never answers it. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isOnrecordError } from '../../errors.ts';
import type { SessionStatus } from '../../event/summary.ts';
import type { SessionRow } from '../../log/store.ts';
import { approvals, byAge } from '../../view/approval.ts';
import { byDoubtAge, doubts } from '../../view/doubt.ts';
import type { SessionRecord } from '../../view/record.ts';
import { body, json, nextPage, place, placeIn, placeOf, PROBLEM, REPLAYED } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import {
  callId,
  cardShape,
  grantShape,
  newDecision,
  newRevocation,
  newSettlement,
  page,
  sessionId,
  sessionShape,
} from '../schemas.ts';
import { grantViews, recordFor, sessionView, stateFor } from '../shown.ts';
import type { Caller } from '../tokens.ts';

const which = z.object({ session: sessionId.optional(), after: place.optional() });
const params = z.object({ session: sessionId, call: callId });

const questions = createRoute({
  method: 'get',
  path: '/approvals',
  summary: 'Calls that wait for a decision, with all that the decision is about, the oldest of a page first.',
  request: { query: which },
  responses: { 200: json(page(cardShape), 'What waits.'), default: PROBLEM },
});

const inDoubt = createRoute({
  method: 'get',
  path: '/doubts',
  summary: 'Calls that were started and whose end nobody recorded, the oldest of a page first.',
  request: { query: which },
  responses: { 200: json(page(cardShape), 'What is in doubt.'), default: PROBLEM },
});

const decide = createRoute({
  method: 'post',
  path: '/sessions/{session}/calls/{call}/decision',
  summary: 'Decide about a call that waits.',
  description:
    'The digest names what was shown; a decision on anything else does nothing. The same decision sent again has the answer of the first one.',
  request: { params, body: body(newDecision) },
  responses: { 200: json(sessionShape, 'Decided. The session as it stands.'), default: PROBLEM },
});

const settle = createRoute({
  method: 'post',
  path: '/sessions/{session}/calls/{call}/settlement',
  summary: 'Say what became of a call in doubt.',
  request: { params, body: body(newSettlement) },
  responses: { 200: json(sessionShape, 'Settled. The session as it stands.'), default: PROBLEM },
});

const grants = createRoute({
  method: 'get',
  path: '/sessions/{session}/grants',
  summary: 'Which further calls of a session run without a question, who said so, and until when.',
  request: { params: z.object({ session: sessionId }) },
  responses: { 200: json(page(grantShape), 'Those that stand, the oldest first.'), default: PROBLEM },
});

const revoke = createRoute({
  method: 'post',
  path: '/sessions/{session}/revoke',
  summary: 'Take grants back: one, or all that stand.',
  description:
    'What a grant had let pass and was not started is asked about again; an attempt that has begun ends. The same sent again has the answer of the first one.',
  request: { params: z.object({ session: sessionId }), body: body(newRevocation) },
  responses: {
    200: json(sessionShape, 'When this has answered, nothing starts by it. The session as it stands.'),
    default: PROBLEM,
  },
});

export const peopleRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime } = door;
  grantRoutes(app, door);
  app.openapi(questions, async (context) => {
    const caller = allow(context, 'read');
    const asked = context.req.valid('query');
    const found = await cards(door, caller, {
      ...asked,
      statuses: ['waiting', 'in-doubt'],
      read: approvals,
    });
    return context.json({ items: found.cards.toSorted(byAge), ...nextOf(context, found) }, 200);
  });
  app.openapi(inDoubt, async (context) => {
    const caller = allow(context, 'read');
    const asked = context.req.valid('query');
    const found = await cards(door, caller, { ...asked, statuses: ['in-doubt'], read: doubts });
    return context.json({ items: found.cards.toSorted(byDoubtAge), ...nextOf(context, found) }, 200);
  });
  app.openapi(decide, async (context) => {
    const caller = allow(context, 'approve');
    const { session, call } = context.req.valid('param');
    await stateFor(door, caller, session);
    const key = context.get('key');
    const { digest, decision } = context.req.valid('json');
    const by = caller.actor;
    const { replayed } = await runtime.decide({
      session,
      call,
      digest,
      decision,
      by,
      ...(key !== undefined && { key }),
    });
    if (replayed) context.header(REPLAYED, 'true');
    return context.json(sessionView(await runtime.state(session)), 200);
  });
  app.openapi(settle, async (context) => {
    const caller = allow(context, 'approve');
    const { session, call } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { settlement, note } = context.req.valid('json');
    const key = context.get('key');
    const { replayed } = await runtime.settle({
      session,
      call,
      settlement,
      by: caller.actor,
      ...(note !== undefined && { note }),
      ...(key !== undefined && { key }),
    });
    if (replayed) context.header(REPLAYED, 'true');
    return context.json(sessionView(await runtime.state(session)), 200);
  });
};

const grantRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime, clock } = door;
  app.openapi(grants, async (context) => {
    const caller = allow(context, 'read');
    const state = await stateFor(door, caller, context.req.valid('param').session);
    return context.json({ items: grantViews(state, clock.now()) }, 200);
  });
  app.openapi(revoke, async (context) => {
    const caller = allow(context, 'approve');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { call, reason } = context.req.valid('json');
    const { replayed } = await runtime.revoke(session, {
      by: caller.actor,
      ...(call !== undefined && { call }),
      ...(reason !== undefined && { reason }),
    });
    if (replayed) context.header(REPLAYED, 'true');
    return context.json(sessionView(await runtime.state(session)), 200);
  });
};

export type Asked<T> = {
  readonly session?: string | undefined;
  readonly after?: string | undefined;
  readonly statuses: readonly SessionStatus[];
  readonly read: (record: SessionRecord) => readonly T[];
};

export type Found<T> = {
  readonly cards: readonly T[];
  readonly last: SessionRow | undefined;
  /** Sessions that could not be read. */
  readonly unread: number;
};

/** One damaged session does not hide what waits in the others. */
export const cards = async <T>(door: Door, caller: Caller, asked: Asked<T>): Promise<Found<T>> => {
  const { session, after, statuses, read } = asked;
  if (session !== undefined)
    return { cards: read(await recordFor(door, caller, session)), last: undefined, unread: 0 };
  const { tenant } = caller;
  const rows = await door.runtime.sessions({
    status: statuses,
    limit: PAGE_SESSIONS,
    ...(tenant !== '' && { tenant }),
    ...(after !== undefined && { after: placeIn(after) }),
  });
  const found: T[] = [];
  let unread = 0;
  for (const row of rows) {
    try {
      found.push(...read(await recordFor(door, caller, row.session)));
    } catch (error) {
      if (!isOnrecordError(error) || error.next !== 'corrupt') throw error;
      door.log.warn(error.message, { session: row.session });
      unread += 1;
    }
  }
  return { cards: found, last: rows.length === PAGE_SESSIONS ? rows.at(-1) : undefined, unread };
};

/** Sessions whose logs are read for one page. */
const PAGE_SESSIONS = 200;

export const nextOf = (context: Context, { last }: Found<unknown>): { readonly next?: string } =>
  last ? { next: nextPage(context.req.url, { after: placeOf(last) }) } : {};
