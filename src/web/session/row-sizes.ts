/** The heights of rows in pixels, as style/tokens.css has them: larger where a finger points. */
import { useSyncExternalStore } from 'react';
import type { Sizes } from './layout.ts';

const FINE: Sizes = { row: 28, step: 26, turn: 34 };
const COARSE: Sizes = { row: 36, step: 32, turn: 44 };

const coarse = matchMedia('(pointer: coarse), (max-width: 720px)');

const follow = (listener: () => void): (() => void) => {
  coarse.addEventListener('change', listener);
  return () => coarse.removeEventListener('change', listener);
};

export const useRowSizes = (): Sizes => useSyncExternalStore(follow, () => (coarse.matches ? COARSE : FINE));
