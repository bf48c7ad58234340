/** What changes in the store, told session by session: each as it stands, however often it changed in between. */
import type { ChangeListener } from '../log/store.ts';
import { isOnrecordError } from '../errors.ts';
import type { Door } from './door.ts';
import { sessionView, stateFor } from './shown.ts';
import type { Caller } from './tokens.ts';

/** Milliseconds in which changes of one session are told once. */
const GATHER_MS = 150;
/** Sessions told one by one at a time; of more it is only said that they changed. */
const TOLD_MAX = 50;

export async function* sessionChanges(
  door: Door,
  caller: Caller,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { clock, limits, closing } = door;
  const ended = AbortSignal.any([signal, closing]);
  const board = new Board();
  const unsubscribe = door.store.changes(board.listener);
  ended.addEventListener('abort', () => board.wake(), { once: true });
  try {
    yield 'event: open\ndata: {}\n\n';
    for (;;) {
      const heartbeat = clock.after(limits.heartbeatMs, () => board.wake(), true);
      await board.news();
      heartbeat.cancel();
      if (signal.aborted) return;
      if (closing.aborted) {
        yield 'event: end\ndata: {"reason":"server-stops"}\n\n';
        return;
      }
      const { sessions, everything } = board.take();
      if (everything || sessions.size > TOLD_MAX) yield 'event: look-again\ndata: {}\n\n';
      else if (sessions.size === 0) yield ': still here\n\n';
      else for (const session of sessions) yield* told(door, caller, session);
      await gather(door, ended);
    }
  } finally {
    unsubscribe();
  }
}

async function* told(door: Door, caller: Caller, session: string): AsyncGenerator<string, void, undefined> {
  try {
    const view = sessionView(await stateFor(door, caller, session));
    yield `event: session\ndata: ${JSON.stringify(view)}\n\n`;
  } catch (error) {
    // Another tenant's, a log of the store's own, or one that cannot be read: none of the reader's business here.
    if (!isOnrecordError(error)) throw error;
  }
}

const gather = ({ clock }: Door, ended: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (ended.aborted) return Promise.resolve();
  const timer = clock.after(GATHER_MS, resolve);
  ended.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => timer.cancel());
};

/** Where changes are written until somebody takes them. */
class Board {
  #sessions = new Set<string>();
  #everything = false;
  #raised = Promise.withResolvers<void>();

  readonly listener: ChangeListener = (change) => {
    if (change === undefined) this.#everything = true;
    else this.#sessions.add(change.session);
    this.wake();
  };

  wake(): void {
    this.#raised.resolve();
  }

  async news(): Promise<void> {
    await this.#raised.promise;
    this.#raised = Promise.withResolvers();
  }

  take(): { readonly sessions: ReadonlySet<string>; readonly everything: boolean } {
    const taken = { sessions: this.#sessions, everything: this.#everything };
    this.#sessions = new Set();
    this.#everything = false;
    return taken;
  }
}
