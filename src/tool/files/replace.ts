/**
 * One entry of a directory, replaced whole or not at all. The temporary file lies in the same directory, so
 * that the last step is one rename; its name carries a digest of the call's key, so that a later attempt
 * knows what an earlier one left behind.
 */
import { createHash } from 'node:crypto';
import { constants, linkSync, renameSync, unlinkSync, type BigIntStats } from 'node:fs';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { ToolError } from '../tool.ts';
import type { Directory } from './directory.ts';
import { changed, isErrno, quoted } from './fault.ts';

const PREFIX = '.onrecord-';
const LEFTOVER = /^\.onrecord-[0-9a-f]{16}-\d+-\d+\.tmp$/u;
/** Permission bits without set-user-id, set-group-id and sticky: an agent's text must not inherit those. */
const MODE_KEPT = 0o777n;

let count = 0;

const prefixOf = (key: string): string =>
  `${PREFIX}${createHash('sha256').update(key).digest('hex').slice(0, 16)}-`;

/** Whether a name is one of our temporary files. */
export const isLeftover = (name: string): boolean => LEFTOVER.test(name);

/** Removes the temporary files of one call. */
export const removeLeftovers = async (directory: Directory, key: string): Promise<void> => {
  const prefix = prefixOf(key);
  for await (const name of directory.names()) {
    if (!name.startsWith(prefix) || !isLeftover(name)) continue;
    await unlink(directory.at(name)).catch((error: unknown) => {
      if (!isErrno(error, 'ENOENT')) throw error;
    });
  }
};

export type Replacement = {
  readonly bytes: Uint8Array;
  /** SHA-256 of the file that may be replaced; null where there must be none. */
  readonly before: string | null;
  /** The call's idempotency key: names the temporary file, so that a crashed attempt can be cleared away. */
  readonly key: string;
  readonly signal?: AbortSignal;
};

export type Target = {
  readonly root: Directory;
  readonly directory: Directory;
  readonly name: string;
  /** For messages. */
  readonly path: string;
  /** The file as it was when its digest was taken; undefined where there was none. */
  readonly old: BigIntStats | undefined;
};

const isUntouched = (old: BigIntStats, now: BigIntStats | undefined): boolean =>
  now !== undefined &&
  now.dev === old.dev &&
  now.ino === old.ino &&
  now.size === old.size &&
  now.mtimeNs === old.mtimeNs &&
  now.ctimeNs === old.ctimeNs;

const fill = async (handle: FileHandle, bytes: Uint8Array, old: BigIntStats | undefined): Promise<void> => {
  await handle.writeFile(bytes);
  if (old) {
    // Only root may give files away; everybody else keeps owning what they write.
    await handle.chown(Number(old.uid), Number(old.gid)).catch((error: unknown) => {
      if (!isErrno(error, 'EPERM', 'EINVAL', 'ENOSYS')) throw error;
    });
    await handle.chmod(Number(old.mode & MODE_KEPT));
  }
  await handle.sync();
};

const notConfirmed = (path: string, cause: unknown): ToolError =>
  new ToolError(
    `${quoted(path)} was written, and the disk did not confirm it. Check the file before it is used.`,
    { code: 'write-not-confirmed', happened: 'unknown', cause },
  );

/** Puts the temporary file in its place. Synchronous: nothing of this process runs between look and rename. */
const swapIn = (temporary: string, target: Target): void => {
  const { directory, name, old } = target;
  if (!directory.isBelow(target.root)) throw changed(target.path);
  if (old) {
    if (!isUntouched(old, directory.statNow(name))) throw changed(target.path);
    renameSync(temporary, directory.at(name));
    return;
  }
  try {
    linkSync(temporary, directory.at(name));
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw changed(target.path);
    // Disks without hard links (FAT, some network mounts).
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES', 'EXDEV')) throw error;
    if (directory.statNow(name)) throw changed(target.path);
    renameSync(temporary, directory.at(name));
    return;
  }
  try {
    unlinkSync(temporary);
  } catch (cause) {
    // Gone already is as good. Left behind it would be a second name, and the file could not be read.
    if (!isErrno(cause, 'ENOENT')) throw notConfirmed(target.path, cause);
  }
};

/** See Folder.replace(). The caller has compared the digest. */
export const replaceEntry = async (replacement: Replacement, target: Target): Promise<void> => {
  const { directory } = target;
  count += 1;
  const temporary = directory.at(`${prefixOf(replacement.key)}${process.pid}-${count}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, target.old ? 0o600 : 0o666);
  try {
    try {
      await fill(handle, replacement.bytes, target.old);
    } finally {
      await handle.close();
    }
    if (replacement.signal?.aborted)
      throw new ToolError(`The call was cancelled before ${quoted(target.path)} was written.`, {
        code: 'cancelled',
      });
    swapIn(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  try {
    await directory.sync();
  } catch (cause) {
    throw notConfirmed(target.path, cause);
  }
};
