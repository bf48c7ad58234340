/** What the code of an AI SDK model threw, or put into its stream as an error. */
import type { RequestProblem } from '../event/events.ts';
import { withoutKeys } from './provider/key-like.ts';
import {
  httpProblem,
  kindOfError,
  problemMessage,
  PROBLEM_CHARS_MAX,
  readError,
} from './provider/problem.ts';

/** Members of its APICallError; others are looked at no further: they may hold what was sent. */
type Thrown = {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly statusCode?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly isRetryable?: unknown;
  readonly cause?: unknown;
};

const WITHOUT_KEY: ReadonlySet<unknown> = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError']);
const OWN_FAULT: ReadonlySet<unknown> = new Set([
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_UnsupportedFunctionalityError',
  'AI_NoSuchModelError',
]);

/** The runtime does not know the keys of such a model: what looks like one is taken out of what it says. */
export const aiSdkProblem = (thrown: unknown, now: number): RequestProblem => {
  const problem = problemOf(thrown, now);
  return { ...problem, message: withoutKeys(problem.message) };
};

const problemOf = (thrown: unknown, now: number): RequestProblem => {
  if (typeof thrown !== 'object' || thrown === null) {
    const said = readError(thrown) ?? {};
    return { kind: kindOfError(said), message: problemMessage('The model failed', said) };
  }
  const { name, message, statusCode, responseHeaders, responseBody, isRetryable } = thrown as Thrown;
  const text = (typeof message === 'string' ? message : '').slice(0, PROBLEM_CHARS_MAX);
  if (typeof statusCode === 'number' && statusCode >= 300) {
    const body = typeof responseBody === 'string' && responseBody !== '' ? responseBody : text;
    return httpProblem({ status: statusCode, headers: new Headers(responseHeaders), body }, now);
  }
  if (WITHOUT_KEY.has(name)) return { kind: 'authentication', message: text };
  if (OWN_FAULT.has(name)) return { kind: 'bad-request', message: text };
  if (name === 'AI_APICallError')
    return { kind: isRetryable === true ? 'unavailable' : 'bad-response', message: text };
  // An error event as the provider sent it.
  const said = thrown instanceof Error ? { message: text } : (readError(thrown) ?? {});
  const kind = name === 'TypeError' || name === 'AbortError' ? 'interrupted' : kindOfError(said);
  return { kind, message: problemMessage('The model failed', said) };
};
