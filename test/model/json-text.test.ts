/** Parts of a JSON text are what JSON.parse sees there, and are cut out as they stand. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonAt, jsonElements, jsonKeys, jsonWith } from '../../src/model/json-text.ts';

const spaced = fc.constantFrom(undefined, 1, '\t', ' \n');
const document = fc
  .tuple(fc.json({ maxDepth: 4, stringUnit: 'binary' }), spaced)
  .map(([text, space]) => JSON.stringify(JSON.parse(text), null, space));

type Path = (string | number)[];

const pathsOf = (value: unknown): Path[] => {
  if (typeof value !== 'object' || value === null) return [[]];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, i) => [i, item])
    : Object.entries(value);
  return [[], ...entries.flatMap(([key, member]) => pathsOf(member).map((path) => [key, ...path]))];
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((at, key) => (at as Record<string | number, unknown>)[key], value);

test('every value is found where it stands, and is part of the text', () => {
  fc.assert(
    fc.property(document, (text) => {
      const value: unknown = JSON.parse(text);
      for (const path of pathsOf(value)) {
        const part = jsonAt(text, path) ?? 'missing';
        expect(text).toContain(part);
        expect(JSON.parse(part)).toEqual(valueAt(value, path));
      }
    }),
  );
});

test('another value in its place changes nothing else', () => {
  fc.assert(
    fc.property(document, fc.nat(), (text, pick) => {
      const paths = pathsOf(JSON.parse(text));
      const path = paths[pick % paths.length] ?? [];
      const part = jsonAt(text, path) ?? '';
      const holed = jsonWith(text, [[path, '"\u2603"']]);
      expect(jsonWith(holed, [[path, part]])).toBe(text);
      expect(jsonAt(holed, path)).toBe('"\u2603"');
    }),
  );
});

test('digits, escapes and white space stay as they came', () => {
  const text = String.raw`{ "a" : [1.50, 12345678901234567890 ,"\u00e9\"]"], "b\u0062": { } , "a": [ 7 ] }`;
  expect(jsonAt(text, ['bb'])).toBe('{ }');
  expect(jsonAt(text, ['a', 0])).toBe('7');
  expect(jsonKeys(text)).toEqual(['a', 'bb', 'a']);
  expect(jsonElements(String.raw`[1.50, 12345678901234567890 ,"\u00e9\"]"]`)).toEqual([
    '1.50',
    '12345678901234567890',
    String.raw`"\u00e9\"]"`,
  ]);
  expect([jsonAt(text, ['c']), jsonAt(text, ['a', 1]), jsonAt(text, ['a', 'x']), jsonElements('{}')]).toEqual(
    [undefined, undefined, undefined, []],
  );
});
