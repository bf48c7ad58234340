/** Writes that wait for the next commit of a SQLite store, and what came of each. */
import { isOnrecordError, type OnrecordError } from '../errors.ts';
import { StorageError } from './store.ts';

/** A write that waits for the next commit; what `work` throws as an OnrecordError refuses it alone, before it has written. */
export type Pending = {
  readonly work: () => unknown;
  readonly deadline: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly session: string;
  /**
   * Where the session's log ends after an append. A lease has none and needs no sync of its own: it means nothing after
   * a loss of power, and the next append takes it along.
   */
  readonly head: number | undefined;
};

export type Outcome = { readonly value: unknown } | { readonly refusal: OnrecordError };

export const isBusy = (fault: unknown): boolean => fault instanceof StorageError && fault.fault === 'busy';

export const outcomeOf = (work: () => unknown): Outcome => {
  try {
    return { value: work() };
  } catch (error) {
    if (!isOnrecordError(error)) throw error;
    return { refusal: error };
  }
};
