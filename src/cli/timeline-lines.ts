/** A timeline on the terminal: wide ones say who, when and under which digest, too. */
import { formatClock, formatDay, formatDuration, shortDigest } from '../view/format.ts';
import type { Reading } from '../view/reading.ts';
import { turnHead } from '../view/session-head.ts';
import type { Bar, TimelineRow } from '../view/timeline.ts';
import { gutter, nameShown, sign, turnShown } from './session-lines.ts';
import type { Screen } from './terminal/screen.ts';
import { concat, dim, EMPTY, line, own, repeat, role, theirs, type Shown } from './terminal/shown.ts';
import { table, type Column, type Row } from './terminal/table.ts';

/** From this width on there is room for who and when. */
const WIDE_COLUMNS_MIN = 110;
const BAR_CELLS = 14;
const BAR_CELLS_WIDE = 18;
const EVENT_CELLS_LEAST = 24;
const EVENT_CELLS_ENOUGH = 46;

export type TimelineLinesOptions = {
  /** Digests in full. */
  readonly full: boolean;
  /** The hash of an event in the chain. */
  readonly hashOf: (seq: number) => string;
};

export const timelineLines = (
  screen: Screen,
  reading: Reading,
  rows: readonly TimelineRow[],
  options: TimelineLinesOptions,
): Shown[] => {
  const { look, zone } = screen;
  const wide = !look.terminal || look.columns >= WIDE_COLUMNS_MIN;
  const columns: readonly Column[] = [
    { key: 'seq', align: 'right' },
    { key: 'event', gap: 1, least: EVENT_CELLS_LEAST, enough: EVENT_CELLS_ENOUGH },
    ...(wide ? [{ key: 'by', least: 8, enough: 14 }, { key: 'at' }] : []),
    { key: 'took', align: 'right' },
    ...(wide ? [{ key: 'digest' }] : []),
    { key: 'bar' },
  ];
  const cellsOf = (row: TimelineRow): readonly Row[] => {
    switch (row.kind) {
      case 'turn': {
        const head = turnHead(reading, row.turn);
        return head ? [EMPTY, turnShown(head, dim(theirs(formatDay(head.at, { zone }))), look)] : [];
      }
      case 'step':
        return [
          {
            event: line`  ${dim(line`step ${row.step}`)}`,
            took: dim(row.ms === undefined ? 'open' : formatDuration(row.ms)),
            bar: dim(row.cost === 'unknown' ? 'cost unknown' : row.cost),
          },
        ];
      case 'event':
        return [
          eventRow(row, {
            zone,
            wide,
            digest: shortDigest(options.hashOf(row.line.seq), options.full),
          }),
        ];
      default:
        return row satisfies never;
    }
  };
  return [...table(columns, rows.flatMap(cellsOf), { look }).lines];
};

type EventRow = Extract<TimelineRow, { kind: 'event' }>;

type RowOptions = { readonly zone: string; readonly wide: boolean; readonly digest: string };

const eventRow = (
  { line: told, at, ms, bar }: EventRow,
  { zone, wide, digest }: RowOptions,
): Readonly<Record<string, Shown>> => {
  const state = told.state === undefined ? EMPTY : role(STATE_ROLES[told.mark] ?? 'dim', told.state);
  const name = told.who === '' ? EMPTY : concat(nameShown(told), own('   '));
  const text = told.state === undefined ? theirs(told.text) : EMPTY;
  const clock = told.body !== undefined && told.who !== 'model' && !wide;
  return {
    seq: gutter(told.seq),
    event: line`${sign(told.mark)} ${name}${text}${state}`,
    by: dim(told.by),
    at: dim(formatClock(at, { zone })),
    took: dim(clock ? formatClock(at, { zone }).slice(0, 8) : ms === undefined ? '' : formatDuration(ms)),
    digest: dim(digest),
    bar: bar === undefined ? EMPTY : barShown(bar, wide ? BAR_CELLS_WIDE : BAR_CELLS),
  };
};

const STATE_ROLES: Readonly<Record<string, 'wait' | 'doubt' | 'run' | undefined>> = {
  wait: 'wait',
  doubt: 'doubt',
  run: 'run',
};

/** At least one cell, clamped to the axis. */
const barShown = ({ from, to, kind }: Bar, width: number): Shown => {
  const start = Math.min(width - 1, Math.floor(from * width));
  const end = Math.min(width, Math.max(start + 1, Math.round(to * width)));
  const block = repeat(kind === 'work' ? '█' : '░', end - start);
  return concat(repeat(' ', start), role(kind === 'work' ? 'pen' : 'wait', block));
};
