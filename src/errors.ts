/**
 * Errors, by what happens next. A message is one or two sentences: what happened with the value quoted,
 * what was expected, what to do. The code is stable, in kebab case, and an anchor in docs/errors.md.
 */

/** What whoever catches the error should do about it. */
export type Next =
  /** The caller's input is wrong: change it. Nothing was written. */
  | 'fix-input'
  /** The state of the world says no (decided already, ended, locked): look again. Nothing was written. */
  | 'look-again'
  /** A passing fault: the same call may succeed later. */
  | 'retry'
  /** A person has to act (credentials, disk, upgrade). */
  | 'ask-a-person'
  /** The record does not prove itself: stop and verify. */
  | 'corrupt'
  /** A fault of this program. */
  | 'bug';

export type OnrecordErrorOptions = {
  code: string;
  next: Next;
  /** Facts for programs, JSON-serialisable; never a secret. */
  details?: Readonly<Record<string, unknown>>;
  /** A command or action that helps, ready to paste. */
  hint?: string;
  cause?: unknown;
};

export class OnrecordError extends Error {
  override readonly name = 'OnrecordError';
  readonly code: string;
  readonly next: Next;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string | undefined;

  constructor(message: string, options: OnrecordErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.next = options.next;
    this.details = options.details ?? {};
    this.hint = options.hint;
  }
}

export const isOnrecordError = (value: unknown): value is OnrecordError => value instanceof OnrecordError;

/** Wrong input from a caller: says what was found, what was expected and what to do. */
export const badInput = (
  code: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
  hint?: string,
): OnrecordError =>
  new OnrecordError(message, {
    code,
    next: 'fix-input',
    ...(details && { details }),
    ...(hint !== undefined && { hint }),
  });

/** A state that code promised cannot happen. Names the promise. */
export const bug = (promise: string, details?: Readonly<Record<string, unknown>>): OnrecordError =>
  new OnrecordError(`Internal promise broken: ${promise}`, {
    code: 'internal-promise-broken',
    next: 'bug',
    ...(details && { details }),
  });
