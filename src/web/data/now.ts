/** The clock of the page: moves every few seconds, so that what lasts is seen to last. */
import { useSyncExternalStore } from 'react';

const TICK_MS = 5000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

const follow = (listener: () => void): (() => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};

/** Milliseconds since 1970 UTC. */
export const useNow = (): number => useSyncExternalStore(follow, () => now);
