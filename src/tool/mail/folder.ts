/**
 * A folder of mail files as the mail tools need it: plain names, whole reads with a limit, and writes that
 * never replace anything. Anything with these three methods will do in its place.
 */
import { constants } from 'node:fs';
import { link, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../tool.ts';

export type MailFolder = {
  /** Names of all entries, in no order. */
  list(): Promise<readonly string[]>;
  /**
   * At most `bytesMax` bytes from the start of a regular file, and its whole size; undefined where there
   * is no such file.
   */
  read(name: string, bytesMax: number): Promise<{ bytes: Uint8Array; size: number } | undefined>;
  /**
   * Writes a new file, whole or not at all, and on disk when the promise resolves. False where a file of
   * that name exists, whatever is in it.
   */
  write(name: string, bytes: Uint8Array): Promise<boolean>;
};

const NAME_CHARS_MAX = 200;

/** A name that stays in its folder on every system: no separators, no drive, no hidden or special name. */
export const isPlainName = (name: string): boolean =>
  name.length > 0 &&
  name.length <= NAME_CHARS_MAX &&
  name.isWellFormed() &&
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  !/[\u0000-\u001f\u007f/\\:*?"<>|]/.test(name) &&
  !/^\.|[. ]$/.test(name);

const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Codes with which the system says that a name is not a regular file that may be read here. */
const ABSENT = ['ENOENT', 'ELOOP', 'ENOTDIR', 'EISDIR', 'ENXIO'];

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'failed';

const failed = (what: string, error: unknown, happened: false | 'unknown' = false): ToolError =>
  new ToolError(`The mail folder could not be ${what} (${errorCode(error)}). A person has to look at it.`, {
    code: 'folder-failed',
    happened,
    details: { reason: errorCode(error) },
  });

const syncFolder = async (root: string): Promise<void> => {
  const folder = await open(root, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** A folder on disk. Links are not followed, and only regular files are read. */
export const mailFolder = (root: string): MailFolder => ({
  async list() {
    try {
      return await readdir(root);
    } catch (error) {
      throw failed('listed', error);
    }
  },

  async read(name, bytesMax) {
    if (!isPlainName(name)) return undefined;
    try {
      // Without O_NONBLOCK the open of a pipe would wait for a writer.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      await using file = await open(join(root, name), flags);
      const stat = await file.stat();
      if (!stat.isFile()) return undefined;
      const bytes = Buffer.alloc(Math.min(stat.size, bytesMax));
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return { bytes: bytes.subarray(0, filled), size: stat.size };
    } catch (error) {
      if (hasCode(error, ...ABSENT)) return undefined;
      throw failed('read', error);
    }
  },

  async write(name, bytes) {
    if (!isPlainName(name)) throw failed('written', new Error('not a plain name'));
    // Hidden and of this name alone: what an attempt left behind is taken up by the next one.
    const part = join(root, `.${name}.part`);
    try {
      await unlink(part).catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      await using file = await open(part, flags, 0o600);
      await file.writeFile(bytes);
      await file.sync();
    } catch (error) {
      await unlink(part).catch(() => undefined);
      throw failed('written', error);
    }
    try {
      // A link, unlike a rename, fails where the name is taken.
      await link(part, join(root, name));
      await syncFolder(root);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw failed('written', error, 'unknown');
    } finally {
      await unlink(part).catch(() => undefined);
    }
  },
});
