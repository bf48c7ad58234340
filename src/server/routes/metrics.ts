/** GET /metrics: what an operator watches. Counts of all tenants stand in it, so it takes a token of none. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { SessionRow } from '../../log/store.ts';
import { PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow, authenticate } from '../guard.ts';
import type { Gauge } from '../metrics.ts';
import { ProblemError } from '../problem.ts';

/** How old the counts of sessions may be: each is a walk over the list of all of them. */
const COUNTS_FRESH_MS = 10_000;
const PAGE_SESSIONS = 1000;

const STATUSES = ['in-doubt', 'waiting', 'failed', 'running', 'idle', 'cancelled', 'done'] as const;

const route = createRoute({
  method: 'get',
  path: '/metrics',
  summary: 'What an operator watches, in the text form of Prometheus.',
  description:
    'Needs a token of no tenant with the role `read`, unless the server was told to leave it open.',
  responses: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: z.string() } } },
    default: PROBLEM,
  },
});

export const metricsRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const counts = counter(door);
  if (!door.openMetrics) app.use(route.path, authenticate(door));
  app.openapi(route, async (context) => {
    if (!door.openMetrics && allow(context, 'read').tenant !== '')
      throw new ProblemError(
        'role-missing',
        'The metrics count all tenants: they take a token of no tenant.',
      );
    const text = door.metrics.text([...sessionGauges(await counts()), ...ownGauges(door)]);
    return context.text(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
};

type Counts = {
  readonly byStatus: ReadonlyMap<string, number>;
  readonly turns: number;
  readonly events: number;
};

const counter = ({ store, clock }: Door): (() => Promise<Counts>) => {
  let counted: { readonly at: number; readonly counts: Promise<Counts> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (!counted || now - counted.at >= COUNTS_FRESH_MS) {
      const counts = countAll(store);
      counted = { at: now, counts };
      // What failed is not kept: the next one looks again.
      counts.catch(() => (counted = undefined));
    }
    return counted.counts;
  };
};

const countAll = async (store: Door['store']): Promise<Counts> => {
  const byStatus = new Map<string, number>(STATUSES.map((status) => [status, 0]));
  let [turns, events] = [0, 0];
  for (let last: SessionRow | undefined; ;) {
    const after = last && { after: { session: last.session, updatedAt: last.summary.updatedAt } };
    const rows = await store.sessions({ limit: PAGE_SESSIONS, ...after });
    for (const { head, summary } of rows) {
      byStatus.set(summary.status, (byStatus.get(summary.status) ?? 0) + 1);
      turns += summary.turns;
      events += head;
    }
    last = rows.length === PAGE_SESSIONS ? rows.at(-1) : undefined;
    if (!last) return { byStatus, turns, events };
  }
};

const sessionGauges = ({ byStatus, turns, events }: Counts): readonly Gauge[] => [
  {
    name: 'onrecord_sessions',
    help: 'Sessions by status.',
    values: [...byStatus].map(([status, value]) => ({ labels: { status }, value })),
  },
  { name: 'onrecord_turns', help: 'Turns of all sessions.', values: [{ value: turns }] },
  {
    name: 'onrecord_events',
    help: 'Events of all sessions; what forks share counts for each.',
    values: [{ value: events }],
  },
];

const ownGauges = ({ runtime, meter }: Door): readonly Gauge[] => [
  { name: 'onrecord_streams_open', help: 'Open streams.', values: [{ value: meter.openStreams }] },
  {
    name: 'onrecord_storage_fault',
    help: '1 while work waits for the store.',
    values: [{ value: runtime.storageFault ? 1 : 0 }],
  },
];
