/** Leave for "the same call again": no other value, nothing more, nothing less. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactly, sameValues } from '../../src/effect/grant.ts';
import { fitsAll } from '../../src/effect/policy.ts';
import { canonical } from '../../src/event/canonical.ts';
import { parseStrict, type StrictValue } from '../../src/event/strict.ts';
import type { Json } from '../../src/event/json.ts';

const strict = (value: Json): StrictValue => {
  const parsed = parseStrict(JSON.stringify(value));
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
};

const covers = (given: Json, asked: Json): boolean => {
  const exact = exactly(strict(given));
  if (!exact.ok) throw new Error(`not exact at ${exact.at}`);
  return exact.when.every((condition) => fitsAll(condition, strict(asked)));
};

test.each<[string, Json, Json, boolean]>([
  ['the same, in another order', { to: 'a', n: 1 }, { n: 1, to: 'a' }, true],
  ['another value', { to: 'a' }, { to: 'b' }, false],
  ['another type', { n: 1 }, { n: '1' }, false],
  ['an argument more', { to: 'a' }, { to: 'a', bcc: 'b' }, false],
  ['an argument less', { to: 'a', n: 1 }, { to: 'a' }, false],
  ['a recipient more', { to: ['a'] }, { to: ['a', 'b'] }, false],
  ['a recipient in a list that was empty', { cc: [] }, { cc: ['b'] }, false],
  ['an inner argument more', { a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
  ['a member where there was none', { a: {} }, { a: { c: 2 } }, false],
  ['names that look like pointers', { 'a/b': { '~': 1 } }, { 'a/b': { '~': 1 } }, true],
  ['a name that looks like every item', { a: { '*': 1 } }, { a: [1, 1] }, false],
])('the-same-call-again: %s', (_, given, asked, expected) => {
  expect(covers(given, asked)).toBe(expected);
});

test('a whole number beyond 2^53 has no condition that names it exactly', () => {
  const parsed = parseStrict('{"a":{"iban/no":12345678901234567890}}');
  expect(parsed.ok && exactly(parsed.value)).toEqual({ ok: false, at: '/a/iban~1no' });
});

const names = fc.constantFrom('a', 'b', '*', '0', 'a/b', '~', '__proto__');
const { args } = fc.letrec<{ value: Json; args: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>('x', 'y', '', 0, 1, -1.5, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3 }),
  ),
  args: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
}));

/** Lists as objects: what conditions cannot tell apart. */
const blurred = (value: Json): Json => {
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, blurred(inner as Json)] as const);
  return Object.fromEntries(entries) as Json;
};

test('the-same-call-again covers exactly what is the same, for any two calls', () => {
  fc.assert(
    fc.property(args, args, (given, asked) => {
      expect(covers(given, given)).toBe(true);
      expect(covers(given, asked)).toBe(canonical(blurred(given)) === canonical(blurred(asked)));
    }),
    { numRuns: 2000 },
  );
});

test('the same at some places: lists whole, the rest is free, what is not there fits nothing', () => {
  const call = strict({ to: ['a'], n: 1, note: 'x' });
  const same = sameValues(call, ['/to', '/n']);
  const fits = (asked: Json): boolean => same.every((condition) => fitsAll(condition, strict(asked)));
  expect(fits({ to: ['a'], n: 1, note: 'y', more: true })).toBe(true);
  expect(fits({ to: ['a', 'b'], n: 1 })).toBe(false);
  expect(fits({ to: ['a'], n: 2 })).toBe(false);
  for (const nowhere of ['/constructor', '/to/1', '/note/x'])
    expect(sameValues(call, [nowhere]).every((condition) => fitsAll(condition, call))).toBe(false);
});
