/** Promise: what a tool returned or threw reaches the model whole, or the model is told that it did not. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/event/content.ts';
import { encodeResult } from '../../src/worker/result.ts';
import { describeThrown } from '../../src/worker/thrown.ts';
import { settings } from '../kit/arbitrary.ts';

const LIMITS = { resultBytes: 10_000, blobBytes: 100_000 };
const returned = async (value: unknown, limits = LIMITS): Promise<Outcome> =>
  (await encodeResult(value, 'none', limits)).outcome;
const textOf = (outcome: Outcome): string => {
  if (outcome.kind !== 'ok') return `${outcome.code}: ${outcome.message}`;
  return outcome.content.map((part) => (part.type === 'blob' ? '' : part.text)).join('');
};

async function* streamOf(chunks: readonly unknown[]): AsyncGenerator<unknown, void, undefined> {
  for (const chunk of chunks) yield chunk;
}

describe('a streamed result', () => {
  test('is the same text wherever its pieces end, within a surrogate pair too', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\n'), minLength: 1, maxLength: 60 }),
        fc.array(fc.nat(120), { maxLength: 6 }),
        async (text, cuts) => {
          const at = [
            0,
            ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b),
            text.length,
          ];
          const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
          expect(textOf(await returned(streamOf(pieces)))).toBe(text);
        },
      ),
      settings(),
    );
  });

  test('of rows is one line of JSON a row, with all digits', async () => {
    const rows = [{ id: 9_007_199_254_740_993n }, ['a'], 1, null, undefined];
    expect(textOf(await returned(streamOf(rows)))).toBe('{"id":9007199254740993}\n["a"]\n1\nnull\nnull\n');
  });

  test('with a row that cannot be written down is a failure that says where', async () => {
    const row: { self?: unknown } = {};
    row.self = row;
    expect(textOf(await returned(streamOf(['a', row])))).toMatch(/^result-not-serializable: .*\.self/);
  });
});

describe('a cut', () => {
  test('says that the record has the rest only where it has', async () => {
    const text = 'x'.repeat(5000);
    const kept = await returned(text, { resultBytes: 500, blobBytes: 10_000 });
    expect(textOf(kept)).toMatch(/the record has the rest/);
    expect(kept).toMatchObject({ cut: { whole: { bytes: 5000 } } });
    const lost = await returned(text, { resultBytes: 500, blobBytes: 1000 });
    expect(textOf(lost)).toMatch(/bytes left out here; nobody kept them/);
    expect(lost).not.toMatchObject({ cut: { whole: expect.anything() } });
  });
});

describe('an object that JSON.stringify would show as {}', () => {
  class Account {
    readonly #balance = 7;
    get balance(): number {
      return this.#balance;
    }
  }

  test.each([
    ['search parameters', new URLSearchParams('a=1&b=2'), '[["a","1"],["b","2"]]'],
    ['headers', new Headers({ accept: 'x' }), '[["accept","x"]]'],
    ['a pattern', { p: /a+/giu }, '{"p":"/a+/giu"}'],
    ['a boxed number', { n: Object(3) as unknown }, '{"n":3}'],
    ['an empty object', {}, '{}'],
    ['one without a prototype', Object.create(null), '{}'],
  ])('%s keeps what it holds', async (_, value, text) => {
    expect(textOf(await returned(value))).toBe(text);
  });

  test.each([
    ['a promise', { rows: Promise.resolve(1) }, /at \.rows is an object \(Promise\)/],
    ['a generator', [1].values(), /shows nothing/],
    ['a weak map', new WeakMap(), /\(WeakMap\) that shows nothing/],
    ['private fields', { account: new Account() }, /at \.account is an object \(Account\)/],
  ])('%s is a failure and not an empty success', async (_, value, message) => {
    expect(textOf(await returned(value))).toMatch(message);
  });
});

describe('what a tool throws', () => {
  const cyclic: Record<string, unknown> = { code: 'E_LOOP', left: 0 };
  cyclic['self'] = cyclic;
  const relabelled = new Error('first');
  Object.assign(relabelled, { message: { reason: 'quota', left: 0 } });

  test.each([
    [
      'an object with digits',
      { code: 'E_QUOTA', left: 12_345_678_901_234_567_890n },
      'E_QUOTA',
      /"left":12345678901234567890/,
    ],
    ['an object that holds itself', cyclic, 'E_LOOP', /code: "E_LOOP", left: 0.*\.self refers back/],
    ['a map', new Map([['left', 0]]), 'tool-threw', /\{"left":0\}/],
    ['a number', 42, 'tool-threw', /threw 42\./],
    ['a symbol', Symbol('quota'), 'tool-threw', /Symbol\(quota\)/],
    ['a function', textOf, 'tool-threw', /the function textOf/],
    ['an error whose message is an object', relabelled, 'tool-error', /"reason":"quota"/],
    [
      'an error with the code of a database',
      Object.assign(new Error('dup'), { code: 11_000 }),
      '11000',
      /dup/,
    ],
    ['an error without words', new TypeError(), 'tool-error', /TypeError/],
  ])('%s is described', (_, thrown, code, message) => {
    const described = describeThrown(thrown);
    expect(described.code).toBe(code);
    expect(described.message).toMatch(message);
    expect(described.message).not.toContain('[object ');
  });

  test.each([
    ['a text', 'the pool is closed', /the pool is closed/],
    ['an object', { status: 503, body: 'busy' }, /"status":503,"body":"busy"/],
    ['an error of errors', new AggregateError([new Error('a'), 'b'], 'both'), /both; a; b/],
  ])('the cause of an error is kept, be it %s', (_, cause, kept) => {
    const { message, detail } = describeThrown(new Error('outer', { cause }));
    expect(message).toBe('outer');
    expect(detail).toMatch(kept);
  });
});

describe('a stack trace', () => {
  const error = new Error('boom at the pump');
  const { stack = '' } = error;

  test.each([
    ['thrown as text', stack],
    ['in the message of an error', new Error(`upstream: ${stack}`)],
    ['of an error that came through JSON', { name: 'Error', message: 'boom at the pump', stack }],
    ['in one of several errors', new AggregateError([new Error(stack)], 'several')],
    ['of an error', error],
  ])('%s is kept in the record and not told to the model', (_, thrown) => {
    const { message, detail } = describeThrown(thrown);
    expect(message).toContain('boom at the pump');
    expect(message).not.toMatch(/odd-results|\.ts:\d+/);
    expect(detail).toMatch(/odd-results/);
  });
});
