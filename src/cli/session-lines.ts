/** Lines about a session as Shown: the gutter with the seq, a mark, a name, words, and what it took. */
import { formatDuration } from '../view/format.ts';
import type { EventLine, Mark } from '../view/event-line.ts';
import {
  STATUS_MARKS,
  STATUS_WORDS,
  totalsText,
  type SessionHead,
  type TurnHead,
} from '../view/session-head.ts';
import { cells, cut, pad, spread, wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import {
  concat,
  dim,
  EMPTY,
  line,
  own,
  repeat,
  role,
  SIGN,
  strong,
  theirLines,
  theirs,
  type Role,
  type Shown,
} from './terminal/shown.ts';

/** Cells before everything that was said: a gutter of three, a mark, spaces. */
export const BODY_INDENT = 6;
const GUTTER_CELLS = 3;
const NAME_CELLS_MAX = 20;
const NAME_CELLS_MIN = 7;
/** Width of lines where nothing is cut. */
const COLUMNS_PLAIN = 80;

const MARK_ROLES: Readonly<Record<Mark, Role | undefined>> = {
  fact: undefined,
  decision: undefined,
  ok: 'done',
  fail: 'fail',
  doubt: 'doubt',
  run: 'run',
  wait: 'wait',
  cancelled: undefined,
};

export const sign = (mark: Mark): Shown => SIGN[mark];

export type LineLayout = {
  readonly look: Look;
  /** Cells of the column of names. */
  readonly nameCells: number;
  /** Mark and name stand above already. */
  readonly continues?: boolean;
};

export const layoutFor = (look: Look, tools: readonly { readonly name: string }[]): LineLayout => ({
  look,
  nameCells: Math.min(NAME_CELLS_MAX, Math.max(NAME_CELLS_MIN, ...tools.map((tool) => tool.name.length))),
});

export const gutter = (seq: number | undefined): Shown =>
  pad(seq === undefined ? EMPTY : dim(String(seq)), GUTTER_CELLS, 'right');

const widthOf = (look: Look): number => (look.terminal ? look.textColumns : COLUMNS_PLAIN);

/** Left part cut to the room that the right part leaves; nothing is cut where it is no terminal. */
export const leftAndRight = (left: Shown, right: Shown, look: Look): Shown => {
  const [one, other] = [fit(left, look), fit(right, look)];
  const width = widthOf(look);
  if (cells(other) === 0) return look.terminal ? cut(one, width, look.ascii) : one;
  const room = width - cells(other) - 2;
  return spread(look.terminal ? cut(one, room, look.ascii) : one, other, width);
};

/** The line of an event: `  9 ✓ mail.read      “Re: Thursday”, 3.8 kB, untrusted               0.4 s` */
export const eventShown = (
  told: EventLine,
  { look, nameCells, continues = false }: LineLayout,
  text: string = told.text,
): Shown => {
  const mark = continues ? own(' ') : sign(told.mark);
  const name = continues ? EMPTY : nameShown(told);
  const padded = text === '' ? name : concat(pad(name, nameCells), own('  '));
  const named = told.who === '' ? EMPTY : padded;
  const comma = text === '' ? own('') : own(', ');
  const detail = told.detail === undefined ? EMPTY : dim(line`${comma}${told.detail}`);
  return leftAndRight(line`${gutter(told.seq)} ${mark} ${named}${text}${detail}`, rightShown(told), look);
};

export const nameShown = (told: EventLine): Shown =>
  told.who.includes('.') ? strong(told.who) : theirs(told.who);

const rightShown = ({ state, ms, mark }: EventLine): Shown => {
  const paint = MARK_ROLES[mark];
  if (state !== undefined) return paint === undefined ? theirs(state) : role(paint, state);
  return ms === undefined ? EMPTY : dim(formatDuration(ms));
};

/** What was said, whole, under its line. */
export const bodyLines = (text: string, look: Look): Shown[] => {
  const indent = repeat(' ', BODY_INDENT);
  return theirLines(text.trimEnd().replaceAll('\r\n', '\n')).flatMap((shown) => {
    const ready = fit(shown, look);
    const pieces = look.terminal ? wrap(ready, look.textColumns - BODY_INDENT, { strict: true }) : [ready];
    return pieces.map((piece) => (piece.plain === '' ? EMPTY : concat(indent, piece)));
  });
};

/** An event with what was said in it: on the line itself where it fits, else below. */
export const saidLines = (told: EventLine, layout: LineLayout): Shown[] => {
  const { body } = told;
  if (body === undefined) return [eventShown(told, layout)];
  if (told.who === 'model') return [eventShown(told, layout), ...bodyLines(body, layout.look)];
  const room = widthOf(layout.look) - BODY_INDENT - layout.nameCells - 2;
  const short = !body.includes('\n') && cells(fit(theirs(body), layout.look)) <= room;
  return short ? [eventShown(told, layout)] : [eventShown(told, layout, ''), ...bodyLines(body, layout.look)];
};

export const statusShown = (
  status: SessionHead['status'],
  words: Shown = theirs(STATUS_WORDS[status]),
): Shown => {
  const mark = STATUS_MARKS[status];
  const paint = MARK_ROLES[mark];
  return line`${sign(mark)} ${paint === undefined ? words : role(paint, words)}`;
};

/** Title and state; then id, agent, size, cost. */
export const headLines = (head: SessionHead, look: Look): Shown[] => [
  leftAndRight(strong(head.title === '' ? 'No message yet' : head.title), statusShown(head.status), look),
  line`${dim(head.session)}  ${head.agent}  ${totalsText(head)}`,
];

/** `Turn 3  25–44  waiting  $0.0593` */
export const turnShown = (head: TurnHead, right: Shown, look: Look): Shown => {
  const range = head.from === head.to ? line`${head.from}` : line`${head.from}–${head.to}`;
  const cost = head.cost === '' ? EMPTY : line`  ${head.cost === 'unknown' ? 'cost unknown' : head.cost}`;
  const left = line`${strong(line`Turn ${head.turn}`)}  ${dim(range)}  ${head.state}${cost}`;
  return leftAndRight(left, right, look);
};
