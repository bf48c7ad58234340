/** Places of tools that one worker counts: who is looked at when one comes free. */
import { expect, test } from 'vitest';
import type { Work } from '../../src/session/next.ts';
import { ToolSlots } from '../../src/worker/tool-slots.ts';
import { asking } from '../kit/story.ts';

test('a result has every session looked at where its tool was full, and none where there was room', () => {
  let looks = 0;
  const slots = new ToolSlots({ slow: 2 }, () => looks++);
  const [first, second, quick] = [attempt(1), attempt(2), attempt(3)];
  slots.hold('a', quick, 'quick');
  slots.drop('a', quick);
  slots.hold('a', first, 'slow');
  slots.drop('a', first);
  expect(looks).toBe(0);
  slots.hold('a', first, 'slow');
  slots.hold('b', second, 'slow');
  expect(slots.isFree('slow')).toBe(false);
  slots.drop('b', second);
  expect(looks).toBe(1);
  expect(slots.isFree('slow')).toBe(true);
  // Given back already.
  slots.drop('b', second);
  slots.keepOnly('b', []);
  expect(looks).toBe(1);
  slots.drop('a', first);
  expect(looks).toBe(1);
});

test('a place is one for a call and its attempt, whether it is to start or under way', () => {
  const slots = new ToolSlots({ slow: 1 }, () => undefined);
  const { call } = attempt(1);
  slots.hold('a', { kind: 'start', call, attempt: 1, pause: call.pause }, 'slow');
  slots.hold('a', { kind: 'execute', call, attempt: 1 }, 'slow');
  slots.keepOnly('a', [{ kind: 'execute', call, attempt: 1 }]);
  expect(slots.isFree('slow')).toBe(false);
  slots.keepOnly('a', [{ kind: 'execute', call, attempt: 2 }]);
  expect(slots.isFree('slow')).toBe(true);
});

/** The first attempt of the call with this index in a step of three. */
const attempt = (index: number): Extract<Work, { kind: 'execute' }> => {
  const call = asking(['a', 'b', 'c'].map((label) => ({ tool: 'once', label }))).state.active?.calls[
    index - 1
  ];
  if (!call) throw new Error(`The step has no call ${index}.`);
  return { kind: 'execute', call, attempt: 1 };
};
