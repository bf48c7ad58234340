/** The bill: what sessions cost, by whatever is asked for; what is not known is counted beside it. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { isOnrecordError } from '../../errors.ts';
import type { SessionRow } from '../../log/store.ts';
import { spendBy, spendLines, spendOf, type Spend, type SpendLine } from '../../view/spend.ts';
import { json, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import { costs, type CostsView, type CostView } from '../reports.ts';
import { sessionId, whole } from '../schemas.ts';
import { recordFor } from '../shown.ts';
import type { Caller } from '../tokens.ts';
import { proving } from './proof.ts';

const BY = ['session', 'agent', 'model', 'day'] as const;

const route = createRoute({
  method: 'get',
  path: '/costs',
  summary: 'What was paid, by session, agent, model or day.',
  description:
    'Days are those of UTC. `cost` is null while a part of it is unknown; `knownCost` is what is known. Reads the logs of all sessions that fit: name a session or `since` where there are many.',
  request: {
    query: z.object({
      by: z.enum(BY).optional().openapi({ description: 'Default session.' }),
      session: sessionId.optional(),
      since: whole(0)
        .optional()
        .openapi({ description: 'Only what was asked from this moment on, ms since 1970.' }),
    }),
  },
  responses: { 200: json(costs, 'The sums.'), default: PROBLEM },
});

export const costRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(route, async (context) => {
    const caller = allow(context, 'read');
    const { by = 'session', session, since = 0 } = context.req.valid('query');
    const view = await proving(door, async (): Promise<CostsView> => {
      const { lines, unread } = await linesOf(door, caller, { session, since });
      return {
        by,
        groups: spendBy(lines, by, dayOf).map(costView),
        total: costView(spendOf('total', lines)),
        unread,
      };
    });
    return context.json(view, 200);
  });
};

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

type Asked = { readonly session: string | undefined; readonly since: number };
type Lines = { readonly lines: readonly SpendLine[]; readonly unread: number };

export const linesOf = async (door: Door, caller: Caller, { session, since }: Asked): Promise<Lines> => {
  const fits = ({ at }: SpendLine): boolean => at >= since;
  if (session !== undefined)
    return {
      lines: spendLines(session, (await recordFor(door, caller, session)).events).filter(fits),
      unread: 0,
    };
  const lines: SpendLine[] = [];
  let unread = 0;
  for await (const row of changedSince(door, caller, since))
    try {
      const { events } = await recordFor(door, caller, row.session);
      lines.push(...spendLines(row.session, events).filter(fits));
    } catch (error) {
      // One damaged session does not hide the bill of the others; that it is missing is said.
      if (!isOnrecordError(error) || error.next !== 'corrupt') throw error;
      door.log.warn(error.message, { session: row.session });
      unread += 1;
    }
  return { lines: lines.toSorted((one, other) => one.at - other.at), unread };
};

/** The last changed first, so that the walk ends where nothing can be new enough. */
export async function* changedSince(
  { store, limits }: Door,
  { tenant }: Caller,
  since: number,
): AsyncGenerator<SessionRow, void, undefined> {
  for (let last: SessionRow | undefined; ;) {
    const after = last && { after: { session: last.session, updatedAt: last.summary.updatedAt } };
    const rows = await store.sessions({ limit: limits.page, ...after, ...(tenant !== '' && { tenant }) });
    for (const row of rows) {
      if (row.summary.updatedAt < since) return;
      yield row;
    }
    last = rows.length === limits.page ? rows.at(-1) : undefined;
    if (!last) return;
  }
}

const costView = ({
  name,
  attempts,
  cost,
  unknown,
  maybeBilled,
  usage,
  ms,
  firstTokenMs,
}: Spend): CostView => ({
  name,
  attempts,
  cost: unknown + maybeBilled === 0 ? cost : null,
  knownCost: cost,
  unknown,
  maybeBilled,
  usage: { ...usage },
  ms,
  firstTokenMs: firstTokenMs ?? null,
});
