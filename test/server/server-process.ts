/** Servers as real processes that can be killed and started again on the same port. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const SCRIPT = join(import.meta.dirname, 'child-server.ts');

export class ServerProcess {
  readonly child: ChildProcess;
  /** Resolves when the process has ended, with the signal that ended it. */
  readonly ended: Promise<NodeJS.Signals | null>;
  readonly ready: Promise<{ readonly port: number; readonly token: string | undefined }>;

  constructor(folder: string, port: number, kill = '') {
    this.child = fork(SCRIPT, [folder, String(port), kill], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.ended = once(this.child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
    const gone = this.ended.then((signal) => {
      throw new Error(`the server ended before it was ready: ${signal}`);
    });
    gone.catch(() => undefined);
    const told = once(this.child, 'message').then(([message]) => message as { port: number; token?: string });
    this.ready = Promise.race([told, gone]).then(({ port: taken, token }) => ({ port: taken, token }));
    this.ready.catch(() => undefined);
    onTestFinished(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
      await this.ended;
    });
  }

  get url(): Promise<string> {
    return this.ready.then(({ port }) => `http://127.0.0.1:${port}`);
  }

  /** Asks it to stop as an operator would, and waits for its end. */
  async stop(): Promise<void> {
    this.child.send('stop');
    await this.ended;
  }
}
