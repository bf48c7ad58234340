/** Where a reader stands in a session: the event that is looked at, the one that is selected, the readings that are open. */
import { setQuery, useAddress } from '../data/address.ts';

export type ReadingName = 'conv' | 'rec' | 'req' | 'work';

export const READINGS: readonly ReadingName[] = ['conv', 'rec', 'req', 'work'];

export type SessionPlace = {
  /** Undefined: live. */
  readonly at: number | undefined;
  readonly selected: number | undefined;
  /** A request that the reader chose, counted from 1; undefined: the one of the selection. */
  readonly request: number | 'next' | undefined;
  readonly tab: string;
  readonly open: readonly ReadingName[];
};

export const usePlace = (): SessionPlace => {
  const { query } = useAddress();
  const view = query.get('view')?.split(',') ?? [];
  const open = READINGS.filter((name) => view.includes(name));
  const request = query.get('req');
  return {
    at: whole(query.get('at')),
    selected: whole(query.get('sel')),
    request: request === 'next' ? 'next' : whole(request),
    tab: query.get('tab') ?? 'parts',
    open: open.length === 0 ? READINGS : open,
  };
};

const whole = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;

/** Selecting lets go of a request that was chosen by hand: the request follows the selection again. */
export const select = (seq: number | undefined): void => setQuery({ sel: seq, req: undefined });

/** The way back leads through places that a reader went to, not through every one that a hand passed. */
export const travel = (seq: number | undefined): void => setQuery({ at: seq });
