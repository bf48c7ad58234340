/** The token of whoever starts the server on their own machine: made once, kept in a file that only they can read. */
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Actor } from '../event/content.ts';
import { DOOR_ROLES, type Tokens } from '../server/tokens.ts';

const FILE = 'token';
const OWNER_ONLY = 0o600;

/** Path of the file, beside the store. A token that the store does not know any more is made anew. */
export const localToken = async (
  tokens: Tokens,
  folder: string,
  actor: Actor,
): Promise<{ readonly path: string; readonly token: string; readonly made: boolean }> => {
  const path = join(folder, FILE);
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (kept !== '' && (await tokens.caller(kept.trim()))) {
    await chmod(path, OWNER_ONLY);
    return { path, token: kept.trim(), made: false };
  }
  const { token } = await tokens.add({ name: actor.name, roles: DOOR_ROLES }, actor);
  // Whole or not at all, and never readable by others in between.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${path}.new`;
  await writeFile(fresh, `${token}\n`, { mode: OWNER_ONLY });
  await rename(fresh, path);
  return { path, token, made: true };
};
