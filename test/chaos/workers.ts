/** Worker processes that can be killed, frozen and started again, and how long it takes others to take over. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type WorkerState = 'starting' | 'running' | 'frozen' | 'gone';

export class ChaosWorker {
  readonly #process: ChildProcess;
  state: WorkerState = 'starting';
  /** The name under which it holds leases. */
  owner = '';
  said = '';
  thaws = 0;

  constructor(program: string, args: readonly string[]) {
    this.#process = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdout, stderr } = this.#process;
    stderr?.setEncoding('utf8').on('data', (text: string) => (this.said = (this.said + text).slice(-4000)));
    if (stdout)
      createInterface({ input: stdout }).on('line', (line) => {
        if (!line.startsWith('ready ')) return;
        this.owner = line.slice('ready '.length);
        if (this.state === 'starting') this.state = 'running';
      });
    this.#process.once('close', () => (this.state = 'gone'));
  }

  freeze(): void {
    this.#process.kill('SIGSTOP');
    this.state = 'frozen';
  }

  thaw(): void {
    if (this.state !== 'frozen') return;
    this.#process.kill('SIGCONT');
    this.state = 'running';
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const closed = once(this.#process, 'close');
    this.#process.kill(signal);
    await closed;
  }
}

export const workerProgram = (root: string): string => join(root, 'test/chaos/worker-process.ts');
