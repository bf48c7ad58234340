/**
 * Tables: columns leave by declared priority before any text is cut. What is not a terminal gets every
 * column and every character.
 */
import { cells, cut, pad, type Align } from './cells.ts';
import { fit, type Look } from './look.ts';
import { concat, dim, EMPTY, repeat, Shown } from './shown.ts';

export type Column = {
  readonly key: string;
  readonly title?: Shown;
  readonly align?: Align;
  /** Spaces before it, default 2; not before the first. */
  readonly gap?: number;
  /** Columns with a number leave when the table is too wide, the highest number first. Default: stays. */
  readonly drop?: number;
  /** Shown only when the column of this key has left: a shorter form of it. */
  readonly insteadOf?: string;
  /** Text that may be cut down to this many cells. Default: never cut, as for ids, digests and numbers. */
  readonly least?: number;
  /** Cells that suffice to read it: longer text is cut to this before other columns leave. */
  readonly enough?: number;
};

/** Cells by column key, or a line across the table. */
export type Row = Readonly<Record<string, Shown | undefined>> | Shown;

export type Table = {
  readonly lines: readonly Shown[];
  /** Keys of columns that left, for a legend. */
  readonly dropped: readonly string[];
};

export type TableOptions = {
  readonly look: Look;
  /** Spaces before every line. */
  readonly indent?: number;
};

type Fitted = { readonly column: Column; readonly natural: number; width: number };

const GAP_CELLS = 2;

const cellOf = (row: Row, key: string): Shown => (row instanceof Shown ? EMPTY : (row[key] ?? EMPTY));

const wanted = ({ column, natural }: Fitted): number =>
  column.least === undefined || column.enough === undefined
    ? natural
    : Math.min(natural, Math.max(column.enough, column.least));

const totalOf = (fitted: readonly Fitted[], widthOf: (one: Fitted) => number): number =>
  fitted.reduce(
    (sum, one, index) => sum + widthOf(one) + (index === 0 ? 0 : (one.column.gap ?? GAP_CELLS)),
    0,
  );

/** Those without a longer form that is still there. */
const standing = (columns: readonly Fitted[], left: ReadonlySet<string>): Fitted[] =>
  columns.filter(
    ({ column }) => !left.has(column.key) && (column.insteadOf === undefined || left.has(column.insteadOf)),
  );

const nextToLeave = (fitted: readonly Fitted[]): string | undefined =>
  fitted
    .filter(({ column }) => column.drop !== undefined)
    .toSorted((one, other) => (other.column.drop ?? 0) - (one.column.drop ?? 0))[0]?.column.key;

/** Takes cells from the widest column that can be cut, one at a time, until the line fits. */
const shrink = (fitted: readonly Fitted[], room: number): void => {
  let excess = totalOf(fitted, (one) => one.width) - room;
  while (excess > 0) {
    const [widest] = fitted
      .filter(({ column, width }) => column.least !== undefined && width > column.least)
      .toSorted((one, other) => other.width - one.width);
    if (widest === undefined) return;
    widest.width--;
    excess--;
  }
};

/** What is left over goes to cut columns, in order. */
const grow = (fitted: readonly Fitted[], room: number): void => {
  let spare = room - totalOf(fitted, (one) => one.width);
  for (const one of fitted) {
    if (spare <= 0) return;
    const more = Math.min(spare, one.natural - one.width);
    one.width += more;
    spare -= more;
  }
};

const layOut = (
  all: readonly Fitted[],
  look: Look,
  room: number,
): { fitted: Fitted[]; dropped: string[] } => {
  const left = new Set<string>();
  let fitted = standing(all, left);
  while (look.terminal && totalOf(fitted, wanted) > room) {
    const key = nextToLeave(fitted);
    if (key === undefined) break;
    left.add(key);
    fitted = standing(all, left);
  }
  for (const one of fitted) one.width = look.terminal ? wanted(one) : one.natural;
  if (look.terminal) {
    shrink(fitted, room);
    grow(fitted, room);
  }
  return { fitted, dropped: [...left] };
};

/** Without the padding at its end. */
const trimmed = (shown: Shown): Shown => shown.slice(0, shown.plain.trimEnd().length);

export const table = (columns: readonly Column[], rows: readonly Row[], options: TableOptions): Table => {
  const { look, indent = 0 } = options;
  const ready = (shown: Shown): Shown => fit(shown, look);
  const all: Fitted[] = columns.map((column) => {
    const texts = [column.title ?? EMPTY, ...rows.map((row) => cellOf(row, column.key))];
    return {
      column,
      natural: texts.reduce((widest, one) => Math.max(widest, cells(ready(one))), 0),
      width: 0,
    };
  });
  const { fitted, dropped } = layOut(all, look, look.columns - indent);
  const lineOf = (get: (column: Column) => Shown): Shown =>
    trimmed(
      concat(
        repeat(' ', indent),
        ...fitted.flatMap(({ column, width }, index) => {
          const shortened = cut(ready(get(column)), width, look.ascii);
          const gap = repeat(' ', index === 0 ? 0 : (column.gap ?? GAP_CELLS));
          return [gap, pad(shortened, width, column.align)];
        }),
      ),
    );
  const titled = fitted.some(({ column }) => column.title !== undefined);
  return {
    lines: [
      ...(titled ? [lineOf((column) => dim(column.title ?? EMPTY))] : []),
      ...rows.map((row) =>
        row instanceof Shown ? ready(row) : lineOf((column) => row[column.key] ?? EMPTY),
      ),
    ],
    dropped,
  };
};
