/** JSON for people: indented, names and values told apart, everything hidden made visible. */
import { concat, dim, EMPTY, line, own, pen, repeat, theirs, type Shown } from './terminal/shown.ts';

const INDENT_CELLS = 2;

/** Lines of a JSON value; nothing is cut. */
export const jsonLines = (value: unknown, indent: number = 0): Shown[] =>
  valueLines(value).map((shown) => concat(repeat(' ', indent), shown));

const valueLines = (value: unknown): Shown[] => {
  if (Array.isArray(value)) return listLines(value);
  if (typeof value === 'object' && value !== null) return objectLines(value);
  const text = JSON.stringify(value) ?? 'null';
  return [typeof value === 'string' ? theirs(text) : dim(text)];
};

const listLines = (items: readonly unknown[]): Shown[] => {
  if (items.length === 0) return [own('[]')];
  return [own('['), ...members(items.map(valueLines)), own(']')];
};

const objectLines = (value: object): Shown[] => {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  if (entries.length === 0) return [own('{}')];
  const named = entries.map(([name, member]) => {
    const [first = EMPTY, ...rest] = valueLines(member);
    return [line`${pen(JSON.stringify(name))}: ${first}`, ...rest];
  });
  return [own('{'), ...members(named), own('}')];
};

const members = (all: readonly Shown[][]): Shown[] =>
  all.flatMap((lines, index) =>
    lines.map((shown, at) => {
      const last = at === lines.length - 1 && index < all.length - 1;
      return concat(repeat(' ', INDENT_CELLS), shown, last ? own(',') : EMPTY);
    }),
  );
