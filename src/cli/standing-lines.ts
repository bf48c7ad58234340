/** How a session stands at some event, as lines. */
import type { SessionState } from '../session/state.ts';
import { countOf } from '../view/format.ts';
import { standing } from '../view/standing.ts';
import { statusShown } from './session-lines.ts';
import type { Look } from './terminal/look.ts';
import { EMPTY, join, line, own, strong, theirs, whole, type Shown } from './terminal/shown.ts';
import { table } from './terminal/table.ts';

/** Pieces of work that are named. */
const NEXT_SHOWN_MAX = 4;

export const standingLines = (state: SessionState, look: Look): readonly Shown[] => {
  const { status, turn, step, queue, calls, cost, turns, next } = standing(state);
  const where = turn === undefined ? line`${countOf(turns, 'turn')}` : line`turn ${turn}, step ${step ?? 0}`;
  const waits = queue.length > 0 ? line`, ${countOf(queue.length, 'turn')} in the queue` : EMPTY;
  const named = next.slice(0, NEXT_SHOWN_MAX).map((words) => theirs(words));
  const more = next.length > NEXT_SHOWN_MAX ? line` and ${next.length - NEXT_SHOWN_MAX} more` : EMPTY;
  return [
    EMPTY,
    line`As it stands behind event ${state.seq}: ${statusShown(status)}, ${where}${waits}, ${cost === 'unknown' ? 'cost unknown' : cost}`,
    ...table(
      [{ key: 'call' }, { key: 'tool' }, { key: 'words' }, { key: 'about', least: 10, enough: 20, drop: 1 }],
      calls.map(({ call, tool, words, about }) => ({
        call: whole(call),
        tool: strong(tool),
        words: theirs(words),
        about: theirs(about),
      })),
      { look, indent: 2 },
    ).lines,
    next.length === 0
      ? line`  Nothing follows without news.`
      : line`  Next: ${join(named, own(', '))}${more}.`,
  ];
};
