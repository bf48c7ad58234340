/** A front end's own name for a conversation, and the session that it stands for. */
import { ID_ALPHABET } from '../../clock.ts';
import { canonical, sha256 } from '../../event/canonical.ts';
import { isOnrecordError } from '../../errors.ts';
import type { SessionState } from '../../session/state.ts';
import type { Door } from '../door.ts';
import { stateFor } from '../shown.ts';
import type { Caller } from '../tokens.ts';

/** 80 bits: no two threads meet by chance. */
const ID_LENGTH = 16;

/** The same tenant, agent and thread is the same session, whoever asks and whenever. */
export const threadSession = (tenant: string, agent: string, thread: string): string => {
  const bytes = Buffer.from(sha256(`thread ${canonical([tenant, agent, thread])}`), 'hex');
  return `s_${Array.from(bytes.subarray(0, ID_LENGTH), (byte) => ID_ALPHABET[byte & 31]).join('')}`;
};

/** Undefined where nothing was said in it yet. */
export const threadState = async (
  door: Door,
  caller: Caller,
  session: string,
): Promise<SessionState | undefined> => {
  try {
    return await stateFor(door, caller, session);
  } catch (error) {
    if (isOnrecordError(error) && error.code === 'session-not-found') return undefined;
    throw error;
  }
};
