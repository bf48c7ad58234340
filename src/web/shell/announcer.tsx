/** The one place that speaks to those who hear the page: politely, and not more often than every few seconds. */
import type { ReactNode } from 'react';
import { storeOf, useStore } from '../data/store.ts';

const PAUSE_MS = 5000;
const spoken = storeOf('');
let lastAt = -Infinity;
let next: ReturnType<typeof setTimeout> | undefined;

/** Of several in a short time the last one is said. */
export const announce = (text: string): void => {
  clearTimeout(next);
  const waitMs = Math.max(0, lastAt + PAUSE_MS - Date.now());
  next = setTimeout(() => {
    lastAt = Date.now();
    spoken.set(text);
  }, waitMs);
};

export const Announcer = (): ReactNode => (
  <div className="unseen" role="status" aria-live="polite">
    {useStore(spoken)}
  </div>
);
