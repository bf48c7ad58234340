/**
 * The id of a new session: a function of its tenant, its agent and the key of its first turn, so that saying the same
 * again is the same session. `taken` counts ids that other keys have by chance.
 */
import { ID_ALPHABET } from '../clock.ts';
import { sha256 } from '../event/canonical.ts';

/** 40 bits: at ten thousand sessions, one chance in twenty thousand that two meet. */
const SESSION_ID_LENGTH = 8;

export type SessionOrigin = { readonly tenant: string; readonly agent: string; readonly key: string };

export const sessionId = ({ tenant, agent, key }: SessionOrigin, taken: number): string => {
  const whose = tenant === '' ? '' : `${tenant}/`;
  const bytes = Buffer.from(sha256(`session ${whose}${agent} ${key} ${taken}`), 'hex');
  const characters = Array.from(bytes.subarray(0, SESSION_ID_LENGTH), (byte) => ID_ALPHABET[byte & 31]);
  return `s_${characters.join('')}`;
};
