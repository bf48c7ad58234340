/** A small disk of its own for a test, which can be filled, emptied and made read-only. Needs the right to mount. */
import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from '../../kit/folder.ts';

const mount = (...args: readonly string[]): boolean => spawnSync('mount', args).status === 0;
const unmount = (folder: string): void => void spawnSync('umount', ['--lazy', folder]);

const canMount = (): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const probe = '/tmp';
  // Over /tmp in a name space of its own, which is gone with the process.
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', probe]).status === 0;
};

/** Says loudly what is not tested where mounting is not possible. */
export const CAN_MOUNT: boolean = canMount();
if (!CAN_MOUNT)
  console.warn(
    'SKIPPED: tests on a full and a read-only disk. They need Linux and the right to mount a tmpfs.',
  );

export class Disk {
  readonly folder: string;

  constructor(bytes: number) {
    this.folder = tempFolder();
    if (!mount('-t', 'tmpfs', '-o', `size=${bytes}`, 'none', this.folder))
      throw new Error(`A tmpfs cannot be mounted at ${this.folder}.`);
    onTestFinished(() => unmount(this.folder));
  }

  /** Another file takes whatever room is left. */
  fill(): void {
    const file = openSync(join(this.folder, 'other'), 'a');
    try {
      for (const size of [65_536, 4096, 512, 1]) fillWith(file, Buffer.alloc(size));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(join(this.folder, 'other'));
  }

  readOnly(): void {
    if (!mount('-o', 'remount,ro', this.folder)) throw new Error('The disk cannot be made read-only.');
  }

  writable(): void {
    if (!mount('-o', 'remount,rw', this.folder)) throw new Error('The disk cannot be made writable.');
  }
}

const fillWith = (file: number, piece: Buffer): void => {
  try {
    for (;;) if (writeSync(file, piece) < piece.length) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
};
