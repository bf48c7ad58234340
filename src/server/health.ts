/** Open to whoever reaches the server: whether there is progress, what it offers, what its problems mean. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Clock } from '../clock.ts';
import { PROGRAM } from '../worker/program.ts';
import { json, PROBLEM } from './answer.ts';
import type { Door, DoorEnv } from './door.ts';
import { PROBLEMS, ProblemError } from './problem.ts';
import { docsPage } from './docs-page.ts';

/** The store answers a look within this time, or the server is not healthy. */
const HEALTH_MS = 5000;
/** How old an answer about health may be: anybody may ask, and each look reads the store. */
const FRESH_MS = 1000;

const healthShape = z
  .strictObject({
    ok: z.boolean(),
    program: z.string(),
    store: z.string().openapi({ description: '"ok", or what keeps it from taking anything.' }),
    stalled: z
      .number()
      .int()
      .openapi({ description: 'Sessions that could go on and that nobody has driven for a while.' }),
  })
  .openapi('Health');

const health = createRoute({
  method: 'get',
  path: '/healthz',
  summary:
    'Whether the server makes progress: its store answers, and no session stands still that could go on.',
  security: [],
  responses: {
    200: json(healthShape, 'It does.'),
    503: json(healthShape, 'It does not.'),
  },
});

const liveShape = z.strictObject({ ok: z.boolean(), program: z.string() }).openapi('Liveness');

const probeShape = z
  .strictObject({ ok: z.boolean(), program: z.string(), store: z.string() })
  .openapi('Probe');

const ready = createRoute({
  method: 'get',
  path: '/readyz',
  summary: 'Whether this process can take requests: its store answers, and it is not about to end.',
  security: [],
  responses: { 200: json(probeShape, 'It can.'), 503: json(probeShape, 'It cannot.') },
});

const live = createRoute({
  method: 'get',
  path: '/livez',
  summary:
    'Whether this process is worth keeping: it answers, and still looks at what is due. A store that is away is no reason to end it.',
  security: [],
  responses: {
    200: json(liveShape, 'It is.'),
    503: json(liveShape, 'It hangs: end it, another one takes over.'),
  },
});

const meaning = createRoute({
  method: 'get',
  path: '/problems/{code}',
  summary: 'What a problem means.',
  security: [],
  request: { params: z.object({ code: z.string() }) },
  responses: {
    200: json(z.strictObject({ code: z.string(), status: z.number().int(), title: z.string() }), 'This.'),
    default: PROBLEM,
  },
});

const description = createRoute({
  method: 'get',
  path: '/openapi.json',
  summary: 'This description, OpenAPI 3.1.',
  security: [],
  responses: {
    200: {
      description: 'The description.',
      content: { 'application/json': { schema: z.looseObject({ openapi: z.string() }) } },
    },
  },
});

const docs = createRoute({
  method: 'get',
  path: '/docs',
  summary: 'This description as a page.',
  security: [],
  responses: { 200: { description: 'The page.', content: { 'text/html': { schema: z.string() } } } },
});

export const healthRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const look = fresh(door.clock, () => healthOf(door));
  app.openapi(health, async (context) => {
    const state = await look();
    return context.json(state, state.ok ? 200 : 503);
  });
  const lookReady = fresh(door.clock, () => readinessOf(door));
  app.openapi(ready, async (context) => {
    const store = await lookReady();
    const ok = store === 'ok';
    return context.json({ ok, program: PROGRAM, store }, ok ? 200 : 503);
  });
  app.openapi(live, (context) => {
    const ok = door.runtime.isAlive;
    return context.json({ ok, program: PROGRAM }, ok ? 200 : 503);
  });
  app.openapi(meaning, (context) => {
    const { code } = context.req.valid('param');
    const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
    if (!known) throw new ProblemError('not-found', `No problem is called "${code.slice(0, 100)}".`);
    return context.json({ code, ...known }, 200);
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  // Made once: anybody may ask for it, and it does not change.
  let document: ReturnType<typeof app.getOpenAPI31Document> | undefined;
  const described = (): NonNullable<typeof document> =>
    (document ??= app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Onrecord', version: PROGRAM, description: 'Agents on the record, over HTTP.' },
      security: [{ bearer: [] }],
    }));
  let page: string | undefined;
  let text: string | undefined;
  app.openAPIRegistry.registerPath(description);
  app.get(
    description.path,
    () =>
      new Response((text ??= JSON.stringify(described())), {
        headers: { 'content-type': 'application/json' },
      }),
  );
  app.openapi(docs, (context) =>
    context.html((page ??= docsPage(described())), 200, {
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    }),
  );
};

type Health = z.infer<typeof healthShape>;

/** One look for all that ask within a moment. */
const fresh = <T>(clock: Clock, look: () => Promise<T>): (() => Promise<T>) => {
  let last: { readonly at: number; readonly seen: Promise<T> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (!last || now - last.at >= FRESH_MS) last = { at: now, seen: look() };
    return last.seen;
  };
};

const answer = (state: string, stalled = 0): Health => ({
  ok: state === 'ok' && stalled === 0,
  program: PROGRAM,
  store: state,
  stalled,
});

/** Not that a process is there, but that its store can be read and that no work waits for it, or for a driver. */
const healthOf = async ({ store, runtime, clock, closing }: Door): Promise<Health> => {
  if (closing.aborted) return answer('closing');
  const seen = await inTime(clock, Promise.all([store.sessions({ limit: 1 }), runtime.stalled()]));
  if (typeof seen === 'string') return answer(seen);
  const [, stalled] = seen;
  return answer(runtime.storageFault?.fault ?? 'ok', stalled.length);
};

/** "ok", or why nothing can be taken in here. What the whole of all processes does is not asked. */
const readinessOf = async ({ store, runtime, clock, closing }: Door): Promise<string> => {
  if (closing.aborted) return 'closing';
  const seen = await inTime(clock, store.sessions({ limit: 1 }));
  return typeof seen === 'string' ? seen : (runtime.storageFault?.fault ?? 'ok');
};

/** What came of a look at the store; the operator's log has the rest, whoever asks only learns that it is so. */
const inTime = async <T>(clock: Clock, look: Promise<T>): Promise<T | 'no answer' | 'unavailable'> => {
  const { promise, resolve } = Promise.withResolvers<'no answer'>();
  const timer = clock.after(HEALTH_MS, () => resolve('no answer'), true);
  try {
    return await Promise.race([look, promise]);
  } catch {
    return 'unavailable';
  } finally {
    timer.cancel();
  }
};
