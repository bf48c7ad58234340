/** All sessions at once: how many there are of which kind, and a stream of those that change. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { SessionStatus } from '../../event/summary.ts';
import type { SessionRow } from '../../log/store.ts';
import { json, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { overviewShape, type Overview } from '../reports.ts';
import { sessionChanges } from '../session-changes.ts';
import { streamResponse } from '../stream-response.ts';
import type { Caller } from '../tokens.ts';

const overview = createRoute({
  method: 'get',
  path: '/overview',
  summary: 'How many sessions there are, by status and agent, and how much waits for people.',
  responses: { 200: json(overviewShape, 'The counts.'), default: PROBLEM },
});

const changes = createRoute({
  method: 'get',
  path: '/changes',
  summary: 'Sessions as they change, each as it stands then.',
  description:
    'Server-sent events. `session` carries one session; several changes of one in a short time are told once. `look-again` says that more has changed than was told. It has no past: ask for the list after it has begun.',
  responses: {
    200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
    default: PROBLEM,
  },
});

export const watchingRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(overview, async (context) => {
    const caller = allow(context, 'read');
    return context.json(await overviewOf(door, caller), 200);
  });
  app.openapi(changes, (context) => {
    const caller = allow(context, 'read');
    return streamResponse(context, door, (signal) => sessionChanges(door, caller, signal));
  });
};

/** Sessions that are counted one by one; of a larger store the newest are. */
const COUNTED_MAX = 20_000;

const overviewOf = async ({ runtime, limits }: Door, { tenant }: Caller): Promise<Overview> => {
  const statuses: Partial<Record<SessionStatus, number>> = {};
  const agents: Record<string, number> = {};
  let [sessions, waiting, inDoubt] = [0, 0, 0];
  let last: SessionRow | undefined;
  do {
    const after = last && { after: { session: last.session, updatedAt: last.summary.updatedAt } };
    const rows = await runtime.sessions({ limit: limits.page, ...after, ...(tenant !== '' && { tenant }) });
    for (const { summary } of rows) {
      statuses[summary.status] = (statuses[summary.status] ?? 0) + 1;
      agents[summary.agent] = (agents[summary.agent] ?? 0) + 1;
      waiting += summary.waiting;
      inDoubt += summary.inDoubt;
    }
    sessions += rows.length;
    last = rows.length === limits.page ? rows.at(-1) : undefined;
  } while (last && sessions < COUNTED_MAX);
  return { sessions, complete: last === undefined, statuses, agents, waiting, inDoubt };
};
