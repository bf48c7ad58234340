/** People are told of each question, each escalation and each doubt: once. */
import { expect, test } from 'vitest';
import type { NewEvent } from '../../src/event/events.ts';
import { untold } from '../../src/session/notices.ts';
import { summaryOf } from '../../src/session/summary.ts';
import {
  asking,
  cancelAsked,
  late,
  OK,
  prepared,
  result,
  settled,
  started,
  type Story,
  timeReached,
  toolDefinition,
  UNKNOWN,
} from '../kit/story.ts';

const topics = (story: Story): readonly string[] => {
  const found = untold(story.state).map(({ call, topic }) => `${call.id} ${topic}`);
  expect(summaryOf(story.state).untold).toBe(found.length);
  return found;
};

const told = (topic: string, problem?: string): NewEvent => ({
  type: 'notice.sent',
  data: {
    call: '1.1.1',
    topic,
    channels: [{ name: 'hook', attempts: 1, ...(problem !== undefined && { problem }) }],
  },
});

test('of a question, until the log says that they were, also where telling failed', () => {
  const story = asking([{ tool: 'asks' }, { tool: 'asks', args: '{"n":2}' }]);
  expect(topics(story)).toEqual(['1.1.1 asked 1', '1.1.2 asked 1']);
  story.when(told('asked 1', 'exit code 1'));
  expect(topics(story)).toEqual(['1.1.2 asked 1']);
});

test('of nothing any more, once somebody has decided or the turn was cancelled', () => {
  const decided = asking([{ tool: 'asks' }]);
  decided.answer('1.1.1', { do: 'approve' });
  expect(topics(decided)).toEqual([]);
  expect(topics(asking([{ tool: 'asks' }]).given(cancelAsked()))).toEqual([]);
});

test('of the escalation again, and of the question before it only once', () => {
  const policy = { ask: { escalate: { afterMs: 1000, to: ['cara'] } }, rules: [] };
  const story = asking([{ tool: 'asks' }], { policy }).given(told('asked 1'));
  expect(topics(story)).toEqual([]);
  story.later(1000).when(timeReached);
  expect(topics(story)).toEqual(['1.1.1 escalated 1']);
  story.given(told('escalated 1'), timeReached);
  expect(topics(story)).toEqual([]);
});

test('of the same call asked about anew, because its preview has changed', () => {
  const story = asking([{ tool: 'shows' }], { tools: [toolDefinition('shows', { previews: true })] });
  expect(topics(story)).toEqual([]);
  story.given(prepared('1.1.1', 'one', 'base'), told('asked 1'));
  story.answer('1.1.1', { do: 'approve' });
  story.when(prepared('1.1.1', 'two', 'other'));
  expect(topics(story)).toEqual(['1.1.1 asked 2']);
});

test('of each doubt, also of one that its turn has left behind, until it is settled', () => {
  const story = asking([{ tool: 'once' }]).given(started('1.1.1'), result('1.1.1', UNKNOWN));
  expect(topics(story)).toEqual(['1.1.1 in-doubt 1']);
  story.when(cancelAsked());
  expect(topics(story)).toEqual(['1.1.1 in-doubt 1']);
  story.when(told('in-doubt 1'));
  expect(topics(story)).toEqual([]);
  expect(story.state.leftOpen.map(({ phase }) => phase)).toEqual(['in-doubt']);
});

test('of a doubt about a further attempt anew, and of none that a late result has settled', () => {
  const story = asking([{ tool: 'once' }]).given(
    started('1.1.1'),
    result('1.1.1', UNKNOWN),
    told('in-doubt 1'),
  );
  story.given(settled('1.1.1', { answer: 'not-happened' }), started('1.1.1', 2), result('1.1.1', UNKNOWN, 2));
  expect(topics(story)).toEqual(['1.1.1 in-doubt 2']);
  story.when(late('1.1.1', OK, 2));
  expect(topics(story)).toEqual([]);
});
