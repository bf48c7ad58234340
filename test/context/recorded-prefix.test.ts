/** Request bodies that other programs sent, split at their conversation, and what one shares with the next. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitBody } from '../../src/context/body-split.ts';
import { commonBytes, sharedPrefix } from '../../src/context/shared-prefix.ts';
import { json, settings, spelled, text } from '../kit/arbitrary.ts';
import { recordings, recordingsMissing, type Recording } from '../kit/recordings.ts';

const FILES = ['anthropic', 'openai-responses', 'openai-chat', 'mixed'];
const why = recordingsMissing === undefined ? '' : `: skipped, ${recordingsMissing}`;
const missing = recordingsMissing !== undefined;

const joined = ({ head, parts, tail }: { head: string; parts: readonly string[]; tail: string }): string =>
  head + parts.join(',') + tail;

/** Byte by byte, in the simplest way there is. */
const commonPrefix = (one: Buffer, other: Buffer): number => {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
};

/** Where one element of an array ends: by parsing, which the splitter does not do. */
const elements = (body: string): readonly unknown[] | undefined => {
  const value = JSON.parse(body) as Record<string, unknown>;
  const array = value['messages'] ?? value['input'];
  return Array.isArray(array) ? (array as readonly unknown[]) : undefined;
};

const bodiesOf = (recording: Recording): readonly string[] =>
  recording.exchanges.flatMap(({ request: { body } }) => (body ? [JSON.stringify(body)] : []));

test.skipIf(missing)(`recorded bodies are put together again byte for byte${why}`, () => {
  let split = 0;
  for (const recording of FILES.flatMap(recordings))
    for (const exact of bodiesOf(recording))
      for (const body of [exact, JSON.stringify(JSON.parse(exact), null, 2)]) {
        const found = splitBody(body);
        const expected = elements(body);
        expect({ id: recording.id, split: found !== undefined }).toEqual({
          id: recording.id,
          split: expected !== undefined,
        });
        if (!found) continue;
        split++;
        expect(joined(found)).toBe(body);
        expect(found.parts.map((part) => JSON.parse(part) as unknown)).toEqual(expected);
      }
  expect(split).toBeGreaterThan(600);
});

test.skipIf(missing)(
  `the shared prefix of recorded requests is the true one, in bytes and in parts${why}`,
  () => {
    let [pairs, appended] = [0, 0];
    for (const recording of FILES.flatMap(recordings)) {
      const bodies = bodiesOf(recording);
      for (const [i, after] of bodies.entries()) {
        const before = bodies[i - 1];
        const [one, other] = [before === undefined ? undefined : splitBody(before), splitBody(after)];
        if (before === undefined || !one || !other) continue;
        pairs++;
        const shared = sharedPrefix(one, other);
        expect({ id: recording.id, i, bytes: shared.bytes }).toEqual({
          id: recording.id,
          i,
          bytes: commonPrefix(Buffer.from(before), Buffer.from(after)),
        });
        const [old = [], now = []] = [elements(before), elements(after)];
        const same = old.findIndex((part, at) => JSON.stringify(part) !== JSON.stringify(now[at]));
        const whole = same < 0 ? old.length : same;
        expect(shared.parts).toBe(one.head === other.head ? whole : 0);
        if (shared.appended) appended++;
      }
    }
    expect(pairs).toBeGreaterThan(150);
    expect(appended).toBeGreaterThan(80);
  },
);

test('any body is put together again, and any two share what they share', () => {
  const body = fc
    .tuple(
      fc.constantFrom('messages', 'input'),
      fc.array(spelled(json(text)), { maxLength: 4 }),
      spelled(json(text)),
    )
    .map(([key, parts, more]) => `{"a":${more} ,"${key}" : [${parts.join(', ')}],"z":[1,"]"]}`);
  fc.assert(
    fc.property(body, body, fc.nat(4), (before, after, keep) => {
      const one = splitBody(before);
      const other = splitBody(after);
      fc.pre(one !== undefined && other !== undefined);
      expect(joined(one)).toBe(before);
      // As it mostly is: the newer one goes on with the older one's beginning.
      const grown = { ...other, head: one.head, parts: [...one.parts.slice(0, keep), ...other.parts] };
      for (const next of [other, grown]) {
        const shared = sharedPrefix(one, next);
        expect(shared.bytes).toBe(commonPrefix(Buffer.from(before), Buffer.from(joined(next))));
        expect(one.parts.slice(0, shared.parts)).toEqual(next.parts.slice(0, shared.parts));
      }
    }),
    settings(),
  );
});

test('characters that differ share their first bytes', () => {
  for (const [one, other] of [
    ['a\u8000b', 'a\u8001b'],
    ['a\u{1F600}', 'a\u{1F601}'],
    ['a\u{1F600}', 'a\u{1F600}b'],
    ['\u00e9', '\u00e8'],
    ['', 'a'],
    ['same', 'same'],
  ] as const)
    expect([one, other, commonBytes(one, other)]).toEqual([
      one,
      other,
      commonPrefix(Buffer.from(one), Buffer.from(other)),
    ]);
});
