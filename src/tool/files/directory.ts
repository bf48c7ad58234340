/**
 * One open directory, and the only place that hands names to the kernel.
 *
 * On Linux a directory is held by its descriptor and a name in it is reached as /proc/self/fd/N/name, so that
 * no component before the name is looked up a second time. A name is first opened with O_PATH | O_NOFOLLOW:
 * that touches neither devices nor FIFOs and stops at links. What was found is then read through its own
 * descriptor, so that between the check and the use there is nothing to swap.
 *
 * Where /proc/self/fd is missing (macOS, Windows) names are joined to the real path, looked at with lstat,
 * opened with O_NOFOLLOW and compared by device and inode afterwards. That stops every link that lies still,
 * but not a program that swaps folders for links while a tool runs: run such tools in a container.
 */
import { constants, existsSync, lstatSync, readlinkSync, type BigIntStats } from 'node:fs';
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../tool.ts';
import { isErrno, quoted } from './fault.ts';
import { foldName } from './path.ts';

/** How names are reached on this machine. */
export type Reach = {
  /** Whether a descriptor confines what is reached through it. */
  readonly byDescriptor: boolean;
  /** The path that the kernel is given for a name in the directory at `place`. */
  readonly at: (place: string, name: string) => string;
};

export const DESCRIPTOR_PATHS = '/proc/self/fd';

export const machineReach: Reach = {
  byDescriptor: process.platform === 'linux' && existsSync(DESCRIPTOR_PATHS),
  at: (place, name) => join(place, name),
};

/** Linux, the same on every architecture that Node runs on; Node does not name it. */
const O_PATH = 0o10000000;
// Missing on Windows, where undefined counts as no flag.
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** What makes two names one file. */
export const sameFile = (a: Pick<BigIntStats, 'dev' | 'ino'>, b: Pick<BigIntStats, 'dev' | 'ino'>): boolean =>
  a.dev === b.dev && a.ino === b.ino;

/** How a name is written on the disk. */
export type Spelling = {
  readonly name: string;
  /** Entries that differ only in case or Unicode form and are files of their own here. */
  readonly twins: readonly string[];
};

/** An entry that was found and not yet opened. Close it. */
export class Found implements AsyncDisposable {
  readonly stats: BigIntStats;
  readonly #path: string;
  readonly #reach: Reach;
  #handle: FileHandle | undefined;

  constructor(reach: Reach, path: string, stats: BigIntStats, handle?: FileHandle) {
    this.#reach = reach;
    this.#path = path;
    this.stats = stats;
    this.#handle = handle;
  }

  /** Opens for reading exactly what was found. Only for regular files. */
  async open(): Promise<FileHandle> {
    if (this.#handle) return open(`${DESCRIPTOR_PATHS}/${this.#handle.fd}`, O_RDONLY | O_NONBLOCK);
    const handle = await open(this.#path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    if (sameFile(await handle.stat({ bigint: true }), this.stats)) return handle;
    await handle.close();
    throw new ToolError('The file was replaced while it was opened. Read it again.', {
      code: 'file-changed',
      retryable: true,
    });
  }

  /** The directory that was found. It takes the descriptor over: close the directory then. */
  directory(): Directory {
    const handle = this.#handle;
    this.#handle = undefined;
    return new Directory(this.#reach, this.#path, this.stats, handle);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

const look = async (reach: Reach, path: string): Promise<Found> => {
  if (!reach.byDescriptor) return new Found(reach, path, await lstat(path, { bigint: true }));
  const handle = await open(path, O_PATH | O_NOFOLLOW);
  try {
    return new Found(reach, path, await handle.stat({ bigint: true }), handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
};

export class Directory implements AsyncDisposable {
  readonly stats: BigIntStats;
  readonly #reach: Reach;
  readonly #path: string;
  readonly #handle: FileHandle | undefined;

  constructor(reach: Reach, path: string, stats: BigIntStats, handle?: FileHandle) {
    this.#reach = reach;
    this.#path = path;
    this.stats = stats;
    this.#handle = handle;
  }

  /** Opens a directory that the operator named. Its path must hold no link any more. */
  static async open(path: string, reach: Reach): Promise<Directory> {
    await using found = await look(reach, path).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (found?.stats.isDirectory()) return found.directory();
    throw new ToolError('The folder that this tool works in is no longer a folder. Ask the operator.', {
      code: 'folder-missing',
    });
  }

  /** Where the kernel finds this directory. */
  get place(): string {
    return this.#handle ? `${DESCRIPTOR_PATHS}/${this.#handle.fd}` : this.#path;
  }

  /** The path that reaches `name` in this directory and nowhere else. */
  at(name: string): string {
    return this.#reach.at(this.place, name);
  }

  /** The entry of that name, its own self where it is a link; undefined where there is none. */
  async find(name: string): Promise<Found | undefined> {
    try {
      return await look(this.#reach, this.at(name));
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Names in the order of the disk. */
  async *names(): AsyncGenerator<string> {
    for await (const entry of await opendir(this.place)) yield entry.name;
  }

  /**
   * Which entry a name means here. The disk is asked, not guessed at: on one without regard to case the
   * answer to "readme.md" is "README.md", on one with regard to it a name of its own with a twin.
   */
  async spell(name: string): Promise<Spelling> {
    const folded = foldName(name);
    const twins: string[] = [];
    for await (const entry of this.names()) {
      if (entry === name) return { name, twins: [] };
      if (foldName(entry) === folded) twins.push(entry);
    }
    await using found = await this.find(name);
    if (!found) return { name, twins: twins.toSorted() };
    for (const twin of twins) {
      await using other = await this.find(twin);
      if (other && sameFile(other.stats, found.stats)) return { name: twin, twins: [] };
    }
    // It came to be after the listing, or the disk has a rule for names that we do not know.
    for await (const entry of this.names()) if (entry === name) return { name, twins: [] };
    throw new ToolError(
      `The folder answers to ${quoted(name)} with an entry of another name. List the folder and use the name as it is written there.`,
      { code: 'name-unclear' },
    );
  }

  /** Makes what was created, renamed or removed in this directory survive a loss of power. */
  async sync(): Promise<void> {
    // Windows has no such call on directories.
    if (process.platform === 'win32') return;
    const handle = await open(join(this.place, '.'), O_RDONLY | O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Whether this directory still lies below `root`. It may have been moved since it was opened. */
  isBelow(root: Directory): boolean {
    if (!this.#handle || !root.#handle || sameFile(this.stats, root.stats)) return true;
    const top = readlinkSync(root.place);
    return readlinkSync(this.place).startsWith(top === '/' ? top : `${top}/`);
  }

  /** The entry as it is this instant, in one tick with what follows; undefined where there is none. */
  statNow(name: string): BigIntStats | undefined {
    return lstatSync(this.at(name), { bigint: true, throwIfNoEntry: false });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}
