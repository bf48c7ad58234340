/** The record itself: events as a list and as a stream, exact requests, blobs. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Digest } from '../../event/canonical.ts';
import { open, type StoredEvent } from '../../event/envelope.ts';
import type { LogEvent } from '../../event/events.ts';
import type { LogStore } from '../../log/store.ts';
import { blobsNamed } from '../../replay/named-blobs.ts';
import { Reading } from '../../view/reading.ts';
import { exactRequest } from '../../view/request-view.ts';
import { json, nextPage, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { frames, frameText, type FrameOptions } from '../frames.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { digest, eventShape, page, sessionId, whole, type EventView } from '../schemas.ts';
import { recordFor, stateFor } from '../shown.ts';
import { streamResponse } from '../stream-response.ts';

const params = z.object({ session: sessionId });
const types = z
  .string()
  .regex(/^[a-z_.*,]{1,500}$/, 'is no list of event types, as in call.*,turn.ended')
  .optional()
  .openapi({
    example: 'call.*,turn.ended',
    description: 'Only events of these types; ".*" stands for all below.',
  });

const events = createRoute({
  method: 'get',
  path: '/sessions/{session}/events',
  summary: 'Events of a session in order.',
  request: {
    params,
    query: z.object({
      from: whole(1).optional(),
      to: whole(1).optional(),
      types,
      limit: whole(1).optional(),
    }),
  },
  responses: { 200: json(page(eventShape), 'One page.'), default: PROBLEM },
});

const stream = createRoute({
  method: 'get',
  path: '/sessions/{session}/stream',
  summary: 'Events of a session as they are appended, from any position.',
  description:
    'Server-sent events. Each log event has its seq as id; `Last-Event-ID` or `after` says after which one to go on. `delta` events carry what the model is just saying and have no id. `end` says that the stream is over and why.',
  request: {
    params,
    query: z.object({
      after: whole(0).optional(),
      types,
      turn: whole(1).optional().openapi({ description: 'Ends when this turn has ended.' }),
      deltas: z.enum(['true', 'false']).optional(),
    }),
  },
  responses: {
    200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
    default: PROBLEM,
  },
});

const request = createRoute({
  method: 'get',
  path: '/sessions/{session}/requests/{request}',
  summary: 'The exact body of a request to the model, rebuilt from the record.',
  request: { params: z.object({ session: sessionId, request: whole(1) }) },
  responses: {
    200: {
      description: 'The body as it was sent.',
      content: { 'application/json': { schema: z.unknown() } },
    },
    default: PROBLEM,
  },
});

const blob = createRoute({
  method: 'get',
  path: '/sessions/{session}/blobs/{digest}',
  summary: 'Bytes that an event of the session refers to.',
  request: { params: z.object({ session: sessionId, digest }) },
  responses: {
    200: { description: 'The bytes.', content: { 'application/octet-stream': { schema: z.string() } } },
    default: PROBLEM,
  },
});

export const eventRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(events, async (context) => {
    const caller = allow(context, 'read');
    const { session } = context.req.valid('param');
    const { seq: head } = await stateFor(door, caller, session);
    const { from = 1, to = head, types: wanted, limit = door.limits.page } = context.req.valid('query');
    const last = Math.min(to, head, from + Math.min(limit, door.limits.page) - 1);
    const stored = await eventPage(door.store, session, { from, to: last });
    const items = stored.map(open).filter(wantedBy(wanted)).map(eventView);
    const reached = stored.at(-1)?.seq ?? last;
    const more = reached < Math.min(to, head);
    const next = more ? { next: nextPage(context.req.url, { from: String(reached + 1) }) } : {};
    return context.json({ items, ...next }, 200);
  });
  app.openapi(stream, async (context) => {
    const caller = allow(context, 'read');
    const { session } = context.req.valid('param');
    const { turns, seq } = await stateFor(door, caller, session);
    const { after, types: wanted, turn, deltas } = context.req.valid('query');
    const position = after ?? lastEventId(context) ?? 0;
    if (position > seq)
      throw new ProblemError(
        'event-not-found',
        `Session ${session} ends at event ${seq}; there is no ${position}.`,
      );
    const ended = turn === undefined ? undefined : turns[turn - 1]?.endedSeq;
    // The turn ended before the position that is asked for: there is nothing more to say of it.
    const over = ended !== undefined && ended <= position;
    return sse(context, door, {
      session,
      from: position + 1,
      deltas: deltas !== 'false',
      wanted: wantedBy(wanted),
      isLast: (event) => isEndOf(event, turn),
      over,
    });
  });
  bytesRoutes(app, door);
};

const bytesRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(request, async (context) => {
    const caller = allow(context, 'read');
    const { session, request: number } = context.req.valid('param');
    const record = await recordFor(door, caller, session);
    const { rebuilt } = await exactRequest(new Reading(session, record.events), number, (one) =>
      door.store.blob(one),
    );
    return context.body(rebuilt.body, 200, { 'content-type': 'application/json' });
  });
  app.openapi(blob, async (context) => {
    const caller = allow(context, 'read');
    const { session, digest: wanted } = context.req.valid('param');
    const record = await recordFor(door, caller, session);
    // Blobs are shared by all sessions of a store: only what this one names is its own.
    const bytes = names(record.events, wanted) ? await door.store.blob(wanted) : undefined;
    if (!bytes) throw new ProblemError('blob-not-found', `Session ${session} refers to no blob ${wanted}.`);
    return context.body(Uint8Array.from(bytes).buffer, 200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
    });
  });
};

/** Only what the runtime refers to counts: a digest that somebody wrote into a message names nothing. */
const names = (all: readonly LogEvent[], wanted: Digest): boolean =>
  all.some((event) => blobsNamed(event.data).includes(wanted));

/** Bytes of event bodies after which a page ends, whatever number of events was asked for. */
const PAGE_BYTES_MAX: number = 8 * 1024 * 1024;
const READ_EVENTS = 100;

/** Events of one page, at least one if there is one; not read further than the page can hold. */
const eventPage = async (
  store: LogStore,
  session: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  let bytes = 0;
  for (let at = from; at <= to; at += READ_EVENTS)
    for (const stored of await store.read(session, at, Math.min(to, at + READ_EVENTS - 1))) {
      bytes += stored.body.length;
      if (found.length > 0 && bytes > PAGE_BYTES_MAX) return found;
      found.push(stored);
    }
  return found;
};

const eventView = ({ seq, at, type, data }: LogEvent): EventView => ({
  seq,
  at,
  type,
  data,
});

const wantedBy = (list: string | undefined): ((event: LogEvent) => boolean) => {
  if (list === undefined) return () => true;
  const patterns = list.split(',');
  return ({ type }) =>
    patterns.some((pattern) =>
      pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type,
    );
};

const isEndOf = ({ type, data }: LogEvent, turn: number | undefined): boolean =>
  (type === 'turn.ended' || type === 'turn.withdrawn') && data.turn === turn;

/** Throws `parameter-invalid`: a reader that believes to be elsewhere must not be sent from the start. */
const lastEventId = (context: Context): number | undefined => {
  const id = context.req.header('last-event-id');
  if (id === undefined || id === '') return undefined;
  if (/^(0|[1-9]\d{0,14})$/.test(id)) return Number(id);
  throw new ProblemError(
    'parameter-invalid',
    'Last-Event-ID is the id of an event of this stream: a whole number.',
  );
};

type Streaming = Pick<FrameOptions, 'session' | 'from' | 'deltas' | 'wanted' | 'isLast'> & {
  readonly over: boolean;
};

export const sse = (context: Context<DoorEnv>, door: Door, { over, ...streaming }: Streaming): Response => {
  const { runtime, clock, limits, closing } = door;
  return streamResponse(context, door, async function* (signal) {
    const options: FrameOptions = { ...streaming, heartbeatMs: limits.heartbeatMs, signal, closing };
    if (over) yield frameText({ kind: 'end', reason: 'finished' });
    else for await (const frame of frames(runtime, clock, options)) yield frameText(frame);
  });
};
