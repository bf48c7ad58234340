/** isSame finds what a comparison of canonical texts finds. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonical, isSame } from '../../src/event/canonical.ts';
import type { Json } from '../../src/event/json.ts';
import { json, settings, text } from '../kit/arbitrary.ts';

/** A value and one that is it again, or nearly. */
const pair: fc.Arbitrary<readonly [Json, Json]> = json(text).chain((value) =>
  fc.oneof(
    fc.constant([value, structuredClone(value)] as const),
    fc.constant([value, JSON.parse(canonical(value)) as Json] as const),
    json(text).map((other) => [value, other] as const),
    fc.constant([
      { a: value, b: 1 },
      { b: 1, a: value },
    ] as const),
    fc.constant([{ a: value }, { a: value, b: null }] as const),
    fc.constant([[value], [value, value]] as const),
    fc.constant([[value], { 0: value }] as const),
    fc.constant([{ a: value, b: undefined } as never, { a: value }] as const),
    fc.constant([{ a: undefined } as never, { b: undefined } as never] as const),
  ),
);

test('two values are the same exactly where their canonical texts are, in either order', () => {
  fc.assert(
    fc.property(pair, ([one, other]) => {
      expect(isSame(one, other)).toBe(canonical(one) === canonical(other));
      expect(isSame(other, one)).toBe(canonical(one) === canonical(other));
    }),
    settings({ numRuns: 2000 }),
  );
});
