/** Arbitraries for what models, tools and people can send. */
import * as fc from 'fast-check';
import type { Json } from '../../src/event/json.ts';

/** Runs of one property; `FC_RUNS` raises it for a long night, `FC_SEED` and `FC_PATH` bring a failure back. */
export const settings = <T>(more: fc.Parameters<T> = {}): fc.Parameters<T> => {
  const { FC_RUNS, FC_SEED, FC_PATH } = process.env;
  return {
    numRuns: 200,
    ...more,
    ...(FC_RUNS !== undefined && { numRuns: Number(FC_RUNS) }),
    ...(FC_SEED !== undefined && { seed: Number(FC_SEED) }),
    ...(FC_PATH !== undefined && { path: FC_PATH }),
  };
};

/** Text with everything that text can hold, lone surrogates and NUL included. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom('__proto__', 'constructor', '\0', '\ud800', '\u2028', '😀', ''),
);

export const wellFormed: fc.Arbitrary<string> = text.map((one) => one.toWellFormed());

const number: fc.Arbitrary<number> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 53, 2 ** 53 + 2, 0.1 + 0.2),
);

/** Any JSON value; keys with `__proto__` among them, as own properties. */
export const json = (string: fc.Arbitrary<string>): fc.Arbitrary<Json> =>
  fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      number,
      string,
      fc.array(tie('value'), { maxLength: 5 }),
      fc
        .array(fc.tuple(string, tie('value')), { maxLength: 5 })
        .map((entries) => Object.fromEntries(entries) as Json),
    ),
  })).value;

/** A JSON value as text with white space, escapes and key orders that JSON.stringify would not choose. */
export const spelled = (value: fc.Arbitrary<Json>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.infiniteStream(fc.nat(5)))
    .map(([one, dice]) => spell(one, () => dice.next().value ?? 0));

const SPACES = ['', '', ' ', '\n', '\t', '\r\n '];

const spell = (value: Json, die: () => number): string => {
  const space = (): string => SPACES[die()] ?? '';
  if (typeof value === 'string') return spellText(value, die);
  if (typeof value === 'number') return spellNumber(value, die);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value))
    return `[${space()}${value.map((one: Json) => spell(one, die)).join(`${space()},${space()}`)}${space()}]`;
  const members = Object.entries(value).map(
    ([key, one]) => `${spellText(key, die)}${space()}:${space()}${spell(one ?? null, die)}`,
  );
  if (die() > 3) members.reverse();
  return `{${space()}${members.join(`${space()},`)}${space()}}`;
};

const spellText = (value: string, die: () => number): string => {
  const units = Array.from({ length: value.length }, (_, i) => value.charAt(i));
  const escaped = units.map((unit, i) => {
    const alone = unit.isWellFormed();
    // Half a pair cannot stand by itself beside an escaped other half.
    if (alone && die() > 0) return JSON.stringify(unit).slice(1, -1);
    if (alone && unit === '/') return '\\/';
    return `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped.join('')}"`;
};

/** What may stand behind a whole number without changing it. */
const TAILS = ['.0', '.000', 'e0', 'E+0', 'e-0', '.0e00'];

const spellNumber = (value: number, die: () => number): string => {
  const plain = Object.is(value, -0) ? '-0' : String(value);
  if (die() > 1 || !/^-?\d+$/.test(plain) || Math.abs(value) > 2 ** 50) return plain;
  return plain + (TAILS[die()] ?? '');
};

/** A value that is made when it is asked for: some of these cannot even be looked at. */
export type Made = { readonly odd?: number; readonly make: () => unknown };

const ODDITIES = 12;

/** Whatever a tool may return or throw, well meant or not. */
export const anything: fc.Arbitrary<Made> = fc.oneof(
  fc
    .anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
      withBoxedValues: true,
    })
    .map((value) => ({ make: () => value })),
  fc
    .oneof(
      text,
      fc.uint8Array({ maxLength: 2000 }),
      fc.string({ unit: 'binary', minLength: 200, maxLength: 3000 }),
    )
    .map((value) => ({ make: () => value })),
  fc.nat(ODDITIES - 1).map((odd) => ({ odd, make: () => oddity(odd) })),
);

function oddity(kind: number): unknown {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  switch (kind) {
    case 0:
      return undefined;
    case 1:
      return cycle;
    case 2:
      return Symbol('s');
    case 3:
      return () => 1;
    case 4:
      return new Date(Number.NaN);
    case 5:
      return {
        toJSON() {
          throw new Error('not as JSON');
        },
      };
    case 6:
      return {
        get trap(): never {
          throw new Error('do not look');
        },
      };
    case 7: {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    }
    case 8:
      return Object.assign(new Error('an error'), { message: { not: 'text' } });
    case 9:
      return new AggregateError([new Error('one'), 'two', null], 'several');
    case 10:
      return JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown;
    default:
      return (async function* () {
        yield 'a text, ';
        yield new TextEncoder().encode('bytes, ');
        yield 'and a text.';
      })();
  }
}
