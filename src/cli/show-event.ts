/** One event: what it is, what holds it in the chain, and its data. */
import { open, type StoredEvent } from '../event/envelope.ts';
import { isDecision } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import { formatBytes, formatClock, formatDay, shortDigest } from '../view/format.ts';
import { eventLine } from '../view/event-line.ts';
import type { Reading } from '../view/reading.ts';
import { jsonLines } from './coloured-json.ts';
import { sign } from './session-lines.ts';
import type { Screen } from './terminal/screen.ts';
import { dim, EMPTY, line, strong, theirs, type Shown } from './terminal/shown.ts';
import { pad } from './terminal/cells.ts';

const NAME_CELLS = 8;

export type EventOptions = { readonly full: boolean; readonly me: string };

/** The bytes that the chain is made of. */
export const storedBytes = ({ body }: StoredEvent): Uint8Array => Buffer.from(body);

const field = (name: string, value: Shown | string): Shown =>
  line`  ${dim(pad(theirs(name), NAME_CELLS))}  ${value}`;

/** An event that only a newer program knows: what it says of itself, and its data as it stands there. */
export const unknownLines = ({ body }: StoredEvent): Shown[] => {
  const { seq, type, v, data } = JSON.parse(body) as { seq: number; type: string; v: number; data: Json };
  return [
    line`${strong(line`Event ${seq}`)}  ${strong(type)}  ${dim(line`version ${v}`)}`,
    ...jsonLines(data),
    EMPTY,
  ];
};

export const eventLines = (
  screen: Screen,
  reading: Reading,
  stored: StoredEvent,
  { full, me }: EventOptions,
): Shown[] => {
  const event = open(stored);
  const told = eventLine(reading, event, { me });
  const { turn, step } = reading.placeOf(event.seq);
  const zone = { zone: screen.zone };
  const where =
    turn === 0 ? 'before the first turn' : step === 0 ? `turn ${turn}` : `turn ${turn}, step ${step}`;
  return [
    line`${sign(told.mark)} ${strong(line`Event ${event.seq}`)}  ${strong(event.type)}  ${dim(isDecision(event) ? 'decision' : 'fact')}`,
    field('what', [told.who, told.text].filter((part) => part !== '').join(' ')),
    field('where', `${reading.state.session}, ${where}`),
    field('at', `${formatClock(event.at, zone)}, ${formatDay(event.at, zone)}`),
    ...(told.by === '' ? [] : [field('by', told.by)]),
    field('hash', shortDigest(stored.hash, full)),
    field('size', formatBytes(Buffer.byteLength(stored.body))),
    EMPTY,
    ...jsonLines(event.data),
  ];
};
