/** Sessions and turns: begin one, send to one, see what became of it, take back, stop. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { body, json, nextPage, place, placeIn, placeOf, PROBLEM, REPLAYED } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow, neededKey } from '../guard.ts';
import { newCancel } from '../reports.ts';
import {
  accepted,
  newSession,
  newTurn,
  page,
  sessionId,
  sessionShape,
  status,
  turnShape,
  turnState,
  whole,
} from '../schemas.ts';
import { sessionPage, wordsOf } from '../session-page.ts';
import { rowView, sessionView, stateFor, turnRow, turnView } from '../shown.ts';
import { asked, waitForTurn } from '../wait.ts';

const WORDS_LENGTH_MAX = 200;

const params = z.object({ session: sessionId });
const turnParams = z.object({ session: sessionId, turn: whole(1) });

const create = createRoute({
  method: 'post',
  path: '/sessions',
  summary: 'Begin a session with its first message.',
  description:
    'The Idempotency-Key names it: the same key and content is the same session and turn. 202 says that the message is durable. `Prefer: wait=N` waits up to N seconds for the turn to end or to need somebody.',
  request: { body: body(newSession) },
  responses: {
    202: json(accepted, 'Accepted.'),
    200: json(turnShape, 'The turn, with Prefer: wait.'),
    default: PROBLEM,
  },
});

const send = createRoute({
  method: 'post',
  path: '/sessions/{session}/turns',
  summary: 'Send a message to a session.',
  description: 'As for a new session. `when` says what to do where a turn is running.',
  request: { params, body: body(newTurn) },
  responses: {
    202: json(accepted, 'Accepted.'),
    200: json(turnShape, 'The turn, with Prefer: wait.'),
    default: PROBLEM,
  },
});

const list = createRoute({
  method: 'get',
  path: '/sessions',
  summary: 'Sessions, the last changed first.',
  request: {
    query: z.object({
      status: z.union([status, z.array(status)]).optional(),
      agent: z.string().optional(),
      q: z
        .string()
        .max(WORDS_LENGTH_MAX)
        .optional()
        .openapi({ description: 'Only those whose title, agent or id holds these words, each of them.' }),
      after: place.optional(),
      limit: whole(1).optional(),
    }),
  },
  responses: { 200: json(page(sessionShape), 'One page.'), default: PROBLEM },
});

const show = createRoute({
  method: 'get',
  path: '/sessions/{session}',
  summary: 'One session as it stands.',
  request: { params },
  responses: { 200: json(sessionShape, 'The session.'), default: PROBLEM },
});

const turns = createRoute({
  method: 'get',
  path: '/sessions/{session}/turns',
  summary: 'Its turns in order, those that wait included.',
  description: '`state=queued` is the queue: turns that wait for the running one to end.',
  request: {
    params,
    query: z.object({
      state: turnState.optional(),
      from: whole(1).optional().openapi({ description: 'The first turn of the page.' }),
      limit: whole(1).optional(),
    }),
  },
  responses: { 200: json(page(turnShape), 'One page.'), default: PROBLEM },
});

const turn = createRoute({
  method: 'get',
  path: '/sessions/{session}/turns/{turn}',
  summary: 'One turn.',
  description: '`Prefer: wait=N` waits up to N seconds for it to end or to need somebody.',
  request: { params: turnParams },
  responses: { 200: json(turnShape, 'The turn.'), default: PROBLEM },
});

const withdraw = createRoute({
  method: 'delete',
  path: '/sessions/{session}/turns/{turn}',
  summary: 'Take a turn back that has not begun.',
  request: { params: turnParams },
  responses: { 200: json(turnShape, 'The turn, withdrawn.'), default: PROBLEM },
});

const cancel = createRoute({
  method: 'post',
  path: '/sessions/{session}/cancel',
  summary: 'Stop the running turn. Nothing starts after this has answered.',
  request: { params, body: body(newCancel) },
  responses: { 202: json(sessionShape, 'It is stopping.'), default: PROBLEM },
});

export const sessionRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime, limits } = door;
  app.openapi(create, async (context) => {
    const { actor: by, tenant } = allow(context, 'submit');
    const { agent, message, labels = [], mode } = context.req.valid('json');
    // What cannot be waited for is refused before anything is written.
    const waitMs = asked(context, door);
    const sent = await runtime.send({
      agent,
      message,
      labels,
      key: neededKey(context),
      by,
      tenant,
      ...(mode && { mode }),
    });
    return answer(context, door, { ...sent, waitMs });
  });
  app.openapi(send, async (context) => {
    const caller = allow(context, 'submit');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { message, when = 'queue', labels = [] } = context.req.valid('json');
    const by = caller.actor;
    const waitMs = asked(context, door);
    const sent = await runtime.send({ session, message, when, labels, key: neededKey(context), by });
    return answer(context, door, { ...sent, waitMs });
  });
  app.openapi(list, async (context) => {
    const { tenant } = allow(context, 'read');
    const { status: wanted, agent, q = '', after, limit = limits.page } = context.req.valid('query');
    const { rows, last } = await sessionPage(runtime, {
      words: wordsOf(q),
      limit: Math.min(limit, limits.page),
      ...(tenant !== '' && { tenant }),
      ...(wanted && { status: [wanted].flat() }),
      ...(agent !== undefined && { agent }),
      ...(after !== undefined && { after: placeIn(after) }),
    });
    const next = last ? { next: nextPage(context.req.url, { after: placeOf(last) }) } : {};
    return context.json({ items: rows.map(rowView), ...next }, 200);
  });
  app.openapi(show, async (context) => {
    const caller = allow(context, 'read');
    return context.json(sessionView(await stateFor(door, caller, context.req.valid('param').session)), 200);
  });
  turnRoutes(app, door);
};

const turnRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime } = door;
  app.openapi(turns, async (context) => {
    const caller = allow(context, 'read');
    const state = await stateFor(door, caller, context.req.valid('param').session);
    const { state: wanted, from = 1, limit = door.limits.page } = context.req.valid('query');
    const to = from - 1 + Math.min(limit, door.limits.page);
    const rows = state.turns.slice(from - 1, to).map((record) => turnRow(state, record));
    const items = wanted === undefined ? rows : rows.filter((row) => row.state === wanted);
    const next = to < state.turns.length ? { next: nextPage(context.req.url, { from: String(to + 1) }) } : {};
    return context.json({ items, ...next }, 200);
  });
  app.openapi(turn, async (context) => {
    const caller = allow(context, 'read');
    const { session, turn: number } = context.req.valid('param');
    const state = await stateFor(door, caller, session);
    const waitMs = asked(context, door);
    const found = await turnView(door, state, number);
    if (waitMs === undefined) return context.json(found, 200);
    return context.json(
      await waitForTurn(door, { session, turn: number, waitMs, signal: context.req.raw.signal }),
      200,
    );
  });
  app.openapi(withdraw, async (context) => {
    const caller = allow(context, 'submit');
    const { session, turn: number } = context.req.valid('param');
    await stateFor(door, caller, session);
    await runtime.withdraw(session, { turn: number, by: caller.actor });
    return context.json(await turnView(door, await runtime.state(session), number), 200);
  });
  app.openapi(cancel, async (context) => {
    const caller = allow(context, 'submit');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { reason, turn: number } = context.req.valid('json');
    await runtime.cancel(session, {
      by: caller.actor,
      ...(reason !== undefined && { reason }),
      ...(number !== undefined && { turn: number }),
    });
    return context.json(sessionView(await runtime.state(session)), 202);
  });
};

type Answered = {
  readonly session: string;
  readonly turn: number;
  readonly replayed: boolean;
  readonly waitMs: number | undefined;
};

/** The same answer however often the key is sent; a header says that it was sent before. */
const answer = async (context: Context<DoorEnv>, door: Door, answered: Answered) => {
  const { session, turn: number, replayed, waitMs } = answered;
  const url = `/sessions/${session}/turns/${number}`;
  context.header('location', url);
  if (replayed) context.header(REPLAYED, 'true');
  if (waitMs === undefined) return context.json({ session, turn: number, url }, 202);
  context.header('preference-applied', 'wait');
  return context.json(
    await waitForTurn(door, { session, turn: number, waitMs, signal: context.req.raw.signal }),
    200,
  );
};
