/** One request of a session as the model got it: its parts and why, and what is other than in the one before. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { rebuildRequest } from '../../context/rebuild.ts';
import type { LogEvent } from '../../event/events.ts';
import type { RequestReading } from '../../view/reading.ts';
import { partRuns } from '../../view/part-runs.ts';
import { nextPlan, sentPlanAt } from '../../view/request-plan.ts';
import { requestDiff, type PartChange } from '../../view/request-view.ts';
import { json, PROBLEM } from '../answer.ts';
import { bookFor, type Book } from '../books.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { sessionId, whole } from '../schemas.ts';
import { encoders, recordFor } from '../shown.ts';
import {
  requestDiffShape,
  requestPartsShape,
  type RequestDiffView,
  type RequestPartsView,
} from '../window-shapes.ts';

const numbered = z.object({ session: sessionId, request: whole(1) });

const parts = createRoute({
  method: 'get',
  path: '/sessions/{session}/requests/{request}/parts',
  summary: 'What a request held and what not, and why; long stretches of what was left out as one row.',
  request: { params: numbered },
  responses: { 200: json(requestPartsShape, 'The parts.'), default: PROBLEM },
});

const next = createRoute({
  method: 'get',
  path: '/sessions/{session}/next-request',
  summary: 'The next request as it would be, with its parts.',
  request: { params: z.object({ session: sessionId }) },
  responses: { 200: json(requestPartsShape, 'The parts.'), default: PROBLEM },
});

const difference = createRoute({
  method: 'get',
  path: '/sessions/{session}/requests/{request}/diff',
  summary: 'What a request does not share with the one before it, part by part.',
  request: { params: numbered },
  responses: { 200: json(requestDiffShape, 'The differences.'), default: PROBLEM },
});

/** Characters of a part that are shown of a difference. */
const TEXT_LENGTH_MAX = 4000;

export const requestRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(parts, async (context) => {
    const caller = allow(context, 'read');
    const { session, request: number } = context.req.valid('param');
    const book = await bookFor(door, caller, session);
    const request = requestIn(book, number);
    const { events } = await recordFor(door, caller, session);
    return context.json(await sentParts(door, book, { number, request, events }), 200);
  });
  app.openapi(next, async (context) => {
    const caller = allow(context, 'read');
    const { session } = context.req.valid('param');
    const book = await bookFor(door, caller, session);
    const { events } = await recordFor(door, caller, session);
    return context.json(await nextParts(door, book, events), 200);
  });
  app.openapi(difference, async (context) => {
    const caller = allow(context, 'read');
    const { session, request: number } = context.req.valid('param');
    const book = await bookFor(door, caller, session);
    const request = requestIn(book, number);
    const before = book.index.requests[number - 2];
    const { events } = await recordFor(door, caller, session);
    const source = { eventAt: (seq: number) => events[seq - 1], blob: door.store.blob.bind(door.store) };
    const now = await rebuildRequest(source, request.seq);
    const then = before && (await rebuildRequest(source, before.seq));
    const changes = then
      ? requestDiff(then, now)
      : now.parts.map((part): PartChange => ({ sign: '+', ...part }));
    return context.json(
      { request: number, against: then ? number - 1 : null, changes: changesOf(changes) },
      200,
    );
  });
};

const requestIn = ({ index }: Book, number: number): RequestReading => {
  const request = index.requests[number - 1];
  if (request) return request;
  throw new ProblemError(
    'request-not-found',
    `Session ${index.session} has no request ${number}; it has ${index.requests.length}, counted from 1.`,
  );
};

type Sent = {
  readonly number: number;
  readonly request: RequestReading;
  readonly events: readonly LogEvent[];
};

const sentParts = async (
  door: Door,
  { index }: Book,
  { number, request, events }: Sent,
): Promise<RequestPartsView> => {
  const before = index.requests[number - 2]?.seq;
  const blob = door.store.blob.bind(door.store);
  const place = { number, seq: request.seq, before };
  const { manifest, shared, answer } = await sentPlanAt(index.session, events, blob, place);
  return {
    request: number,
    requests: index.requests.length,
    seq: request.seq,
    at: request.at,
    model: index.state.agent.model.name,
    bytes: manifest.bytes,
    sharedBytes: shared?.bytes ?? null,
    counts: manifest.counts,
    parts: partRuns(manifest.parts),
    answer: answer
      ? {
          seq: request.answer?.seq ?? 0,
          usage: answer.usage ?? null,
          cost: answer.cost ?? null,
          firstTokenMs: answer.firstTokenMs ?? null,
          ms: answer.ms,
        }
      : null,
    refused: null,
  };
};

const nextParts = async (
  door: Door,
  { index }: Book,
  events: readonly LogEvent[],
): Promise<RequestPartsView> => {
  const last = index.requests.at(-1);
  const source = { eventAt: (seq: number) => events[seq - 1], blob: door.store.blob.bind(door.store) };
  const rebuilt = last && (await rebuildRequest(source, last.seq));
  const plan = nextPlan(index.session, events, {
    encoderOf: encoders(door.runtime),
    last: rebuilt &&
      last && {
        ...rebuilt,
        seq: last.seq,
        parts: rebuilt.parts.map(({ text }) => text),
        seqs: rebuilt.parts.map(({ seq }) => seq),
        kept: 0,
      },
  });
  return {
    request: null,
    requests: index.requests.length,
    seq: null,
    at: null,
    model: index.state.agent.model.name,
    bytes: plan.manifest?.bytes ?? null,
    sharedBytes: plan.shared?.bytes ?? null,
    counts: plan.manifest?.counts ?? null,
    parts: partRuns(plan.manifest?.parts ?? []),
    answer: null,
    refused: plan.refused?.message ?? null,
  };
};

const changesOf = (changes: readonly PartChange[]): RequestDiffView['changes'] => {
  const shown: RequestDiffView['changes'][number][] = [];
  for (const { sign, seq, text } of changes) {
    const last = shown.at(-1);
    if (sign === '=' && last?.sign === '=')
      shown[shown.length - 1] = { ...last, count: last.count + 1, length: last.length + text.length };
    else {
      const cut = sign === '=' ? '' : text.slice(0, TEXT_LENGTH_MAX).toWellFormed();
      shown.push({ sign, ...(seq !== undefined && { seq }), count: 1, text: cut, length: text.length });
    }
  }
  return shown;
};
