/** Where runs have their folders: on Linux a file system in memory, where a sync costs nothing. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A killed process loses no written byte in it, as on a disk. */
const MEMORY_FOLDER = '/dev/shm';
/** With less room than this the desks go to the disk. */
const MEMORY_BYTES_MIN: number = 512 * 1024 * 1024;

export const scratch = (): string => {
  try {
    accessSync(MEMORY_FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY_FOLDER : tmpdir();
  } catch {
    return tmpdir();
  }
};
