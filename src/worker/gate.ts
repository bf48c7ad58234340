/**
 * The gate of a whole store: a mode that stands in a log of its own, so that who closed it, when and why is on the
 * record like everything else. Drivers look at it before each start, and each start is written only while that log
 * still ends where they looked: once setting a mode has returned, nothing starts against it anywhere.
 */
import type { EventData, NewFact } from '../event/events.ts';
import type { Mode } from '../event/definition.ts';
import { open } from '../event/envelope.ts';
import type { LogStore } from '../log/store.ts';
import type { SessionState } from '../session/state.ts';

/** The log that holds the store's own events. It has no agent and stands in no list of sessions. */
export const CONTROL_LOG = 'control';

export type Gate = {
  readonly mode: Mode;
  /** Where the control log ends; 0 where there is none. */
  readonly head: number;
  readonly last: EventData['mode.changed'] | undefined;
};

export const OPEN_GATE: Gate = { mode: 'normal', head: 0, last: undefined };

/** Reads the gate as it stands now; only what was appended since `known` is read. */
export const readGate = async (store: LogStore, known: Gate = OPEN_GATE): Promise<Gate> => {
  const { seq: head } = (await store.head(CONTROL_LOG)) ?? { seq: 0 };
  if (head <= known.head) return known;
  const events = (await store.read(CONTROL_LOG, known.head + 1, head)).map(open);
  const changed = events.findLast((event) => event.type === 'mode.changed');
  if (changed?.type !== 'mode.changed') return { ...known, head };
  return { mode: changed.data.mode, head, last: changed.data };
};

/** The gate as a fact for the log of a session that works, where that log says otherwise. */
export const gateFact = (state: SessionState, { mode, head: seq, last }: Gate): NewFact | undefined =>
  last && state.active && state.mode.store !== mode
    ? { type: 'mode.changed', data: { ...last, scope: 'store', seq } }
    : undefined;
