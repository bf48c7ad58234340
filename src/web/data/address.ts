/** The address is the state of the page: whoever has it sees the same. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

const follow = (listener: () => void): (() => void) => {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
};

const current = (): string => location.pathname + location.search;

export type GoOptions = {
  /** The way back does not lead here again: for what changes while one looks. */
  readonly replace?: boolean;
};

export const go = (to: string, { replace = false }: GoOptions = {}): void => {
  if (to === current()) return;
  const leaves = new URL(to, location.href).pathname !== location.pathname;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  if (leaves) scrollTo(0, 0);
  for (const listener of listeners) listener();
};

export type Address = { readonly path: string; readonly query: URLSearchParams };

export const useAddress = (): Address => {
  const address = useSyncExternalStore(follow, current);
  const mark = address.indexOf('?');
  const path = mark < 0 ? address : address.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? '' : address.slice(mark)) };
};

export type Changes = Readonly<Record<string, string | number | undefined>>;

/** The address with these parts of its query changed; what is undefined or empty goes. */
export const addressWith = (changes: Changes): string => {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, String(value));
  const text = query.toString();
  return text === '' ? location.pathname : `${location.pathname}?${text}`;
};

/** Changes parts of the query. By default the way back leads past it. */
export const setQuery = (changes: Changes, options: GoOptions = { replace: true }): void =>
  go(addressWith(changes), options);
