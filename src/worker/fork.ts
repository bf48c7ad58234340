/**
 * A new session on the past of another one: the parent's events up to a place, stored once, and behind them what
 * happens in the fork. Places between turns are the usual ones; inside a turn, where that is asked for, what was open
 * is closed by decisions that follow from `session.forked`; no
 * approval and no start of the parent is leave for anything in the fork.
 */
import type { Clock } from '../clock.ts';
import { badInput } from '../errors.ts';
import type { Actor } from '../event/content.ts';
import { open } from '../event/envelope.ts';
import type { EventData } from '../event/events.ts';
import { ConflictError, forkPlaceMissing, sessionNotFound, type LogStore } from '../log/store.ts';
import { conclude } from '../session/conclude.ts';
import { reach, type FaultPlace, type Faults } from './fault-point.ts';
import { bordersAround, forkInsideTurn, isBetweenTurns } from './fork-place.ts';
import { Batch, LiveSession } from './live-session.ts';
import { PROGRAM } from './program.ts';
import { sessionId } from './session-id.ts';

export type ForkOptions = {
  readonly session: string;
  /** The last event that both have; default the last one that there is. */
  readonly at?: number;
  /** The same key at the same place of the same session is the same fork. 1 to 255 visible ASCII characters. */
  readonly key?: string;
  readonly by?: Actor;
  /** Default the parent's. */
  readonly title?: string;
  /**
   * Inside a turn: forks all the same, and closes in the fork what is open there. Default false: such a place is
   * refused, with the nearest ones between turns.
   */
  readonly closeOpen?: boolean;
};

export type Forked = {
  readonly session: string;
  /** Where it really branches off: the session that wrote the last shared event, at a place where nothing more follows. */
  readonly parent: EventData['session.forked']['parent'];
  /** The fork was there already. */
  readonly replayed: boolean;
};

export type ForkContext = {
  readonly store: LogStore;
  readonly clock: Clock;
  readonly faults: Faults | undefined;
};

export const fork = async (
  { store, clock, faults }: ForkContext,
  options: ForkOptions & { readonly key: string; readonly by: Actor },
): Promise<Forked> => {
  const { key, by, title } = options;
  const past = await pastOf(store, options);
  if (options.closeOpen !== true && !isBetweenTurns(past.state))
    throw forkInsideTurn(
      past.state,
      options.session,
      await bordersAround(store, options.session, past.state.seq),
    );
  const { origin, seq } = past.state;
  const parent = { session: origin, seq, hash: past.hash };
  const place = (): FaultPlace => ({ session: origin, what: 'fork' });
  await reach(faults, 'command.before', place);
  for (let taken = 0; ; taken++) {
    const session = sessionId({ tenant: past.state.tenant, agent: origin, key: `${seq} ${key}` }, taken);
    const batch = new Batch(past.branch(session), clock.now());
    const data = { session, parent, key, by, program: PROGRAM, ...(title !== undefined && { title }) };
    batch.add({ type: 'session.forked', data });
    try {
      await batch.commit(store, { faults, fork: { parent: origin, seq } });
      await reach(faults, 'command.after', place);
      return { session, parent, replayed: false };
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      // Another key may have the same id by chance: then the next one is taken.
      if (await isFork(store, data)) return { session, parent, replayed: true };
    }
  }
};

/** The parent folded up to the place, and on to the next point where nothing more follows: a log stands at no other. */
const pastOf = async (store: LogStore, { session, at }: ForkOptions): Promise<LiveSession> => {
  if (at !== undefined && !(Number.isSafeInteger(at) && at >= 1))
    throw badInput('fork-place-invalid', `${at} is no event to fork at. Events are counted from 1.`, { at });
  const past = new LiveSession(session);
  await past.refresh(store, at);
  const head = (await store.head(session))?.seq;
  if (head === undefined) throw sessionNotFound(session);
  if (at !== undefined && at > head) throw forkPlaceMissing({ parent: session, seq: at }, head);
  while (conclude(past.state) && past.state.seq < head) await past.refresh(store, past.state.seq + 1);
  return past;
};

/** Whether the session that stands under the fork's id is this very fork. */
const isFork = async (store: LogStore, wanted: EventData['session.forked']): Promise<boolean> => {
  const { session, key, parent } = wanted;
  const [stored] = await store.read(session, parent.seq + 1, parent.seq + 1);
  const event = stored && open(stored);
  if (event?.type !== 'session.forked') return false;
  const { data } = event;
  return data.key === key && data.parent.session === parent.session && data.parent.hash === parent.hash;
};
