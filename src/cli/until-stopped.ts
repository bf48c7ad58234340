/** The wait of a command that goes on until somebody ends it. */
import { systemClock } from '../clock.ts';
import type { Cli } from './cli.ts';

/** A timer that keeps the process there, longer than anybody waits. */
const FOR_EVER_MS: number = 365 * 86_400_000;

/** Until Ctrl C, or until whoever runs the process asks it to end (SIGTERM). */
export const untilStopped = async ({ interrupt }: Cli): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  if (interrupt.signal.aborted) end();
  interrupt.signal.addEventListener('abort', end, { once: true });
  process.once('SIGTERM', end);
  const timer = systemClock.after(FOR_EVER_MS, end);
  await promise;
  timer.cancel();
  process.removeListener('SIGTERM', end);
};
