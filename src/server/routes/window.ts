/**
 * A session for the window, in pieces: where everything stands, how it stood at any event, rows and conversation by
 * stretches, search. Each answer costs the same after 100 events and after 100,000.
 */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { pages } from '../../log/pages.ts';
import { modeOf, type SessionState } from '../../session/state.ts';
import { openWork, type OpenWork } from '../../view/open-work.ts';
import { recordRow } from '../../view/record-rows.ts';
import type { SessionIndex } from '../../view/session-index.ts';
import { talk } from '../../view/talk.ts';
import { json, PROBLEM } from '../answer.ts';
import { bookFor, type Book } from '../books.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { sessionId, whole } from '../schemas.ts';
import { grantViews, sessionView } from '../shown.ts';
import {
  foundShape,
  indexShape,
  rowsShape,
  standingShape,
  talkShape,
  type StandingView,
} from '../window-shapes.ts';

const params = z.object({ session: sessionId });
const at = whole(1).optional().openapi({ description: 'As it stood at this event; default: as it stands.' });

const index = createRoute({
  method: 'get',
  path: '/sessions/{session}/index',
  summary: 'Where the turns and steps of a session begin.',
  description: 'Sections are runs of events of one turn. `after` asks for what begins behind that event.',
  request: { params, query: z.object({ after: whole(0).optional() }) },
  responses: { 200: json(indexShape, 'The index.'), default: PROBLEM },
});

const standing = createRoute({
  method: 'get',
  path: '/sessions/{session}/standing',
  summary: 'How a session stood at an event: status, cost, and what was open.',
  request: { params, query: z.object({ at }) },
  responses: { 200: json(standingShape, 'How it stood.'), default: PROBLEM },
});

const stretch = z.object({ from: whole(1).optional(), to: whole(1).optional(), at });
/** Events of a stretch that nobody named: the last ones. */
const STRETCH = 200;

const rows = createRoute({
  method: 'get',
  path: '/sessions/{session}/rows',
  summary: 'Events as rows to read: a sentence, a duration, a bar on the axis of their turn.',
  description:
    'At most 500 events. `at` tells them as they stood then: a call that is closed by now was open.',
  request: { params, query: stretch },
  responses: { 200: json(rowsShape, 'The rows.'), default: PROBLEM },
});

const conversation = createRoute({
  method: 'get',
  path: '/sessions/{session}/conversation',
  summary: 'What was said between two events, with the calls that each answer asked for.',
  description: 'At most 2,000 events. Long texts are cut; `length` counts the whole.',
  request: { params, query: stretch },
  responses: { 200: json(talkShape, 'What was said.'), default: PROBLEM },
});

const search = createRoute({
  method: 'get',
  path: '/sessions/{session}/search',
  summary: 'Events that hold these words, or are of these kinds.',
  description: 'Words are looked for in all that an event holds, without case.',
  request: {
    params,
    query: z.object({
      q: z.string().max(200).optional(),
      kinds: z
        .string()
        .regex(/^[a-z_.,]{1,300}$/, 'is no list of kinds, as in call.,turn.ended')
        .optional()
        .openapi({ description: 'Beginnings of event types: "call.,approval."' }),
    }),
  },
  responses: { 200: json(foundShape, 'Which fit.'), default: PROBLEM },
});

const ROWS_MAX = 500;
const TALK_EVENTS_MAX = 2000;
const FOUND_MAX = 10_000;

export const windowRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(index, async (context) => {
    const { index: known } = await bookFor(door, allow(context, 'read'), context.req.valid('param').session);
    const { after = 0 } = context.req.valid('query');
    const sections = known.sections.slice(firstBehind(known.sections, after));
    const steps = known.steps.slice(firstBehind(known.steps, after));
    return context.json(
      {
        head: known.head,
        sections: sections.flatMap(({ turn, from }) => [turn, from]),
        steps: steps.map(({ from }) => from),
      },
      200,
    );
  });
  app.openapi(standing, async (context) => {
    const book = await bookFor(door, allow(context, 'read'), context.req.valid('param').session);
    return context.json(await standingOf(book, placeIn(book, context.req.valid('query').at)), 200);
  });
  stretchRoutes(app, door);
  app.openapi(search, async (context) => {
    const book = await bookFor(door, allow(context, 'read'), context.req.valid('param').session);
    const { q = '', kinds } = context.req.valid('query');
    const ofKind = kindsOf(book.index, kinds);
    const found = q.trim() === '' ? ofKind : await holding(door, book, { words: q, among: ofKind });
    return context.json({ seqs: found.slice(0, FOUND_MAX), complete: found.length <= FOUND_MAX }, 200);
  });
};

const stretchRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(rows, async (context) => {
    const caller = allow(context, 'read');
    const book = await bookFor(door, caller, context.req.valid('param').session);
    const { from, to, at: place } = within(book, context.req.valid('query'), ROWS_MAX);
    const { state } = await book.at(place);
    const { reading, events } = await book.stretch({ from, to }, state);
    const me = { me: caller.actor.name };
    return context.json(
      {
        from,
        to,
        rows: events.map((event) => recordRow(book.index, reading, event, me)),
        sections: heads(book.index, state, { from, to }).sections,
        steps: heads(book.index, state, { from, to }).steps,
      },
      200,
    );
  });
  app.openapi(conversation, async (context) => {
    const caller = allow(context, 'read');
    const book = await bookFor(door, caller, context.req.valid('param').session);
    const { from, to, at: place } = within(book, context.req.valid('query'), TALK_EVENTS_MAX);
    const { state } = await book.at(place);
    const { reading, events } = await book.stretch({ from, to }, state);
    const entries = talk(reading, events, { me: caller.actor.name });
    return context.json(
      { from, to, entries, sections: heads(book.index, state, { from, to }).sections },
      200,
    );
  });
};

const placeIn = ({ index: { head, session } }: Book, place: number = head): number => {
  if (place <= head) return place;
  throw new ProblemError(
    'event-not-found',
    `Session ${session} ends at event ${head}; there is no ${place}.`,
  );
};

type Stretch = { readonly from: number; readonly to: number; readonly at: number };

const within = (book: Book, asked: z.infer<typeof stretch>, most: number): Stretch => {
  const place = placeIn(book, asked.at);
  const last = Math.min(asked.to ?? place, place);
  const from = asked.from ?? Math.max(1, last - STRETCH + 1);
  const to = Math.min(last, from + most - 1);
  if (from <= to) return { from, to, at: place };
  throw new ProblemError('parameter-invalid', `From event ${from} to ${to} there is none.`);
};

const firstBehind = (starts: readonly { readonly from: number }[], seq: number): number => {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle]?.from ?? Infinity) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
};

const heads = (known: SessionIndex, state: SessionState, { from, to }: Omit<Stretch, 'at'>) => ({
  sections: range(known.sectionAt(from), known.sectionAt(to)).flatMap((i) => {
    const head = known.sectionHead(i, state);
    return head ? [head] : [];
  }),
  steps: range(known.stepAt(from), known.stepAt(to)).flatMap((i) => {
    const head = known.stepHead(i, state);
    return head ? [head] : [];
  }),
});

const range = (first: number, last: number): readonly number[] =>
  Array.from({ length: Math.max(0, last - Math.max(0, first) + 1) }, (_, i) => Math.max(0, first) + i);

const standingOf = async (book: Book, place: number): Promise<StandingView> => {
  const { index: known } = book;
  const reading = await book.at(place);
  const { state, usage } = reading;
  const work = openWork(reading, (seq) => known.times[seq - 1] ?? 0);
  const lastTurn = state.active?.turn ?? state.turns.at(-1)?.turn;
  const record = lastTurn === undefined ? undefined : state.turns[lastTurn - 1];
  return {
    session: sessionView(state),
    at: place,
    head: known.head,
    time: known.times[place - 1] ?? 0,
    usage: usage ?? null,
    turn: record
      ? {
          turn: record.turn,
          state: record.outcome ?? (state.active?.turn === record.turn ? 'running' : 'queued'),
          isActive: state.active?.turn === record.turn,
        }
      : null,
    request: known.requestAt(place),
    work,
    marks: work.flatMap(markOf),
    model: state.agent.model.name,
    mode: modeOf(state),
    grants: grantViews(state, known.times[place - 1] ?? 0),
    parent: known.parent && place > known.parent.seq ? known.parent : null,
  };
};

const markOf = ({ kind, seq }: OpenWork): StandingView['marks'] => {
  if (kind === 'doubt') return [{ seq, kind }];
  return kind === 'question' ? [{ seq, kind: 'wait' }] : [];
};

const kindsOf = ({ types }: SessionIndex, kinds: string | undefined): readonly number[] => {
  const wanted = kinds?.split(',').filter((kind) => kind !== '');
  return types.flatMap((type, i) =>
    wanted === undefined || wanted.some((kind) => type.startsWith(kind)) ? [i + 1] : [],
  );
};

type Looking = { readonly words: string; readonly among: readonly number[] };

/** Reads the whole log: few at a time. */
const holding = async (door: Door, { index: known }: Book, { words, among }: Looking): Promise<number[]> => {
  const wanted = words
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
  const kinds = new Set(among);
  const done = door.meter.proof();
  const found: number[] = [];
  try {
    for await (const page of pages(door.store, known.session, { to: known.head }))
      for (const { seq, body } of page) {
        if (!kinds.has(seq)) continue;
        const text = body.toLowerCase();
        if (wanted.every((word) => text.includes(word))) found.push(seq);
        if (found.length > FOUND_MAX) return found;
      }
    return found;
  } finally {
    done();
  }
};
