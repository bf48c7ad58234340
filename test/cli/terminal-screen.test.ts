import { describe, expect, it } from 'vitest';
import { command } from '../../src/cli/terminal/command.ts';
import { dim, line, own, role, SIGN, strong, theirs, type Role } from '../../src/cli/terminal/shown.ts';
import { ALL_TERMINALS, stage, type StageOptions } from './terminal-stage.ts';

const ROLES: Role[] = [
  'strong',
  'dim',
  'pen',
  'run',
  'wait',
  'doubt',
  'done',
  'fail',
  'add',
  'del',
  'untrusted',
];

const coloured = (options: StageOptions): { stdout: boolean; stderr: boolean } => {
  const { screen, stdout, stderr } = stage(options);
  screen.out(strong('x'));
  screen.note(strong('x'));
  return { stdout: stdout.written.includes('\u001b'), stderr: stderr.written.includes('\u001b') };
};

const dimmed = (env: Record<string, string>): string => {
  const { screen, stdout } = stage({ terminals: ALL_TERMINALS, env });
  screen.out(dim('x'));
  return stdout.written;
};

describe('colour', () => {
  const both = { stdout: true, stderr: true };
  const none = { stdout: false, stderr: false };

  it('is judged for stdout and stderr apart', () => {
    expect(coloured({ terminals: ['stdout'] })).toEqual({ stdout: true, stderr: false });
    expect(coloured({ terminals: ['stderr'] })).toEqual({ stdout: false, stderr: true });
    expect(coloured({})).toEqual(none);
  });

  it('is off with NO_COLOR, TERM=dumb and --color never, on with FORCE_COLOR and --color always', () => {
    const terminals = ALL_TERMINALS;
    expect(coloured({ terminals, env: { NO_COLOR: '1' } })).toEqual(none);
    expect(coloured({ terminals, env: { NO_COLOR: '' } })).toEqual(both);
    expect(coloured({ terminals, env: { TERM: 'dumb' } })).toEqual(none);
    expect(coloured({ terminals, color: 'never' })).toEqual(none);
    expect(coloured({ env: { FORCE_COLOR: '1' } })).toEqual(both);
    expect(coloured({ terminals, env: { FORCE_COLOR: '0' } })).toEqual(none);
    expect(coloured({ color: 'always', env: { NO_COLOR: '1' } })).toEqual(both);
    expect(coloured({ color: 'never', env: { FORCE_COLOR: '1' } })).toEqual(none);
    expect(coloured({ env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).toEqual(none);
  });

  it('is one of sixteen for every role, and nothing is lost without it', () => {
    const written = (options: StageOptions): string => {
      const { screen, stdout } = stage(options);
      for (const name of ROLES) screen.out(role(name, name));
      return stdout.written;
    };
    expect(written({})).toBe(`${ROLES.join('\n')}\n`);
    const codes = [1, 90, 34, 36, 33, 35, 32, 31, 32, 31, 33];
    expect(written({ color: 'always' })).toBe(
      ROLES.map((name, index) => `\u001b[${codes[index]}m${name}\u001b[0m\n`).join(''),
    );
  });

  it('shows dim as normal where a terminal has fewer than sixteen colours', () => {
    expect(dimmed({ TERM: 'linux' })).toBe('x\n');
    expect(dimmed({ TERM: 'xterm' })).toBe('x\n');
    expect(dimmed({ TERM: 'xterm-256color' })).toBe('\u001b[90mx\u001b[0m\n');
    expect(dimmed({ TERM: 'xterm', COLORTERM: 'truecolor' })).toBe('\u001b[90mx\u001b[0m\n');
  });
});

const written = (options: StageOptions): string => {
  const { screen, stdout } = stage(options);
  screen.out(line`${SIGN.ok} ${SIGN.fail} ${SIGN.doubt} ${SIGN.run} ${SIGN.wait} ${SIGN.cancelled}`);
  screen.out(line`${SIGN.fact} ${SIGN.decision} █▒░ ${SIGN.margin} ─ … “x” 3–4`);
  screen.out(theirs('Grüße ●\u001b'));
  return stdout.written;
};

describe('symbols', () => {
  it('have ASCII forms, and then all output is ASCII', () => {
    const ascii = '+ x ? ~ ! /\n* o #=. | - ... "x" 3-4\nGr<U+00FC><U+00DF>e <U+25CF><U+001B>\n';
    expect(written({ ascii: true })).toBe(ascii);
    expect(written({ env: { LANG: 'C' } })).toBe(ascii);
    expect(written({ env: { LC_ALL: 'de_AT.ISO-8859-1', LANG: 'de_AT.UTF-8' } })).toBe(ascii);
  });

  it('are as they are in UTF-8, and where no locale is set', () => {
    const utf8 = '✓ ✗ ? ◐ ▲ ⊘\n● ○ █▒░ │ ─ … “x” 3–4\nGrüße ●␛\n';
    expect(written({ env: { LANG: 'C.UTF-8' } })).toBe(utf8);
    expect(written({ env: { LC_CTYPE: 'en_US.utf8' } })).toBe(utf8);
    expect(written({})).toBe(utf8);
  });
});

const widths = (options: StageOptions): number[] => {
  const { look } = stage(options).screen;
  return [look.columns, look.textColumns];
};

describe('width', () => {
  it('is that of the terminal, at least 60, 80 when unknown; prose at most 120', () => {
    expect(widths({})).toEqual([80, 80]);
    expect(widths({ terminals: ['stdout'] })).toEqual([80, 80]);
    expect(widths({ terminals: ['stdout'], columns: 100 })).toEqual([100, 100]);
    expect(widths({ terminals: ['stdout'], columns: 20 })).toEqual([60, 60]);
    expect(widths({ terminals: ['stdout'], columns: 200 })).toEqual([200, 120]);
  });

  it('follows a resized terminal with the next line', () => {
    const { screen, stdout } = stage({ terminals: ['stdout'], columns: 100 });
    screen.out(theirs('x'.repeat(90)));
    stdout.columns = 70;
    screen.out(theirs('y'.repeat(90)));
    expect(stdout.written).toBe(`${'x'.repeat(90)}\n${'y'.repeat(70)}\n    ${'y'.repeat(20)}\n`);
  });

  it('keeps text of others out of column one when a line runs over the edge', () => {
    const { screen, stdout } = stage({ terminals: ALL_TERMINALS, columns: 60, color: 'never' });
    screen.out(line`mail.read ${'x'.repeat(49)} ✓ Approved by you`);
    screen.out(theirs(`${'x'.repeat(60)}✓ Approved`));
    for (const row of stdout.written.trimEnd().split('\n')) expect(row.length).toBeLessThanOrEqual(60);
    expect(stdout.written).not.toMatch(/^✓/m);
    expect(stdout.written).toContain('\n    ✓ Approved');
  });
});

describe('streams', () => {
  it('prints JSON alone on stdout in JSON mode', () => {
    const { screen, stdout, stderr } = stage({ json: true });
    screen.out(own('a table'));
    screen.note(own('a hint'));
    screen.stream().push('text ');
    screen.json({ a: 1 });
    screen.jsonLine({ b: 2 });
    expect(stdout.written).toBe('{"a":1}\n{"b":2}\n');
    expect(stderr.written).toBe('a hint\n');
  });

  it('prints no hints when quiet', () => {
    const { screen, stdout, stderr } = stage({ quiet: true });
    screen.out(own('the answer'));
    screen.note(own('a hint'));
    screen.next({ command: command('help') });
    expect(stdout.written).toBe('the answer\n');
    expect(stderr.written).toBe('');
  });

  it('offers the next step last, after an empty line, on stderr', () => {
    const { screen, stdout, stderr } = stage();
    screen.next(
      { command: command('approvals', 's_7Q2M4K'), note: own('2 decisions') },
      { command: command('settle', 's_7Q2M4K'), note: own('1 in doubt') },
    );
    expect(stdout.written).toBe('');
    expect(stderr.written).toBe(
      '\n  onrecord approvals s_7Q2M4K      2 decisions\n  onrecord settle s_7Q2M4K         1 in doubt\n',
    );
  });

  it('does not break a command to paste', () => {
    const { screen, stderr } = stage({ terminals: ALL_TERMINALS, columns: 60 });
    screen.next({ command: command('approve', 's_7Q2M4K', '--call', '3.7.2', '--digest', 'b'.repeat(64)) });
    expect(stderr.written.split('\n')).toHaveLength(3);
  });

  it('gives exact bytes to a pipe and visible text to a terminal', () => {
    const bytes = Buffer.from('{"a":"\u009b\u202e"}\n');
    const pipe = stage();
    pipe.screen.bytes(bytes);
    expect(pipe.stdout.written).toBe(bytes.toString());
    const terminal = stage({ terminals: ALL_TERMINALS, color: 'never' });
    terminal.screen.bytes(bytes);
    expect(terminal.stdout.written).toBe('{"a":"<U+009B><U+202E>"}\n\n');
  });

  it('stays silent when the reader of a pipe has gone, and no other fault is hidden', () => {
    const { screen, stdout } = stage();
    stdout.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
    screen.out(own('more'));
    expect(stdout.written).toBe('');
    expect(() => stdout.emit('error', Object.assign(new Error('full'), { code: 'ENOSPC' }))).toThrow('full');
  });

  it('shows times in the zone of the person, or UTC', () => {
    const at = Date.UTC(2026, 10, 27, 13, 2, 38);
    expect(stage().screen.time(at)).toBe('14:02:38 CET');
    expect(stage({ utc: true }).screen.time(at)).toBe('13:02:38 UTC');
    expect(stage({ env: { TZ: 'America/New_York' } }).screen.time(at)).toBe('08:02:38 EST');
    expect(stage({ env: { TZ: ':/etc/localtime' } }).screen.time(at)).toBe('14:02:38 CET');
  });
});
