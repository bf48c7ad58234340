/** The one stream of this page: which sessions change. It says whether the server is there, and tries again by itself. */
import { useEffect, useRef } from 'react';
import { DoorError } from '../../client/client.ts';
import type { SessionView } from '../../server/schemas.ts';
import { door } from './door.ts';
import { storeOf, type Store } from './store.ts';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** Moments in milliseconds since 1970 UTC. */
  | { readonly kind: 'offline'; readonly since: number; readonly nextAt: number };

export const connection: Store<Connection> = storeOf<Connection>({ kind: 'connecting' });

/** `undefined` says that anything may have changed: after a break, and where very much changes at once. */
export type ChangeListener = (session: SessionView | undefined) => void;

const listeners = new Set<ChangeListener>();

/** Calls back for every change, also after a break, when what was shown may be old. */
export const useChanges = (listener: ChangeListener): void => {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    const own: ChangeListener = (session) => latest.current(session);
    listeners.add(own);
    return () => void listeners.delete(own);
  }, []);
};

const WAIT_MS = 500;
const WAIT_MS_MAX = 15_000;

let hurry: (() => void) | undefined;

/** Ends the wait for the next attempt. */
export const tryNow = (): void => hurry?.();

/** Holds the stream until the signal is aborted. `refused` is told where the door knows this page no longer. */
export const stayConnected = async (signal: AbortSignal, refused: () => void): Promise<void> => {
  let failures = 0;
  let since: number | undefined;
  while (!signal.aborted) {
    try {
      for await (const change of door.changes(signal)) {
        failures = 0;
        since = undefined;
        connection.set({ kind: 'live' });
        tell(change.kind === 'session' ? change.session : undefined);
      }
    } catch (error) {
      if (error instanceof DoorError && error.status === UNAUTHORIZED) return refused();
    }
    if (signal.aborted) return undefined;
    since ??= Date.now();
    const waitMs = Math.min(WAIT_MS * 2 ** failures, WAIT_MS_MAX) * (0.75 + Math.random() / 4);
    failures += 1;
    connection.set({ kind: 'offline', since, nextAt: Date.now() + waitMs });
    await pause(waitMs, signal);
  }
  return undefined;
};

const UNAUTHORIZED = 401;

const tell = (session: SessionView | undefined): void => {
  for (const listener of listeners) listener(session);
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    hurry = end;
    signal.addEventListener('abort', end, { once: true });
    addEventListener('online', end, { once: true });
  });
