/**
 * THE DOOR: the runtime over HTTP, as a function from a Request to a Response. It decides nothing: what it is told
 * becomes commands of the runtime, what it shows are projections of the log.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Clock, Random } from '../clock.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { badInput } from '../errors.ts';
import type { Logger } from '../tool/tool.ts';
import type { Runtime } from '../worker/runtime.ts';
import type { Door, DoorEnv } from './door.ts';
import { authenticate, checkBody, checkHost, checkKey, securityHeaders } from './guard.ts';
import { healthRoutes } from './health.ts';
import { DOOR_LIMITS_DEFAULT, Meter, type DoorLimits } from './limits.ts';
import { problem, PROBLEM_TYPE, problemOf, type Problem } from './problem.ts';
import { openAiErrors } from './front/response-error.ts';
import { eventRoutes } from './routes/events.ts';
import { frontRoutes } from './routes/fronts.ts';
import { peopleRoutes } from './routes/people.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { systemRoutes } from './routes/system.ts';
import { Tokens } from './tokens.ts';

export type DoorOptions = {
  readonly runtime: Runtime;
  /** Names with ports that this server is called by: "127.0.0.1:4280". Asked for at each request. */
  readonly hosts: () => readonly string[];
  /** Origins whose pages may use it, beside those of `hosts`. */
  readonly origins?: readonly string[];
  readonly limits?: Partial<DoorLimits>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
};

export type App = {
  /** Answers one request. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly tokens: Tokens;
  /** Ends all streams, each with a word. Requests under way are finished by whoever serves. */
  readonly close: () => void;
};

const SILENT: Logger = { info: () => undefined, warn: () => undefined };

/** Throws `limit-invalid`. */
export const createApp = (options: DoorOptions): App => {
  const { runtime, clock = systemClock, random = systemRandom, log = SILENT } = options;
  const limits = checkLimits(options.limits ?? {});
  const closing = new AbortController();
  const hosts = (): ReadonlySet<string> => new Set(options.hosts().map((host) => host.toLowerCase()));
  const door: Door = {
    runtime,
    store: runtime.store,
    tokens: new Tokens(runtime.store, clock, random),
    limits,
    meter: new Meter(limits, clock),
    clock,
    log,
    hosts,
    origins: () =>
      new Set([
        ...[...hosts()].flatMap((host) => [`http://${host}`, `https://${host}`]),
        ...(options.origins ?? []).map((origin) => origin.toLowerCase()),
      ]),
    closing: closing.signal,
  };
  const app = routes(door);
  return {
    fetch: async (request) => app.fetch(request),
    tokens: door.tokens,
    close: () => closing.abort(),
  };
};

const checkLimits = (given: Partial<DoorLimits>): DoorLimits => {
  for (const [name, value] of Object.entries(given))
    if (!Object.hasOwn(DOOR_LIMITS_DEFAULT, name) || !(Number(value) > 0))
      throw badInput(
        'limit-invalid',
        `The limit ${name} of the door must be one of ${Object.keys(DOOR_LIMITS_DEFAULT).join(', ')}, and a number above 0.`,
      );
  return { ...DOOR_LIMITS_DEFAULT, ...given };
};

const routes = (door: Door): OpenAPIHono<DoorEnv> => {
  const app = new OpenAPIHono<DoorEnv>({
    strict: true,
    defaultHook: (result, context) => {
      if (result.success) return undefined;
      const errors = result.error.issues.map(({ path, message }) => ({ at: `/${path.join('/')}`, message }));
      const [first] = errors;
      const code = result.target === 'json' ? 'body-invalid' : 'parameter-invalid';
      const detail = `${first?.at ?? '/'} ${first?.message ?? 'is not usable'}. Nothing was written.`;
      return asResponse(
        problem(code, detail, { errors: errors.slice(0, ERRORS_SHOWN) }),
        {},
        context.req.method,
      );
    },
  });
  app.use(securityHeaders);
  app.onError((error, context) => failed(error, door, context.req.method));
  app.notFound((context) =>
    asResponse(problem('not-found', `There is nothing at ${context.req.path}.`), {}, context.req.method),
  );
  app.use('/v1/*', openAiErrors);
  app.use(checkHost(door));
  healthRoutes(app, door);
  app.use(checkKey);
  app.use(authenticate(door));
  app.use(checkBody(door));
  sessionRoutes(app, door);
  eventRoutes(app, door);
  peopleRoutes(app, door);
  systemRoutes(app, door);
  frontRoutes(app, door);
  return app;
};

const ERRORS_SHOWN = 20;

const failed = (error: unknown, door: Door, method: string): Response => {
  const known = problemOf(error);
  if (known) return asResponse(known.problem, known.headers, method);
  // What broke is the operator's to read; a stranger learns nothing of the inside.
  door.log.warn(error instanceof Error ? (error.stack ?? error.message) : String(error), {
    code: 'unexpected',
  });
  return asResponse(problem('internal', 'The server failed. It is in its log.'), {}, method);
};

const asResponse = (what: Problem, headers: Readonly<Record<string, string>>, method: string): Response =>
  new Response(method === 'HEAD' ? null : JSON.stringify(what), {
    status: what.status,
    headers: { 'content-type': PROBLEM_TYPE, ...headers },
  });
