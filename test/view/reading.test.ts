/** Views over real logs of the pure core: totals, places, lines, bars. */
import { array, assert, constantFrom, integer, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { argumentsBrief, contentBrief, cutText, firstLine } from '../../src/view/brief.ts';
import { eventLine } from '../../src/view/event-line.ts';
import { nearest } from '../../src/view/nearest.ts';
import { Reading } from '../../src/view/reading.ts';
import { inputSummary } from '../../src/view/schema-summary.ts';
import { sessionHead, totalsText, turnHead } from '../../src/view/session-head.ts';
import { timeline } from '../../src/view/timeline.ts';
import { transcript } from '../../src/view/transcript.ts';
import { requestDiff } from '../../src/view/request-view.ts';
import {
  accepted,
  answered,
  built,
  cancelAsked,
  FAILED,
  failedRequest,
  late,
  lost,
  OK,
  result,
  settled,
  started,
  Story,
  UNKNOWN,
} from '../kit/story.ts';

const readingOf = (story: Story): Reading => new Reading('s_STORY', story.events);

/** Two turns: one done, one with a call that waits and one in doubt. */
const story = (): Story =>
  new Story()
    .given(accepted(1, 'First.\nMore.'), built())
    .later(1000)
    .given(answered({ text: 'I look.', calls: [{ tool: 'none' }], cost: 0.5 }), started('1.1.1'))
    .later(2000)
    .given(result('1.1.1', OK), built(1, 2))
    .later(500)
    .given(answered({ text: 'Done.', cost: 0.25 }, [1, 2]))
    .later(60_000)
    .given(accepted(2, 'Second.'), built(2, 1))
    .later(1000)
    .given(answered({ text: '', calls: [{ tool: 'once' }, { tool: 'asks' }] }, [2, 1]), started('2.1.1'))
    .later(3000)
    .given(lost);

test('a-head-says-how-it-stands: the most urgent state, unknown cost in words', () => {
  const reading = readingOf(story());
  const head = sessionHead(reading);
  expect(head).toMatchObject({ status: 'in-doubt', inDoubt: 1, waiting: 1, cacheShare: undefined });
  expect(totalsText(head)).toBe(`${reading.events.length} events, $0.7500`);
  expect(turnHead(reading, 1)).toMatchObject({ state: 'done', cost: '$0.7500', from: 2 });
  expect(turnHead(reading, 2)).toMatchObject({ state: 'in doubt', to: reading.events.length });
  const unknown = new Story().given(accepted(), built(), answered({ text: 'x', cost: undefined } as never));
  expect(totalsText(sessionHead(readingOf(unknown)))).toMatch(/cost unknown$/);
});

test('each-call-once: a conversation has one line for how a call stands', () => {
  const reading = readingOf(story());
  const { rows, above } = transcript(reading);
  expect(above).toBe(0);
  const lines = rows.flatMap((row) => (row.kind === 'line' ? [row.line] : []));
  expect(lines.filter((line) => line.who === 'none').map((line) => line.mark)).toEqual(['ok']);
  expect(lines.filter((line) => line.who === 'once').map((line) => line.mark)).toEqual(['doubt']);
  expect(lines.filter((line) => line.who === 'asks').map((line) => line.mark)).toEqual(['wait']);
  expect(rows.filter((row) => row.kind === 'turn').map((row) => row.turn)).toEqual([1, 2]);
  expect(lines.find((line) => line.text.startsWith('process lost'))?.text).toContain('once 2.1.1');
});

test('bars-stay-on-their-axis: in order, within the turn, waiting takes no room', () => {
  const told = story()
    .later(3_600_000)
    .given(settled('2.1.1', { answer: 'give-up' }));
  const reading = readingOf(told);
  const { rows } = timeline(reading, { now: (reading.events.at(-1)?.at ?? 0) + 3_600_000 });
  const bars = rows.flatMap((row) => (row.kind === 'event' && row.bar ? [row.bar] : []));
  for (const { from, to } of bars) {
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeLessThanOrEqual(1);
    expect(to).toBeGreaterThanOrEqual(from);
  }
  const waits = rows.flatMap((row) => (row.kind === 'event' && row.line.mark === 'wait' ? [row] : []));
  expect(waits.map(({ bar }) => bar?.kind)).toEqual(['waiting']);
  // It waits for more than an hour, and still the work has most of the axis.
  expect(waits[0]?.ms).toBeGreaterThan(3_600_000);
  expect(waits[0]?.bar?.from).toBeGreaterThan(0.2);
  const models = rows.flatMap((row) => (row.kind === 'event' && row.line.who === 'model' ? [row.bar] : []));
  expect(models.at(-1)).toMatchObject({ from: 0, to: 0.25 });
  const steps = rows.flatMap((row) => (row.kind === 'step' ? [[row.turn, row.step, row.ms]] : []));
  expect(steps).toEqual([
    [1, 1, 3000],
    [1, 2, 500],
    [2, 1, undefined],
  ]);
});

const EVENTS = [
  () => lost,
  () => cancelAsked(1),
  () => failedRequest({ kind: 'overloaded', message: 'Busy.' }),
  () => result('1.1.1', OK),
  () => result('1.1.2', FAILED),
  () => result('1.1.3', UNKNOWN),
  () => late('1.1.4', OK),
  () => started('1.1.4'),
  () => settled('1.1.4', { answer: 'give-up' }),
  () => accepted(2),
  () => built(1, 2),
  () => answered({ text: 'x' }, [1, 2]),
] as const;

test('total-over-any-log: every event has a line, folding step by step equals folding at once', () => {
  assert(
    property(array(constantFrom(...EVENTS), { maxLength: 30 }), (chosen) => {
      const told = new Story().given(
        accepted(),
        built(),
        answered({ calls: ['none', 'idempotent', 'reconcilable', 'once', 'asks'].map((tool) => ({ tool })) }),
      );
      for (const make of chosen) told.when(make());
      const whole = readingOf(told);
      for (const event of whole.events) {
        const line = eventLine(whole, event);
        expect(line.seq).toBe(event.seq);
        expect(`${line.who}${line.text}`).not.toBe('');
      }
      const step = new Reading('s_STORY');
      for (const event of told.events) {
        step.push(event);
        eventLine(step, event);
      }
      const now = 0;
      expect(timeline(step, { now })).toEqual(timeline(whole, { now }));
      expect(
        timeline(whole, { now, everyEvent: true }).rows.filter((row) => row.kind === 'event'),
      ).toHaveLength(whole.events.length);
      const { rows, above } = transcript(whole, { rowsMax: 5 });
      const all = transcript(whole).rows.filter((row) => row.kind === 'line');
      expect(above + rows.filter((row) => row.kind === 'line').length).toBe(all.length);
    }),
  );
});

test('briefs-are-short-and-true', () => {
  expect(argumentsBrief('{"to":"x@y.example","n":3,"lines":["a","b"],"o":{"a":1}}')).toBe(
    'to x@y.example, n 3, lines 2 items, o {…}',
  );
  expect(argumentsBrief('{broken')).toBe('{broken');
  expect(argumentsBrief(JSON.stringify({ text: 'a'.repeat(500) })).length).toBeLessThan(70);
  expect(argumentsBrief(JSON.stringify({ text: 'a'.repeat(50_000) }))).toBe('50 kB of arguments');
  expect(firstLine('\n  one \n two')).toBe('one …');
  expect(firstLine('one\n\n')).toBe('one');
  expect(contentBrief([{ type: 'text', text: 'short' }])).toBe('“short”');
  expect(contentBrief([{ type: 'text', text: 'ä'.repeat(2000) }])).toBe('4.0 kB');
  expect(contentBrief([])).toBe('nothing returned');
  assert(
    property(string({ unit: 'binary' }), integer({ min: 1, max: 20 }), (text, max) => {
      const cut = cutText(text, max);
      expect(Array.from(cut).length).toBeLessThanOrEqual(Math.max(max, 1));
      expect(cut === text || text.startsWith(cut.slice(0, -1))).toBe(true);
    }),
  );
});

test('did-you-mean-is-near-or-silent', () => {
  const known = ['sessions', 'show', 'send', 'settle'];
  expect(nearest('sesions', known)).toBe('sessions');
  expect(nearest('shwo', known)).toBe('show');
  expect(nearest('zzz', known)).toBeUndefined();
  expect(nearest('x'.repeat(10_000), known)).toBeUndefined();
});

test('a-schema-in-a-line: names, what may be left out, kinds', () => {
  expect(
    inputSummary({
      type: 'object',
      properties: {
        path: { type: 'string' },
        lines: { type: 'object', properties: { from: { type: 'integer' } } },
        mode: { enum: ['a', 'b'] },
        days: { type: 'array', items: { enum: ['MO', 'TU'] } },
      },
      required: ['path', 'mode'],
    }),
  ).toBe('path, lines?: {from?: integer}, mode: "a" | "b", days?: ("MO" | "TU")[]');
  expect(inputSummary({ type: 'object' })).toBe('none');
});

const request = (head: string, ...texts: string[]): Parameters<typeof requestDiff>[0] => ({
  head,
  tail: ']}',
  body: '',
  parts: texts.map((text, i) => ({ seq: i + 1, text })),
});

const signs = (before: string[], after: string[]): string =>
  requestDiff(request('h', ...before), request('h', ...after))
    .map((change) => change.sign)
    .join('');

test('a-diff-of-requests: everything after the first difference is other', () => {
  expect(signs(['a', 'b'], ['a', 'b', 'c'])).toBe('===+');
  expect(signs(['a', 'b', 'c'], ['a', 'x', 'c'])).toBe('==--++');
  expect(requestDiff(request('h'), request('g')).map((change) => change.sign)).toEqual(['-', '+']);
});
