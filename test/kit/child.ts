/** Real child processes that tell what they do, line by line, and can be killed at any word. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export type Child = {
  readonly process: ChildProcess;
  /** Lines printed so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line that fits; rejects when the child ends before it. */
  line(fits: (line: string) => boolean): Promise<string>;
  /** SIGKILL: no handler, no flush, no goodbye. */
  kill(): Promise<void>;
  /** The exit code; rejects unless it is 0. */
  done(): Promise<void>;
  say(text: string): void;
};

/** Starts test/kit/<program> under this Node. The child is gone when the test is over. */
export const startChild = (program: string, args: readonly string[]): Child => {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of waiters) waiter();
  };
  // Not when it exits: what it said last may still be on its way.
  let isOver = false;
  const ended = once(child, 'close').then(() => {
    isOver = true;
    wake();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(async () => {
    if (!isOver) await kill();
  });
  return {
    process: child,
    lines,
    async line(fits) {
      for (;;) {
        const found = lines.find(fits);
        if (found !== undefined) return found;
        if (isOver)
          throw new Error(`${program} ended before it said so. It said: ${lines.join(' | ')} ${errors}`);
        await new Promise<void>((resolve) => {
          const waiter = (): void => {
            waiters.delete(waiter);
            resolve();
          };
          waiters.add(waiter);
        });
      }
    },
    kill,
    async done() {
      await ended;
      if (child.exitCode !== 0) throw new Error(`${program} ended with ${child.exitCode}: ${errors}`);
    },
    say: (text) => void child.stdin.write(`${text}\n`),
  };
};
