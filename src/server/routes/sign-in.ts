/**
 * Signing in for pages: a token, sent once, becomes a cookie that no script can read and no other site sends. A change
 * by cookie takes the forgery token beside it, which only a page of this server can read.
 */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Context } from 'hono';
import { body, json, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { checkBody, forgeryToken, SESSION_COOKIE } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { me, newLogin, type Me } from '../reports.ts';
import type { Caller } from '../tokens.ts';

const login = createRoute({
  method: 'post',
  path: '/login',
  summary: 'Sign a page in: a token, or a ticket that stands for it once, becomes a cookie.',
  description:
    'The answer holds the forgery token, which every change by cookie sends as `X-Onrecord-Csrf`. Attempts are limited by address.',
  security: [],
  request: { body: body(newLogin) },
  responses: { 200: json(me, 'Signed in.'), default: PROBLEM },
});

const logout = createRoute({
  method: 'post',
  path: '/logout',
  summary: 'Take the cookie away. The token itself goes on; revoke it to end it.',
  responses: { 204: { description: 'Signed out.' }, default: PROBLEM },
});

const who = createRoute({
  method: 'get',
  path: '/me',
  summary: 'Who asks, as the token says; by cookie also the forgery token.',
  responses: { 200: json(me, 'Who asks.'), default: PROBLEM },
});

/** Open to everybody who reaches the server. */
export const signInRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.use(login.path, async (context, next) => {
    // Counted before anything is looked at, right or wrong.
    if (context.req.method === 'POST') door.meter.login(context.env.address ?? '');
    await next();
  });
  app.use(login.path, checkBody(door));
  app.openapi(login, async (context) => {
    const given = context.req.valid('json');
    const token = 'ticket' in given ? door.tickets.take(given.ticket) : given.token;
    if (token === undefined)
      throw new ProblemError('ticket-used', 'A link signs in once, and for an hour. Sign in with a token.');
    const caller = await door.tokens.caller(token);
    if (!caller)
      throw new ProblemError('token-invalid', 'The token is not known here, has run out or was revoked.');
    setCookie(context, SESSION_COOKIE, token, {
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
      secure: !isLoopback(context),
    });
    return context.json(meView(caller, token), 200);
  });
};

/** Behind a token. */
export const meRoutes = (app: OpenAPIHono<DoorEnv>): void => {
  app.openapi(logout, (context) => {
    deleteCookie(context, SESSION_COOKIE, { path: '/', secure: !isLoopback(context) });
    return context.body(null, 204);
  });
  app.openapi(who, (context) => {
    const byHeader = context.req.header('authorization') !== undefined;
    const cookie = byHeader ? undefined : getCookie(context, SESSION_COOKIE);
    return context.json(meView(context.get('caller'), cookie), 200);
  });
};

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Under any other name the door stands behind a proxy that speaks TLS, and a cookie goes nowhere else. */
const isLoopback = (context: Context<DoorEnv>): boolean =>
  LOOPBACK.test((context.req.header('host') ?? new URL(context.req.url).host).toLowerCase());

const meView = ({ actor, roles, tenant, token: id }: Caller, cookie: string | undefined): Me => ({
  name: actor.name,
  kind: actor.kind,
  roles: [...roles].sort(),
  token: id,
  ...(tenant !== '' && { tenant }),
  ...(cookie !== undefined && { forgeryToken: forgeryToken(cookie) }),
});
