import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeFindings, findings, reveal, segments } from '../../src/view/reveal.ts';
import { leastCpuMs } from '../kit/cpu.ts';

const PARTS =
  '\u001b]52;c;x\u0007|\u009b31m|\r|\r\n|\t|\n| |    |\u00a0|\u3000|\u202e|\u2066|\u200b|\u200d|\ufe0f|\ufe00|\u{e0041}|\u{e0100}|\u{e000}|\u0301|\u0301\u0301\u0301\u0301\u0301|❤️|1️⃣|👩|\u{1f469}\u200d\u{1f467}|é|漢|␛|␊|<U+202E>|<4 spaces>|<|U+202E>|<U+|\u2800|\u3164|\ufffe|a'.split(
    '|',
  );

/** Strings that attack: everything that hides, moves, joins, or imitates a mark. */
const nasty = (): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit)),
        fc.constantFrom(...PARTS),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));

/** What the marks stand for. */
const read = (shown: string): string =>
  shown.replace(/<U\+([0-9A-F]{4,6})>|<([0-9,]+) spaces>|[\u2400-\u2421]/gu, (mark, hex, spaces) => {
    if (typeof hex === 'string') return String.fromCodePoint(Number.parseInt(hex, 16));
    if (typeof spaces === 'string') return ' '.repeat(Number(spaces.replaceAll(',', '')));
    return mark === '␡' ? '\u007f' : String.fromCodePoint((mark.codePointAt(0) ?? 0) - 0x2400);
  });

const hiddenWords = (count: number): string =>
  `${'a\u0301\u0301\u0301\u0301\u0301\u202e word    '.repeat(count)}${' '.repeat(2 * count)}`;

const RAW =
  /[\p{Cc}\p{Cs}\p{Bidi_C}\p{Zl}\p{Zp}\p{NChar}\p{Co}\uFFF9-\uFFFB\u2800]|[\p{DI}--[\uFE0E\uFE0F]]/v;

describe('what is hidden is shown', () => {
  it('shows the direction control and the zero width space of a command where they stand', () => {
    expect(reveal('rm -rf ./data \u202e gnp.oedarap/\u200b')).toBe(
      'rm -rf ./data <U+202E> gnp.oedarap/<U+200B>',
    );
  });

  it('shows escapes, bells, C1 and carriage returns of tool output', () => {
    expect(reveal('\u001b]0;pwned\u0007\u001b[2K\rALL PASSED\u001b]52;c;cm0\u0007\u009b31m\u007f')).toBe(
      '␛]0;pwned␇␛[2K␍ALL PASSED␛]52;c;cm0␇<U+009B>31m␡',
    );
  });

  it('keeps newline and tab only where the block allows them', () => {
    expect(reveal('a\tb\nc')).toBe('a␉b␊c');
    expect(reveal('a\tb\nc', { newlines: true })).toBe('a␉b\nc');
    expect(reveal('a\tb\nc', { newlines: true, tabs: true })).toBe('a\tb\nc');
    expect(reveal('a\r\nb', { newlines: true })).toBe('a␍\nb');
  });

  it('counts runs of more than three spaces', () => {
    expect(reveal('a   b')).toBe('a   b');
    expect(reveal('a    b')).toBe('a<4 spaces>b');
    expect(reveal(`a${' '.repeat(1214)}b`)).toBe('a<1,214 spaces>b');
    expect(reveal('a\u00a0b')).toBe('a\u00a0b');
    expect(reveal('a\u00a0 \u00a0 b')).toBe('a<U+00A0> <U+00A0> b');
  });

  it('keeps indentation where the block allows it, up to 32 spaces', () => {
    const options = { newlines: true, indent: true };
    expect(reveal('    a\n        b    c', options)).toBe('    a\n        b<4 spaces>c');
    expect(reveal(`${' '.repeat(33)}a`, options)).toBe('<33 spaces>a');
    expect(reveal('a\n     b', { indent: true })).toBe('a␊<5 spaces>b');
  });

  it('shows half characters, tags, fillers and private characters as code points', () => {
    expect(reveal('a\ud800b\udc00')).toBe('a<U+D800>b<U+DC00>');
    expect(reveal('a\u{e0041}\u3164\u2800\u{e000}\ufffe\ufeff\u2028')).toBe(
      'a<U+E0041><U+3164><U+2800><U+E000><U+FFFE><U+FEFF><U+2028>',
    );
  });

  it('keeps a variation selector that does its job and shows the others', () => {
    expect(reveal('❤️ 1️⃣ a\ufe0f ❤️\ufe0f 漢\u{e0100}')).toBe(
      '❤️ 1️⃣ a<U+FE0F> ❤<U+FE0F><U+FE0F> 漢<U+E0100>',
    );
  });

  it('shows combining marks that pile up or sit on nothing of theirs', () => {
    expect(reveal('e\u0301')).toBe('e\u0301');
    expect(reveal(`e${'\u0301'.repeat(6)}`)).toBe(`e${'\u0301'.repeat(4)}<U+0301><U+0301>`);
    expect(reveal('\u0338x')).toBe('<U+0338>x');
    expect(reveal('a\n\u0338x', { newlines: true })).toBe('a\n<U+0338>x');
    expect(reveal('\u001b\u0338\u0338x')).toBe('␛<U+0338><U+0338>x');
  });

  it('marks text that imitates a mark', () => {
    expect(reveal('␛ <U+202E> <214 spaces> <b>')).toBe('<U+241B> <U+003C>U+202E> <U+003C>214 spaces> <b>');
  });

  it('leaves ordinary text of many languages as it is', () => {
    for (const text of ['Grüße aus Wien', '漢字かな', 'שלום', 'हिन्दी', 'Tiếng Việt', '😀 👍🏽 🇦🇹', 'a < b']) {
      expect(reveal(text)).toBe(text);
      expect(findings(text)).toEqual([]);
    }
  });
});

describe('properties of what is shown', () => {
  const options = fc.record({ newlines: fc.boolean(), tabs: fc.boolean(), indent: fc.boolean() });

  it('never has a raw hidden character, for any string', () => {
    fc.assert(
      fc.property(nasty(), options, (text, chosen) => {
        let shown = reveal(text, chosen);
        if (chosen.newlines) shown = shown.replaceAll('\n', '');
        if (chosen.tabs) shown = shown.replaceAll('\t', '');
        expect(RAW.exec(shown)?.[0].codePointAt(0)?.toString(16)).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });

  it('stands for one text only: it can be read back', () => {
    fc.assert(
      fc.property(nasty(), options, (text, chosen) => {
        expect(read(reveal(text, chosen))).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  it('says where each mark stands', () => {
    fc.assert(
      fc.property(nasty(), (text) => {
        const marks = segments(text).flatMap(({ hidden }) => (hidden ? [hidden] : []));
        expect(marks.map(({ offset }) => text.codePointAt(offset))).toEqual(
          marks.map(({ codePoint }) => codePoint),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('takes as much longer for a megabyte as that is longer', async () => {
    const [short, long] = [hiddenWords(7500), hiddenWords(60_000)];
    // Eight times the text; three times that for what a machine does besides, a third of what its square would take.
    expect(await leastCpuMs(() => reveal(long))).toBeLessThan(24 * (await leastCpuMs(() => reveal(short))));
  });
});

describe('findings', () => {
  it('lists code point, count and first place', () => {
    expect(findings('a\u202eb\u200bc\u202e    d')).toEqual([
      { kind: 'bidi', codePoint: 0x202e, count: 2, offset: 1, name: 'right-to-left override' },
      { kind: 'invisible', codePoint: 0x200b, count: 1, offset: 3, name: 'zero width space' },
      { kind: 'spaces', codePoint: 0x20, count: 1, offset: 6, name: 'run of spaces' },
    ]);
  });

  it('does not count line ends, tabs and indentation', () => {
    expect(findings('a\r\n    b\tc\n')).toEqual([]);
    expect(findings('a\rb')).toHaveLength(1);
  });

  it('makes one sentence, with the count of what it does not name', () => {
    expect(describeFindings(findings('plain'))).toBeUndefined();
    expect(describeFindings(findings('\u202e\u202e\u0007\u001b\u200b'))).toBe(
      '5 hidden characters made visible: U+202E right-to-left override (2 times), U+0007 bell, U+001B escape and 1 other kind',
    );
    expect(describeFindings(findings('a     b'))).toBe('1 long run of spaces counted');
  });
});
