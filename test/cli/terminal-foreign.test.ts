import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badInput, bug, OnrecordError } from '../../src/errors.ts';
import { command } from '../../src/cli/terminal/command.ts';
import { safeJson } from '../../src/cli/terminal/json.ts';
import { previewBlockLines } from '../../src/cli/terminal/preview.ts';
import {
  dim,
  EMPTY,
  line,
  own,
  SIGN,
  strong,
  theirLines,
  theirs,
  whole,
} from '../../src/cli/terminal/shown.ts';
import { table } from '../../src/cli/terminal/table.ts';
import { ALL_TERMINALS, forbiddenIn, stage, type StageOptions } from './terminal-stage.ts';

const printed = (error: unknown, options: StageOptions = {}, more = {}): string => {
  const { screen, stderr } = stage(options);
  screen.error(error, more);
  return stderr.written;
};

describe('errors', () => {
  it('have the shape of the samples', () => {
    expect(
      printed(
        badInput(
          'agent-not-found',
          'No agent is called “inbox-asistant”. Known here: bookkeeping-clerk, inbox-assistant, research-assistant.',
          {},
          'Did you mean inbox-assistant?',
        ),
      ),
    ).toBe(
      [
        '✗ No agent is called “inbox-asistant”.  agent-not-found',
        '  Known here: bookkeeping-clerk, inbox-assistant, research-assistant.',
        '  Did you mean inbox-assistant?',
        '',
      ].join('\n'),
    );
    expect(
      printed(
        new OnrecordError(
          'This store was written by a newer Onrecord. .onrecord/log.db has format 8; this program (0.9.2) reads up to 7.\nNothing was changed. Update the program, or open a copy: onrecord import',
          { code: 'store-too-new', next: 'ask-a-person' },
        ),
      ),
    ).toBe(
      [
        '✗ This store was written by a newer Onrecord.  store-too-new',
        '  .onrecord/log.db has format 8; this program (0.9.2) reads up to 7.',
        '  Nothing was changed. Update the program, or open a copy: onrecord import',
        '',
      ].join('\n'),
    );
    expect(
      printed(
        badInput(
          'scenario-invalid',
          'scenarios/everyday.yaml:14:9  unknown key “expcet”.\n13 │   turns:\n14 │         expcet: no-writes\n   │         ^^^^^^ did you mean “expect”?',
        ),
      ),
    ).toBe(
      [
        '✗ scenarios/everyday.yaml:14:9  unknown key “expcet”.  scenario-invalid',
        '  13 │   turns:',
        '  14 │         expcet: no-writes',
        '     │         ^^^^^^ did you mean “expect”?',
        '',
      ].join('\n'),
    );
  });

  it('do not end a sentence inside a quotation', () => {
    expect(printed(badInput('x', 'No file “a. b”. Look.'))).toBe('✗ No file “a. b”.  x\n  Look.\n');
  });

  it('keep the first line to one line of a terminal and lose nothing', () => {
    const message = `No agent is called “${'a'.repeat(80)}”.`;
    const rows = printed(badInput('agent-not-found', message), {
      terminals: ALL_TERMINALS,
      color: 'never',
    }).split('\n');
    expect(rows[0]).toHaveLength(80);
    expect(rows[0]).toMatch(/…  agent-not-found$/);
    expect(rows.slice(1).join('').replaceAll(/\s/g, '')).toBe(message.replaceAll(/\s/g, ''));
    expect(printed(badInput('agent-not-found', message))).toBe(`✗ ${message}  agent-not-found\n`);
  });

  it('say that a fault is ours, and print a stack only when asked', () => {
    const fault = bug('a lease has an owner');
    const told = printed(fault, {}, { session: 's_7Q2M4K', traceFile: '.onrecord/trace-1.txt' });
    expect(told).toBe(
      [
        '✗ This is a fault of Onrecord, not of your input.  internal-promise-broken',
        '  Internal promise broken: a lease has an owner',
        '  Session s_7Q2M4K is whole up to its last event.',
        '  The trace is in .onrecord/trace-1.txt.',
        '',
      ].join('\n'),
    );
    expect(printed(new TypeError('x is not a function'))).toContain('internal-error');
    expect(printed(new TypeError('x'), {}, { trace: true })).toContain('terminal-foreign.test.ts');
    expect(printed(new TypeError('x'))).not.toContain('terminal-foreign.test.ts');
    expect(printed('a string')).toContain('  a string\n');
  });

  it('colour only the symbol as a failure', () => {
    expect(printed(badInput('x', 'No.'), { color: 'always' })).toBe(
      '\u001b[31m✗\u001b[0m No.  \u001b[90mx\u001b[0m\n',
    );
  });

  it('are a value on stdout in JSON mode', () => {
    const { screen, stdout } = stage({ json: true });
    screen.error(badInput('x', 'No \u001b.', { a: 1 }));
    expect(JSON.parse(stdout.written)).toEqual({
      error: { code: 'x', next: 'fix-input', message: 'No \u001b.', details: { a: 1 } },
    });
    expect(stdout.written).not.toContain('\u001b');
  });
});

const ATTACKS = [
  '\u001b]0;pwned\u0007\u001b[2K\rALL SCENARIOS PASSED\u001b]52;c;cm0gLXJm\u0007\u009b31m',
  '\u001b]8;;http://evil.test\u001b\\link\u001b]8;;\u001b\\',
  'rm -rf ./data \u202e gnp.oedarap/\u200b',
  '\b\b\b\u007f\u0085\u2028\u{e0041}\ud800 \udfff\ufeff',
];

const hostile = (): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ...ATTACKS,
          '\u001b',
          '\r',
          '\n',
          '\t',
          '\u009b',
          '\u202e',
          '\u200b',
          '\u0338',
          ' ',
          '漢',
          "'",
        ),
        fc.string({ unit: 'binary', maxLength: 12 }),
        fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit)),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''));

/** Sends a text through every way to the terminal. */
const everyWay = (text: string, options: StageOptions): string => {
  const { screen, stdout, stderr, clock } = stage(options);
  screen.out(theirs(text), line`${SIGN.ok} ${text} and ${strong(text)}`, ...theirLines(text), whole(text));
  screen.note(dim(text), EMPTY);
  const made = table(
    [
      { key: 'a', title: theirs(text) },
      { key: 'b', least: 4 },
    ],
    [{ a: theirs(text), b: theirs(text) }],
    {
      look: screen.look,
    },
  );
  screen.out(...made.lines);
  screen.error(new OnrecordError(text, { code: 'x', next: 'retry', hint: text }));
  screen.error(new Error(text), { trace: true, session: text, traceFile: text });
  screen.next({ command: command('send', text), note: theirs(text) });
  const progress = screen.progress(theirs(text));
  progress.set({ done: 1, unit: text, note: theirs(text) });
  clock.advance(10_700);
  progress.end();
  const stream = screen.stream(2);
  for (let at = 0; at < text.length; at += 3) stream.push(text.slice(at, at + 3));
  stream.end();
  const { look } = screen;
  screen.out(
    ...previewBlockLines({ kind: 'text', title: text, text }, { look }),
    ...previewBlockLines({ kind: 'fields', fields: [{ name: text, value: text, warning: text }] }, { look }),
    ...previewBlockLines(
      { kind: 'diff', path: text, patch: text, added: 1, removed: 1, newFile: true },
      { look },
    ),
    ...previewBlockLines(
      {
        kind: 'cells',
        path: text,
        changes: [{ row: 1, key: text, column: text, after: text }],
        newRows: 1,
        untouchedRows: 1,
      },
      { look },
    ),
    ...previewBlockLines(
      {
        kind: 'mail',
        from: text,
        to: [text],
        cc: [text],
        bcc: [text],
        replyTo: text,
        subject: text,
        body: text,
        attachments: [{ name: text, bytes: 1 }],
      },
      { look, known: [text, 'halden.example'] },
    ),
    ...previewBlockLines(
      {
        kind: 'calendar',
        before: { title: text, when: text },
        after: { title: text, when: '' },
        conflicts: [text],
      },
      { look },
    ),
    ...previewBlockLines(
      { kind: 'http', method: text, url: text, headers: [[text, text]], body: text },
      { look },
    ),
  );
  return stdout.written + stderr.written;
};

describe('text of others', { timeout: 120_000 }, () => {
  it('never reaches the stream raw, by any way, and without a terminal there is no escape at all', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        expect(forbiddenIn(everyWay(text, {}), false)).toBeUndefined();
      }),
      { numRuns: 120, examples: ATTACKS.map((attack): [string] => [attack]) },
    );
  });

  it('reaches a terminal only between colours of ours', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        const written = everyWay(text, { terminals: ALL_TERMINALS, columns: 70 });
        // Progress takes its line back; that is the one other sequence.
        expect(forbiddenIn(written.replaceAll('\r\u001b[2K', ''), true)).toBeUndefined();
      }),
      { numRuns: 120, examples: ATTACKS.map((attack): [string] => [attack]) },
    );
  });

  it('is pure ASCII where the stream has no more', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        expect(everyWay(text, { ascii: true })).toMatch(/^[\n -~]*$/);
      }),
      { numRuns: 80 },
    );
  });

  it('is unchanged in JSON, in characters that are safe', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        const written = safeJson({ text });
        expect(JSON.parse(written)).toEqual({ text });
        expect(forbiddenIn(written, false)).toBeUndefined();
        expect(written).not.toMatch(/\p{DI}/u);
      }),
      { numRuns: 500 },
    );
  });

  it('cannot be taken for ours by the compiler', () => {
    const value: string = 'anything';
    // @ts-expect-error a value is no literal
    own(value);
    const { screen } = stage();
    // @ts-expect-error a string is nothing that can be shown
    expect(() => screen.out(value)).toThrow(TypeError);
  });
});
