/** The strict reader against JSON.parse, and canonical JSON against itself. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical, canonicalForm } from '../../src/event/canonical.ts';
import { isJsonObject, type Json } from '../../src/event/json.ts';
import {
  canonicalStrict,
  inOrder,
  parseStrict,
  STRICT_DEPTH_MAX,
  type StrictValue,
} from '../../src/event/strict.ts';
import { json, settings, spelled, text, wellFormed } from '../kit/arbitrary.ts';
import { leastCpuMs, lookMs } from '../kit/cpu.ts';

/** What the dearest input takes is fifteen looks; anything that is not linear takes thousands. */
const LOOKS_MAX = 75;

/** A strictly read value as JSON.parse would have read it. */
const lossy = (value: StrictValue): unknown => {
  if (typeof value === 'bigint') return Number(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(lossy);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, lossy(one)]));
};

/** A value with the order of its members, the sign of zeros and what is a BigInt. */
const shape = (value: StrictValue): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'bigint' ? `${one}n` : Object.is(one, -0) ? 'minus zero' : one,
  );

/** A decimal text as whole digits times a power of ten, in lowest terms. */
const exact = (token: string): readonly [digits: bigint, power: number] => {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  let digits = BigInt(whole + fraction);
  let power = Number(exponent) - fraction.length;
  if (digits === 0n) return [0n, 0];
  for (; digits % 10n === 0n; digits /= 10n) power++;
  return [digits, power];
};

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** The value with the keys of its outermost object the other way round. */
const turned = (value: Json): Json =>
  isJsonObject(value) ? (Object.fromEntries(Object.entries(value).toReversed()) as Json) : value;

describe('the strict reader', () => {
  test('reads every well-formed text without double keys as JSON.parse does', () => {
    fc.assert(
      fc.property(spelled(json(wellFormed)), (spelling) => {
        const read = parseStrict(spelling);
        expect(read.ok ? lossy(read.value) : read).toEqual(JSON.parse(spelling));
      }),
      settings(),
    );
  });

  test('reads a compact text as it reads the same text with a space before it', () => {
    const compact = fc.oneof(
      json(text).map((value) => JSON.stringify(value)),
      spelled(json(text)),
      fc.constantFrom(
        '9007199254740991',
        '9007199254740992',
        '9007199254740993',
        '[1e+21]',
        '1e300',
        '-0',
        '0.1',
        '5e-324',
        '{"a":1,"a":1}',
        '{"b":1,"1":2}',
        '{"__proto__":{"x":1}}',
        String.raw`"\ud800"`,
        String.raw`"\\ud800"`,
        '"\ud800"',
        nested(STRICT_DEPTH_MAX),
        nested(STRICT_DEPTH_MAX + 1),
        nested(STRICT_DEPTH_MAX + 2),
      ),
    );
    fc.assert(
      fc.property(compact, (spelling) => {
        // A space is what the fast way does not take. Where a text is wrong is one further on behind it.
        const [fast, slow] = [parseStrict(spelling), parseStrict(` ${spelling}`)];
        const said = (read: typeof fast): object => (read.ok ? read : { reason: read.reason });
        expect(said(fast)).toEqual(said(slow));
        expect(isDeepStrictEqual(said(fast), said(slow))).toBe(true);
      }),
      settings(),
    );
  });

  test('a value in order is what a reader of its canonical text gets, member by member', () => {
    fc.assert(
      fc.property(
        fc.oneof(spelled(json(wellFormed)), fc.constantFrom('{"b":-0,"a":[{"d":1,"10":2,"9":3}]}')),
        (spelling) => {
          const read = parseStrict(spelling);
          const again = read.ok ? parseStrict(read.canonical) : read;
          if (!read.ok || !again.ok) throw new Error(spelling);
          expect(shape(inOrder(read.value))).toBe(shape(again.value));
        },
      ),
      settings(),
    );
  });

  test('its canonical text means the same, is a fixed point, and is the same for every spelling', () => {
    fc.assert(
      fc.property(json(wellFormed), fc.integer(), (value, seed) => {
        const [one, two] = fc.sample(spelled(fc.constant(value)), { numRuns: 2, seed });
        const first = parseStrict(one ?? '');
        const second = parseStrict(two ?? '');
        if (!first.ok || !second.ok) throw new Error(JSON.stringify([one, two, first, second]));
        expect(first.canonical).toBe(second.canonical);
        // The one thing it forgets is the sign of zero.
        expect(JSON.parse(first.canonical)).toEqual(JSON.parse(JSON.stringify(JSON.parse(one ?? ''))));
        expect(parseStrict(first.canonical)).toMatchObject({ ok: true, canonical: first.canonical });
        expect(canonicalStrict(first.value)).toBe(first.canonical);
      }),
      settings(),
    );
  });

  test('agrees with canonical JSON on what both can hold', () => {
    fc.assert(
      fc.property(json(wellFormed), (value) => {
        const read = parseStrict(canonical(value));
        if (!read.ok) throw new Error(read.message);
        // Digits beyond 2^53 are kept by the one and not by the other.
        const exactly = /\d{16}/.test(read.canonical)
          ? canonical(JSON.parse(read.canonical) as Json)
          : read.canonical;
        expect(exactly).toBe(canonical(value));
      }),
      settings(),
    );
  });

  test('keeps every digit of a whole number, and equal numbers have equal texts', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), (value) => {
        expect(parseStrict(value.toString())).toMatchObject({ ok: true, canonical: value.toString() });
      }),
      settings(),
    );
    for (const [one, two] of [
      ['1e21', '1000000000000000000000'],
      ['1e16', '10000000000000000'],
      ['-0', '0'],
      ['1.50', '15e-1'],
    ]) {
      const [a, b] = [parseStrict(one ?? ''), parseStrict(two ?? '')];
      expect([one, a.ok && a.canonical]).toEqual([one, b.ok && b.canonical]);
    }
  });

  test('accepts no decimal that a double cannot hold, and no text that JSON.parse refuses', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: -400, max: 400 })),
        ([digits, exponent]) => {
          const token = `${digits}.5e${exponent}`;
          const read = parseStrict(token);
          if (!read.ok) return;
          expect(exact(read.canonical)).toEqual(exact(token));
        },
      ),
      settings(),
    );
    fc.assert(
      fc.property(
        fc.oneof(text, fc.string({ unit: fc.constantFrom(...Array.from('{}[]",:\\u0019eE+-. tnfalsrue')) })),
        (input) => {
          const read = parseStrict(input);
          expect(read.ok ? typeof JSON.parse(input) : read.message).not.toBe('');
        },
      ),
      settings({ numRuns: 1000 }),
    );
  });

  test('refuses a key that stands twice, however it is spelled, at whatever depth', () => {
    fc.assert(
      fc.property(wellFormed, json(wellFormed), fc.nat(20), (key, value, depth) => {
        const name = JSON.stringify(key);
        const escaped = `"${Array.from({ length: key.length }, (_, i) => `\\u${key.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`;
        const inner = `{${name}:${JSON.stringify(value)},${escaped}:1}`;
        const read = parseStrict('['.repeat(depth) + inner + ']'.repeat(depth));
        expect(read).toMatchObject({ ok: false, reason: 'duplicate-key' });
      }),
      settings(),
    );
  });

  test('__proto__ is a key of its own, and nothing is inherited from it', () => {
    const read = parseStrict('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
    if (!read.ok) throw new Error(read.message);
    const value = read.value as Record<string, StrictValue>;
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(value['admin']).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(read.canonical).toBe('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
  });

  test.each([
    ['20,000 opening brackets', '['.repeat(20_000)],
    ['20,000 brackets, closed', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['20,000 objects inside each other', '{"a":'.repeat(20_000)],
    ['a million blanks', `${' '.repeat(1_000_000)}1`],
    ['a million escapes', `"${'\\u0041'.repeat(150_000)}"`],
    ['a million digits', '1'.repeat(1_000_000)],
    ['a million zeros behind the point', `0.${'0'.repeat(1_000_000)}1`],
    ['an unclosed text', `"${'a'.repeat(1_000_000)}`],
    ['20,000 keys', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`],
  ])('takes no longer than a few looks at a million characters for %s', async (_, input) => {
    parseStrict(input.slice(0, 1000));
    expect(await leastCpuMs(() => parseStrict(input))).toBeLessThan(LOOKS_MAX * (await lookMs()));
  });

  test('its depth is bounded', () => {
    expect(parseStrict(nested(STRICT_DEPTH_MAX + 1)).ok).toBe(true);
    expect(parseStrict(nested(STRICT_DEPTH_MAX + 2))).toMatchObject({ ok: false, reason: 'too-deep' });
  });
});

describe('canonical JSON', () => {
  test('means the same, is a fixed point, and does not depend on the order of keys', () => {
    fc.assert(
      fc.property(json(text), (value) => {
        const once = canonical(value);
        const back = JSON.parse(once) as Json;
        expect(canonical(back)).toBe(once);
        expect(back).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonical(turned(value))).toBe(once);
        expect(once.isWellFormed()).toBe(true);
        expect(once).not.toContain('\0');
      }),
      settings(),
    );
  });

  test('the value that comes with it is what every reader of the text gets, key for key', () => {
    fc.assert(
      fc.property(json(text), (value) => {
        const form = canonicalForm(value);
        const read = JSON.parse(form.text) as Json;
        // toStrictEqual takes an own key "constructor" for the type of an object.
        expect(isDeepStrictEqual(form.value, read)).toBe(true);
        // The order of keys and negative zeros, too, which equality does not look at.
        expect(JSON.stringify(form.value)).toBe(JSON.stringify(read));
      }),
      settings(),
    );
    const keys = JSON.parse('{"b":-0,"10":1,"9":{"__proto__":[2],"a":null}}') as Json;
    const form = canonicalForm(keys);
    expect(form.text).toBe('{"10":1,"9":{"__proto__":[2],"a":null},"b":0}');
    expect(isDeepStrictEqual(form.value, JSON.parse(form.text))).toBe(true);
  });

  test('writes the vectors of RFC 8785', () => {
    expect(canonical({ numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001] })).toBe(
      '{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
    );
    expect(
      canonical({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 }),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  test('leaves out undefined members and refuses what JSON cannot say', () => {
    expect(canonical({ b: undefined, a: 1 })).toBe('{"a":1}');
    for (const value of [Number.NaN, Infinity, 1n, Symbol('s'), () => 1, undefined])
      expect(() => canonical(value as never)).toThrow(/Internal promise broken/);
  });
});
