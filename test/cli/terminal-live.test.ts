import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyAnswer, LineAnswer } from '../../src/cli/terminal/ask.ts';
import { own, theirs } from '../../src/cli/terminal/shown.ts';
import { ALL_TERMINALS, stage, type Stage, type StageOptions } from './terminal-stage.ts';

const terminal = (more: StageOptions = {}): Stage =>
  stage({ terminals: ALL_TERMINALS, columns: 80, color: 'never', ...more });

/** What a terminal line shows after carriage returns and erasures. */
const shownAfter = (written: string): string[] =>
  written.split('\n').map((row) => row.slice(row.lastIndexOf('\r\u001b[2K') + (row.includes('\r') ? 5 : 0)));

const ERASE = '\r\u001b[2K';

describe('progress', () => {
  it('is first shown after 500 ms, and not at all for work that was quicker', () => {
    const { screen, stderr, clock } = terminal();
    const quick = screen.progress(own('mail.read'));
    clock.advance(499);
    quick.end();
    expect(stderr.written).toBe('');
    const slow = screen.progress(own('mail.read'));
    clock.advance(500);
    expect(stderr.written).toBe('  ◐ mail.read  0.5 s');
    slow.end();
    expect(clock.pending).toBe(0);
  });

  it('has counts, rate and time left, as in the sample', () => {
    const { screen, stderr, clock } = terminal();
    const progress = screen.progress();
    clock.advance(3941);
    progress.set({ done: 812, total: 1326, unit: 'kills', note: own('0 wrong') });
    clock.advance(59);
    expect(shownAfter(stderr.written).at(-1)).toBe(
      '  ◐ 812 of 1,326 kills   203 a second   about 3 s left   0 wrong',
    );
  });

  it('is written at most ten times a second, however often it is set', () => {
    const { screen, stderr, clock } = terminal();
    const progress = screen.progress();
    for (let done = 0; done < 1000; done++) {
      progress.set({ done });
      clock.advance(10);
    }
    const times = stderr.written.split(ERASE).length;
    expect(times).toBeLessThanOrEqual(96);
    expect(times).toBeGreaterThan(80);
  });

  it('stays below other output and leaves nothing behind', () => {
    const { screen, stdout, stderr, clock } = terminal();
    const progress = screen.progress(own('mail.read'));
    clock.advance(600);
    screen.out(own('a line'));
    expect(stderr.written.endsWith(`${ERASE}  ◐ mail.read  0.6 s`)).toBe(true);
    progress.end();
    progress.end();
    expect(stderr.written.endsWith(ERASE)).toBe(true);
    expect(stdout.written).toBe('a line\n');
  });

  it('waits while text that has not ended stands on the line', () => {
    const { screen, stderr, clock } = terminal();
    const progress = screen.progress(own('mail.read'));
    const text = screen.stream();
    text.push('some words ');
    clock.advance(5000);
    expect(stderr.written).toBe('');
    text.end();
    clock.advance(100);
    expect(stderr.written).toContain('mail.read');
    progress.end();
  });

  it('is one line each ten seconds where lines cannot be erased', () => {
    for (const options of [{}, { terminals: ALL_TERMINALS, env: { TERM: 'dumb' } }]) {
      const { screen, stderr, clock } = stage(options);
      const progress = screen.progress(own('verify'));
      progress.set({ done: 5, total: 10, unit: 'sessions' });
      clock.advance(9999);
      expect(stderr.written).toBe('');
      clock.advance(10_001);
      expect(stderr.written.trimEnd().split('\n')).toHaveLength(2);
      expect(stderr.written).not.toMatch(/[\r\u001b]/);
      progress.end();
    }
  });

  it('is not wider than the terminal and not shown when quiet', () => {
    const { screen, stderr, clock } = terminal({ columns: 60 });
    screen.progress(theirs('x'.repeat(200)));
    clock.advance(500);
    expect(stderr.written).toHaveLength(59);
    const silent = terminal({ quiet: true });
    silent.screen.progress(own('x'));
    silent.clock.advance(30_000);
    expect(silent.stderr.written).toBe('');
  });
});

const ask = (on: Stage, keys: readonly string[] = ['y', 'n', 'space']): Promise<KeyAnswer> =>
  on.screen.askKey([own('  y approve   n not')], keys);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Until keys count. */
const counting = async (on: Stage): Promise<void> => {
  on.clock.advance(500);
  await turn();
};

describe('questions', () => {
  it('are asked only where a person is', async () => {
    const nobody: KeyAnswer = { kind: 'nobody' };
    for (const options of [
      { terminals: ['stdin'] as const },
      { terminals: ['stderr', 'stdout'] as const },
      { terminals: ALL_TERMINALS, env: { CI: 'true' } },
    ]) {
      const on = stage(options);
      expect(on.screen.canAsk).toBe(false);
      expect(await ask(on)).toEqual(nobody);
      expect(await on.screen.askLine(own('Reason: '))).toEqual(nobody);
      expect(on.stderr.written).toBe('');
    }
    expect(terminal().screen.canAsk).toBe(true);
    expect(stage({ terminals: ['stdin', 'stderr'] }).screen.canAsk).toBe(true);
  });

  it('throw away what was typed before and in the first 500 ms', async () => {
    const on = terminal();
    on.stdin.write('y');
    const answer = ask(on);
    await turn();
    on.stdin.write('y');
    await turn();
    on.clock.advance(499);
    on.stdin.write('y');
    await turn();
    on.clock.advance(1);
    await turn();
    on.stdin.write('n');
    expect(await answer).toEqual({ kind: 'key', key: 'n' });
    expect(on.stderr.written).toBe('  y approve   n not\n');
  });

  it('throw away what a process that was held up for long reads only then', async () => {
    const on = terminal();
    const answer = ask(on);
    on.clock.advance(60_000);
    on.stdin.write('y');
    await turn();
    on.stdin.write('n');
    expect(await answer).toEqual({ kind: 'key', key: 'n' });
  });

  it('are not decided by Enter, by other keys, or by a paste', async () => {
    const on = terminal();
    const answer = ask(on);
    await counting(on);
    for (const typed of [
      '\r',
      '\n',
      'Y',
      'x',
      'yes',
      'y\r',
      'space',
      '\u001b[200~y\u001b[201~',
      '\u001by',
      '',
    ]) {
      on.stdin.write(typed);
      await turn();
    }
    on.stdin.write('n');
    expect(await answer).toEqual({ kind: 'key', key: 'n' });
  });

  it('know the names of keys', async () => {
    const on = terminal();
    const first = ask(on);
    await counting(on);
    on.stdin.write(' ');
    expect(await first).toEqual({ kind: 'key', key: 'space' });
    const answer = ask(on, ['down']);
    await counting(on);
    on.stdin.write('\u001b[A');
    await turn();
    on.stdin.write('\u001b[B');
    expect(await answer).toEqual({ kind: 'key', key: 'down' });
  });

  it('end at Ctrl C at once, even in the first 500 ms, and at Ctrl D', async () => {
    const on = terminal();
    const first = ask(on);
    on.stdin.write('\u0003');
    expect(await first).toEqual({ kind: 'interrupted' });
    const second = ask(on);
    await counting(on);
    on.stdin.write('\u0004');
    expect(await second).toEqual({ kind: 'ended' });
    const third = on.screen.askLine(own('Reason: '));
    on.stdin.write('\u0003');
    expect(await third).toEqual({ kind: 'interrupted' });
  });

  it('are shown only once keys reach us and not the process', async () => {
    const on = terminal();
    const rawWhenShown: boolean[] = [];
    on.stderr.on('data', () => rawWhenShown.push(on.stdin.isRaw));
    const first = ask(on);
    on.stdin.write('\u0003');
    await first;
    const second = on.screen.askLine(own('Reason: '));
    await turn();
    on.stdin.write('\u0003');
    await second;
    // The last write ends the line, after the terminal was given back.
    expect(rawWhenShown.length).toBeGreaterThan(2);
    expect(rawWhenShown.slice(0, -1)).not.toContain(false);
  });

  it('leave the terminal as it was, however they end', async () => {
    const on = terminal();
    const listeners = (): number => on.stdin.listenerCount('data') + on.stdin.listenerCount('end');
    const before = listeners();
    const answer = ask(on);
    expect(on.stdin.isRaw).toBe(true);
    await counting(on);
    on.stdin.write('y');
    await answer;
    expect([on.stdin.isRaw, on.stdin.isPaused(), listeners(), on.clock.pending]).toEqual([
      false,
      true,
      before,
      0,
    ]);
    const gone = ask(on);
    on.stdin.destroy();
    expect(await gone).toEqual({ kind: 'ended' });
    expect([on.stdin.rawModes, on.clock.pending]).toEqual([[true, false, true, false], 0]);
  });

  it('take a line, never an empty one', async () => {
    const on = terminal();
    const answer = on.screen.askLine(own('Reason: '));
    await turn();
    on.stdin.write('typed blindly\r');
    await turn();
    await counting(on);
    on.stdin.write('\r');
    await turn();
    on.stdin.write('   \r');
    await turn();
    on.stdin.write('wrong');
    await turn();
    on.stdin.write('\u0015too\tearly\u009b31m für sie\r');
    const given: LineAnswer = await answer;
    expect(given.kind === 'line' && given.text).toMatch(/^too.*early31m für sie$/);
    expect(on.stderr.written).not.toContain('\u009b');
    expect(on.stdin.isRaw).toBe(false);
  });

  it('take a pasted text of several lines as one answer', async () => {
    const on = terminal();
    const answer = on.screen.askLine(own('Reason: '));
    await counting(on);
    on.stdin.write('first\nsecond\r\nthird\r');
    expect(await answer).toEqual({ kind: 'line', text: 'first second third' });
  });

  it('keep progress away while they stand', async () => {
    const on = terminal();
    const progress = on.screen.progress(own('mail.read'));
    on.clock.advance(600);
    const answer = ask(on);
    const before = on.stderr.written;
    on.clock.advance(5000);
    expect(on.stderr.written).toBe(before);
    await turn();
    on.stdin.write('y');
    await answer;
    on.clock.advance(100);
    expect(on.stderr.written.length).toBeGreaterThan(before.length);
    progress.end();
  });
});

const streamed = (pieces: readonly string[], options: StageOptions = {}, indent: number = 0): string => {
  const { screen, stdout } = stage(options);
  const text = screen.stream(indent);
  for (const piece of pieces) text.push(piece);
  text.end();
  return stdout.written;
};

describe('streamed text', () => {
  it('is wrapped by us, behind its indent, as in the sample', () => {
    const answer =
      'Friday 4 December, 10:00 to 11:00 suits both calendars. I will move the review, draft the reply and add a note to their file.';
    expect(streamed([answer], {}, 6)).toBe(
      [
        '      Friday 4 December, 10:00 to 11:00 suits both calendars. I will move the',
        '      review, draft the reply and add a note to their file.',
        '',
      ].join('\n'),
    );
  });

  it('appears word by word', () => {
    const { screen, stdout } = stage();
    const text = screen.stream();
    text.push('I will re');
    expect(stdout.written).toBe('I will');
    text.push('ad their mail');
    expect(stdout.written).toBe('I will read their');
    text.end();
    expect(stdout.written).toBe('I will read their mail\n');
    text.end();
    expect(stdout.written).toBe('I will read their mail\n');
  });

  it('shows a word without end in time, in lines', () => {
    const { screen, stdout } = stage();
    const text = screen.stream();
    for (let count = 0; count < 100; count++) text.push('x'.repeat(50));
    expect(stdout.written.length).toBeGreaterThan(4000);
    text.end();
    for (const row of stdout.written.split('\n')) expect(row.length).toBeLessThanOrEqual(80);
    expect(stdout.written.replaceAll('\n', '')).toBe('x'.repeat(5000));
  });

  it('shows the same however it is cut into pieces', () => {
    const units = fc.constantFrom(
      'a',
      'bb',
      ' ',
      '    ',
      '\n',
      '\u001b',
      '\u202e',
      '😀',
      '漢',
      '<12 spaces>',
      '<1',
      '\u00a0',
      '\r\n',
      '\t',
      '<U+202E>',
      '\u0301',
    );
    fc.assert(
      fc.property(
        fc.array(units, { maxLength: 60 }).map((parts) => parts.join('')),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 }),
        (text, sizes) => {
          const pieces: string[] = [];
          for (let at = 0, index = 0; at < text.length; index++) {
            const size = sizes[index % sizes.length] ?? 1;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          const options: StageOptions = { terminals: ALL_TERMINALS, columns: 60, color: 'never' };
          expect(streamed(pieces, options, 2)).toBe(streamed([text], options, 2));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
