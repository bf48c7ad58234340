/**
 * What a provider's refusal means for what happens next. Judged by the machine-readable type and code first, then
 * by the status. A message is read only to choose among kinds that all end the turn, never to retry: wording changes.
 *
 * Sources: the error pages of the Anthropic and OpenAI APIs; RFC 9110, 10.2.3 (retry-after); what vLLM, llama.cpp
 * and Ollama answer.
 */
import type { RequestProblem, RequestProblemKind } from '../../event/events.ts';

/** Characters of a provider's message that are kept; the whole stands in the stored reply. */
export const PROBLEM_CHARS_MAX = 2000;

/** Refused before any work was done, even inside a reply that began well. */
export const UNBILLED: ReadonlySet<RequestProblemKind> = new Set([
  'rate-limited',
  'overloaded',
  'bad-request',
  'authentication',
  'no-balance',
  'context-overflow',
]);

/** An error as providers word it, whatever is there. */
export type ProviderError = {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
};

const BY_WORD: Readonly<Record<string, RequestProblemKind>> = {
  authentication_error: 'authentication',
  permission_error: 'authentication',
  invalid_api_key: 'authentication',
  invalid_authentication: 'authentication',
  billing_error: 'no-balance',
  insufficient_quota: 'no-balance',
  insufficient_balance: 'no-balance',
  credit_balance_exhausted: 'no-balance',
  billing_hard_limit_reached: 'no-balance',
  billing_not_active: 'no-balance',
  organization_usage_limit_exceeded: 'no-balance',
  context_length_exceeded: 'context-overflow',
  exceed_context_size_error: 'context-overflow',
  request_too_large: 'context-overflow',
  rate_limit_error: 'rate-limited',
  rate_limit_exceeded: 'rate-limited',
  slow_down: 'rate-limited',
  overloaded_error: 'overloaded',
  overloaded: 'overloaded',
  server_is_overloaded: 'overloaded',
  engine_overloaded: 'overloaded',
  timeout_error: 'timeout',
  api_error: 'unavailable',
  server_error: 'unavailable',
  internal_error: 'unavailable',
  internal_server_error: 'unavailable',
  vector_store_timeout: 'unavailable',
  conflict_error: 'unavailable',
  invalid_request_error: 'bad-request',
  invalid_prompt: 'bad-request',
  not_found_error: 'bad-request',
  model_not_found: 'bad-request',
};

/** An own spending limit comes under several names; waiting does not help against any. */
const SPENT = /(^|_)(spend|spending|usage)_limit_(exceeded|reached)$/;

const kindOfWord = (word: string | undefined): RequestProblemKind | undefined => {
  if (word === undefined) return undefined;
  if (SPENT.test(word)) return 'no-balance';
  return Object.hasOwn(BY_WORD, word) ? BY_WORD[word] : undefined;
};

const kindOfStatus = (status: number): RequestProblemKind => {
  if (status === 401 || status === 403 || status === 407) return 'authentication';
  if (status === 402) return 'no-balance';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 413) return 'context-overflow';
  if (status === 429) return 'rate-limited';
  if (status === 503 || status === 529) return 'overloaded';
  if (status === 409 || status === 425 || status >= 500) return 'unavailable';
  return 'bad-request';
};

const OVERFLOW =
  /prompt is too long|context length|context window|context size|maximum context|too many tokens|input is too long/i;
const UNPAID = /credit balance|usage limits|billing|insufficient (balance|credit|quota|funds)/i;

/** A 400 that ends the turn either way: named by its message where the provider has no code for it. */
const named = (kind: RequestProblemKind, message: string): RequestProblemKind => {
  if (kind !== 'bad-request') return kind;
  if (OVERFLOW.test(message)) return 'context-overflow';
  return UNPAID.test(message) ? 'no-balance' : kind;
};

/**
 * The kind of an error, with or without a status (an error inside a 200 has none of its own). One that says
 * nothing known is `bad-response` in a stream: it is tried again.
 */
export const kindOfError = (error: ProviderError, status?: number): RequestProblemKind => {
  const words = [kindOfWord(error.code), kindOfWord(error.type)];
  // A code is narrower than its type; an empty balance is never outvoted.
  const said = words.includes('no-balance') ? 'no-balance' : (words[0] ?? words[1]);
  // `invalid_request_error` is also what some send with a 429 or a 5xx.
  const byStatus = status === undefined ? undefined : kindOfStatus(status);
  const kind = said === 'bad-request' ? (byStatus ?? said) : (said ?? byStatus ?? 'bad-response');
  return named(kind, error.message ?? '');
};

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/**
 * The error in a parsed body or event: `{error: {type, code, message, details: {error_code}}}`, `{error: "…"}`,
 * `{message}`, `{detail}`, or any of these one level down. Undefined where there is none.
 */
export const readError = (body: unknown): ProviderError | undefined => {
  const error = member(body, 'error') ?? (member(body, 'type') === 'error' ? body : undefined);
  const found = error ?? body;
  const plain = text(error) ?? text(body);
  const message = plain ?? text(member(found, 'message')) ?? text(member(found, 'detail'));
  const status = member(found, 'status');
  const code =
    text(member(member(found, 'details'), 'error_code')) ??
    text(member(found, 'code')) ??
    (typeof status === 'number' ? text(status) : undefined);
  const type = text(member(found, 'type'));
  if (message === undefined && code === undefined && type === undefined) return undefined;
  return {
    ...(type !== undefined && { type }),
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
  };
};

/** An error inside a status of 200 has none of its own; gateways put the one they were answered where the code belongs. */
export const statusIn = ({ code }: ProviderError): number | undefined =>
  /^[45]\d\d$/.test(code ?? '') ? Number(code) : undefined;

/** The error in the text of a body, which may be no JSON at all (a proxy's page). */
export const readErrorText = (body: string): ProviderError => {
  try {
    return readError(JSON.parse(body)) ?? {};
  } catch {
    const plain = body.replaceAll(/\s+/g, ' ').trim();
    return plain === '' ? {} : { message: plain };
  }
};

/** What a person reads: who said it, with which words, and what it said. */
export const problemMessage = (what: string, error: ProviderError): string => {
  const words = [...new Set([error.type, error.code])].filter((word) => word !== undefined).join(', ');
  const said = error.message ?? '';
  return `${what}${words === '' ? '' : ` (${words})`}${said === '' ? '.' : `: ${said}`}`.slice(
    0,
    PROBLEM_CHARS_MAX,
  );
};

/** A reply with an error status as a problem. `headers` as received; `now` in milliseconds since 1970 UTC. */
export const httpProblem = (
  { status, headers, body }: { readonly status: number; readonly headers: Headers; readonly body: string },
  now: number,
): RequestProblem => {
  const error = readErrorText(body);
  const redirect = status >= 300 && status < 400;
  const kind = kindOfError(error, status);
  const asked = headers.get('x-should-retry');
  const wanted = asked === 'true' && kind === 'bad-request' ? 'unavailable' : kind;
  const retryAfterMs = readRetryAfter(headers, now);
  const what = redirect
    ? `The provider answered ${status}, a redirect, which is not followed: a key goes to its own origin only`
    : `The provider answered ${status}`;
  return {
    kind: wanted,
    message: problemMessage(what, redirect ? {} : error),
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(asked === 'false' && { noRetry: true as const }),
  };
};

const DECIMAL = /^\d+(\.\d+)?$/;
/** All three forms of RFC 9110 begin so; Date.parse alone also takes "-3" for a year. */
const WEEKDAY = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * Milliseconds that the provider asks to wait: `retry-after-ms`, else `retry-after` in seconds or as a date, which
 * is taken relative to the reply's own `date`. Undefined for none, for one that cannot be read, and for 0, which
 * asks for nothing: the own backoff then stands.
 */
export const readRetryAfter = (headers: Headers, now: number): number | undefined => {
  const ms = headers.get('retry-after-ms')?.trim() ?? '';
  const after = headers.get('retry-after')?.trim() ?? '';
  const found = DECIMAL.test(ms)
    ? Number(ms)
    : DECIMAL.test(after)
      ? Number(after) * 1000
      : WEEKDAY.test(after)
        ? Date.parse(after) - dateOf(headers, now)
        : NaN;
  return Number.isFinite(found) && found > 0
    ? Math.min(Math.ceil(found), Number.MAX_SAFE_INTEGER)
    : undefined;
};

const dateOf = (headers: Headers, now: number): number => {
  const theirs = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(theirs) ? now : theirs;
};
