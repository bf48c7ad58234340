/** One request of a session as the model got it: its parts and why, and what is other than in the one before. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { rebuildRequest, type RebuildSource } from '../../context/rebuild.ts';
import type { LogEvent } from '../../event/events.ts';
import type { RequestReading } from '../../view/reading.ts';
import { partRuns, type PartRun } from '../../view/part-runs.ts';
import { policyOf } from '../../context/selection.ts';
import type { SessionState } from '../../session/state.ts';
import { policyWords } from '../../view/selection-words.ts';
import type { SessionIndex } from '../../view/session-index.ts';
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
    return context.json(await sentParts(door, book, { number, request }), 200);
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
    const { source } = await eventsBehind(door, book, { number, request });
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

type Sent = { readonly number: number; readonly request: RequestReading };

const sentParts = async (door: Door, book: Book, { number, request }: Sent): Promise<RequestPartsView> => {
  const { index } = book;
  const { state, events, start, from, source } = await eventsBehind(door, book, { number, request });
  const before = index.requests[number - 2]?.seq;
  const place = { number, seq: request.seq, before, state, source, ...(start && { start }) };
  const { manifest, shared, answer } = await sentPlanAt(index.session, events, place);
  const left = from > 1 ? [earlier(index, state, from)] : [];
  return {
    request: number,
    requests: index.requests.length,
    seq: request.seq,
    at: request.at,
    model: index.state.agent.model.name,
    bytes: manifest.bytes,
    sharedBytes: shared?.bytes ?? null,
    counts: manifest.counts,
    parts: [...partRuns(manifest.parts), ...left],
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

/** Sessions longer than this are not read whole to show one request. */
const WHOLE_EVENTS_MAX = 5000;

type Behind = {
  /** The session when the request was built. */
  readonly state: SessionState;
  /** Each at its seq less one; those before `from` are missing. */
  readonly events: readonly (LogEvent | undefined)[];
  readonly from: number;
  readonly start: SessionState | undefined;
  readonly source: RebuildSource;
};

/** The events that a request and the one before it were made of, and its answer: all, or those from the first turn on that they hold. */
const eventsBehind = async (door: Door, book: Book, { number, request }: Sent): Promise<Behind> => {
  const { index } = book;
  const to = request.answer?.seq ?? request.seq;
  const { state } = await book.at(request.seq);
  const before = index.requests[number - 2];
  const held = before ? [state, (await book.at(before.seq)).state] : [state];
  // A message may have come while the turn before was running.
  const turn = Math.min(...held.map(firstHeld)) - 1;
  const isWhole = to <= WHOLE_EVENTS_MAX || turn < 1;
  const section = isWhole ? undefined : index.sections.find((one) => one.turn === turn);
  const from = section?.from ?? 1;
  const start = from === 1 ? undefined : (await book.at(from - 1)).state;
  const { reading } = await book.stretch({ from, to }, state);
  const events: (LogEvent | undefined)[] = [];
  events.length = from - 1;
  for (const event of reading.events.slice(from - 1)) events.push(event);
  const source: RebuildSource = {
    eventAt: (seq) => events[seq - 1],
    blob: (digest) => door.store.blob(digest),
    frameAt: (seq) => index.frameAt(seq),
  };
  return { state, events, from, start, source };
};

/** The first turn that requests hold. A summary stands for what nobody knows the length of: then all is read. */
const firstHeld = ({ choice }: SessionState): number => {
  if (choice.summary !== undefined) return 1;
  let first = 1;
  for (const { from, to } of choice.out) if (from <= first) first = Math.max(first, to + 1);
  return first;
};

const earlier = (index: SessionIndex, state: SessionState, from: number): PartRun => {
  const last = index.sections[index.sectionAt(from - 1)]?.turn ?? 1;
  const [first] = state.choice.out;
  const count = index.partsBefore(from);
  return {
    kind: 'run',
    state: 'left-out',
    label: `${count} parts of turns 1 to ${last}`,
    reason: first?.why === 'by-hand' ? 'by hand' : `requests hold ${policyWords(policyOf(state))}`,
    from: 1,
    to: from - 1,
    count,
    bytes: 0,
    tokens: null,
    same: false,
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
