/** Open to whoever reaches the server: whether it makes progress, what it offers, what its problems mean. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { PROGRAM } from '../worker/program.ts';
import type { Door, DoorEnv } from './door.ts';
import { PROBLEMS, ProblemError } from './problem.ts';
import { docsPage } from './docs-page.ts';

/** The store answers a look within this time, or the server is not healthy. */
const HEALTH_MS = 5000;

export const healthRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.get('/healthz', async (context) => {
    const state = await health(door);
    return context.json(state, state.ok ? 200 : 503);
  });
  app.get('/problems/:code', (context) => {
    const code = context.req.param('code');
    const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
    if (!known) throw new ProblemError('not-found', `No problem is called "${code.slice(0, 100)}".`);
    return context.json({ code, ...known }, 200);
  });
  app.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'Onrecord', version: PROGRAM, description: 'Agents on the record, over HTTP.' },
    security: [{ bearer: [] }],
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  app.get('/docs', (context) =>
    context.html(
      docsPage(app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Onrecord', version: PROGRAM } })),
      200,
      {
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      },
    ),
  );
};

type Health = { readonly ok: boolean; readonly program: string; readonly store: string };

/** Not that a process is there, but that its store can be read and that no work waits for it. */
const health = async ({ store, runtime, clock }: Door): Promise<Health> => {
  const { promise, resolve } = Promise.withResolvers<'late'>();
  const timer = clock.after(HEALTH_MS, () => resolve('late'), true);
  try {
    const seen = await Promise.race([store.sessions({ limit: 1 }), promise]);
    const fault = runtime.storageFault;
    if (seen === 'late') return { ok: false, program: PROGRAM, store: 'no answer' };
    return fault
      ? { ok: false, program: PROGRAM, store: fault.fault }
      : { ok: true, program: PROGRAM, store: 'ok' };
  } catch {
    // The operator's log has it; whoever asks only learns that it is so.
    return { ok: false, program: PROGRAM, store: 'unavailable' };
  } finally {
    timer.cancel();
  }
};
