/** A yes is to what was shown: where the world has changed since, it is asked again, and nothing runs on an old look. */
import { describe, expect, test } from 'vitest';
import { resultText } from '../../src/context/result-text.ts';
import type { ToolDefinition } from '../../src/event/definition.ts';
import {
  asking,
  BEN,
  lost,
  modeChanged,
  OK,
  prepared,
  refusedCall,
  result,
  RETRYABLE,
  settled,
  started,
  type Story,
  timeReached,
  toolDefinition,
  types,
  UNKNOWN,
} from '../kit/story.ts';

const TOOLS: readonly ToolDefinition[] = [
  toolDefinition('edit', { previews: true, retry: { attempts: 3, baseMs: 100, maxMs: 100 } }),
];

/** Shown, bound to "base" (or to nothing), and approved. */
const approved = (base: string | undefined = 'base'): Story => {
  const story = asking([{ tool: 'edit' }], { tools: TOOLS });
  story.when(prepared('1.1.1', 'one line', base));
  story.answer('1.1.1', { do: 'approve' });
  return story;
};

describe('right before the start', () => {
  test('the tool is asked for its preview again, and the same base lets the call start', () => {
    const story = approved();
    expect(story.work).toEqual(['prepare 1.1.1/1 again']);
    expect(story.later(1).when(prepared('1.1.1', 'one line', 'base'))).toEqual([]);
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('what was shown stays what was shown', () => {
    const story = approved();
    const shown = story.call('1.1.1').prepared;
    story.when(prepared('1.1.1', 'in other words', 'base'));
    expect(story.call('1.1.1').prepared).toEqual(shown);
  });

  test('another base is asked about again, with the new preview and under a new digest', () => {
    const story = approved();
    const first = story.call('1.1.1').digest;
    expect(types(story.later(1).when(prepared('1.1.1', 'two lines', 'other')))).toEqual([
      'approval.invalidated',
      'approval.requested',
    ]);
    expect(story.call('1.1.1')).toMatchObject({
      phase: 'asking',
      round: 2,
      prepared: { title: 'two lines' },
    });
    expect(story.work).toEqual([]);
    expect(story.call('1.1.1').digest).not.toBe(first);
    const old = { kind: 'decide', call: '1.1.1', digest: first as never, by: BEN } as const;
    expect(story.command({ ...old, decision: { do: 'approve' } })).toMatchObject({ code: 'digest-mismatch' });
    story.answer('1.1.1', { do: 'approve' });
    expect(story.work).toEqual(['prepare 1.1.1/2 again']);
  });

  test('no base at all where there was one is another base', () => {
    const story = approved();
    expect(types(story.when(prepared('1.1.1', 'one line')))).toEqual([
      'approval.invalidated',
      'approval.requested',
    ]);
  });

  test('a preview that now refuses closes the call, and the model hears why', () => {
    const story = approved();
    story.when(refusedCall('1.1.1'));
    expect(resultText(story.call('1.1.1'))).toEqual({ isError: true, text: 'There is no such file.' });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('a preview that is bound to nothing is not made again', () => {
    const story = asking([{ tool: 'edit' }], { tools: TOOLS });
    story.when(prepared('1.1.1', 'one line'));
    story.answer('1.1.1', { do: 'approve' });
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('an edit is previewed once, for the new arguments', () => {
    const story = asking([{ tool: 'edit' }], { tools: TOOLS });
    story.when(prepared('1.1.1', 'one line', 'base'));
    story.answer('1.1.1', { do: 'edit', args: '{"n":2}' });
    expect(story.work).toEqual(['prepare 1.1.1/1']);
    story.when(prepared('1.1.1', 'two lines', 'base'));
    expect(story.work).toEqual(['start 1.1.1#1']);
  });
});

describe('right before the start means then, and not some time before', () => {
  test('where the start did not come at that moment, it is looked at anew', () => {
    const story = approved();
    story.later(1).when(prepared('1.1.1', 'one line', 'base'));
    story.later(1).when(timeReached);
    expect(story.work).toEqual(['prepare 1.1.1/1 again']);
    expect(types(story.when(prepared('1.1.1', 'two lines', 'other')))).toEqual([
      'approval.invalidated',
      'approval.requested',
    ]);
  });

  test('after a freeze, and after a process that was stopped in between', () => {
    const story = approved();
    story.later(1).when(prepared('1.1.1', 'one line', 'base'));
    story.later(1).when(modeChanged('frozen'));
    expect(story.work).toEqual([]);
    story.later(1000).when(modeChanged('normal'));
    expect(story.work).toEqual(['prepare 1.1.1/1 again']);
    story.later(1).when(prepared('1.1.1', 'one line', 'base'));
    story.later(1000).when(lost);
    expect(story.work).toEqual(['prepare 1.1.1/1 again']);
  });

  test('a further attempt of what has started is not stopped by what the first one did', () => {
    const story = approved();
    story.given(prepared('1.1.1', 'one line', 'base'), started('1.1.1'), result('1.1.1', RETRYABLE));
    expect(story.later(100).work).toEqual(['start 1.1.1#2']);
  });
});

test('the yes to a second question, after a call in doubt, is rechecked like the first', () => {
  const story = approved();
  story.given(prepared('1.1.1', 'one line', 'base'), started('1.1.1'), result('1.1.1', UNKNOWN));
  story.when(settled('1.1.1', { answer: 'not-happened' }));
  expect(story.work).toEqual(['prepare 1.1.1/1']);
  story.when(prepared('1.1.1', 'one line', 'base'));
  expect(story.call('1.1.1')).toMatchObject({ phase: 'asking', round: 2 });
  story.answer('1.1.1', { do: 'approve' });
  expect(story.work).toEqual(['prepare 1.1.1/2 again']);
  expect(types(story.later(1).when(prepared('1.1.1', 'two lines', 'other')))).toEqual([
    'approval.invalidated',
    'approval.requested',
  ]);
  story.answer('1.1.1', { do: 'approve' });
  story.when(prepared('1.1.1', 'two lines', 'other'));
  expect(story.work).toEqual(['start 1.1.1#2']);
  story.given(started('1.1.1', 2), result('1.1.1', OK, 2));
  expect(story.call('1.1.1').closing?.kind).toBe('ok');
});
