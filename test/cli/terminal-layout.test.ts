import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cells, cellsOf, chop, cut, pad, spread, wrap } from '../../src/cli/terminal/cells.ts';
import { command } from '../../src/cli/terminal/command.ts';
import { lookOf, render, type Look } from '../../src/cli/terminal/look.ts';
import { concat, line, own, strong, theirs, whole, type Shown } from '../../src/cli/terminal/shown.ts';
import { table, type Column } from '../../src/cli/terminal/table.ts';
import { StageStream } from './terminal-stage.ts';

const lookAt = (columns: number, terminal: boolean = true, ascii: boolean = false): Look => {
  const stream = new StageStream();
  stream.isTTY = terminal;
  stream.columns = columns;
  return lookOf(stream, { env: {}, color: 'never', ascii });
};
const plain = (lines: readonly Shown[]): string[] => lines.map((shown) => shown.plain);

describe('cells', () => {
  it('counts what a person sees', () => {
    const cases: [string, number][] = [
      ['abc', 3],
      ['漢字', 4],
      ['e\u0301', 1],
      ['😀', 2],
      ['👍🏽', 2],
      ['🇦🇹', 2],
      ['❤️', 2],
      ['1️⃣', 2],
      ['한', 2],
      ['ｶ', 1],
      ['…│●', 3],
      ['', 0],
    ];
    expect(cases.map(([text]) => [text, cellsOf(text)])).toEqual(cases);
  });

  it('cuts between characters and says so with an ellipsis', () => {
    expect(cut(theirs('Move the review'), 8).plain).toBe('Move th…');
    expect(cut(theirs('Move the review'), 9).plain).toBe('Move the…');
    expect(cut(theirs('漢字漢字'), 6).plain).toBe('漢字…');
    expect(cut(theirs('漢字漢字'), 8).plain).toBe('漢字漢字');
    expect(cut(theirs('Move the review').ascii(), 8, true).plain).toBe('Move...');
    expect(cut(theirs('👍🏽👍🏽'), 3).plain).toBe('👍🏽…');
  });

  it('never cuts or pads to another width than asked, for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 1, max: 40 }),
        (text, width) => {
          const shown = theirs(text);
          expect(cells(cut(shown, width))).toBeLessThanOrEqual(width);
          expect(cells(pad(cut(shown, width), width))).toBe(width);
        },
      ),
    );
  });

  it('spreads two ends over a line', () => {
    expect(spread(own('left'), own('right'), 14).plain).toBe('left     right');
    expect(spread(own('left'), own('right'), 5).plain).toBe('left  right');
  });
});

describe('wrapping', () => {
  it('breaks at words and hangs the rest', () => {
    expect(plain(wrap(theirs('one two three four'), 9, { hanging: 2 }))).toEqual([
      'one two',
      '  three',
      '  four',
    ]);
  });

  it('does not break ids, digests, paths and numbers, unless nothing may be longer than a line', () => {
    const text = line`see ${whole('a file/with spaces.txt')} now`;
    expect(plain(wrap(text, 10))).toEqual(['see', 'a file/with spaces.txt', 'now']);
    for (const shown of wrap(text, 10, { strict: true })) expect(cells(shown)).toBeLessThanOrEqual(10);
  });

  it('breaks a word longer than a line', () => {
    expect(plain(wrap(theirs('ab 漢字漢字漢字'), 7))).toEqual(['ab 漢字', '漢字漢', '字']);
  });

  it('loses no character and no line is too long, for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', '漢', 'e\u0301', '😀'), maxLength: 60 }),
        fc.integer({ min: 2, max: 30 }),
        (text, width) => {
          const shown = theirs(text);
          const lines = wrap(shown, width, { strict: true });
          for (const one of lines) expect(cells(one)).toBeLessThanOrEqual(width);
          expect(plain(lines).join('').replaceAll(' ', '')).toBe(shown.plain.replaceAll(' ', ''));
        },
      ),
      { numRuns: 2000, examples: [['   ', 2]] },
    );
  });

  it('takes one word of a megabyte', () => {
    const before = process.cpuUsage();
    expect(wrap(theirs('x'.repeat(1_000_000)), 80)).toHaveLength(12_500);
    // Of the processor's time, whoever else it is given to: 10 ms where each piece is looked at once.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
  });

  it('can keep every character, spaces too, at any width', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: -5, max: 20 }),
        (text, width) => {
          const pieces = chop(theirs(text), width);
          expect(plain(pieces).join('')).toBe(theirs(text).plain);
          expect(Math.max(...pieces.map(cells))).toBeLessThanOrEqual(Math.max(2, width));
        },
      ),
    );
  });

  it('keeps roles across lines', () => {
    const look: Look = { ...lookAt(80), colour: true };
    const lines = wrap(line`a ${strong('bb cc')}`, 4).map((shown) => render(shown, look));
    expect(lines).toEqual(['a \u001b[1mbb\u001b[0m', '\u001b[1mcc\u001b[0m']);
  });
});

const BOUNDARIES: Column[] = [
  { key: 'boundary', title: own('boundary') },
  { key: 'kills', title: own('kills'), align: 'right', gap: 1 },
  { key: 'same', title: own('same end'), align: 'right' },
  { key: 'doubt', title: own('in doubt'), align: 'right' },
  { key: 'twice', title: own('twice'), align: 'right' },
  { key: 'lost', title: own('lost'), align: 'right' },
];
const boundary = (name: string, ...counts: string[]): Record<string, Shown> =>
  Object.fromEntries(
    BOUNDARIES.map(({ key }, index) => [key, theirs(index === 0 ? name : (counts[index - 1] ?? ''))]),
  );

const columns: Column[] = [
  { key: 'id', title: own('id') },
  { key: 'title', title: own('title'), least: 10 },
  { key: 'agent', title: own('agent'), drop: 1 },
  { key: 'digest', title: own('digest'), drop: 2 },
  { key: 'state', title: own('state'), drop: 0 },
  { key: 'letter', title: own('s'), insteadOf: 'state' },
];
const row = {
  id: theirs('s_7Q2M4K'),
  title: theirs('Move the Halden review and answer'),
  agent: theirs('inbox-assistant'),
  digest: theirs('b81e…04cd'),
  state: theirs('waiting'),
  letter: theirs('w'),
};

/** The title's row in a table of that width. */
const at = (width: number, more: Partial<Column> = {}): { lines: string[]; dropped: readonly string[] } => {
  const narrow = columns.map((column) => (column.key === 'title' ? { ...column, ...more } : column));
  const made = table(narrow, [row], { look: { ...lookAt(80), columns: width } });
  return { lines: plain(made.lines), dropped: made.dropped };
};

describe('tables', () => {
  it('are those of the crash test sample', () => {
    const { lines } = table(
      BOUNDARIES,
      [
        boundary('before append of a decision', '312', '312', '0', '0', '0'),
        boundary('after the reply, before record', '156', '156', '0', '0', '0'),
        boundary('between effect and record', '260', '208', '52', '0', '0'),
        boundary('', '1,326', '1,274', '52', '0', '0'),
      ],
      { look: lookAt(80), indent: 2 },
    );
    expect(plain(lines)).toEqual([
      '  boundary                       kills  same end  in doubt  twice  lost',
      '  before append of a decision      312       312         0      0     0',
      '  after the reply, before record   156       156         0      0     0',
      '  between effect and record        260       208        52      0     0',
      '                                 1,326     1,274        52      0     0',
    ]);
  });

  it('drop columns by priority before they cut text, and show the shorter form of what left', () => {
    expect(at(80).lines[1]).toBe(
      's_7Q2M4K  Move the Halden review and answer  inbox-assistant  b81e…04cd  waiting',
    );
    expect(at(79)).toEqual({
      lines: [
        'id        title                              agent            state',
        's_7Q2M4K  Move the Halden review and answer  inbox-assistant  waiting',
      ],
      dropped: ['digest'],
    });
    expect(at(60).dropped).toEqual(['digest', 'agent']);
    expect(at(60).lines[1]).toBe('s_7Q2M4K  Move the Halden review and answer  waiting');
    expect(at(46).dropped).toEqual(['digest', 'agent', 'state']);
    expect(at(46).lines[1]).toBe('s_7Q2M4K  Move the Halden review and answer  w');
    expect(at(30).lines[1]).toBe('s_7Q2M4K  Move the Halden…   w');
    // With a width that suffices, text is cut to it before columns leave.
    expect(at(60, { enough: 16 }).dropped).toEqual(['digest']);
    expect(at(60, { enough: 16 }).lines[1]).toBe(
      's_7Q2M4K  Move the Halden review…   inbox-assistant  waiting',
    );
  });

  it('never cut ids', () => {
    const made = table(columns, [row], { look: { ...lookAt(80), columns: 12 } });
    expect(made.lines[1]?.plain).toBe('s_7Q2M4K  Move the…   w');
  });

  it('cut and drop nothing when the stream is no terminal', () => {
    const made = table(columns, [row], { look: { ...lookAt(80, false), columns: 20 } });
    expect(made.dropped).toEqual([]);
    expect(made.lines[1]?.plain).toBe(
      's_7Q2M4K  Move the Halden review and answer  inbox-assistant  b81e…04cd  waiting',
    );
  });

  it('align wide characters, and ASCII forms of our own', () => {
    const two: Column[] = [{ key: 'a' }, { key: 'b' }];
    const rows = [{ a: own('漢字'), b: own('x') }, { a: own('…'), b: own('y') }, concat('a line ', 'across')];
    expect(plain(table(two, rows, { look: lookAt(80) }).lines)).toEqual([
      '漢字  x',
      '…     y',
      'a line across',
    ]);
    expect(plain(table(two, rows.slice(1), { look: lookAt(80, true, true) }).lines)).toEqual([
      '...  y',
      'a line across',
    ]);
  });
});

describe('commands to paste', () => {
  it('are quoted for a shell', () => {
    expect(command('approvals', 's_7Q2M4K').plain).toBe('onrecord approvals s_7Q2M4K');
    expect(command('send', 's_1', "it's $HOME").plain).toBe(String.raw`onrecord send s_1 'it'\''s $HOME'`);
    expect(command('send', 's_1', '').plain).toBe(`onrecord send s_1 ''`);
  });

  it('write hidden characters as escapes that paste as the same', () => {
    expect(command('show', 'a\u001b]0;x\u0007\u202e').plain).toBe(
      String.raw`onrecord show $'a\x1b]0;x\x07\u202e'`,
    );
    expect(command('show', 'a     b').plain).toBe(String.raw`onrecord show $'a\x20\x20\x20\x20 b'`);
  });
});
