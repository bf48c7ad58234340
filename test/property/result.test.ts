/** Whatever a tool returns or throws becomes one outcome, within its limits and fit for the log. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical, sha256 } from '../../src/event/canonical.ts';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import type { Outcome } from '../../src/event/content.ts';
import { encodeResult, type EncodedResult, type ResultLimits } from '../../src/worker/result.ts';
import { resultJson } from '../../src/worker/result-json.ts';
import { thrownOutcome } from '../../src/worker/thrown.ts';
import { anything, json, settings, text } from '../kit/arbitrary.ts';

/** The line that says what was left out takes this much at most. */
const MARKER_BYTES = 200;

const effects = fc.constantFrom<EffectKind>('none', 'idempotent', 'reconcilable', 'once');

const limits: fc.Arbitrary<ResultLimits> = fc
  .record({ resultBytes: fc.integer({ min: 1, max: 1500 }), more: fc.nat(3000) })
  .map(({ resultBytes, more }) => ({ resultBytes, blobBytes: resultBytes + more }));

/** The log can hold it, and what it names as kept is there. */
const expectKept = (outcome: Outcome, blobs: EncodedResult['blobs']): void => {
  const written = canonical(outcome);
  expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(outcome)));
  const kept = new Set(blobs.map((blob) => blob.digest));
  for (const { digest, bytes } of blobs) expect(sha256(bytes)).toBe(digest);
  if (outcome.kind !== 'ok') return;
  for (const part of outcome.content) if (part.type === 'blob') expect(kept.has(part.blob.digest)).toBe(true);
  if (outcome.cut?.whole) expect(kept.has(outcome.cut.whole.digest)).toBe(true);
};

describe('a returned value', () => {
  test('of any kind becomes one outcome, never an exception, and no text is over its limit', async () => {
    await fc.assert(
      fc.asyncProperty(anything, effects, limits, async ({ make }, effect, some) => {
        const { outcome, blobs } = await encodeResult(make(), effect, some);
        expectKept(outcome, blobs);
        // A tool with an effect that returned has done it.
        expect(effect === 'none' || outcome.kind === 'ok').toBe(true);
        const parts = outcome.kind === 'ok' ? outcome.content : [];
        const texts = parts.flatMap((part) => (part.type === 'blob' ? [] : [Buffer.byteLength(part.text)]));
        expect(Math.max(0, ...texts)).toBeLessThanOrEqual(some.resultBytes + MARKER_BYTES);
      }),
      settings({ numRuns: 500 }),
    );
  });

  test('that is a text within its limit comes back as it is', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const { outcome } = await encodeResult(value, 'none', { resultBytes: 10_000, blobBytes: 10_000 });
        expect(outcome).toEqual({ kind: 'ok', content: [{ type: 'text', text: value }] });
      }),
      settings(),
    );
  });

  test('that is a text over its limit is cut between characters, says what is missing, and is kept whole', async () => {
    const long = fc.oneof(
      fc.string({ unit: 'binary', minLength: 300, maxLength: 2000 }),
      fc.string({ unit: fc.constantFrom('😀', 'é', 'a', '€'), minLength: 300, maxLength: 900 }),
    );
    await fc.assert(
      fc.asyncProperty(long, fc.integer({ min: 130, max: 280 }), async (value, resultBytes) => {
        const { outcome, blobs } = await encodeResult(value, 'none', { resultBytes, blobBytes: 100_000 });
        if (outcome.kind !== 'ok') throw new Error('it was returned');
        const [part] = outcome.content;
        if (part?.type !== 'text') throw new Error('it is a text');
        expect(part.text.isWellFormed()).toBe(true);
        expect(part.text.replaceAll(/\ufffd/g, '').length).toBeGreaterThan(0);
        const match = /^([^]*)\n\[… (\d+) bytes left out here; the record has the rest …\]\n([^]*)$/.exec(
          part.text,
        );
        const bytes = Buffer.byteLength(value);
        expect(Number(match?.[2])).toBe(
          bytes - Buffer.byteLength(match?.[1] ?? '') - Buffer.byteLength(match?.[3] ?? ''),
        );
        expect(value.startsWith(match?.[1] ?? '?')).toBe(true);
        expect(value.endsWith(match?.[3] ?? '?')).toBe(true);
        expect(outcome.cut).toMatchObject({ bytes, kept: Buffer.byteLength(part.text) });
        expect(blobs[0] && Buffer.from(blobs[0].bytes).toString()).toBe(value.toWellFormed());
      }),
      settings(),
    );
  });

  test('that is JSON comes back as JSON with the same meaning', () => {
    fc.assert(
      fc.property(json(text), (value) => {
        expect(JSON.parse(resultJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      settings(),
    );
  });

  test('that has holes is still JSON', () => {
    // eslint-disable-next-line no-sparse-arrays -- the hole is what is tested
    expect(JSON.parse(resultJson([1, , 3]))).toEqual([1, null, 3]);
    expect(JSON.parse(resultJson({ a: [undefined, 1] }))).toEqual({ a: [null, 1] });
  });

  test('that is a stream loses nothing, whatever pieces it is made of', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 20 })), {
          maxLength: 6,
        }),
        async (pieces) => {
          const stream = (async function* () {
            yield* pieces;
          })();
          const { outcome, blobs } = await encodeResult(stream, 'none', {
            resultBytes: 10_000,
            blobBytes: 10_000,
          });
          if (outcome.kind !== 'ok') throw new Error('it was returned');
          const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
          const [part] = outcome.content;
          const kept =
            part?.type === 'blob' ? Buffer.from(blobs[0]?.bytes ?? []) : Buffer.from(part?.text ?? '');
          expect(kept.toString('hex')).toBe(whole.toString('hex'));
        },
      ),
      settings(),
    );
  });

  test('that is a stream over the limit says so, whatever the limits are, and its producer is stopped', async () => {
    for (const some of [
      { resultBytes: 500, blobBytes: 1000 },
      { resultBytes: 5000, blobBytes: 1000 },
    ]) {
      let produced = 0;
      let stopped = false;
      const endless = (async function* () {
        try {
          for (;;) {
            produced += 100;
            yield 'x'.repeat(100);
          }
        } finally {
          stopped = true;
        }
      })();
      const { outcome } = await encodeResult(endless, 'none', some);
      expect(stopped).toBe(true);
      expect(produced).toBeLessThan(1500);
      expect(outcome).toMatchObject({ kind: 'ok', cut: {} });
    }
  });
});

describe('a thrown value', () => {
  test('of any kind becomes one outcome, never another exception', () => {
    fc.assert(
      fc.property(anything, effects, ({ make }, effect) => {
        const outcome = thrownOutcome(make(), effect);
        expectKept(outcome, []);
        // Whoever throws something unknown has proved nothing, unless he only reads.
        expect(outcome.kind).toBe(effect === 'none' ? 'failed' : 'unknown');
        if (outcome.kind === 'ok') return;
        expect(outcome.message.isWellFormed()).toBe(true);
        expect(outcome.code).not.toBe('');
      }),
      settings({ numRuns: 500 }),
    );
  });
});
