/** What a front end is told adds up to what the log has, however much of the model's pieces was heard. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResponseBlock } from '../../src/event/content.ts';
import type { Beat } from '../../src/server/front/beat.ts';
import { Speech } from '../../src/server/front/speech.ts';
import type { StreamDelta } from '../../src/worker/jobs.ts';

const ATTEMPT = { turn: 1, step: 1, attempt: 1 };

const piece = (type: 'text' | 'reasoning', text: string): StreamDelta => ({ ...ATTEMPT, type, text });

/** What a page shows in the end: parts by id, without those that were taken back. Throws where the order is broken. */
const page = (beats: readonly Beat[]): readonly (readonly [kind: string, text: string])[] => {
  const parts = new Map<string, { kind: string; text: string; open: boolean }>();
  for (const beat of beats) {
    if (beat.kind === 'open') {
      if (parts.has(beat.part.id)) throw new Error(`${beat.part.id} twice`);
      parts.set(beat.part.id, { kind: beat.part.kind, text: '', open: true });
    }
    if (beat.kind === 'words' || beat.kind === 'close') {
      const part = parts.get(beat.part.id);
      if (!part?.open) throw new Error(`${beat.part.id} is not open`);
      if (beat.kind === 'words') part.text += beat.text;
      else part.open = false;
    }
    if (beat.kind === 'retake') for (const { id } of beat.parts) parts.delete(id);
  }
  if ([...parts.values()].some(({ open }) => open)) throw new Error('something is left open');
  return [...parts.values()].map(({ kind, text }) => [kind, text] as const);
};

const joined = (content: readonly ResponseBlock[]): readonly (readonly [string, string])[] => {
  const found: [string, string][] = [];
  for (const block of content) {
    if ((block.type !== 'text' && block.type !== 'reasoning') || block.text === '') continue;
    const last = found.at(-1);
    if (last?.[0] === block.type) last[1] += block.text;
    else found.push([block.type, block.text]);
  }
  return found;
};

const ids = (all: readonly Beat[]): string[] =>
  all.flatMap((beat) => (beat.kind === 'open' ? [beat.part.id] : []));

const texts = (all: readonly (readonly [string, string])[]): string[] =>
  all.flatMap(([kind, text]) => (kind === 'text' ? [text] : []));

const block = fc.record({
  type: fc.constantFrom('text' as const, 'reasoning' as const),
  text: fc.string({ maxLength: 6 }),
});
const response = fc.array(block, { maxLength: 5 });
/** For each piece of two characters, whether it is heard. */
const hearing = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });

const pieces = (content: readonly { type: 'text' | 'reasoning'; text: string }[]): StreamDelta[] =>
  content.flatMap(({ type, text }) => [piece(type, text.slice(0, 2)), piece(type, text.slice(2))]);

describe('what is told of a response', () => {
  test('is what the log has: heard whole, it is told as it comes and nothing is taken back', () => {
    fc.assert(
      fc.property(response, fc.boolean(), (content, early) => {
        const speech = new Speech('s');
        const heard = pieces(content);
        const before = early ? heard.flatMap((delta) => speech.delta(delta)) : [];
        const sent = speech.sent(ATTEMPT, true);
        const live = early ? [] : heard.flatMap((delta) => speech.delta(delta));
        const beats = [...before, ...sent, ...live, ...speech.received(ATTEMPT, content)];
        expect(page(beats)).toEqual(joined(content));
        expect(beats.some(({ kind }) => kind === 'retake')).toBe(false);
        const again = new Speech('s');
        const replay = [...again.sent(ATTEMPT, false), ...again.received(ATTEMPT, content)];
        expect(page(replay)).toEqual(page(beats));
        expect(ids(replay)).toEqual(ids(beats));
      }),
    );
  });

  test('is what the log has when pieces were lost: text that does not go on is taken back', () => {
    fc.assert(
      fc.property(response, hearing, (content, heard) => {
        const speech = new Speech('s');
        const beats = [
          ...speech.sent(ATTEMPT, true),
          ...pieces(content)
            .filter((_, i) => heard[i])
            .flatMap((delta) => speech.delta(delta)),
          ...speech.received(ATTEMPT, content),
        ];
        expect(texts(page(beats)).join('')).toEqual(texts(joined(content)).join(''));
      }),
    );
  });

  test('an attempt that was not heard from its first word is told whole at its end', () => {
    const speech = new Speech('s');
    expect([...speech.sent(ATTEMPT, false), ...speech.delta(piece('text', 'the middle'))]).toEqual([]);
    expect(page(speech.received(ATTEMPT, [{ type: 'text', text: 'not the middle' }]))).toEqual([
      ['text', 'not the middle'],
    ]);
  });

  test('what a failed attempt said is taken back, and the next one has ids of its own', () => {
    const speech = new Speech('s');
    const beats = [
      ...speech.sent(ATTEMPT, true),
      ...speech.delta(piece('text', 'Half')),
      ...speech.failed(),
      ...speech.sent({ ...ATTEMPT, attempt: 2 }, true),
      ...speech.delta({ ...piece('text', 'Whole'), attempt: 2 }),
      ...speech.received({ ...ATTEMPT, attempt: 2 }, [{ type: 'text', text: 'Whole.' }]),
    ];
    expect(page(beats)).toEqual([['text', 'Whole.']]);
    expect(beats.filter(({ kind }) => kind === 'retake')).toHaveLength(1);
  });
});
