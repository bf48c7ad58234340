/** Sessions and turns: begin one, send to one, see what became of it, take back, stop. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { body, json, nextPage, PROBLEM, REPLAYED } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow, neededKey } from '../guard.ts';
import {
  accepted,
  newSession,
  newTurn,
  page,
  reason,
  sessionId,
  sessionShape,
  status,
  turnShape,
  whole,
} from '../schemas.ts';
import { rowView, sessionView, stateFor, turnRow, turnView } from '../shown.ts';
import { asked, waitForTurn } from '../wait.ts';

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
      before: whole(0)
        .optional()
        .openapi({ description: 'Only those last changed before this moment, ms since 1970.' }),
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
  request: { params },
  responses: { 200: json(page(turnShape), 'All turns.'), default: PROBLEM },
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
  request: { params, body: body(reason) },
  responses: { 202: json(sessionShape, 'It is stopping.'), default: PROBLEM },
});

export const sessionRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime, limits } = door;
  app.openapi(create, async (context) => {
    const { actor: by, tenant } = allow(context, 'submit');
    const { agent, message, labels = [], mode } = context.req.valid('json');
    const sent = await runtime.send({
      agent,
      message,
      labels,
      key: neededKey(context),
      by,
      tenant,
      ...(mode && { mode }),
    });
    return answer(context, door, sent);
  });
  app.openapi(send, async (context) => {
    const caller = allow(context, 'submit');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { message, when = 'queue', labels = [] } = context.req.valid('json');
    const by = caller.actor;
    const sent = await runtime.send({ session, message, when, labels, key: neededKey(context), by });
    return answer(context, door, sent);
  });
  app.openapi(list, async (context) => {
    const { tenant } = allow(context, 'read');
    const { status: wanted, agent, before, limit = limits.page } = context.req.valid('query');
    const count = Math.min(limit, limits.page);
    const rows = await runtime.sessions({
      limit: count,
      ...(tenant !== '' && { tenant }),
      ...(wanted && { status: [wanted].flat() }),
      ...(agent !== undefined && { agent }),
      ...(before !== undefined && { before }),
    });
    const last = rows.length === count ? rows.at(-1)?.summary.updatedAt : undefined;
    const next = last === undefined ? {} : { next: nextPage(context.req.url, { before: String(last) }) };
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
    return context.json({ items: state.turns.map((record) => turnRow(state, record)) }, 200);
  });
  app.openapi(turn, async (context) => {
    const caller = allow(context, 'read');
    const { session, turn: number } = context.req.valid('param');
    const state = await stateFor(door, caller, session);
    const found = await turnView(door, state, number);
    const waitMs = asked(context, door);
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
    const { reason: why } = context.req.valid('json');
    await runtime.cancel(session, { by: caller.actor, ...(why !== undefined && { reason: why }) });
    return context.json(sessionView(await runtime.state(session)), 202);
  });
};

type Sent = { readonly session: string; readonly turn: number; readonly replayed: boolean };

/** The same answer however often the key is sent; a header says that it was sent before. */
const answer = async (context: Context<DoorEnv>, door: Door, { session, turn: number, replayed }: Sent) => {
  const url = `/sessions/${session}/turns/${number}`;
  context.header('location', url);
  if (replayed) context.header(REPLAYED, 'true');
  const waitMs = asked(context, door);
  if (waitMs === undefined) return context.json({ session, turn: number, url }, 202);
  context.header('preference-applied', 'wait');
  return context.json(
    await waitForTurn(door, { session, turn: number, waitMs, signal: context.req.raw.signal }),
    200,
  );
};
