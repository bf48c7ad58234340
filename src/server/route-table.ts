/** What routes there are: for the method that an address takes, and for counting requests by route. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Door, DoorEnv } from './door.ts';

/** Every route: "GET /sessions/:session". */
export const routesOf = ({ routes }: OpenAPIHono<DoorEnv>): readonly string[] => [
  ...new Set(routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`)),
];

/** Methods that this path takes, HEAD where there is GET. */
export const methodsAt = ({ routes }: OpenAPIHono<DoorEnv>, path: string): readonly string[] => {
  const methods = new Set<string>();
  for (const { method, path: pattern } of routes)
    if (method !== 'ALL' && fits(pattern, path)) methods.add(method);
  return [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort();
};

const fits = (pattern: string, path: string): boolean => {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((part, i) => (part.startsWith(':') ? given[i] !== '' : part === given[i]))
  );
};

/** Counts every request by its route, not by its address: there are few of the one and any number of the other. */
export const counted =
  ({ metrics, clock }: Door): MiddlewareHandler<DoorEnv> =>
  async (context, next) => {
    const began = clock.monotonic();
    await next();
    const route = matchedRoutes(context).findLast(({ method }) => method !== 'ALL');
    metrics.request({
      route: route?.path ?? 'none',
      method: METHODS.has(context.req.method) ? context.req.method : 'other',
      status: context.res.status,
      ms: clock.monotonic() - began,
    });
  };

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);
