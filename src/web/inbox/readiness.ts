/**
 * Whether what is asked about was seen: the end of the preview has to have been on screen, and half a second has to have
 * gone by since this card, with this digest, came up. Until then nobody can say yes.
 */
import { useCallback, useEffect, useState } from 'react';

/** A press that was meant for what stood here before does nothing. */
export const REST_MS = 500;

export type Readiness = {
  readonly isRead: boolean;
  readonly isRested: boolean;
  /** Goes on an element behind the last line. */
  readonly watch: (element: HTMLElement | null) => (() => void) | undefined;
};

/** `version` names exactly what is shown. */
export const useReadiness = (version: string): Readiness => {
  const [seen, setSeen] = useState<string>();
  const [rested, setRested] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setRested(version), REST_MS);
    return () => clearTimeout(timer);
  }, [version]);
  const watch = useCallback(
    (element: HTMLElement | null) => (element ? watchEnd(element, () => setSeen(version)) : undefined),
    [version],
  );
  return { isRead: seen === version, isRested: rested === version, watch };
};

const watchEnd = (end: HTMLElement, saw: () => void): (() => void) => {
  const card = end.closest('article');
  const preview = end.closest('[data-preview]');
  const watch = new IntersectionObserver(
    (entries) => {
      const isThere = entries.some((entry) => entry.isIntersecting);
      // Lines that are folded away were not on screen, wherever the end stands.
      if (isThere && !preview?.querySelector('[data-unread]')) saw();
    },
    { rootMargin: `0px 0px -${coveredBy(card)}px 0px` },
  );
  watch.observe(end);
  // What unfolds moves the end, or leaves it where it was: it is looked at anew.
  const changes = new MutationObserver(() => {
    watch.unobserve(end);
    watch.observe(end);
  });
  if (preview) changes.observe(preview, { childList: true, subtree: true });
  return () => {
    watch.disconnect();
    changes.disconnect();
  };
};

/** Pixels at the bottom of the screen that lie under the bar with the buttons. */
const coveredBy = (card: Element | null): number => {
  const bar = card?.querySelector<HTMLElement>('.verdict');
  return bar && getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0;
};
