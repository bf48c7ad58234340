/** Promise: any table, any update: untouched bytes are the same bytes, and the rest reads as it was meant. */
import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { guarded } from '../../src/tool/csv/guard.ts';
import { csvText } from '../../src/tool/csv/format.ts';
import { readTable } from '../../src/tool/csv/table.ts';
import { changeTable } from '../../src/tool/csv/update.ts';
import { sha256Of } from '../../src/tool/files/folder.ts';

const value = fc
  .array(fc.constantFrom('a', 'é', '1', '-', '=', ' ', ',', ';', '\t', '"', "'", '\n', '\r\n', '\r', '😀'), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));

const style = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\ufeff'),
  lastLineEnd: fc.boolean(),
  encoding: fc.constantFrom('utf8' as const, 'utf16le' as const),
  quoteAll: fc.boolean(),
});
type Style = typeof style extends fc.Arbitrary<infer S> ? S : never;

/** A writer that shares nothing with the one under test: quotes whatever could need it. */
const written = (text: string, { quoteAll, delimiter }: Style): string =>
  quoteAll || text === '' || text.includes(delimiter) || /["\r\n]|^ | $/u.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text;

const render = (cells: readonly (readonly string[])[], { delimiter, lineEnd, lastLineEnd }: Style): string =>
  cells.map((row) => row.join(delimiter)).join(lineEnd) + (lastLineEnd ? lineEnd : '');

const encode = (text: string, { mark, encoding }: Style): Buffer =>
  Buffer.from(encoding === 'utf16le' ? `\ufeff${text}` : mark + text, encoding);

const decode = (bytes: Uint8Array, { encoding }: Style): string =>
  Buffer.from(bytes)
    .toString(encoding)
    .replace(/^\ufeff/u, '');

const tableFrom = (bytes: Uint8Array, delimiter: string): ReturnType<typeof readTable> =>
  readTable({ path: 't.csv', bytes, sha256: sha256Of(bytes) }, { delimiter });

const rowsOf = (table: ReturnType<typeof readTable>): string[][] => [
  [...table.columns],
  ...table.rows.map(({ fields }) => fields.map((field) => field.value)),
];

/** What another parser makes of it. */
const parsed = (text: string, { delimiter }: Style): string[][] =>
  parse(text, { delimiter, record_delimiter: ['\r\n', '\n'], relax_quotes: true });

const width = fc.integer({ min: 1, max: 4 });
const grid = width.chain((columns) =>
  fc.array(fc.array(value, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 6 }),
);

/** A first column that tells rows apart, with a header. */
const withIds = (rows: readonly (readonly string[])[]): string[][] => [
  ['id', ...(rows[0] ?? []).map((_, at) => `c${at}`)],
  ...rows.map((row, at) => [`r${at}`, ...row]),
];

describe('untouched-bytes-stay', () => {
  test('the scanner reads what another parser reads', () => {
    fc.assert(
      fc.property(grid, style, (rows, how) => {
        const cells = withIds(rows);
        const text = render(
          cells.map((row) => row.map((cell) => written(cell, how))),
          how,
        );
        expect(parsed(text, how)).toEqual(cells);
        expect(rowsOf(tableFrom(encode(text, how), how.delimiter))).toEqual(cells);
      }),
      { numRuns: 500 },
    );
  });

  test('setting cells and appending rows', () => {
    const change = fc.record({
      set: fc.array(fc.tuple(fc.nat(), fc.nat(), value), { maxLength: 3 }),
      append: fc.array(fc.tuple(fc.nat(), value), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(grid, style, change, (rows, how, { set, append }) => {
        const before = withIds(rows);
        const pieces = before.map((row) => row.map((cell) => written(cell, how)));
        const bytes = encode(render(pieces, how), how);

        const after = before.map((row) => [...row]);
        const updates = new Map<string, { where: Record<string, string>; set: Record<string, string> }>();
        const touched = new Set<string>();
        for (const [r, c, text] of set) {
          const row = 1 + (r % rows.length);
          const column = 1 + (c % (before[0]!.length - 1));
          if (touched.has(`${row} ${column}`) || before[row]![column] === guarded(text)) continue;
          touched.add(`${row} ${column}`);
          after[row]![column] = guarded(text);
          updates.set(`${row} ${column}`, {
            where: { id: before[row]![0]! },
            set: { [before[0]![column]!]: text },
          });
        }
        const added = append.map(([c, text], at) => ({
          id: `n${at}`,
          [`c${c % (before[0]!.length - 1)}`]: text,
        }));
        for (const row of added)
          after.push(before[0]!.map((name) => guarded((row as Record<string, string>)[name] ?? '')));
        fc.pre(updates.size > 0 || added.length > 0);

        const done = changeTable(tableFrom(bytes, how.delimiter), {
          updates: [...updates.values()],
          append: added,
        });
        const text = decode(done.bytes, how);
        expect(parsed(text, how)).toEqual(after);
        expect(rowsOf(tableFrom(done.bytes, how.delimiter))).toEqual(after);
        expect(done.untouchedRows).toBe(
          rows.length - new Set([...touched].map((key) => key.split(' ')[0])).size,
        );

        // Byte for byte: the same rendering with only the touched cells taken from the result.
        const now = tableFrom(done.bytes, how.delimiter);
        const expected = pieces.map((row, r) =>
          row.map((piece, c) => {
            const field = now.lines[r]!.fields[c]!;
            return touched.has(`${r} ${c}`) ? now.file.text.slice(field.start, field.end) : piece;
          }),
        );
        const whole = render(expected, how);
        expect(text.startsWith(whole)).toBe(true);
        expect(added.length > 0 || Buffer.from(done.bytes).equals(encode(whole, how))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('whatever is written reads back as it was, guarded', () => {
    fc.assert(
      fc.property(grid, fc.constantFrom(',', ';', '\t', '|'), (rows, delimiter) => {
        const text = csvText(rows, { delimiter });
        const wanted = rows.map((row) => row.map(guarded));
        expect(parse(text, { delimiter })).toEqual(wanted);
        expect(
          tableFrom(Buffer.from(text), delimiter).lines.map(({ fields }) =>
            fields.map((field) => field.value),
          ),
        ).toEqual(wanted);
        for (const row of wanted) for (const cell of row) expect(/^\s*[=@+]/u.test(cell)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
