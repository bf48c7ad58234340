/** Where a SQLite store may lie, on a local disk (WAL needs shared memory that network folders do not give), and whether it still lies there. */
import { closeSync, fstatSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OnrecordError } from '../errors.ts';

/** File system magic numbers from Linux's statfs(2) and linux/magic.h. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x01021997, '9p'],
  [0x65735546, 'fuse'],
  [0x786f4256, 'vboxsf'],
  [0xbacbacbc, 'vmhgfs'],
  [0x7c7c6673, 'prl_fs'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
  [0x47504653, 'gpfs'],
  [0x19830326, 'beegfs'],
  [0x00c36400, 'ceph'],
  [0x73757245, 'coda'],
  [0x7461636f, 'ocfs2'],
  [0x01161970, 'gfs2'],
  [0x0bd00bd0, 'lustre'],
]);

/** The name of the network or VM-shared file system below `folder`; undefined for a local one. */
export const remoteFileSystem = (
  folder: string,
  typeOf: (path: string) => number = (path) => statfsSync(path).type,
): string | undefined => REMOTE.get(typeOf(folder) >>> 0);

/** Throws `store-on-network-folder` unless the folder is on a local disk. */
export const refuseRemote = (folder: string, typeOf?: (path: string) => number): void => {
  const type = remoteFileSystem(folder, typeOf);
  if (type === undefined) return;
  throw new OnrecordError(
    `The store would lie on a network or shared folder (${type}): ${folder}. ` +
      'SQLite loses data there. Use a path on a local disk, or PostgreSQL.',
    { code: 'store-on-network-folder', next: 'ask-a-person', details: { folder, type } },
  );
};

/** Which file or folder a path led to when it was looked at. */
type Seen = { readonly path: string; readonly dev: number; readonly ino: number };

/** Which file a path leads to; undefined where it leads to none. */
export const identityOf = (path: string): string | undefined => {
  const found = look(path);
  return found && `${found.dev}:${found.ino}`;
};

/** Throws where there is nothing. */
const fileAt = (path: string): Seen => {
  const { dev, ino } = statSync(path);
  return { path, dev, ino };
};

/** Undefined, too, where the way to it is broken. */
const look = (path: string): Seen | undefined => {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && { path, dev: found.dev, ino: found.ino };
  } catch {
    return undefined;
  }
};

const isInPlace = (seen: Seen): boolean => {
  const found = look(seen.path);
  return seen.ino === found?.ino && seen.dev === found.dev;
};

/**
 * How long a folder must have stood still before its time of change is relied on: longer than the tick of any
 * kernel's clock, so that whatever happens later in the folder changes that time.
 */
const STILL_MS = 50;

/** File systems that count whole seconds do not tell two changes of one second apart. */
const isFine = (changedMs: number): boolean => changedMs % 1000 !== 0;

/** How often it is looked whether the folder still lies where it did. */
export const FOLDER_LOOK_MS = 50;

/**
 * Whether the files of a store still lie where they were when it was opened.
 *
 * A file is moved, deleted or replaced by a change in its folder, and a folder that is moved changes itself. So the
 * open folder is asked when it has changed, and the files are looked at only where it is not known to have stood still
 * since they were last seen. That is a tenth of the time, and it leaves the write-ahead log alone: since Linux 6.13 a
 * file whose times were asked for gets a new time at its next write, which the sync after it then has to bring to the
 * disk with a write of its own.
 *
 * Where a folder further up is moved, the files go along as they are: that is seen within FOLDER_LOOK_MS, as if it had
 * been moved so much later.
 */
export class Placement {
  readonly #files: readonly Seen[];
  readonly #folder: Seen;
  /** The folder itself, wherever it lies. */
  readonly #handle: number;
  readonly #monotonic: () => number;
  /** When the folder has changed last, by its own account, and since when that is known. */
  #still: { readonly changedMs: number; readonly since: number } | undefined;
  #relied = false;
  /** When the folder was last seen in its place. */
  #seenAt = -Infinity;

  /** All in one folder. Throws where one of them is not there. */
  constructor(files: readonly [string, ...string[]], monotonic: () => number) {
    this.#files = files.map(fileAt);
    this.#folder = fileAt(dirname(files[0]));
    this.#handle = openSync(this.#folder.path, 'r');
    this.#monotonic = monotonic;
  }

  /** The path of a file that is not in its place any more. */
  missing(): string | undefined {
    const now = this.#monotonic();
    const changedMs = fstatSync(this.#handle).ctimeMs;
    const stands = this.#still?.changedMs === changedMs;
    if (stands && this.#relied && this.#isFolderInPlace(now)) return undefined;
    // The folder was asked first: what changes while the files are looked at is seen the next time.
    const missing = this.#files.find((file) => !isInPlace(file));
    if (!stands || missing) this.#still = { changedMs, since: now };
    const { since } = this.#still ?? { since: now };
    this.#relied = stands && !missing && isFine(changedMs) && now - since >= STILL_MS;
    return missing?.path;
  }

  close(): void {
    closeSync(this.#handle);
  }

  #isFolderInPlace(now: number): boolean {
    if (now - this.#seenAt < FOLDER_LOOK_MS) return true;
    if (!isInPlace(this.#folder)) return false;
    this.#seenAt = now;
    return true;
  }
}
