/** Where a SQLite store may lie, on a local disk (WAL needs shared memory that network folders do not give), and whether it still lies there. */
import { statfsSync, statSync } from 'node:fs';
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

/** A file or folder as it was when it was looked at. */
type Seen = { readonly path: string; readonly dev: number; readonly ino: number; readonly mtimeMs: number };

/** Which file a path leads to; undefined where it leads to none. */
export const identityOf = (path: string): string | undefined => {
  const found = look(path);
  return found && `${found.dev}:${found.ino}`;
};

/** Undefined, too, where the way to it is broken. */
const look = (path: string): Seen | undefined => {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && { path, dev: found.dev, ino: found.ino, mtimeMs: found.mtimeMs };
  } catch {
    return undefined;
  }
};

const isSame = (one: Seen, other: Seen | undefined): boolean =>
  one.ino === other?.ino && one.dev === other.dev;

/**
 * How long a folder must have stood still before its time of change is relied on: longer than the tick of any
 * kernel's clock, so that whatever happens later in the folder changes that time.
 */
const STILL_MS = 50;

/** File systems that count whole seconds do not tell two changes of one second apart. */
const isFine = ({ mtimeMs }: Seen): boolean => mtimeMs % 1000 !== 0;

/**
 * Whether the files of a store still lie where they were when it was opened.
 *
 * A file is moved, deleted or replaced by a change in its folder. So the folder is looked at, and the files only
 * where it is not known to have stood still since they were last seen. That is less than half the calls, and it
 * leaves the write-ahead log alone: since Linux 6.13 a file whose times were asked for gets a new time at its next
 * write, which the sync after it then has to bring to the disk with a write of its own.
 */
export class Placement {
  readonly #files: readonly Seen[];
  readonly #folder: string;
  readonly #monotonic: () => number;
  /** The folder as it stands, and since when that is known. */
  #still: { readonly folder: Seen; readonly since: number } | undefined;
  #relied = false;

  /** All in one folder. Throws where one of them is not there. */
  constructor(files: readonly [string, ...string[]], monotonic: () => number) {
    this.#files = files.map((path) => {
      const { dev, ino, mtimeMs } = statSync(path);
      return { path, dev, ino, mtimeMs };
    });
    this.#folder = dirname(files[0]);
    this.#monotonic = monotonic;
  }

  /** The path of a file that is not in its place any more. */
  missing(): string | undefined {
    const folder = look(this.#folder);
    const still = this.#still;
    const stands = still && isSame(still.folder, folder) && still.folder.mtimeMs === folder?.mtimeMs;
    if (stands && this.#relied) return undefined;
    // The folder was looked at first: what changes while the files are looked at is seen the next time.
    const missing = this.#files.find((file) => !isSame(file, look(file.path)));
    const now = this.#monotonic();
    if (!stands || missing) this.#still = folder && { folder, since: now };
    this.#relied = stands === true && !missing && isFine(still.folder) && now - still.since >= STILL_MS;
    return missing?.path;
  }
}
