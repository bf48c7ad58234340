/** A result that comes after its attempt was given up: evidence where there is none, and never a second outcome. */
import { describe, expect, test } from 'vitest';
import { resultText } from '../../src/context/result-text.ts';
import type { CallState } from '../../src/session/state.ts';
import {
  asking,
  FAILED,
  late,
  OK,
  reconciled,
  result,
  settled,
  started,
  UNKNOWN,
  type Story,
} from '../kit/story.ts';

/** A session in which one call of the tool was started. */
const running = (tool: string): Story => {
  const story = asking([{ tool, args: '{"a":1}' }]);
  return story.given(started('1.1.1'));
};

const closing = (story: Story): CallState['closing'] => story.call('1.1.1').closing;

const timedOut = (): Story => running('once').given(result('1.1.1', UNKNOWN));

describe('a result that comes late', () => {
  test('resolves the doubt, and the model is told that it came late', () => {
    const story = timedOut();
    story.when(late('1.1.1', OK));
    expect(resultText(story.call('1.1.1'))).toEqual({
      isError: false,
      text: expect.stringMatching(/came late.*\nfine/) as unknown,
    });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('that says it failed resolves the doubt, too', () => {
    const story = timedOut();
    story.when(late('1.1.1', FAILED));
    expect(closing(story)).toEqual({ kind: 'failed', code: 'no-luck', message: 'It did not work.' });
  });

  test('that knows nothing leaves the doubt', () => {
    const story = timedOut();
    story.when(late('1.1.1', UNKNOWN));
    expect(story.waiting.inDoubt).toEqual(['1.1.1']);
  });

  test('after a person has answered changes nothing', () => {
    const story = timedOut().given(settled('1.1.1', { answer: 'give-up' }));
    story.when(late('1.1.1', OK));
    expect(closing(story)).toMatchObject({ kind: 'given-up' });
  });

  test('of a reconcilable call resolves it before the tool has answered, whose answer then changes nothing', () => {
    const story = running('reconcilable').given(result('1.1.1', UNKNOWN));
    story.when(late('1.1.1', OK));
    story.when(reconciled('1.1.1', { happened: false }));
    expect(closing(story)).toMatchObject({ kind: 'ok', by: 'late-result' });
  });

  test('does not disturb an attempt that runs already', () => {
    const story = running('idempotent').given(result('1.1.1', UNKNOWN), started('1.1.1', 2));
    story.when(late('1.1.1', OK));
    expect(story.call('1.1.1').phase).toBe('started');
  });

  test('a failure of an older attempt does not answer for the last one', () => {
    const story = timedOut().given(
      settled('1.1.1', { answer: 'not-happened' }),
      started('1.1.1', 2),
      result('1.1.1', UNKNOWN, 2),
    );
    expect(story.waiting.inDoubt).toEqual(['1.1.1']);
    story.when(late('1.1.1', FAILED, 1));
    expect(story.waiting.inDoubt).toEqual(['1.1.1']);
  });

  test('while a person is asked again after "it did not happen": it did, and is not run again', () => {
    const story = asking([{ tool: 'asks' }]);
    const approve = (): void =>
      void story.command({
        kind: 'decide',
        call: '1.1.1',
        digest: story.call('1.1.1').digest ?? ('' as never),
        decision: { do: 'approve' },
        by: { kind: 'person', name: 'anna' },
      });
    approve();
    story.given(started('1.1.1'), result('1.1.1', UNKNOWN), settled('1.1.1', { answer: 'not-happened' }));
    expect(story.waiting.approvals).toEqual(['1.1.1']);
    story.when(late('1.1.1', OK));
    expect(closing(story)).toMatchObject({ kind: 'ok' });
    expect(story.work).toEqual(['build 1.2']);
  });
});
