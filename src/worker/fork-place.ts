/** Where a session can be forked without leaving anything open behind: between turns. */
import { OnrecordError } from '../errors.ts';
import { open } from '../event/envelope.ts';
import { pages } from '../log/pages.ts';
import type { LogStore } from '../log/store.ts';
import { conclude } from '../session/conclude.ts';
import { evolve, initial } from '../session/evolve.ts';
import type { SessionState } from '../session/state.ts';

/** No turn runs or waits to. */
export const isBetweenTurns = (state: SessionState): boolean =>
  state.active === undefined && state.queue.length === 0 && conclude(state) === undefined;

export type Borders = { readonly before: number | undefined; readonly after: number | undefined };

/** The last place between turns before an event, and the first one after it. */
export const bordersAround = async (store: LogStore, session: string, seq: number): Promise<Borders> => {
  let state = initial(session);
  let before: number | undefined;
  for await (const page of pages(store, session, { from: 1 }))
    for (const stored of page) {
      state = evolve(state, open(stored));
      if (!isBetweenTurns(state)) continue;
      if (state.seq > seq) return { before, after: state.seq };
      before = state.seq;
    }
  return { before, after: undefined };
};

export const forkInsideTurn = (
  past: SessionState,
  session: string,
  { before, after }: Borders,
): OnrecordError => {
  const turn = past.active?.turn ?? past.queue[0] ?? 0;
  const places = [before, after].filter((place) => place !== undefined);
  const nearest =
    places.length === 0
      ? 'There is no place between turns.'
      : `The nearest places between turns: ${places.join(', ')}.`;
  return new OnrecordError(
    `Event ${past.seq} stands inside turn ${turn}. ${nearest} To fork here all the same, have what is open closed in the fork (closeOpen, --close-open).`,
    {
      code: 'fork-inside-turn',
      next: 'look-again',
      details: {
        session,
        seq: past.seq,
        turn,
        ...(before !== undefined && { before }),
        ...(after !== undefined && { after }),
      },
      hint:
        before === undefined
          ? `onrecord fork ${session} --close-open`
          : `onrecord fork ${session} --at ${before}`,
    },
  );
};
