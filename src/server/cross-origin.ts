/**
 * Pages of other origins that were named may use the door with a token of their own (Fetch standard, 3.2): never with
 * a cookie, and no other page may even read an answer.
 */
import type { MiddlewareHandler } from 'hono';
import type { Door, DoorEnv } from './door.ts';

const PREFLIGHT_SECONDS = 600;

const METHODS = 'GET, HEAD, POST, PUT, DELETE';
const SENT = 'authorization, content-type, idempotency-key, last-event-id, prefer';
const READ = 'idempotent-replayed, location, preference-applied, retry-after';

/** The origin was checked before. */
export const crossOrigin =
  ({ otherOrigins }: Door): MiddlewareHandler<DoorEnv> =>
  async (context, next) => {
    const origin = context.req.header('origin');
    if (origin === undefined || !otherOrigins.has(origin.toLowerCase())) return next();
    if (context.req.method === 'OPTIONS')
      return context.body(null, 204, {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': SENT,
        'access-control-max-age': String(PREFLIGHT_SECONDS),
        vary: 'origin',
      });
    await next();
    const { headers } = context.res;
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', READ);
    headers.append('vary', 'origin');
    return undefined;
  };
