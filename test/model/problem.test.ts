/** What an error means: by type and code, then by status; how long to wait; never again for an empty balance. */
import { assert, constantFrom, date, double, integer, property, record, string } from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestProblemKind } from '../../src/event/events.ts';
import { httpProblem, kindOfError, readErrorText, readRetryAfter } from '../../src/model/provider/problem.ts';

const anthropicError = (type: string, message = 'No.', code?: string): string =>
  JSON.stringify({
    type: 'error',
    error: { type, message, ...(code !== undefined && { details: { error_code: code } }) },
  });
const openaiError = (type: string, code: string | null, message = 'No.'): string =>
  JSON.stringify({ error: { message, type, code, param: null } });

const CASES: readonly (readonly [status: number, body: string, kind: RequestProblemKind])[] = [
  [400, anthropicError('invalid_request_error'), 'bad-request'],
  [
    400,
    anthropicError('invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'),
    'context-overflow',
  ],
  [
    400,
    anthropicError('invalid_request_error', 'Your credit balance is too low to access the API.'),
    'no-balance',
  ],
  [
    400,
    anthropicError('invalid_request_error', 'You have reached your specified API usage limits.'),
    'no-balance',
  ],
  [401, anthropicError('authentication_error'), 'authentication'],
  [402, anthropicError('billing_error'), 'no-balance'],
  [403, anthropicError('permission_error'), 'authentication'],
  [404, anthropicError('not_found_error'), 'bad-request'],
  [409, anthropicError('conflict_error'), 'unavailable'],
  [413, anthropicError('request_too_large'), 'context-overflow'],
  [429, anthropicError('rate_limit_error'), 'rate-limited'],
  [429, anthropicError('rate_limit_error', 'No.', 'enforced_spend_limit_reached'), 'no-balance'],
  [429, anthropicError('rate_limit_error', 'No.', 'contract_spend_limit_reached'), 'no-balance'],
  [500, anthropicError('api_error'), 'unavailable'],
  [504, anthropicError('timeout_error'), 'timeout'],
  [529, anthropicError('overloaded_error'), 'overloaded'],
  [429, openaiError('insufficient_quota', 'insufficient_quota'), 'no-balance'],
  [429, openaiError('insufficient_quota', 'credit_balance_exhausted'), 'no-balance'],
  [429, openaiError('insufficient_quota', 'organization_usage_limit_exceeded'), 'no-balance'],
  [429, openaiError('insufficient_quota', 'project_spend_limit_exceeded'), 'no-balance'],
  [429, openaiError('requests', 'rate_limit_exceeded'), 'rate-limited'],
  [429, openaiError('requests', 'slow_down'), 'rate-limited'],
  [503, openaiError('server_error', 'server_is_overloaded'), 'overloaded'],
  [401, openaiError('invalid_request_error', 'invalid_api_key'), 'authentication'],
  [400, openaiError('invalid_request_error', 'context_length_exceeded'), 'context-overflow'],
  [
    400,
    '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}',
    'context-overflow',
  ],
  [
    400,
    '{"object":"error","message":"This model\'s maximum context length is 4096 tokens.","type":"BadRequestError","code":400}',
    'context-overflow',
  ],
  [404, '{"error":"model \\"x\\" not found, try pulling it first"}', 'bad-request'],
  [422, '{"detail":"tools are not supported"}', 'bad-request'],
  [502, '<html><h1>502 Bad Gateway</h1></html>', 'unavailable'],
  [408, '', 'timeout'],
  [503, '', 'overloaded'],
  [302, '', 'bad-request'],
];

test.each(CASES)('a %i with %s is %s', (status, body, kind) => {
  expect(httpProblem({ status, headers: new Headers(), body }, 0)).toMatchObject({ kind, status });
});

test('a balance that is empty is named so, whatever stands beside it', () => {
  const spent = constantFrom(
    'insufficient_quota',
    'credit_balance_exhausted',
    'monthly_spend_limit_reached',
    'billing_error',
  );
  const other = constantFrom('rate_limit_error', 'server_error', 'overloaded_error', 'requests', undefined);
  assert(
    property(
      record({ spent, other, status: constantFrom(undefined, 200, 400, 402, 429, 500, 503) }),
      ({ status, ...words }) => {
        const pair = [words.spent, words.other] as const;
        for (const [type, code] of [pair, pair.toReversed()])
          expect(
            kindOfError({ ...(type !== undefined && { type }), ...(code !== undefined && { code }) }, status),
          ).toBe('no-balance');
      },
    ),
  );
});

test('no body and no header make it throw', () => {
  assert(
    property(string(), integer({ min: 100, max: 999 }), string(), (body, status, after) => {
      const headers = new Headers({ 'retry-after': encodeURIComponent(after) });
      const { message, retryAfterMs } = httpProblem({ status, headers, body }, 0);
      expect(message.length).toBeGreaterThan(0);
      expect(retryAfterMs === undefined || retryAfterMs > 0).toBe(true);
    }),
  );
});

test('an x-should-retry of the provider makes a bad request worth another attempt, never an empty balance', () => {
  const headers = new Headers({ 'x-should-retry': 'true' });
  expect(httpProblem({ status: 400, headers, body: '' }, 0).kind).toBe('unavailable');
  expect(httpProblem({ status: 402, headers, body: '' }, 0).kind).toBe('no-balance');
});

const read = (headers: Record<string, string>, now = 0): number | undefined =>
  readRetryAfter(new Headers(headers), now);

test('retry-after-ms goes first, then seconds, then a date by the clock of the reply', () => {
  expect(read({ 'retry-after-ms': '1250.5', 'retry-after': '9' })).toBe(1251);
  expect(read({ 'retry-after': '9' })).toBe(9000);
  expect(read({ 'retry-after': '0.5' })).toBe(500);
  for (const nothing of ['0', '-3', 'soon', '', 'NaN', 'Infinity', '1e3'])
    expect(read({ 'retry-after': nothing })).toBeUndefined();
  assert(
    property(
      date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
      integer({ min: 1, max: 86_400 }),
      double({ min: -1e12, max: 1e12, noNaN: true }),
      (then, seconds, skew) => {
        const at = Math.floor(then.getTime() / 1000) * 1000;
        const header = { 'retry-after': new Date(at + seconds * 1000).toUTCString() };
        expect(read({ ...header, date: new Date(at).toUTCString() }, at + skew)).toBe(seconds * 1000);
        expect(read(header, at)).toBe(seconds * 1000);
      },
    ),
  );
});

test('an error is found in every wording', () => {
  expect(readErrorText('{"error":"plain"}')).toEqual({ message: 'plain' });
  expect(readErrorText('{"detail":"plain"}')).toEqual({ message: 'plain' });
  expect(readErrorText('"plain"')).toEqual({ message: 'plain' });
  expect(readErrorText(' gateway\n timeout ')).toEqual({ message: 'gateway timeout' });
  expect(readErrorText('{"error":{"type":"t","details":{"error_code":"c"},"message":"m"}}')).toEqual({
    type: 't',
    code: 'c',
    message: 'm',
  });
  expect(readErrorText('null')).toEqual({});
});

const problem = (status: number, said: string): unknown =>
  httpProblem({ status, headers: new Headers({ 'x-should-retry': said }), body: '' }, 0);

test('a provider that says whether to ask again is heard: yes for a request that looks wrong, no for any', () => {
  expect(problem(400, 'true')).toMatchObject({ kind: 'unavailable' });
  expect(problem(529, 'false')).toMatchObject({ kind: 'overloaded', noRetry: true });
  expect(problem(429, 'false')).toMatchObject({ kind: 'rate-limited', noRetry: true });
  expect(problem(529, 'true')).not.toHaveProperty('noRetry');
  expect(problem(529, 'maybe')).not.toHaveProperty('noRetry');
});
