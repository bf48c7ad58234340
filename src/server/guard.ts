/**
 * Everything that is looked at before a request reaches a route: the name it was sent to, the page it comes from,
 * who sends it, how much they have asked for, and whether its key and its body can be read without doubt.
 */
import { getCookie } from 'hono/cookie';
import type { Context, MiddlewareHandler } from 'hono';
import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../event/canonical.ts';
import { parseStrict } from '../event/strict.ts';
import type { Door, DoorEnv } from './door.ts';
import { ProblemError } from './problem.ts';
import type { Caller, DoorRole } from './tokens.ts';

export const SESSION_COOKIE = 'onrecord_token';
export const FORGERY_HEADER = 'x-onrecord-csrf';
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** An answer is data for whoever asked, and no page: nothing in it may be run, framed or kept. */
const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

export const securityHeaders: MiddlewareHandler<DoorEnv> = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS))
    if (!context.res.headers.has(name)) context.res.headers.set(name, value);
};

/** Exact names only: a name that an attacker's DNS points here is not ours, also on a loopback address. */
export const checkHost =
  ({ hosts, origins }: Door): MiddlewareHandler<DoorEnv> =>
  async (context, next) => {
    const host = context.req.header('host') ?? new URL(context.req.url).host;
    if (!hosts().has(host.toLowerCase()))
      throw new ProblemError('host-not-allowed', `This server does not answer as "${shown(host)}".`);
    const origin = context.req.header('origin');
    if (origin !== undefined && !origins().has(origin.toLowerCase()))
      throw new ProblemError('origin-not-allowed', `Pages of "${shown(origin)}" may not use this server.`);
    await next();
  };

const SHOWN_LENGTH = 100;
const shown = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, SHOWN_LENGTH);

/** Nothing new is taken by a server that stops, also not over a connection that was open before. */
export const checkClosing =
  ({ closing }: Door): MiddlewareHandler<DoorEnv> =>
  async (_, next) => {
    if (closing.aborted)
      throw new ProblemError('shutting-down', 'The server is shutting down. Send it again to the next one.', {
        headers: { 'retry-after': '1', connection: 'close' },
      });
    await next();
  };

/** What the page has to send back with every change, when it is known by its cookie. */
export const forgeryToken = (token: string): string => sha256(`csrf ${token}`).slice(0, 32);

export const authenticate =
  (door: Door): MiddlewareHandler<DoorEnv> =>
  async (context, next) => {
    const token = bearer(context) ?? cookie(context);
    if (token === undefined)
      throw new ProblemError(
        'token-missing',
        'Send "Authorization: Bearer TOKEN". onrecord tokens makes one.',
        {
          headers: { 'www-authenticate': 'Bearer realm="onrecord"' },
        },
      );
    const caller = await door.tokens.caller(token);
    if (!caller)
      throw new ProblemError('token-invalid', 'The token is not known here, has run out or was revoked.', {
        headers: { 'www-authenticate': 'Bearer realm="onrecord", error="invalid_token"' },
      });
    context.set('caller', caller);
    const done = door.meter.request(caller.token);
    try {
      await next();
    } finally {
      done();
    }
  };

const bearer = (context: Context): string | undefined => {
  const header = context.req.header('authorization');
  return header === undefined ? undefined : (/^Bearer ([A-Za-z0-9_-]{1,200})$/i.exec(header)?.[1] ?? '');
};

/** A page's cookie counts only with the word that another site's page cannot know. */
const cookie = (context: Context): string | undefined => {
  const token = getCookie(context, SESSION_COOKIE);
  if (token === undefined) return undefined;
  if (SAFE.has(context.req.method)) return token;
  const given = Buffer.from(context.req.header(FORGERY_HEADER) ?? '');
  const wanted = Buffer.from(forgeryToken(token));
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return token;
  throw new ProblemError(
    'forgery-suspected',
    `A change needs the header ${FORGERY_HEADER} when a cookie says who asks.`,
  );
};

/** Throws `role-missing`. */
export const allow = (context: Context<DoorEnv>, role: DoorRole): Caller => {
  const caller = context.get('caller');
  if (caller.roles.has(role)) return caller;
  throw new ProblemError(
    'role-missing',
    `This needs the role "${role}", which the token of ${caller.actor.name} does not have.`,
  );
};

/** IETF draft-ietf-httpapi-idempotency-key-header: a quoted string; a bare one is what most clients send. */
const KEY = /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

/** The key of a request, if it has one. Throws `idempotency-key-invalid`. */
export const idempotencyKey = (context: Context): string | undefined => {
  const header = context.req.header('idempotency-key');
  if (header === undefined) return undefined;
  const [, quoted, bare] = KEY.exec(header) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new ProblemError(
    'idempotency-key-invalid',
    'An Idempotency-Key is 1 to 255 visible ASCII characters without spaces, in double quotes or without.',
  );
};

/** Looked at before anything else of a request. */
export const checkKey: MiddlewareHandler<DoorEnv> = async (context, next) => {
  const key = idempotencyKey(context);
  if (key !== undefined) context.set('key', key);
  await next();
};

/** Throws `idempotency-key-missing`. */
export const neededKey = (context: Context<DoorEnv>): string => {
  const key = context.get('key');
  if (key !== undefined) return key;
  throw new ProblemError(
    'idempotency-key-missing',
    'Send an Idempotency-Key: a name of your own for this message. Sent again with the same key, it is the same message.',
  );
};

/** RFC 9110, 8.3.1: parameters change nothing, but what is no list of them is no media type. JSON is UTF-8 (RFC 8259, 8.1). */
const JSON_TYPE = /^application\/json(?:\s*;\s*[\w-]+=(?:[\w-]+|"[\w-]*"))*\s*$/i;

const HAS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** A body is JSON that every reader reads alike: no doubled names, no depth without end, within the limit. */
export const checkBody =
  ({ limits }: Door): MiddlewareHandler<DoorEnv> =>
  async (context, next) => {
    const { req } = context;
    if (HAS_BODY.has(req.method)) {
      const text = await bodyText(context, limits.bodyBytes);
      if (text !== '') {
        const type = req.header('content-type') ?? '';
        if (!JSON_TYPE.test(type))
          throw new ProblemError('content-type-unsupported', `"${shown(type)}" is not application/json.`);
      }
      const parsed = parseStrict(text === '' ? '{}' : text);
      if (!parsed.ok) throw new ProblemError('body-not-json', `The body was not used: ${parsed.message}.`);
      // The validators read the body as text from here on.
      (req.bodyCache as { text?: unknown }).text = Promise.resolve(text === '' ? '{}' : text);
    }
    await next();
  };

const bodyText = async (context: Context, limit: number): Promise<string> => {
  const declared = Number(context.req.header('content-length') ?? 0);
  const tooLarge = (): ProblemError =>
    new ProblemError('body-too-large', `The body is larger than ${limit} bytes.`, { more: { limit } });
  if (declared > limit) throw tooLarge();
  const { body } = context.req.raw;
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > limit) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new ProblemError('body-not-json', 'The body is not UTF-8 text.');
  }
};
