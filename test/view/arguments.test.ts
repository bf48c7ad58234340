import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrict } from '../../src/event/strict.ts';
import type { Preview } from '../../src/tool/preview.ts';
import {
  argumentsPatch,
  leavesOf,
  patchOf,
  prettyArguments,
  unshownLeaves,
} from '../../src/view/arguments.ts';

const canonicalOf = (text: string): string => {
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.canonical;
};

const lines = (mark: string): string => Array.from({ length: 3000 }, (_, i) => `${mark}${i}`).join('\n');

const preview = (text: string): Preview => ({ title: 'Send it', blocks: [{ kind: 'text', text }] });

describe('arguments as people read them', () => {
  it('keep every digit and mean the same', () => {
    expect(prettyArguments('{"amount":12345678901234567890,"list":[],"none":{}}')).toBe(
      '{\n  "amount": 12345678901234567890,\n  "list": [],\n  "none": {}\n}',
    );
    fc.assert(
      fc.property(fc.json(), (json) => {
        const parsed = parseStrict(json);
        fc.pre(parsed.ok);
        const args = parsed.ok ? parsed.canonical : '';
        expect(canonicalOf(prettyArguments(args))).toBe(args);
      }),
    );
  });

  it('come back as they are where they are no JSON', () => {
    expect(prettyArguments('{"a":')).toBe('{"a":');
    expect(leavesOf('{"a":')).toEqual([]);
  });

  it('name every value with its pointer', () => {
    expect(leavesOf('{"a/b":[1,{"c~d":null}],"e":"x"}')).toEqual([
      { pointer: '/a~1b/0', value: 1 },
      { pointer: '/a~1b/1/c~0d', value: null },
      { pointer: '/e', value: 'x' },
    ]);
  });

  it('are compared line by line', () => {
    expect(argumentsPatch('{"a":1}', '{"a":1}')).toBe('');
    expect(argumentsPatch('{"a":1,"b":2}', '{"a":1,"b":3}')).toContain('-  "b": 2\n+  "b": 3\n');
  });

  it('are compared line by line in a text of several lines, too, with its line feeds still to be seen', () => {
    const before = JSON.stringify({ path: 'a.md', text: '# Title\n\nOne \\n line.\nThe end.\n' });
    const after = JSON.stringify({ path: 'a.md', text: '# Title\n\nOne \\n line.\nNot the end.\n' });
    expect(argumentsPatch(before, after)).toBe(
      [
        '--- arguments',
        '+++ arguments',
        '@@ -3,6 +3,6 @@',
        '   "text": "# Title\\n',
        '     \\n',
        '     One \\\\n line.\\n',
        '-    The end.\\n',
        '+    Not the end.\\n',
        '     "',
        ' }',
        '',
      ].join('\n'),
    );
  });

  it('are never said to be the same where they are not', () => {
    const text = fc.string({ unit: fc.constantFrom('\n', '\\', 'n', '"', ' ', 'a'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const patch = argumentsPatch(JSON.stringify({ text: one }), JSON.stringify({ text: other }));
        expect(patch === '').toBe(one === other);
      }),
      { numRuns: 2000 },
    );
  });

  it('are compared at a cost that has a limit', () => {
    const patch = patchOf('big', lines('a'), lines('b'));
    expect(patch.split('\n').filter((line) => /^[-+][ab]/.test(line))).toHaveLength(6000);
  });
});

describe('what a preview does not show', () => {
  it('is every value that stands in none of its texts', () => {
    const args = '{"bcc":"x@evil.example","body":"Good morning","send":true,"to":"a@b.example"}';
    expect(unshownLeaves(args, preview('To a@b.example: Good morning'))).toEqual([
      { pointer: '/bcc', value: 'x@evil.example' },
      { pointer: '/send', value: true },
    ]);
  });

  it('is not taken for shown because a short text occurs by accident', () => {
    expect(unshownLeaves('{"n":1,"s":"on"}', preview('one button of 1,000'))).toHaveLength(2);
    expect(unshownLeaves('{"s":"on"}', preview('on'))).toEqual([]);
  });

  it('counts numbers with all their digits', () => {
    expect(unshownLeaves('{"n":12345678901234567890}', preview('12345678901234567890'))).toEqual([]);
    expect(unshownLeaves('{"n":12345678901234567891}', preview('12345678901234567890'))).toHaveLength(1);
  });
});
