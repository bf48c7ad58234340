/** An endpoint that OpenAI's clients can talk to: responses, streamed or whole, as projections of the log. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { open } from '../../event/envelope.ts';
import type { LogEvent } from '../../event/events.ts';
import type { SessionState } from '../../session/state.ts';
import { body, json, PROBLEM, REPLAYED } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { questionId } from '../front/answer-id.ts';
import { responseAsk, responseInput, checkTaken, type ResponseInput } from '../front/response-input.ts';
import { ResponseBody, type ResponseStart, type ResponseValue } from '../front/response.ts';
import { beats, begin, goOn, type Begun, type Run } from '../front/run.ts';
import { Story, turnOf } from '../front/story.ts';
import { tellRun, type Telling } from '../front/stream.ts';
import { threadState } from '../front/thread.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import type { Caller } from '../tokens.ts';

const responseShape = z
  .looseObject({ id: z.string(), object: z.literal('response'), status: z.string() })
  .openapi('Response');

const create = createRoute({
  method: 'post',
  path: '/v1/responses',
  summary: 'Create a response, as OpenAI\u2019s Responses API has it.',
  description:
    '`model` names the agent; previous_response_id goes on in that response\u2019s session. Of `input` only the newest user message counts. The Idempotency-Key names the turn. Calls are shown when they are done; a question about one is an mcp_approval_request. What is not supported is refused by name.',
  request: { body: body(responseInput) },
  responses: {
    200: {
      description: 'The response, or its events with stream.',
      content: {
        'application/json': { schema: responseShape },
        'text/event-stream': { schema: z.string() },
      },
    },
    default: PROBLEM,
  },
});

const retrieve = createRoute({
  method: 'get',
  path: '/v1/responses/{response}',
  summary: 'A response as it stands.',
  request: { params: z.object({ response: z.string().max(200) }) },
  responses: { 200: json(responseShape, 'The response.'), default: PROBLEM },
});

export const responseRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(create, async (context) => {
    const input = context.req.valid('json');
    checkTaken(await context.req.json<Record<string, unknown>>());
    const begun = await beginOrGoOn(context, door, input);
    const start = { model: input.model, previous: input.previous_response_id ?? null };
    if (input.stream === true) return tellRun(context, door, begun, { telling: responseTelling(start) });
    const value = await answered(door, begun, { start, signal: context.req.raw.signal });
    if (begun.replayed) context.header(REPLAYED, 'true');
    return context.json(value, 200);
  });
  app.openapi(retrieve, async (context) => {
    const caller = allow(context, 'read');
    const { run, model } = await runFor(door, caller, context.req.valid('param').response);
    return context.json(await standing(door, run, { model, previous: null }), 200);
  });
};

const beginOrGoOn = async (context: Context<DoorEnv>, door: Door, input: ResponseInput): Promise<Begun> => {
  const ask = responseAsk(input);
  allow(context, 'read');
  const caller = allow(context, ask.kind === 'answers' ? 'approve' : 'submit');
  const { model: agent, previous_response_id: previous } = input;
  const key = context.get('key');
  door.runtime.agent(agent);
  const before = typeof previous === 'string' ? await responseFor(door, caller, previous) : undefined;
  if (before && before.state.agent.name !== agent)
    throw new ProblemError(
      'agent-not-found',
      `That response is one of the agent "${before.state.agent.name}".`,
    );
  if (ask.kind === 'answers') {
    if (!before)
      throw new ProblemError('answer-invalid', 'Name the response that asks: previous_response_id.');
    return goOn(door, caller, { session: before.session, answers: ask.answers, key });
  }
  const message = { agent, key, message: ask.text, state: before?.state, isNew: true };
  if (!before) return begin(door, caller, message);
  const isKnown = before.state.turns.some((turn) => turn.key === key);
  if (!isKnown && turnOf(before.event) !== before.state.turns.length)
    throw new ProblemError(
      'response-not-latest',
      `${before.state.turns.length - turnOf(before.event)} turns came after that response in session ${before.session}. Go on from the newest one, or fork the session.`,
    );
  return begin(door, caller, { ...message, session: before.session });
};

const RESPONSE_ID = /^resp_([A-Za-z0-9_.:-]{1,100})\.([1-9]\d{0,14})$/;
const BEGINNINGS: ReadonlySet<string> = new Set([
  'turn.accepted',
  'turn.steered',
  'approval.decided',
  'call.settled',
]);

type Found = { readonly session: string; readonly state: SessionState; readonly event: LogEvent };

/** Throws `response-not-found`; also where it is another tenant's. */
const responseFor = async (door: Door, caller: Caller, id: string): Promise<Found> => {
  const [, session = '', seq = '0'] = RESPONSE_ID.exec(id) ?? [];
  const state = session === '' ? undefined : await threadState(door, caller, session);
  const [stored] = state ? await door.store.read(session, Number(seq), Number(seq)) : [];
  const event = stored && open(stored);
  if (state && event && BEGINNINGS.has(event.type)) return { session, state, event };
  throw new ProblemError('response-not-found', 'There is no such response.');
};

const runFor = async (
  door: Door,
  caller: Caller,
  id: string,
): Promise<{ readonly run: Run; readonly model: string }> => {
  const { session, state, event } = await responseFor(door, caller, id);
  const begins = ({ seq }: LogEvent): boolean => seq === event.seq;
  const answers = event.type === 'approval.decided' ? await givenWith(door, session, event.data.key) : [];
  return { run: { session, begins, answers: new Set(answers) }, model: state.agent.name };
};

/** The questions that were answered in one request: they have its key in common. */
const givenWith = async (door: Door, session: string, key: string | undefined): Promise<readonly string[]> =>
  (await door.store.read(session)).map(open).flatMap((event) => {
    const same = key !== undefined && event.type === 'approval.decided' && event.data.key === key;
    return same ? [questionId(event.data.call, event.data.digest)] : [];
  });

const responseTelling = (start: ResponseStart): Telling => {
  const response = new ResponseBody(start);
  let sequence = 0;
  return {
    tell: (beat) =>
      response
        .take(beat)
        .map((one) => {
          const data = { ...one, sequence_number: sequence++ };
          return `event: ${one.type}\ndata: ${JSON.stringify(data)}\n\n`;
        })
        .join(''),
  };
};

type Waiting = { readonly start: ResponseStart; readonly signal: AbortSignal };

/** The response when its run has ended or needs a person, or as it stands when the door's time to wait is over. */
const answered = async (door: Door, begun: Begun, { start, signal }: Waiting): Promise<ResponseValue> => {
  const over = new AbortController();
  const timer = door.clock.after(door.limits.waitMs, () => over.abort());
  const response = new ResponseBody(start);
  try {
    for await (const beat of beats(door, begun, AbortSignal.any([over.signal, signal]))) response.take(beat);
  } finally {
    timer.cancel();
    over.abort();
  }
  return response.value ?? standing(door, begun.run, start);
};

/** The response as the log has it now. */
const standing = async (door: Door, run: Run, start: ResponseStart): Promise<ResponseValue> => {
  const response = new ResponseBody(start);
  const events = (await door.store.read(run.session)).map(open);
  const story = new Story({ ...run, heardFrom: events.length });
  for (const event of events)
    for (const beat of story.take({ kind: 'event', event })) {
      response.take(beat);
      if (beat.kind === 'rest' || beat.kind === 'end') return response.value ?? notFound();
    }
  return response.value ?? notFound();
};

const notFound = (): never => {
  throw new ProblemError('response-not-found', 'There is no such response.');
};
