/**
 * What a process writes for its rooms, in one folder that does not outlive it. A small watcher holds the other end
 * of a pipe: however this process ends, by SIGKILL too, the pipe closes and the watcher removes the folder. Where the
 * watcher was killed as well, the next process that opens rooms here does it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const RUN_NAME = /^run-(\d+)-/;
/** Waits for the end of its input, then removes; a room that is just dying may still hold a file. */
const WATCHER = 'cat >/dev/null; for i in 1 2 3 4 5; do rm -rf -- "$1" && exit 0; sleep 0.2; done';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const reap = (base: string): void => {
  for (const name of readdirSync(base)) {
    const pid = RUN_NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(base, name), { recursive: true, force: true });
  }
};

/** Counted over the process, not over one folder: runsc knows a sandbox by a name that is the same everywhere here. */
let made = 0;

export class RunFolder {
  readonly path: string;
  readonly #watcher: ChildProcess;
  #closed = false;
  readonly #atExit = (): void => this.close();

  constructor(base: string) {
    mkdirSync(base, { recursive: true, mode: 0o700 });
    reap(base);
    this.path = mkdtempSync(join(base, `run-${process.pid}-`));
    // A session of its own, so that Ctrl C in a terminal does not end it before its work.
    this.#watcher = spawn('/bin/sh', ['-c', WATCHER, 'sh', this.path], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
    });
    // Without a watcher, removal falls to close() and to the next start.
    this.#watcher.on('error', () => undefined);
    this.#watcher.stdin?.on('error', () => undefined);
    this.#watcher.unref();
    (this.#watcher.stdin as (NodeJS.WritableStream & { unref?: () => void }) | null)?.unref?.();
    process.once('exit', this.#atExit);
  }

  /** A new folder for one room. */
  room(): { readonly path: string; readonly number: number } {
    const number = ++made;
    const path = join(this.path, String(number));
    mkdirSync(path, { mode: 0o700 });
    return { path, number };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    process.off('exit', this.#atExit);
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
    this.#watcher.stdin?.end();
  }
}
