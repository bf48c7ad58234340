/** How long somebody waits for foreign code: a deadline, and a grace once it was told to stop. */
import type { Clock, Timer } from '../clock.ts';

/** How long what was told to stop may take to say so. */
export const CANCEL_GRACE_MS = 5000;

export type Watch = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** It has taken longer than it may. */
  readonly late: () => void;
  /** It was told to stop, and the grace after that is over. */
  readonly deaf: () => void;
};

/** Watches that begin when the event loop turns. One immediate of Node's for all of a turn: most are over by then. */
let beginning: (() => void)[] = [];

const atTurn = (begin: () => void): void => {
  if (beginning.push(begin) === 1) setImmediate(beginAll);
};

const beginAll = (): void => {
  const all = beginning;
  beginning = [];
  for (const begin of all) begin();
};

/**
 * Answers how to end the watch. Nothing is set up for what ends before the event loop turns: many tools answer at
 * once, and before that turn neither could the time be over nor anybody say stop.
 */
export const watch = ({ clock, signal, timeoutMs, late, deaf }: Watch): (() => void) => {
  const timers: Timer[] = [];
  let isOver = false;
  const told = (): void => void timers.push(clock.after(CANCEL_GRACE_MS, deaf));
  atTurn(() => {
    if (isOver) return;
    timers.push(clock.after(timeoutMs, late));
    if (signal.aborted) told();
    else signal.addEventListener('abort', told, { once: true });
  });
  return () => {
    isOver = true;
    if (timers.length === 0) return;
    signal.removeEventListener('abort', told);
    for (const timer of timers) timer.cancel();
  };
};
