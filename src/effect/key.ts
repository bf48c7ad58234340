/** The idempotency key of a call: a pure function of the log, the same over attempts, resumes and machines. */
import type { CallId } from '../event/call-id.ts';
import { sha256 } from '../event/canonical.ts';

const KEY_LENGTH = 32;

/**
 * `session` is the session's own id: a fork starts nothing under its parent's keys. `args` are the canonical
 * arguments: a person may change them between two attempts, and a service that is given an old key with new
 * content would answer with the old result.
 */
export const idempotencyKey = (session: string, call: CallId, args: string): string =>
  `onrecord-${sha256(`key ${session} ${call} ${args}`).slice(0, KEY_LENGTH)}`;
