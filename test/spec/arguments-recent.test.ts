/** What was decoded lately is remembered; what comes back is what the text says, however much came in between. */
import { expect, test } from 'vitest';
import { decodeArguments } from '../../src/effect/arguments.ts';

const text = (i: number): string => `{"b":${i},"a":"${'x'.repeat(i % 3)}"}`;
const canonicalText = (i: number): string => `{"a":"${'x'.repeat(i % 3)}","b":${i}}`;

test('a text means the same whenever it is asked for, as it was written and in canonical form', () => {
  // More than are remembered, forwards, backwards, and one of them in between all others.
  const all = Array.from({ length: 200 }, (_, i) => i);
  for (const i of [...all, ...all.toReversed()]) {
    expect(decodeArguments(text(i))).toMatchObject({
      ok: true,
      canonical: canonicalText(i),
      value: { b: i },
    });
    expect(decodeArguments(canonicalText(i))).toEqual(decodeArguments(text(i)));
    expect(decodeArguments(`${text(i)},`)).toMatchObject({ ok: false });
    expect(decodeArguments(text(3))).toMatchObject({ ok: true, canonical: canonicalText(3) });
  }
});

test('one text is read once, also where another one came since', () => {
  const first = decodeArguments(text(7));
  decodeArguments(text(8));
  expect(decodeArguments(text(7))).toBe(first);
  expect(decodeArguments(canonicalText(7))).toBe(first);
});
