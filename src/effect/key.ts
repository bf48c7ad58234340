/** The idempotency key of a call: a pure function of the log, the same over attempts, resumes and machines. */
import type { CallId } from '../event/call-id.ts';
import { sha256 } from '../event/canonical.ts';

const KEY_LENGTH = 32;

/** `origin` is the session's own id, or the parent's for calls that a fork carries over. */
export const idempotencyKey = (origin: string, call: CallId): string =>
  `onrecord-${sha256(`key ${origin} ${call}`).slice(0, KEY_LENGTH)}`;
