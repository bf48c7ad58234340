/** Inside a session: its calls, what its requests hold and what their provider's cache had, and changing that. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { rebuildAll, type WalkedRequest } from '../../context/rebuild.ts';
import { cacheReuse } from '../../view/cache-reuse.ts';
import { Reading, type CallReading } from '../../view/reading.ts';
import type { SessionRecord } from '../../view/record.ts';
import { nextPlan, sentPlan } from '../../view/request-plan.ts';
import { body, json, nextPage, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import {
  callShape,
  newCompaction,
  newSelection,
  requestPlan,
  reuseShape,
  type CallView,
} from '../reports.ts';
import { page, sessionId, sessionShape, whole } from '../schemas.ts';
import { encoders, recordFor, sessionView, stateFor } from '../shown.ts';

const params = z.object({ session: sessionId });

const calls = createRoute({
  method: 'get',
  path: '/sessions/{session}/calls',
  summary: 'Every call of a session in order, open and closed.',
  request: { params, query: z.object({ from: whole(1).optional(), limit: whole(1).optional() }) },
  responses: { 200: json(page(callShape), 'One page.'), default: PROBLEM },
});

const cache = createRoute({
  method: 'get',
  path: '/sessions/{session}/cache',
  summary: 'What each request shared with the one before it, and what its provider read from its cache.',
  request: { params },
  responses: { 200: json(page(reuseShape), 'All requests.'), default: PROBLEM },
});

const context = createRoute({
  method: 'get',
  path: '/sessions/{session}/context',
  summary: 'What a request held and what not, and why; without a number, the next one as it would be.',
  request: { params, query: z.object({ request: whole(1).optional() }) },
  responses: { 200: json(requestPlan, 'The manifest.'), default: PROBLEM },
});

const select = createRoute({
  method: 'post',
  path: '/sessions/{session}/selection',
  summary: 'Say which turns later requests hold.',
  description: 'Sent again it is recorded again and changes nothing more.',
  request: { params, body: body(newSelection) },
  responses: { 200: json(sessionShape, 'Recorded. The session as it stands.'), default: PROBLEM },
});

const compact = createRoute({
  method: 'post',
  path: '/sessions/{session}/compaction',
  summary: 'Let the model summarise what was said, before the next request.',
  request: { params, body: body(newCompaction) },
  responses: { 200: json(sessionShape, 'Recorded. The session as it stands.'), default: PROBLEM },
});

export const contextRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime } = door;
  app.openapi(calls, async (asked) => {
    const caller = allow(asked, 'read');
    const { session } = asked.req.valid('param');
    const { from = 1, limit = door.limits.page } = asked.req.valid('query');
    const all = callViews(session, await recordFor(door, caller, session));
    const to = from - 1 + Math.min(limit, door.limits.page);
    const next = to < all.length ? { next: nextPage(asked.req.url, { from: String(to + 1) }) } : {};
    return asked.json({ items: all.slice(from - 1, to), ...next }, 200);
  });
  app.openapi(cache, async (asked) => {
    const caller = allow(asked, 'read');
    const { session } = asked.req.valid('param');
    const { events } = await recordFor(door, caller, session);
    const rows = await cacheReuse(session, events, walk(door, events), { prices: await door.prices() });
    return asked.json({ items: rows }, 200);
  });
  app.openapi(context, async (asked) => {
    const caller = allow(asked, 'read');
    const { session } = asked.req.valid('param');
    const { request } = asked.req.valid('query');
    const { events } = await recordFor(door, caller, session);
    if (request === undefined) return asked.json(await next(door, session, events), 200);
    const { seq, manifest, shared } = await sentPlan(session, events, walk(door, events), request);
    const { bytes, counts, parts } = manifest;
    return asked.json(
      { session, request, seq, bytes, sharedBytes: shared?.bytes ?? null, counts, parts },
      200,
    );
  });
  app.openapi(select, async (asked) => {
    const caller = allow(asked, 'submit');
    const { session } = asked.req.valid('param');
    await stateFor(door, caller, session);
    const { change, reason, dropsReasoning } = asked.req.valid('json');
    await runtime.select(session, change, {
      by: caller.actor,
      ...(reason !== undefined && { reason }),
      ...(dropsReasoning !== undefined && { dropsReasoning }),
    });
    return asked.json(sessionView(await runtime.state(session)), 200);
  });
  app.openapi(compact, async (asked) => {
    const caller = allow(asked, 'submit');
    const { session } = asked.req.valid('param');
    await stateFor(door, caller, session);
    const { dropsReasoning } = asked.req.valid('json');
    await runtime.compact(session, {
      by: caller.actor,
      ...(dropsReasoning !== undefined && { dropsReasoning }),
    });
    return asked.json(sessionView(await runtime.state(session)), 200);
  });
};

type Events = SessionRecord['events'];

const walk = ({ store }: Door, events: Events): AsyncGenerator<WalkedRequest, void, undefined> =>
  rebuildAll(events, (digest) => store.blob(digest));

const next = async (door: Door, session: string, events: Events) => {
  let last: WalkedRequest | undefined;
  for await (const request of walk(door, events)) last = request;
  const plan = nextPlan(session, events, { encoderOf: encoders(door.runtime), last });
  return {
    session,
    request: 'next' as const,
    bytes: plan.manifest?.bytes ?? null,
    sharedBytes: plan.shared?.bytes ?? null,
    counts: plan.manifest?.counts ?? null,
    parts: plan.manifest?.parts ?? null,
    imagined: plan.imagined,
    summaryFirst: plan.summaryFirst,
    refused: plan.refused ?? null,
  };
};

const callViews = (session: string, { events }: SessionRecord): readonly CallView[] => {
  const reading = new Reading(session, events);
  return [...reading.calls.values()].map((call) => callView(session, reading, call));
};

const callView = (session: string, reading: Reading, call: CallReading): CallView => {
  const { id, tool, args, rule, attempt, started, asked, ended, about } = call;
  return {
    session,
    call: id,
    tool,
    args,
    rule,
    attempt,
    // A call that is open nowhere any more is closed.
    phase: reading.openCall(id)?.phase ?? 'closed',
    startedSeq: started?.seq ?? null,
    askedSeq: asked?.seq ?? null,
    ended: ended ?? null,
    about: about ?? null,
  };
};
