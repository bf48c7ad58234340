/**
 * THE DOOR: the runtime over HTTP, as a function from a Request to a Response. It decides nothing: what it is told
 * becomes commands of the runtime, what it shows are projections of the log.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';
import type { Clock, Random } from '../clock.ts';
import { systemClock, systemRandom } from '../clock.ts';
import type { Prices } from '../cost/prices.ts';
import { badInput } from '../errors.ts';
import type { Logger } from '../tool/tool.ts';
import type { Runtime } from '../worker/runtime.ts';
import { Books } from './books.ts';
import type { Door, DoorEnv } from './door.ts';
import { crossOrigin } from './cross-origin.ts';
import { authenticate, checkBody, checkClosing, checkHost, checkKey, securityHeaders } from './guard.ts';
import { healthRoutes } from './health.ts';
import { DOOR_LIMITS_DEFAULT, Meter, type DoorLimits } from './limits.ts';
import { Metrics } from './metrics.ts';
import { problem, PROBLEM_TYPE, ProblemError, problemOf, type Problem } from './problem.ts';
import { openAiErrors } from './front/response-error.ts';
import { eventRoutes } from './routes/events.ts';
import { frontRoutes } from './routes/fronts.ts';
import { contextRoutes } from './routes/context.ts';
import { costRoutes } from './routes/costs.ts';
import { inboxRoutes } from './routes/inbox.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { meRoutes, signInRoutes } from './routes/sign-in.ts';
import { peopleRoutes } from './routes/people.ts';
import { proofRoutes } from './routes/proof.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { spendRoutes } from './routes/spend.ts';
import { suiteRoutes } from './routes/suites.ts';
import { systemRoutes } from './routes/system.ts';
import { requestRoutes } from './routes/requests.ts';
import { watchingRoutes } from './routes/watching.ts';
import { windowRoutes } from './routes/window.ts';
import { servePages } from './pages.ts';
import { priceSource } from '../worker/priced.ts';
import { counted, methodsAt, routesOf } from './route-table.ts';
import { SuiteReports } from './suite-reports.ts';
import { Tickets } from './tickets.ts';
import { Tokens } from './tokens.ts';

export type DoorOptions = {
  readonly runtime: Runtime;
  /** Names with ports that this server is called by: "127.0.0.1:4280". Asked for at each request. */
  readonly hosts: () => readonly string[];
  /** Origins whose pages may use it with a token of their own, beside those of `hosts`: "https://console.example". */
  readonly origins?: readonly string[];
  /** Whether anybody may read the metrics; default false: it takes a token with the role `read`. */
  readonly openMetrics?: boolean;
  /** Serves health and metrics and nothing else, under whatever name it is asked: for a process without a door. */
  readonly probesOnly?: boolean;
  readonly limits?: Partial<DoorLimits>;
  /** Go before those of the catalogue where something is priced afresh; give the runtime the same. */
  readonly prices?: Prices;
  /** The folder of the built pages; absent: it serves none. */
  readonly pages?: string;
  /** The folder with reports of suites, as `onrecord suite run --json` prints them; absent: there are none. */
  readonly reports?: string;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
};

export type App = {
  /** Answers one request, which came from this address. */
  readonly fetch: (request: Request, address?: string) => Promise<Response>;
  readonly tokens: Tokens;
  /** A link of this server that signs a browser in, once. */
  readonly tickets: Tickets;
  /** Every route there is: "GET /sessions/:session". */
  readonly routes: readonly string[];
  readonly openStreams: () => number;
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
  const others = new Set((options.origins ?? []).map((origin) => origin.toLowerCase()));
  const door: Door = {
    runtime,
    store: runtime.store,
    tokens: new Tokens(runtime.store, clock, random),
    tickets: new Tickets(clock, random),
    books: new Books(runtime.store),
    reports: new SuiteReports(options.reports),
    limits,
    meter: new Meter(limits, clock),
    metrics: new Metrics(),
    openMetrics: options.openMetrics ?? false,
    prices: priceSource(options.prices),
    clock,
    log,
    hosts,
    origins: () =>
      new Set([...[...hosts()].flatMap((host) => [`http://${host}`, `https://${host}`]), ...others]),
    otherOrigins: others,
    closing: closing.signal,
  };
  const app = options.probesOnly === true ? probes(door) : routes(door, options.pages);
  return {
    fetch: async (request, address) => app.fetch(request, address === undefined ? {} : { address }),
    tokens: door.tokens,
    tickets: door.tickets,
    routes: routesOf(app),
    openStreams: () => door.meter.openStreams,
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

/** Nothing here changes anything or names anybody, so no name of the host and no origin is asked for. */
const probes = (door: Door): OpenAPIHono<DoorEnv> => {
  const app = bare(door);
  healthRoutes(app, door);
  metricsRoutes(app, door);
  return app;
};

const bare = (door: Door): OpenAPIHono<DoorEnv> => {
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
  app.use(counted(door));
  app.use(securityHeaders);
  app.onError((error, context) => failed(error, door, context.req.method));
  app.notFound((context) => nothingThere(app, context.req.path, context.req.method));
  return app;
};

const routes = (door: Door, pages: string | undefined): OpenAPIHono<DoorEnv> => {
  const app = bare(door);
  app.use('/v1/*', openAiErrors);
  app.use(checkHost(door));
  app.use(crossOrigin(door));
  app.use(servePages(pages));
  healthRoutes(app, door);
  app.use(checkClosing(door));
  app.use(checkKey);
  metricsRoutes(app, door);
  signInRoutes(app, door);
  app.use(authenticate(door));
  app.use(checkBody(door));
  sessionRoutes(app, door);
  eventRoutes(app, door);
  peopleRoutes(app, door);
  inboxRoutes(app, door);
  systemRoutes(app, door);
  frontRoutes(app, door);
  meRoutes(app);
  proofRoutes(app, door);
  costRoutes(app, door);
  spendRoutes(app, door);
  suiteRoutes(app, door);
  contextRoutes(app, door);
  watchingRoutes(app, door);
  windowRoutes(app, door);
  requestRoutes(app, door);
  return app;
};

/** There may be something for another method: then that is said, and which. */
const nothingThere = (app: OpenAPIHono<DoorEnv>, path: string, method: string): Response => {
  const allowed = methodsAt(app, path);
  if (allowed.length === 0)
    return asResponse(problem('not-found', `There is nothing at ${path}.`), {}, method);
  const detail = `${path} takes ${allowed.join(', ')}, not ${method}.`;
  return asResponse(problem('method-not-allowed', detail), { allow: allowed.join(', ') }, method);
};

const ERRORS_SHOWN = 20;

const failed = (error: unknown, door: Door, method: string): Response => {
  const known = problemOf(error) ?? ofLibrary(error);
  if (known) return asResponse(known.problem, known.headers, method);
  // What broke is the operator's to read; a stranger learns nothing of the inside.
  door.log.warn(error instanceof Error ? (error.stack ?? error.message) : String(error), {
    code: 'unexpected',
  });
  return asResponse(problem('internal', 'The server failed. It is in its log.'), {}, method);
};

/** What the library under the routes refuses by itself. */
const ofLibrary = (error: unknown): ProblemError | undefined => {
  if (!(error instanceof HTTPException) || error.status >= SERVER_ERROR) return undefined;
  const code = error.status === UNSUPPORTED_TYPE ? 'content-type-unsupported' : 'body-not-json';
  return new ProblemError(code, `The body was not used: ${error.message}.`);
};

const UNSUPPORTED_TYPE = 415;
const SERVER_ERROR = 500;

const asResponse = (what: Problem, headers: Readonly<Record<string, string>>, method: string): Response =>
  new Response(method === 'HEAD' ? null : JSON.stringify(what), {
    status: what.status,
    headers: { 'content-type': PROBLEM_TYPE, ...headers },
  });
