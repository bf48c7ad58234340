/** Server-sent events (WHATWG HTML, 9.2.6): decoded the same whatever ends a line and wherever the bytes are split. */
import { expect, test } from 'vitest';
import { EventDecoder, type ServerEvent } from '../../src/model/openai-events.ts';

const TEXT = ': ping\n\nevent: x\ndata: {"a":\ndata:"完了 😀"}\nid: 7\n\ndata\n\nretry: 1\n\ndata:  two\n\n';
const EXPECTED = ['{"a":\n"完了 😀"}', '', ' two'];

const decoded = (pieces: readonly Uint8Array[]): readonly ServerEvent[] => {
  const decoder = new EventDecoder();
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
};

test.each(['\n', '\r\n', '\r'])('lines that end in %j, split in three anywhere', (end) => {
  const bytes = Buffer.from(`\uFEFF${TEXT.replaceAll('\n', end)}`);
  const expected = EXPECTED.map((data) => ({ data, last: false }));
  const wrong: number[][] = [];
  for (let a = 0; a <= bytes.length; a++)
    for (let b = a; b <= bytes.length; b++) {
      const found = decoded([bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)]);
      if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push([a, b]);
    }
  expect(wrong).toEqual([]);
});

test('an event without its empty line is the last, and may be cut', () => {
  expect(decoded([Buffer.from('data: whole\n\ndata: cu')])).toEqual([
    { data: 'whole', last: false },
    { data: 'cu', last: true },
  ]);
  expect(decoded([Buffer.from('data: cu\n')])).toEqual([{ data: 'cu', last: true }]);
  expect(decoded([Buffer.from(': nothing')])).toEqual([]);
});
