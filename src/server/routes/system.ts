/** The program itself: agents, tools, modes, whether it makes progress, and what it counts. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Mode } from '../../event/definition.ts';
import type { Agent } from '../../worker/agent.ts';
import { body, json, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { newMode, newUnpark, page, sessionId, sessionShape } from '../schemas.ts';
import { sessionView, stateFor } from '../shown.ts';

const agentShape = z
  .looseObject({ name: z.string(), description: z.string(), model: z.string(), tools: z.array(z.string()) })
  .openapi('Agent');
const toolShape = z
  .looseObject({ name: z.string(), description: z.string(), effect: z.string(), agents: z.array(z.string()) })
  .openapi('Tool');
const gateShape = z
  .looseObject({ mode: z.enum(['normal', 'dry-run', 'read-only', 'frozen']) })
  .openapi('Gate');

const agents = createRoute({
  method: 'get',
  path: '/agents',
  summary: 'Agents that this server can run.',
  responses: { 200: json(page(agentShape), 'All of them.'), default: PROBLEM },
});

const tools = createRoute({
  method: 'get',
  path: '/tools',
  summary: 'Tools of all agents.',
  responses: { 200: json(page(toolShape), 'All of them.'), default: PROBLEM },
});

const gate = createRoute({
  method: 'get',
  path: '/mode',
  summary: 'What may start in the whole store, and who said so.',
  responses: { 200: json(gateShape, 'The gate.'), default: PROBLEM },
});

const setGate = createRoute({
  method: 'put',
  path: '/mode',
  summary: 'Say what may start in the whole store.',
  request: { body: body(newMode) },
  responses: { 200: json(gateShape, 'When this has answered, nothing starts against it.'), default: PROBLEM },
});

const setMode = createRoute({
  method: 'put',
  path: '/sessions/{session}/mode',
  summary: 'Say what may start in one session.',
  request: { params: z.object({ session: sessionId }), body: body(newMode) },
  responses: {
    200: json(sessionShape, 'When this has answered, nothing starts against it.'),
    default: PROBLEM,
  },
});

const unpark = createRoute({
  method: 'post',
  path: '/sessions/{session}/unpark',
  summary: 'Let workers try a session again that was parked, because its drivers were lost again and again.',
  request: { params: z.object({ session: sessionId }), body: body(newUnpark) },
  responses: { 200: json(sessionShape, 'It is not parked any more.'), default: PROBLEM },
});

export const systemRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime } = door;
  app.openapi(agents, (context) => {
    allow(context, 'read');
    return context.json({ items: [...runtime.agents.values()].map(agentView) }, 200);
  });
  app.openapi(tools, (context) => {
    allow(context, 'read');
    return context.json({ items: toolViews([...runtime.agents.values()]) }, 200);
  });
  app.openapi(gate, async (context) => {
    allow(context, 'read');
    return context.json(await gateView(door), 200);
  });
  app.openapi(setGate, async (context) => {
    const { actor, tenant } = allow(context, 'operate');
    // The store's gate is everybody's: a token of one tenant may not close it.
    if (tenant !== '')
      throw new ProblemError('role-missing', 'The mode of the whole store is set with a token of no tenant.');
    const { mode, reason } = context.req.valid('json');
    await runtime.setMode(mode, { by: actor, ...(reason !== undefined && { reason }) });
    return context.json(await gateView(door), 200);
  });
  app.openapi(setMode, async (context) => {
    const caller = allow(context, 'operate');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { mode, reason } = context.req.valid('json');
    await runtime.setMode(mode, { session, by: caller.actor, ...(reason !== undefined && { reason }) });
    return context.json(sessionView(await runtime.state(session)), 200);
  });
  app.openapi(unpark, async (context) => {
    const caller = allow(context, 'operate');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { reason } = context.req.valid('json');
    await runtime.unpark(session, { by: caller.actor, ...(reason !== undefined && { reason }) });
    return context.json(sessionView(await runtime.state(session)), 200);
  });
};

const gateView = async ({ runtime }: Door): Promise<{ mode: Mode; by?: unknown; reason?: string }> => {
  const { mode, last } = await runtime.gate();
  return { mode, ...(last && { by: last.by, ...(last.reason !== undefined && { reason: last.reason }) }) };
};

const agentView = ({ definition, description, digest }: Agent) => ({
  name: definition.name,
  description,
  digest,
  model: `${definition.model.provider}/${definition.model.name}`,
  tools: definition.tools.map(({ name }) => name),
  policy: definition.policy,
  limits: definition.limits,
});

const toolViews = (all: readonly Agent[]) => {
  const byDigest = new Map<string, { agents: string[]; definition: Agent['definition']['tools'][number] }>();
  for (const { definition } of all)
    for (const tool of definition.tools) {
      const known = byDigest.get(tool.digest) ?? { agents: [], definition: tool };
      known.agents.push(definition.name);
      byDigest.set(tool.digest, known);
    }
  return [...byDigest.values()].map(({ agents: names, definition }) => ({ ...definition, agents: names }));
};
