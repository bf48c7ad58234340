/** Problems in the shape that OpenAI's clients read; code, status and words are those of the door. */
import type { MiddlewareHandler } from 'hono';
import type { DoorEnv } from '../door.ts';
import { PROBLEM_TYPE, type Problem } from '../problem.ts';

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

export const openAiErrors: MiddlewareHandler<DoorEnv> = async (context, next) => {
  await next();
  const { res } = context;
  if (res.headers.get('content-type') !== PROBLEM_TYPE) return;
  const headers = new Headers(res.headers);
  headers.set('content-type', 'application/json');
  // That somebody decided before, or that a turn runs, is no passing fault: its clients would send it again.
  if (res.status === 409) headers.set('x-should-retry', 'false');
  const shown = context.req.method === 'HEAD' ? null : JSON.stringify(errorOf((await res.json()) as Problem));
  context.res = undefined;
  context.res = new Response(shown, { status: res.status, headers });
};

const errorOf = ({ status, detail, code, errors }: Problem) => ({
  error: {
    message: detail,
    type: TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    param: errors?.[0]?.at.replace(/^\//, '') ?? null,
    code,
  },
});
