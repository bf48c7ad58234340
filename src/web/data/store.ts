/** A value that components follow: the smallest store that React's own hook takes. */
import { useSyncExternalStore } from 'react';

export type Store<T> = {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly follow: (listener: () => void) => () => void;
};

export const storeOf = <T>(first: T): Store<T> => {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(value, next)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.follow, store.get);
