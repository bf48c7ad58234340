/**
 * A store as one simulated process sees it: slow, failing, unsure whether it has committed; and silent for ever
 * once the process is dead.
 */
import type { Clock } from '../../clock.ts';
import { StorageError, type Append, type Claim, type ClaimRequest, type LogStore } from '../../log/store.ts';
import type { Dice } from './dice.ts';

export type StoreFaults = {
  /** Probabilities per append. */
  readonly slow: number;
  readonly fails: number;
  /** It is written, and the writer hears of a failure. */
  readonly unsure: number;
  /** Probability that nobody hears of a change: the hint is lost. */
  readonly deaf: number;
};

export type Life = { dead: boolean };

/** What a dead process waits for. A new one each time: one for all would keep alive whatever ever waited. */
export const never = (): Promise<never> => new Promise(() => undefined);

const SLOW_MS_MAX = 400;

export const faultyStore = (
  inner: LogStore,
  { life, dice, clock, faults }: { life: Life; dice: Dice; clock: Clock; faults: StoreFaults },
): LogStore => {
  const ears = dice.fork();
  const alive = async <T>(work: () => Promise<T>): Promise<T> => {
    if (life.dead) return never();
    const result = await work();
    return life.dead ? never() : result;
  };
  const append = async (what: Append): Promise<void> => {
    if (dice.happens(faults.slow))
      await new Promise<void>((resolve) => clock.after(dice.whole(1, SLOW_MS_MAX), resolve));
    if (life.dead) return never();
    if (dice.happens(faults.fails)) throw new StorageError('busy', 'The simulated store is locked.');
    await inner.append(what);
    if (dice.happens(faults.unsure)) throw new StorageError('io', 'The simulated store lost its answer.');
  };
  return {
    name: inner.name,
    append: (what) => alive(() => append(what)),
    read: (session, from, to) => alive(() => inner.read(session, from, to)),
    head: (session) => alive(() => inner.head(session)),
    blob: (digest) => alive(() => inner.blob(digest)),
    sessions: (query) => alive(() => inner.sessions(query)),
    counts: () => alive(() => inner.counts()),
    claim: (request: ClaimRequest): Promise<Claim> => alive(() => inner.claim(request)),
    renew: (session, epoch, until) => alive(() => inner.renew(session, epoch, until)),
    release: (session, epoch) => alive(() => inner.release(session, epoch)),
    changes: (listener) =>
      inner.changes((change) => (life.dead || ears.happens(faults.deaf) ? undefined : listener(change))),
    close: async () => undefined,
  };
};
