/** What a caller hands the runtime, looked at before anything is written; and refusals as errors. */
import { badInput, OnrecordError } from '../errors.ts';
import type { Decision } from '../session/decide.ts';

export const MESSAGE_BYTES_MAX: number = 1024 * 1024;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const KEY = /^[\x21-\x7e]{1,255}$/;

export const checkMessage = (message: string): string => {
  if (typeof message !== 'string' || message.trim() === '')
    throw badInput('message-empty', 'The message is empty. Say what the agent should do.');
  const bytes = Buffer.byteLength(message);
  if (bytes > MESSAGE_BYTES_MAX)
    throw badInput(
      'message-too-large',
      `The message has ${bytes} bytes, the limit is ${MESSAGE_BYTES_MAX}.`,
      { bytes },
    );
  return message;
};

export const checkTenant = (tenant = ''): string => {
  if (tenant === '' || TENANT.test(tenant)) return tenant;
  throw badInput('tenant-invalid', `"${tenant}" is no tenant: 1 to 64 of a-z, A-Z, 0-9, "_", "-" and ".".`);
};

export const checkKey = (key: string): string => {
  if (KEY.test(key)) return key;
  throw badInput('turn-key-invalid', 'A key is 1 to 255 visible ASCII characters, without spaces.', {
    length: key.length,
  });
};

export const isRehearsal = (session: string): OnrecordError =>
  new OnrecordError(
    `Session ${session} is a rehearsal: nothing in it was done in the world, so it cannot be gone on with. Rehearse again instead.`,
    { code: 'session-is-rehearsal', next: 'look-again', details: { session } },
  );
const FIX_INPUT: ReadonlySet<string> = new Set([
  'arguments-invalid',
  'turn-key-reused',
  'selection-invalid',
  'turn-not-found',
]);

export const refused = (decision: Exclude<Decision, { kind: 'facts' }>, session: string): OnrecordError => {
  if (decision.kind === 'replayed') return badInput('already-done', 'This was done already.', { session });
  return new OnrecordError(decision.message, {
    code: decision.code,
    next: FIX_INPUT.has(decision.code) ? 'fix-input' : 'look-again',
    details: { session, ...(decision.decided && { decided: decision.decided }) },
  });
};
