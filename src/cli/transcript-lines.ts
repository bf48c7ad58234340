/** A conversation on the terminal. */
import type { Reading } from '../view/reading.ts';
import { turnHead } from '../view/session-head.ts';
import type { TranscriptRow } from '../view/transcript.ts';
import { formatDay } from '../view/format.ts';
import { layoutFor, saidLines, turnShown } from './session-lines.ts';
import type { Screen } from './terminal/screen.ts';
import { dim, EMPTY, theirs, type Shown } from './terminal/shown.ts';

export const transcriptLines = (
  { look, zone }: Screen,
  reading: Reading,
  rows: readonly TranscriptRow[],
): Shown[] => {
  const layout = layoutFor(look, reading.state.agent.tools);
  return rows.flatMap((row) => {
    if (row.kind === 'line') return saidLines(row.line, layout);
    const head = turnHead(reading, row.turn);
    return head ? [EMPTY, turnShown(head, dim(theirs(formatDay(head.at, { zone }))), look)] : [];
  });
};
