/** An event's body comes out of its row as it went in, whatever it is. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { genesis, seal, type StoredEvent } from '../../src/event/envelope.ts';
import { eventCells, storedEvent } from '../../src/log/sqlite-row.ts';
import { noteEvent } from '../kit/chain.ts';
import { settings, wellFormed } from '../kit/arbitrary.ts';

const bytes = (event: StoredEvent): Uint8Array => Buffer.from(event.hash, 'hex');

const again = (event: StoredEvent): StoredEvent => {
  const [body, at, type] = eventCells(event);
  return storedEvent({ seq: event.seq, hash: bytes(event), body, at, type });
};

const withBody = (body: string, seq = 7): StoredEvent => ({ seq, hash: genesis('s'), body });

const sealedWith = (text: string, seq: number, at: number): StoredEvent =>
  seal(noteEvent(text), { seq, at, prev: genesis('s') }).stored;

describe('the row of an event', () => {
  test('holds its data without what stands around it, and gives the whole back', () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(), fc.nat(), (text, seq, at) => {
        const event = sealedWith(text, seq + 1, at);
        const [, cell, type] = eventCells(event);
        expect([cell, type]).toEqual([at, 'call.refused']);
        expect(again(event)).toEqual(event);
        // What it was sealed from makes the same row as its body, taken apart.
        expect(eventCells(event)).toEqual(eventCells({ ...event }));
      }),
      settings(),
    );
    for (const type of ['request.built', 'call.result', 'turn.ended']) {
      const event = withBody(`{"at":5,"data":{"a":1},"seq":7,"type":"${type}","v":1}`);
      expect(eventCells(event)[2]).toBe({ 'request.built': 0, 'call.result': 4 }[type] ?? type);
      expect(again(event)).toEqual(event);
    }
    const long = sealedWith('x'.repeat(10_000), 3, 1);
    expect(typeof eventCells(long)[0]).toBe('object');
    expect(again(long)).toEqual(long);
  });

  test('gives back what only looks like an event', () => {
    const pieces = fc.constantFrom(
      '{"at":',
      '1',
      '01',
      '1.0',
      '-1',
      '1e3',
      '9007199254740993',
      ',"data":',
      '{}',
      String.raw`{"a":",\"seq\":7"}`,
      ',"seq":',
      '7',
      '8',
      ',"type":"',
      'call.started',
      'a"b',
      '","v":1}',
      '","v":2}',
      ' ',
      '',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 10 }), (parts) => {
        const event = withBody(parts.join(''));
        expect(again(event)).toEqual(event);
      }),
      settings({ numRuns: 1000 }),
    );
  });

  test.each([
    '{"at":01,"data":{},"seq":7,"type":"call.started","v":1}',
    '{"at":9007199254740993,"data":{},"seq":7,"type":"call.started","v":1}',
    '{"at":1,"data":{},"seq":8,"type":"call.started","v":1}',
    '{"at":1,"data":{},"seq":7,"type":"call.started","v":2}',
    '{"at":1,"seq":7,"type":"call.started","v":1}',
    '{"at":1,"data":{},"seq":7,"type":"12","v":1}',
    '',
  ])('keeps %s whole', (body) => {
    expect(eventCells(withBody(body))).toEqual([body, null, null]);
  });

  test('keeps what else ends like the part around data', () => {
    const nested =
      '{"at":5,"data":{"x":",\\"seq\\":7,\\"type\\":\\"y\\",\\"v\\":1}"},"seq":7,"type":"a","v":1}';
    expect(again(withBody(nested))).toEqual(withBody(nested));
  });
});
