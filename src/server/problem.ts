/** Problems as RFC 9457 has them: one stable code each, a status that follows from it, and nothing of the inside. */
import { isOnrecordError, type OnrecordError } from '../errors.ts';
import { StorageError } from '../log/store.ts';

export type Problem = {
  /** A page about this kind of problem. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Kebab case, stable. */
  readonly code: string;
  /** What was wrong with which part of the request. */
  readonly errors?: readonly { readonly at: string; readonly message: string }[];
  readonly [extension: string]: unknown;
};

export const PROBLEM_TYPE = 'application/problem+json';

type Known = { readonly status: number; readonly title: string };

/** Every code that the door answers with, and what it means to a client. */
export const PROBLEMS: Readonly<Record<string, Known>> = {
  'body-invalid': { status: 422, title: 'The body does not have the shape that was expected.' },
  'body-not-json': { status: 400, title: 'The body is no JSON that can be read without doubt.' },
  'body-too-large': { status: 413, title: 'The body is larger than the limit.' },
  'content-type-unsupported': { status: 415, title: 'The body has to be application/json.' },
  'parameter-invalid': {
    status: 400,
    title: 'A parameter of the path, the query or a header is not usable.',
  },
  'idempotency-key-missing': { status: 400, title: 'The request needs an Idempotency-Key.' },
  'idempotency-key-invalid': { status: 400, title: 'The Idempotency-Key is not well-formed.' },
  'idempotency-key-reused': { status: 422, title: 'The key names something else already.' },
  'token-missing': { status: 401, title: 'A token is needed.' },
  'token-invalid': { status: 401, title: 'The token is not known, has run out or was revoked.' },
  'ticket-used': { status: 401, title: 'The link has signed somebody in before, or has run out.' },
  'role-missing': { status: 403, title: 'The token may not do this.' },
  'forgery-suspected': { status: 403, title: 'The request may come from another site.' },
  'origin-not-allowed': { status: 403, title: 'Pages of this origin may not use the door.' },
  'host-not-allowed': { status: 421, title: 'This server is not called that.' },
  'not-found': { status: 404, title: 'There is nothing at this address.' },
  'method-not-allowed': { status: 405, title: 'This address does not take that method.' },
  'session-not-found': { status: 404, title: 'There is no such session.' },
  'turn-not-found': { status: 404, title: 'There is no such turn.' },
  'call-not-found': { status: 404, title: 'There is no such call waiting.' },
  'request-not-found': { status: 404, title: 'There is no such request.' },
  'agent-not-found': { status: 404, title: 'There is no such agent.' },
  'report-not-found': { status: 404, title: 'There is no such report of a suite.' },
  'event-not-found': { status: 404, title: 'There is no such event.' },
  'blob-not-found': { status: 404, title: 'There is no such blob.' },
  'session-is-rehearsal': { status: 409, title: 'A rehearsal cannot be gone on with.' },
  'turn-running': { status: 409, title: 'A turn is running.' },
  'turn-not-waiting': { status: 409, title: 'The turn does not wait.' },
  'turn-cancelled': { status: 409, title: 'The turn was cancelled.' },
  'nothing-to-cancel': { status: 409, title: 'Nothing is running.' },
  'not-parked': { status: 409, title: 'The session is not parked.' },
  'already-decided': { status: 409, title: 'Somebody decided before.' },
  'already-settled': { status: 409, title: 'Somebody settled it before.' },
  'not-asked': { status: 409, title: 'Nobody is asked about this call.' },
  'not-in-doubt': { status: 409, title: 'The call is not in doubt.' },
  'digest-mismatch': { status: 409, title: 'What was shown is not what stands now.' },
  'approval-expired': { status: 409, title: 'The question has lapsed.' },
  'not-an-approver': { status: 403, title: 'Somebody else has to decide.' },
  'four-eyes': { status: 403, title: 'Somebody else has to approve.' },
  'grant-not-found': { status: 404, title: 'There is no such grant.' },
  'grant-invalid': { status: 422, title: 'The grant cannot be given.' },
  'arguments-invalid': { status: 422, title: 'The arguments cannot be used.' },
  'message-empty': { status: 422, title: 'The message is empty.' },
  'message-too-large': { status: 413, title: 'The message is larger than the limit.' },
  'tenant-invalid': { status: 422, title: 'That is no tenant.' },
  'mode-unknown': { status: 422, title: 'There is no such mode.' },
  'fork-inside-turn': { status: 409, title: 'The place stands inside a turn.' },
  'answer-invalid': { status: 422, title: 'The answer fits no question.' },
  'not-supported': { status: 422, title: 'The door does not do this for a front end.' },
  'response-not-found': { status: 404, title: 'There is no such response.' },
  'response-not-latest': { status: 409, title: 'The conversation has gone on since that response.' },
  'fork-place-missing': { status: 422, title: 'The session has no event to fork at there.' },
  'fork-too-deep': { status: 422, title: 'The session stands at the end of too many forks.' },
  'reasoning-signed': {
    status: 409,
    title: 'Signed reasoning would have to go, and that was not asked for.',
  },
  'selection-invalid': { status: 422, title: 'Requests cannot be chosen like that.' },
  'turn-held': { status: 409, title: 'The turn has to stay in requests.' },
  'turn-summarised': { status: 409, title: 'A summary stands for the turn already.' },
  'nothing-to-summarise': { status: 409, title: 'There is nothing to summarise.' },
  'model-unknown': { status: 422, title: 'This server has no adapter for the model of the session.' },
  'bundle-limit': { status: 422, title: 'The session does not fit into a bundle.' },
  'record-damaged': { status: 500, title: 'The record of the session does not prove itself.' },
  'too-many-requests': { status: 429, title: 'Too many requests at once or in a short time.' },
  'too-many-logins': { status: 429, title: 'Too many attempts to sign in.' },
  'too-many-streams': { status: 429, title: 'Too many streams are open.' },
  'store-busy': { status: 503, title: 'The store cannot take it now.' },
  'shutting-down': { status: 503, title: 'The server is shutting down.' },
  'event-too-new': { status: 409, title: 'A newer program wrote this session.' },
  internal: { status: 500, title: 'The server failed.' },
};

export const problem = (
  code: string,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
): Problem => {
  const { status, title } = PROBLEMS[code] ?? { status: 500, title: 'The server failed.' };
  return { type: `/problems/${code}`, title, status, detail, code, ...more };
};

/** Codes of the runtime that the door has another word for. */
const SAME_AS: Readonly<Record<string, string>> = {
  'turn-key-reused': 'idempotency-key-reused',
  'turn-key-invalid': 'idempotency-key-invalid',
};

/** Thrown inside the door; becomes the answer. */
export class ProblemError extends Error {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: string, detail: string, options: ProblemOptions = {}) {
    super(detail);
    this.problem = problem(code, detail, options.more);
    this.headers = options.headers ?? {};
  }
}

export type ProblemOptions = {
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Seconds after which a store that was busy may be asked again. */
const RETRY_SECONDS = 2;

/** What an error means to a client; undefined for one that is nobody's business but the operator's. */
export const problemOf = (error: unknown): ProblemError | undefined => {
  if (error instanceof ProblemError) return error;
  if (error instanceof StorageError)
    return new ProblemError('store-busy', 'The store cannot take it now. Nothing was written. Try again.', {
      headers: { 'retry-after': String(RETRY_SECONDS) },
    });
  if (!isOnrecordError(error)) return undefined;
  if (error.next === 'corrupt')
    return new ProblemError('record-damaged', 'The record of this session does not prove itself. Verify it.');
  return known(error);
};

const known = (error: OnrecordError): ProblemError | undefined => {
  const code = SAME_AS[error.code] ?? error.code;
  if (!Object.hasOwn(PROBLEMS, code) || code === 'internal') return undefined;
  const { decided } = error.details;
  return new ProblemError(code, error.message, decided === undefined ? {} : { more: { decided } });
};
