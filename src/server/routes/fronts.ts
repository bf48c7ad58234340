/**
 * Other front ends: AG-UI and the AI SDK's chat, as projections of the same log. Of the history that they send only
 * the newest message counts; what was said before stands in the log, and nobody can put words into it afterwards.
 */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { body, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { agUiAnswers, agUiInput, agUiMessage, agUiUnused } from '../front/ag-ui-input.ts';
import { agUiTelling } from '../front/ag-ui.ts';
import { chatAsk, chatInput } from '../front/ai-sdk-input.ts';
import { AI_SDK_HEADERS, aiSdkTelling } from '../front/ai-sdk.ts';
import { NAME_LENGTH_MAX } from '../front/message-text.ts';
import { begin, goOn } from '../front/run.ts';
import { tellRun } from '../front/stream.ts';
import { threadSession, threadState } from '../front/thread.ts';
import { allow } from '../guard.ts';
import type { Caller } from '../tokens.ts';
import { responseRoutes } from './responses.ts';

const agent = z.string().max(NAME_LENGTH_MAX);
const params = z.object({ agent });
const STREAM = { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } };

const agUi = createRoute({
  method: 'post',
  path: '/ag-ui/{agent}',
  summary: 'Run an agent, as AG-UI 1.0 has it.',
  description:
    'threadId names the session and runId the turn: the same run sent again is the same turn, told again from the log. Of `messages` only the newest user message counts; history is that of the log. A turn that needs a person ends its run with an interrupt, and a run with `resume` goes on.',
  request: { params, body: body(agUiInput) },
  responses: { 200: STREAM, default: PROBLEM },
});

const chat = createRoute({
  method: 'post',
  path: '/ai-sdk/{agent}',
  summary: 'Send a chat message, as the AI SDK\u2019s DefaultChatTransport does.',
  description:
    'The chat\u2019s id names the session and the id of the newest user message the turn. Of `messages` only the newest counts; history is that of the log. Answers to tool approvals go on with the turn.',
  request: { params, body: body(chatInput) },
  responses: { 200: STREAM, default: PROBLEM },
});

const resume = createRoute({
  method: 'get',
  path: '/ai-sdk/{agent}/{chat}/stream',
  summary: 'The answer to the last message of a chat from its beginning, as it stands and as it goes on.',
  request: { params: z.object({ agent, chat: z.string().max(NAME_LENGTH_MAX) }) },
  responses: {
    200: STREAM,
    204: { description: 'Nothing was said in this chat.' },
    default: PROBLEM,
  },
});

/** Whoever runs an agent through a front end sees what it does. */
const allowRun = (context: Context<DoorEnv>, answers: boolean): Caller => {
  allow(context, 'read');
  return allow(context, answers ? 'approve' : 'submit');
};

export const frontRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(agUi, async (context) => {
    const input = context.req.valid('json');
    const { agent: name } = context.req.valid('param');
    const answers = agUiAnswers(input.resume ?? []);
    const caller = allowRun(context, answers.length > 0);
    door.runtime.agent(name);
    const { threadId, runId: key } = input;
    const session = threadSession(caller.tenant, name, threadId);
    const telling = agUiTelling({ threadId, runId: key, unused: agUiUnused(input) });
    if (answers.length > 0)
      return tellRun(context, door, await goOn(door, caller, { session, answers, key }), { telling });
    const { text: message, isNew } = agUiMessage(input);
    const state = await threadState(door, caller, session);
    const when = input.forwardedProps?.when;
    const run = await begin(door, caller, { session, state, agent: name, key, message, when, isNew });
    return tellRun(context, door, run, { telling });
  });
  app.openapi(chat, async (context) => {
    const input = context.req.valid('json');
    const { agent: name } = context.req.valid('param');
    const ask = chatAsk(input);
    const caller = allowRun(context, ask.kind === 'answers');
    door.runtime.agent(name);
    const session = threadSession(caller.tenant, name, input.id);
    const out = { telling: aiSdkTelling(), headers: AI_SDK_HEADERS };
    if (ask.kind === 'answers')
      return tellRun(context, door, await goOn(door, caller, { session, answers: ask.answers }), out);
    const { key, text: message } = ask;
    const state = await threadState(door, caller, session);
    const { when } = input;
    const run = await begin(door, caller, { session, state, agent: name, key, message, when, isNew: true });
    return tellRun(context, door, run, out);
  });
  app.openapi(resume, async (context) => {
    const caller = allow(context, 'read');
    const { agent: name, chat: id } = context.req.valid('param');
    const session = threadSession(caller.tenant, name, id);
    const state = await threadState(door, caller, session);
    const last = state?.turns.at(-1);
    if (!state || !last) return context.body(null, 204);
    const run = {
      session,
      begins: ({ seq }: { readonly seq: number }) => seq === last.seq,
      // What was waited for and answered since is told as a whole.
      restsFrom: state.seq,
    };
    const out = { telling: aiSdkTelling(), headers: AI_SDK_HEADERS };
    return tellRun(context, door, { run, replayed: true }, out);
  });
  responseRoutes(app, door);
};
