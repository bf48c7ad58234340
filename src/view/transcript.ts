/**
 * A session as a conversation: what was said in full, and each call with how it ended, oldest first. The same
 * lines are printed as they come while a session runs.
 */
import type { LogEvent } from '../event/events.ts';
import { eventLine, type EventLine, type LineOptions } from './event-line.ts';
import type { Reading } from './reading.ts';

export type TranscriptRow =
  | { readonly kind: 'turn'; readonly turn: number }
  | { readonly kind: 'line'; readonly line: EventLine };

export type TranscriptOptions = LineOptions & {
  /** Requests have lines, too: for people who watch. */
  readonly requests?: boolean;
};

/** The line that an event adds to the conversation, if it adds one. */
export const transcriptLine = (
  reading: Reading,
  event: LogEvent,
  options: TranscriptOptions = {},
): EventLine | undefined => {
  if (!isTold(reading, event, options)) return undefined;
  return eventLine(reading, event, options);
};

const isTold = (reading: Reading, event: LogEvent, { requests = false }: TranscriptOptions): boolean => {
  switch (event.type) {
    case 'session.created':
    case 'call.proposed':
    case 'call.prepared':
    case 'request.sent':
    // What fell due then has a line of its own.
    case 'time.reached':
      return false;
    // That people were told is no news to those who read; that they could not be is.
    case 'notice.sent':
      return event.data.channels.every(({ problem }) => problem !== undefined);
    case 'request.built':
      return requests;
    case 'call.started':
      return false;
    case 'call.result':
      return event.data.outcome.kind === 'ok' || (event.data.outcome.kind === 'failed' && requests);
    case 'call.failed':
      // The failed result has said it, except where it is not shown.
      return !requests || reading.call(event.data.call).ended !== 'failed';
    case 'turn.ended':
      // What a turn came to stands in its heading; while one watches, only where the next one follows at once.
      return requests && reading.state.active !== undefined;
    default:
      return true;
  }
};

/** Every row, or those of the last `rowsMax` lines; `above` counts the lines that are left out. */
export const transcript = (
  reading: Reading,
  options: TranscriptOptions & { readonly rowsMax?: number } = {},
): { readonly rows: readonly TranscriptRow[]; readonly above: number } => {
  const told = reading.events.filter((event) => isTold(reading, event, options));
  const above = Math.max(0, told.length - (options.rowsMax ?? told.length));
  const rows: TranscriptRow[] = [];
  let turn = 0;
  for (const event of told.slice(above)) {
    const place = event.type === 'turn.accepted' ? event.data.turn : reading.placeOf(event.seq).turn;
    if (place !== turn && place > 0) rows.push({ kind: 'turn', turn: place });
    turn = place;
    rows.push({ kind: 'line', line: eventLine(reading, event, options) });
  }
  return { rows, above };
};
