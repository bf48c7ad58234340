/** GET /metrics: what an operator watches. Counts of all tenants stand in it, so it takes a token of none. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { StatusCounts } from '../../log/store.ts';
import { PROGRAM } from '../../worker/program.ts';
import { PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow, authenticate } from '../guard.ts';
import { tallyLines, type Gauge } from '../metrics.ts';
import { ProblemError } from '../problem.ts';

/** How old the counts of sessions may be: several may ask, and each look goes over an index of all of them. */
const COUNTS_FRESH_MS = 10_000;

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
    const gauges = [...sessionGauges(await counts()), ...ownGauges(door)];
    const told = tallyLines(door.runtime.telemetry?.tally.all() ?? []);
    const text = door.metrics.text(gauges) + told;
    return context.text(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
};

type Counts = { readonly byStatus: StatusCounts; readonly stalled: number };

const counter = ({ store, runtime, clock }: Door): (() => Promise<Counts>) => {
  let counted: { readonly at: number; readonly counts: Promise<Counts> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (!counted || now - counted.at >= COUNTS_FRESH_MS) {
      const counts = Promise.all([store.counts(), runtime.stalled()]).then(([byStatus, stalled]) => ({
        byStatus,
        stalled: stalled.length,
      }));
      counted = { at: now, counts };
      // What failed is not kept: the next one looks again.
      counts.catch(() => (counted = undefined));
    }
    return counted.counts;
  };
};

const sessionGauges = ({ byStatus, stalled }: Counts): readonly Gauge[] => [
  {
    name: 'onrecord_sessions',
    help: 'Sessions by status.',
    values: STATUSES.map((status) => ({ labels: { status }, value: byStatus[status] ?? 0 })),
  },
  {
    name: 'onrecord_sessions_stalled',
    help: 'Sessions that could go on and that no process has driven for a while, 100 at most.',
    values: [{ value: stalled }],
  },
];

const ownGauges = ({ runtime, meter }: Door): readonly Gauge[] => [
  { name: 'onrecord_build_info', help: 'The program.', values: [{ labels: { program: PROGRAM }, value: 1 }] },
  { name: 'onrecord_streams_open', help: 'Open streams.', values: [{ value: meter.openStreams }] },
  {
    name: 'onrecord_storage_fault',
    help: '1 while work waits for the store.',
    values: [{ value: runtime.storageFault ? 1 : 0 }],
  },
];
