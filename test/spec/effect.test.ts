/** What follows from how an attempt ended, for each effect kind: again, doubt, or the end of the call. */
import { describe, expect, test } from 'vitest';
import { resultText } from '../../src/context/result-text.ts';
import type { NewEvent } from '../../src/event/events.ts';
import type { CallState } from '../../src/session/state.ts';
import {
  asking,
  built,
  FAILED,
  KINDS,
  late,
  lost,
  OK,
  reconciled,
  result,
  RETRYABLE,
  settled,
  started,
  toolDefinition,
  types,
  UNKNOWN,
  type Story,
  type StoryOptions,
} from '../kit/story.ts';

/** A session in which one call of the tool was started. */
const running = (tool: string, options: StoryOptions = {}): Story => {
  const story = asking([{ tool, args: '{"a":1}' }], options);
  return story.given(started('1.1.1'));
};

const closing = (story: Story): CallState['closing'] => story.call('1.1.1').closing;

const KINDS_WITH_EFFECT = ['idempotent', 'reconcilable', 'once'];

describe('an attempt that brought a result', () => {
  test.each(KINDS.map((tool) => tool.name).filter((name) => name !== 'asks'))(
    'of a tool of kind %s closes the call',
    (name) => {
      const story = running(name);
      expect(story.when(result('1.1.1', OK))).toEqual([]);
      expect(closing(story)).toMatchObject({ kind: 'ok' });
      expect(story.work).toEqual(['build 1.2']);
    },
  );

  test('a second result of the same attempt changes nothing', () => {
    const story = running('once').given(result('1.1.1', OK));
    const before = closing(story);
    story.when(result('1.1.1', { kind: 'ok', content: [{ type: 'text', text: 'another' }] }));
    expect(closing(story)).toBe(before);
  });

  test('a result of another attempt than the one that runs changes nothing', () => {
    const story = running('none');
    story.when(result('1.1.1', OK, 7));
    expect(story.call('1.1.1').phase).toBe('started');
  });
});

describe('an attempt that is known to have failed', () => {
  test.each(['none', ...KINDS_WITH_EFFECT])('of a tool of kind %s ends the call', (name) => {
    const story = running(name);
    expect(story.when(result('1.1.1', FAILED))).toEqual([
      {
        type: 'call.failed',
        data: { call: '1.1.1', attempt: 1, code: 'no-luck', message: 'It did not work.' },
      },
    ]);
    expect(story.work).toEqual(['build 1.2']);
  });

  test('is made again only where both the failure and the tool say so, and so often as the tool says', () => {
    const tools = [
      toolDefinition('once', { approval: 'never', retry: { attempts: 3, baseMs: 100, maxMs: 1000 } }),
    ];
    expect(types(running('once', { tools }).when(result('1.1.1', FAILED)))).toEqual(['call.failed']);
    expect(types(running('once').when(result('1.1.1', RETRYABLE)))).toEqual(['call.failed']);
    const story = running('once', { tools });
    expect(types(story.when(result('1.1.1', RETRYABLE)))).toEqual(['call.retry']);
    expect(story.work).toEqual(['start 1.1.1#2']);
    story.given(started('1.1.1', 2));
    expect(types(story.when(result('1.1.1', RETRYABLE, 2)))).toEqual(['call.retry']);
    story.given(started('1.1.1', 3));
    expect(types(story.when(result('1.1.1', RETRYABLE, 3)))).toEqual(['call.failed']);
  });

  test('waits between half and all of a time that doubles up to its limit', () => {
    const tools = [
      toolDefinition('none', { effect: 'none', retry: { attempts: 10, baseMs: 100, maxMs: 1000 } }),
    ];
    const story = running('none', { tools });
    const waits: number[] = [];
    for (let attempt = 1; attempt < 10; attempt++) {
      const [retry] = story.when(result('1.1.1', RETRYABLE, attempt));
      if (retry?.type !== 'call.retry') throw new Error('another attempt was expected');
      waits.push(retry.data.notBefore - story.state.lastAt);
      story.given(started('1.1.1', attempt + 1));
    }
    for (const [i, wait] of waits.entries()) {
      const full = Math.min(1000, 100 * 2 ** i);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }
  });

  test('another session waits another time, the same session the same', () => {
    const tools = [
      toolDefinition('none', { effect: 'none', retry: { attempts: 2, baseMs: 10_000, maxMs: 10_000 } }),
    ];
    const [one, two] = [0, 0].map(() => running('none', { tools }).when(result('1.1.1', RETRYABLE)));
    expect(one).toEqual(two);
    const other = asking([{ tool: 'none' }, { tool: 'none' }], { tools })
      .given(started('1.1.2'))
      .when(result('1.1.2', RETRYABLE));
    expect(other[0]?.data).not.toMatchObject({
      notBefore: one?.[0]?.data && 'notBefore' in one[0].data ? one[0].data.notBefore : -1,
    });
  });
});

describe('an attempt whose end is not known', () => {
  test('of a read is made again as often as the tool says, then told to the model', () => {
    expect(types(running('none').when(result('1.1.1', UNKNOWN)))).toEqual(['call.failed']);
    const tools = [toolDefinition('none', { effect: 'none', retry: { attempts: 2, baseMs: 1, maxMs: 1 } })];
    const story = running('none', { tools });
    expect(types(story.when(result('1.1.1', UNKNOWN)))).toEqual(['call.retry']);
    expect(types(story.given(started('1.1.1', 2)).when(result('1.1.1', UNKNOWN, 2)))).toEqual([
      'call.failed',
    ]);
  });

  test('of an idempotent tool is made again at once, at most five times, then in doubt', () => {
    const story = running('idempotent');
    for (let attempt = 1; attempt < 5; attempt++) {
      expect(story.when(result('1.1.1', UNKNOWN, attempt))).toMatchObject([
        { type: 'call.retry', data: { attempt: attempt + 1, notBefore: story.state.lastAt } },
      ]);
      story.given(started('1.1.1', attempt + 1));
    }
    expect(story.when(result('1.1.1', UNKNOWN, 5))).toMatchObject([
      { type: 'call.doubted', data: { reason: 'timeout' } },
    ]);
    expect(story.waiting.inDoubt).toEqual(['1.1.1']);
    expect(story.work).toEqual([]);
  });

  test('of a reconcilable tool is asked about first', () => {
    const story = running('reconcilable');
    expect(story.when(result('1.1.1', UNKNOWN))).toEqual([]);
    expect(story.work).toEqual(['reconcile 1.1.1#1']);
  });

  test('of a tool that acts once is in doubt', () => {
    const story = running('once');
    expect(story.when(result('1.1.1', UNKNOWN))).toEqual([
      { type: 'call.doubted', data: { call: '1.1.1', attempt: 1, reason: 'timeout' } },
    ]);
    expect(story.work).toEqual([]);
  });

  test('that was idempotent, and an attempt after it that failed: the first one still proves nothing', () => {
    const story = running('idempotent').given(result('1.1.1', UNKNOWN), started('1.1.1', 2));
    story.when(result('1.1.1', FAILED, 2));
    expect(closing(story)?.kind).not.toBe('failed');
  });
});

describe('a process that was lost', () => {
  test('a read is made again', () => {
    expect(running('none').when(lost)).toMatchObject([
      { type: 'call.retry', data: { attempt: 2, reason: 'process-lost' } },
    ]);
  });

  test('a read that is lost again and again is given up after five attempts', () => {
    const story = running('none');
    for (let attempt = 2; attempt <= 5; attempt++) {
      expect(types(story.when(lost))).toEqual(['call.retry']);
      story.given(started('1.1.1', attempt));
    }
    expect(story.when(lost)).toMatchObject([{ type: 'call.failed', data: { code: 'process-lost' } }]);
  });

  test('an idempotent call is made again', () => {
    expect(running('idempotent').when(lost)).toMatchObject([{ type: 'call.retry', data: { attempt: 2 } }]);
  });

  test('a reconcilable call is asked about', () => {
    const story = running('reconcilable');
    expect(story.when(lost)).toEqual([]);
    expect(story.work).toEqual(['reconcile 1.1.1#1']);
  });

  test('a call that acts once is in doubt', () => {
    expect(running('once').when(lost)).toMatchObject([
      { type: 'call.doubted', data: { reason: 'process-lost' } },
    ]);
  });

  test('calls that were not started, or had ended, do not notice', () => {
    const story = asking([{ tool: 'none' }, { tool: 'once' }, { tool: 'asks' }]).given(
      started('1.1.1'),
      result('1.1.1', OK),
    );
    expect(story.when(lost)).toEqual([]);
    expect(story.work).toEqual(['start 1.1.2#1']);
  });
});

const asked = (): Story => running('reconcilable').given(lost);

describe('a tool that is asked what became of its call', () => {
  test('it happened: the call has its result, and the model is told how that is known', () => {
    const story = asked();
    story.when(reconciled('1.1.1', { happened: true, content: [{ type: 'text', text: 'the result' }] }));
    expect(resultText(story.call('1.1.1'))).toMatchObject({
      isError: false,
      text: expect.stringMatching(/checked that this happened.*\nthe result/) as unknown,
    });
  });

  test('it did not happen: it is run', () => {
    const story = asked();
    expect(story.when(reconciled('1.1.1', { happened: false }))).toMatchObject([
      { type: 'call.retry', data: { attempt: 2, reason: 'reconciled-not-happened' } },
    ]);
    expect(story.work).toEqual(['start 1.1.1#2']);
  });

  test('it does not know: the call is in doubt, with the note', () => {
    const story = asked();
    expect(
      types(story.when(reconciled('1.1.1', { happened: 'unknown', note: 'The server is down.' }))),
    ).toEqual(['call.doubted']);
    expect(story.call('1.1.1').doubt?.reconcileNote).toBe('The server is down.');
  });

  test('it never happened in five attempts: the call failed', () => {
    const story = asked();
    for (let attempt = 2; attempt <= 5; attempt++)
      story.given(
        reconciled('1.1.1', { happened: false }),
        started('1.1.1', attempt),
        result('1.1.1', UNKNOWN, attempt),
      );
    expect(story.when(reconciled('1.1.1', { happened: false }))).toMatchObject([
      { type: 'call.failed', data: { code: 'gave-up' } },
    ]);
  });

  test('an answer about a call that is closed changes nothing', () => {
    const story = running('reconcilable').given(result('1.1.1', OK));
    story.when(reconciled('1.1.1', { happened: false }));
    expect(closing(story)).toMatchObject({ kind: 'ok' });
  });
});

const doubted = (): Story => running('once').given(lost);

describe('a person who says what happened', () => {
  test('it happened: the result is the person’s, and the turn goes on', () => {
    const story = doubted();
    story.when(settled('1.1.1', { answer: 'happened', content: [{ type: 'text', text: 'Letter 17.' }] }));
    expect(resultText(story.call('1.1.1'))).toEqual({
      isError: false,
      text: expect.stringMatching(/a person says that this happened.*\nLetter 17\./) as unknown,
    });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('it did not: policy is asked again about the same arguments, then it is run', () => {
    const story = doubted();
    expect(story.when(settled('1.1.1', { answer: 'not-happened' }))).toMatchObject([
      { type: 'call.proposed', data: { call: '1.1.1', args: '{"a":1}', do: 'run' } },
    ]);
    expect(story.work).toEqual(['start 1.1.1#2']);
  });

  test('nobody knows: the call is given up, and the model is told', () => {
    const story = doubted();
    story.when(settled('1.1.1', { answer: 'give-up' }));
    expect(resultText(story.call('1.1.1'))).toMatchObject({
      isError: true,
      text: expect.stringMatching(/not known.*gave it up/) as unknown,
    });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('an answer about a call that is not in doubt is refused', () => {
    const story = running('once');
    const settle = {
      kind: 'settle',
      call: '1.1.1',
      settlement: { answer: 'give-up' },
      by: { kind: 'person', name: 'anna' },
    } as const;
    expect(story.command(settle)).toMatchObject({ kind: 'refused', code: 'not-in-doubt' });
    expect(story.command({ ...settle, call: '1.1.2' })).toMatchObject({
      kind: 'refused',
      code: 'call-not-found',
    });
    story.given(lost);
    expect(story.command(settle)).toMatchObject({ kind: 'facts' });
    expect(story.command(settle)).toMatchObject({ kind: 'refused', code: 'already-settled' });
  });

  test('a turn waits for the answer, and its other calls do not', () => {
    const story = asking([{ tool: 'once' }, { tool: 'none' }]).given(
      started('1.1.1'),
      result('1.1.1', UNKNOWN),
    );
    expect(story.work).toEqual(['start 1.1.2#1']);
    story.given(started('1.1.2'), result('1.1.2', OK));
    expect(story.work).toEqual([]);
    expect(story.state.active?.turn).toBe(1);
  });
});

describe('preparing', () => {
  test('a reconcilable tool with a preview is prepared before it starts, so that it can be asked later', () => {
    const tools = [toolDefinition('file', { effect: 'reconcilable', approval: 'never', previews: true })];
    const story = asking([{ tool: 'file' }], { tools });
    expect(story.work).toEqual(['prepare 1.1.1/0']);
    story.when({
      type: 'call.prepared',
      data: { call: '1.1.1', preview: { title: 'x', blocks: [] }, base: 'v1' },
    });
    expect(story.work).toEqual(['start 1.1.1#1']);
    expect(story.call('1.1.1').prepared?.base).toBe('v1');
  });

  test('is made anew for a call that is run again after "it did not happen"', () => {
    const tools = [toolDefinition('file', { effect: 'reconcilable', approval: 'never', previews: true })];
    const story = asking([{ tool: 'file' }], { tools }).given(
      { type: 'call.prepared', data: { call: '1.1.1', preview: { title: 'x', blocks: [] }, base: 'v1' } },
      started('1.1.1'),
      lost,
      reconciled('1.1.1', { happened: 'unknown', note: '' }),
      settled('1.1.1', { answer: 'not-happened' }),
    );
    expect(story.work).toEqual(['prepare 1.1.1/0']);
  });

  test('a refusal before a second attempt does not say that the call was not run', () => {
    const story = running('idempotent').given(result('1.1.1', UNKNOWN));
    story.when({
      type: 'call.refused',
      data: { call: '1.1.1', code: 'tool-changed', message: 'The call was not run.' },
    });
    expect(closing(story)?.kind).not.toBe('rejected');
  });
});

test.each<[string, NewEvent]>([
  ['a start', started('1.1.1', 2)],
  ['a result', result('1.1.1', FAILED)],
  ['a late result', late('1.1.1', FAILED)],
  ['another attempt', { type: 'call.retry', data: { call: '1.1.1', attempt: 2, notBefore: 0, reason: 'x' } }],
  ['a failure', { type: 'call.failed', data: { call: '1.1.1', attempt: 1, code: 'x', message: 'x' } }],
  ['a doubt', { type: 'call.doubted', data: { call: '1.1.1', attempt: 1, reason: 'x' } }],
  ['a cancel', { type: 'call.cancelled', data: { call: '1.1.1' } }],
  ['a settlement', settled('1.1.1', { answer: 'give-up' })],
  ['a reconciliation', reconciled('1.1.1', { happened: false })],
  ['a refusal', { type: 'call.refused', data: { call: '1.1.1', code: 'x', message: 'x' } }],
])('a call that is closed stays closed, whatever is written about it: %s', (_, event) => {
  const story = running('once').given(result('1.1.1', OK));
  const before = story.call('1.1.1');
  expect(story.when(event)).toEqual([]);
  expect(story.call('1.1.1')).toEqual(before);
});

test('the next step begins when every call is closed, and not before', () => {
  const story = asking([{ tool: 'none' }, { tool: 'none' }]).given(
    started('1.1.1'),
    started('1.1.2'),
    result('1.1.2', OK),
  );
  expect(story.work).toEqual(['attempt 1.1.1#1']);
  story.when(result('1.1.1', OK));
  expect(story.work).toEqual(['build 1.2']);
  story.given(built(1, 2));
  expect(story.work).toEqual(['request 1.2#1']);
});
