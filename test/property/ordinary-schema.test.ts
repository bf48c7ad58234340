/** What is let through without Ajv is what Ajv lets through. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitsOrdinary } from '../../src/effect/ordinary-schema.ts';
import type { JsonObject } from '../../src/event/json.ts';
import type { StrictValue } from '../../src/event/strict.ts';
import { settings } from '../kit/arbitrary.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

/** Few keys and few values, so that schemas and values often meet. */
const key = fc.constantFrom('a', 'b', 'toString', 'constructor', '');
const number = fc.constantFrom(-1, 0, 1, 1.5, 2, 1e300);
const scalar = fc.oneof(number, fc.constantFrom('', 'x', 'yy', null, true, false));
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');

const { value, schema } = fc.letrec<{ value: StrictValue; schema: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
  schema: fc.record(
    {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }),
      minimum: number,
      maximum: number,
      exclusiveMinimum: number,
      exclusiveMaximum: number,
      minItems: fc.nat(2),
      maxItems: fc.nat(2),
      required: fc.uniqueArray(key, { maxLength: 2 }),
      properties: fc.dictionary(key, tie('schema'), { maxKeys: 3 }),
      additionalProperties: fc.boolean(),
      items: tie('schema'),
      description: fc.constant('what it is'),
      format: fc.constantFrom('date', 'nothing known'),
    },
    { requiredKeys: [] },
  ),
}));

/** As the product hands a value to Ajv: objects inherit nothing. */
const bare = (one: StrictValue): unknown => {
  if (one === null || typeof one !== 'object') return one;
  if (Array.isArray(one)) return one.map(bare);
  return Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(one).map(([k, v]) => [k, bare(v)])),
  );
};

/** Compiling is what takes time: once for many values. */
const byAjv = (of: object, values: readonly StrictValue[]): readonly boolean[] => {
  try {
    const validate = ajv.compile(of);
    return values.map((one) => validate(bare(one)));
  } finally {
    ajv.removeSchema(of);
  }
};

describe('a schema of ordinary keywords', () => {
  test('lets through exactly what Ajv does', () => {
    let passed = 0;
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 10, maxLength: 20 }), (of, values) => {
        const fitting = values.map((one) => fitsOrdinary(of as JsonObject, one));
        passed += fitting.filter(Boolean).length;
        expect(fitting).toEqual(byAjv(of, values));
      }),
      settings({ numRuns: 40 }),
    );
    expect(passed).toBeGreaterThan(0);
  });

  test.each([
    { type: 'strin' },
    { type: [] },
    { enum: [] },
    { required: ['a', 'a'] },
    { required: [1] },
    { properties: { a: 1 } },
    { minItems: -1 },
    { minimum: '1' },
    { items: [{}] },
    { $schema: 'http://json-schema.org/draft-07/schema#' },
  ])('%j is none, and left to Ajv', (of) => {
    for (const one of [1, 'x', null, {}, { a: 1 }, []])
      expect(fitsOrdinary(of as JsonObject, one)).toBe(false);
  });

  test.each([
    { pattern: '^a' },
    { anyOf: [{}] },
    { $ref: '#' },
    { uniqueItems: true },
    { minLength: 1 },
    { nullable: true },
  ])('%j is more than ordinary, and left to Ajv', (of) =>
    expect(fitsOrdinary(of as JsonObject, 'abc')).toBe(false),
  );

  test('whole numbers beyond 2^53 are left to Ajv', () => {
    expect(fitsOrdinary({}, 9007199254740993n)).toBe(false);
  });
});
