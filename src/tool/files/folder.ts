/**
 * A folder that tools are confined to. Every path is walked from the root, one directory at a time, each held
 * open while the next is looked up (directory.ts says what that is worth on which system).
 *
 * What it promises:
 * 1. No act touches anything that is not a regular file below the root; links are refused, never followed.
 * 2. A file with a second name (hard link) is neither read nor written: its other name may lie outside.
 * 3. Protected paths are refused by identity, through every spelling.
 * 4. A file is replaced whole or not at all, and only if it still holds the bytes that the caller saw.
 */
import { createHash } from 'node:crypto';
import { realpathSync, statSync, type BigIntStats } from 'node:fs';
import { mkdir, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { badInput } from '../../errors.ts';
import { ToolError } from '../tool.ts';
import { Directory, machineReach, type Found, type Reach } from './directory.ts';
import { changed, fileFault, isErrno, missingFolder, quoted, tooLarge, withFaults } from './fault.ts';
import { parseFilePath, parsePath } from './path.ts';
import { Protection } from './protection.ts';
import { isLeftover, removeLeftovers, replaceEntry, type Replacement } from './replace.ts';

/** Bytes of a file that tools load at most. */
export const FILE_BYTES_MAX: number = 16 * 1024 * 1024;
const READ_BYTES_STEP = 1024 * 1024;

export type FolderOptions = {
  /** Paths that are refused by identity, with the SQLite files beside them: the store, the policy. */
  readonly protect?: readonly string[];
  /** Refuse every write. Default false. */
  readonly readOnly?: boolean;
  /** Only for tests of disks that take several spellings for one name. */
  readonly reach?: Reach;
};

export type FileContent = {
  /** From the folder down, spelled as on the disk. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly sha256: string;
};

/** What a path means at this moment. */
export type Place = {
  /** From the folder down, spelled as on the disk where it exists. */
  readonly path: string;
  readonly file: FileContent | undefined;
  /** Entries beside it that differ only in case or Unicode form and are files of their own. */
  readonly twins: readonly string[];
  /** Folders on the way that do not exist, the outermost first. */
  readonly missingFolders: readonly string[];
};

export type Entry = {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other' | 'protected';
  /** Of files. */
  readonly bytes?: number;
};

export type Replaced = {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly created: boolean;
};

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

type Walked = {
  /** The deepest directory that exists. The caller closes it. */
  readonly directory: Directory;
  readonly spelled: readonly string[];
  readonly missing: readonly string[];
  /** Of the first missing one. */
  readonly twins: readonly string[];
};

/** A regular file with one name, or the reason why not. */
const checkRegular = (path: string, stats: BigIntStats): void => {
  const refuse = (code: string, says: string): never => {
    throw new ToolError(`${quoted(path)} ${says}`, { code, details: { path } });
  };
  if (stats.isSymbolicLink())
    refuse('outside-root', 'is a link, which may lead out of the folder. Links are never followed.');
  if (stats.isDirectory()) refuse('not-a-file', 'is a folder. Name a file in it.');
  if (!stats.isFile()) refuse('not-a-file', 'is a device, a pipe or a socket. Only regular files are used.');
  if (stats.nlink > 1n)
    refuse('hard-link', 'has a second name (hard link), which may lie outside the folder. Copy it first.');
};

const readUpTo = async (handle: FileHandle, path: string, bytesMax: number): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const piece = new Uint8Array(Math.min(READ_BYTES_STEP, bytesMax + 1 - total));
    const { bytesRead } = await handle.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, bytesRead));
    total += bytesRead;
    if (total > bytesMax) throw tooLarge(path, bytesMax);
  }
};

export class Folder {
  /** The folder's own name, for people. The rest of its path stays on the host. */
  readonly name: string;
  readonly readOnly: boolean;
  readonly #root: string;
  readonly #reach: Reach;
  readonly #protection: Protection;

  /** Use openFolder(). */
  constructor(root: string, options: FolderOptions) {
    this.#root = root;
    this.name = basename(root);
    this.readOnly = options.readOnly ?? false;
    this.#reach = options.reach ?? machineReach;
    this.#protection = new Protection(options.protect ?? []);
    this.#protection.checkRoot(root);
  }

  /**
   * Reads a whole file. Throws ToolError `not-found`, `outside-root`, `bad-name`, `not-a-file`, `hard-link`,
   * `protected-path`, `file-too-large`, `no-permission`.
   */
  async read(path: string, bytesMax: number = FILE_BYTES_MAX): Promise<FileContent> {
    const place = await this.look(path, bytesMax);
    if (place.file) return place.file;
    const twin = place.twins[0];
    throw new ToolError(
      `${quoted(path)} is not there. ${twin === undefined ? 'List the folder to see what is.' : `There is ${quoted(twin)}, spelled differently.`}`,
      { code: 'not-found', details: { path } },
    );
  }

  /** What a path means now: the file with its bytes, or where a new one would come to lie. */
  look(path: string, bytesMax: number = FILE_BYTES_MAX): Promise<Place> {
    return withFaults(path, async () => {
      const { folders, name } = parseFilePath(path);
      const walked = await this.#walk(folders, path);
      await using directory = walked.directory;
      const { spelled, missing } = walked;
      if (missing.length > 0)
        return {
          path: [...spelled, ...missing, name].join('/'),
          file: undefined,
          twins: walked.twins,
          missingFolders: missing.map((_, at) => [...spelled, ...missing.slice(0, at + 1)].join('/')),
        };
      const spelling = await directory.spell(name);
      const own = [...spelled, spelling.name].join('/');
      this.#protection.check(own, directory, spelling.name);
      await using found = await directory.find(spelling.name);
      const file = found && (await this.#load(found, own, bytesMax));
      return { path: own, file, twins: spelling.twins, missingFolders: [] };
    });
  }

  /** The entries of one folder in the order of the disk. Throws `not-found`, `not-a-folder` and as read(). */
  async *entries(path: string): AsyncGenerator<Entry> {
    const walked = await withFaults(path, () => this.#walk(parsePath(path), path));
    await using directory = walked.directory;
    if (walked.missing.length > 0)
      throw new ToolError(`The folder ${quoted(path)} is not there. List its parent to see what is.`, {
        code: 'not-found',
        details: { path },
      });
    try {
      for await (const name of directory.names()) {
        if (isLeftover(name)) continue;
        const entry = await this.#entry(directory, name, [...walked.spelled, name].join('/'));
        if (entry) yield entry;
      }
    } catch (error) {
      throw fileFault(error, path);
    }
  }

  /**
   * Replaces or creates a file in one step that survives a loss of power: a temporary file in the same
   * directory, fsync, rename, fsync of the directory. Mode bits are kept; missing folders are made. Throws
   * `file-changed` (nothing happened) if the file no longer holds `before`, `read-only`, `cancelled`,
   * `disk-full` and as read().
   *
   * Between the last look and the rename another process has some microseconds to write in place: no system
   * has a compare-and-rename. A new file is safe from that: it is linked, never renamed over something.
   */
  replace(path: string, replacement: Replacement): Promise<Replaced> {
    return withFaults(path, async () => {
      if (this.readOnly)
        throw new ToolError(`The folder is read-only: ${quoted(path)} was not written.`, {
          code: 'read-only',
        });
      const { folders, name } = parseFilePath(path);
      await using root = await Directory.open(this.#root, this.#reach);
      const walked = await this.#walk(folders, path, replacement.before === null);
      await using directory = walked.directory;
      const spelling = await directory.spell(name);
      const own = [...walked.spelled, spelling.name].join('/');
      this.#protection.check(own, directory, spelling.name);
      await using found = walked.missing.length > 0 ? undefined : await directory.find(spelling.name);
      const file = found && (await this.#load(found, own, FILE_BYTES_MAX));
      if ((file?.sha256 ?? null) !== replacement.before || walked.missing.length > 0) throw changed(own);
      await replaceEntry(replacement, {
        root,
        directory,
        name: spelling.name,
        path: own,
        old: found?.stats,
      });
      return {
        path: own,
        sha256: sha256Of(replacement.bytes),
        bytes: replacement.bytes.length,
        created: !found,
      };
    });
  }

  /** Removes what a crashed attempt of the call with this key left beside the file. */
  clear(path: string, key: string): Promise<void> {
    return withFaults(path, async () => {
      const walked = await this.#walk(parseFilePath(path).folders, path);
      await using directory = walked.directory;
      if (!this.readOnly && walked.missing.length === 0) await removeLeftovers(directory, key);
    });
  }

  async #load(found: Found, path: string, bytesMax: number): Promise<FileContent> {
    this.#protection.checkFound(path, found.stats);
    checkRegular(path, found.stats);
    if (found.stats.size > bytesMax) throw tooLarge(path, bytesMax);
    await using handle = await found.open();
    const bytes = await readUpTo(handle, path, bytesMax);
    return { path, bytes, sha256: sha256Of(bytes) };
  }

  async #entry(directory: Directory, name: string, path: string): Promise<Entry | undefined> {
    await using found = await directory.find(name);
    if (!found) return undefined;
    try {
      this.#protection.check(path, directory, name);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { path, kind: 'protected' };
    }
    const { stats } = found;
    if (stats.isFile()) return { path, kind: 'file', bytes: Number(stats.size) };
    if (stats.isDirectory()) return { path, kind: 'folder' };
    return { path, kind: stats.isSymbolicLink() ? 'link' : 'other' };
  }

  async #walk(names: readonly string[], path: string, create = false): Promise<Walked> {
    let directory = await Directory.open(this.#root, this.#reach);
    const spelled: string[] = [];
    try {
      for (const [at, asked] of names.entries()) {
        const { name, twins } = await directory.spell(asked);
        const own = [...spelled, name].join('/');
        this.#protection.check(own, directory, name);
        const next =
          (await this.#step(directory, name, own)) ?? (create && (await this.#make(directory, name, own)));
        if (!next) return { directory, spelled, missing: names.slice(at), twins };
        await directory[Symbol.asyncDispose]();
        directory = next;
        spelled.push(name);
      }
      return { directory, spelled, missing: [], twins: [] };
    } catch (error) {
      await directory[Symbol.asyncDispose]();
      throw isErrno(error, 'ENOENT') ? missingFolder(path) : error;
    }
  }

  /** Into the directory `name`; undefined where there is none. */
  async #step(directory: Directory, name: string, path: string): Promise<Directory | undefined> {
    await using found = await directory.find(name);
    if (!found) return undefined;
    this.#protection.checkFound(path, found.stats);
    if (found.stats.isDirectory()) return found.directory();
    if (found.stats.isSymbolicLink()) checkRegular(path, found.stats);
    throw new ToolError(`${quoted(path)} is not a folder. List its parent to see what is there.`, {
      code: 'not-a-folder',
      details: { path },
    });
  }

  async #make(directory: Directory, name: string, path: string): Promise<Directory> {
    try {
      await mkdir(directory.at(name));
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
    await directory.sync();
    const made = await this.#step(directory, name, path);
    if (!made) throw changed(path);
    return made;
  }
}

/**
 * A folder for tools to work in. `root` must exist; links in its own path are resolved here, once. Throws
 * `folder-missing` and `folder-protected` (an OnrecordError, for the operator).
 */
export const openFolder = (root: string, options: FolderOptions = {}): Folder => {
  let real: string | undefined;
  try {
    real = realpathSync(root);
  } catch {
    real = undefined;
  }
  if (real === undefined || !statSync(real).isDirectory())
    throw badInput(
      'folder-missing',
      `The folder "${root}" is not there. Create it, or name another root for the file tools.`,
      { root },
    );
  return new Folder(real, options);
};
