/** A call that makes calls: each is proposed like any other, the maker waits for them and is then started again. */
import { describe, expect, test } from 'vitest';
import type { CallId } from '../../src/event/call-id.ts';
import { callPosition, isCallId, makerOf } from '../../src/event/call-id.ts';
import { resultText } from '../../src/context/result-text.ts';
import { innerCalls } from '../../src/session/state.ts';
import {
  asking,
  BEN,
  cancelAsked,
  FAILED,
  KINDS,
  late,
  lost,
  modeChanged,
  OK,
  suspended,
  result,
  settled,
  started,
  toolDefinition,
  types,
  UNKNOWN,
  type Story,
  type StoryOptions,
} from '../kit/story.ts';

const CALLABLE = ['none', 'idempotent', 'reconcilable', 'once', 'asks', 'stranger', 'deep'];
const MAKER = toolDefinition('maker', {
  effect: 'none',
  calls: CALLABLE,
  retry: { attempts: 2, baseMs: 100, maxMs: 100 },
});
const DEEP = toolDefinition('deep', { effect: 'none', calls: ['none'] });
const STRANGER = toolDefinition('stranger', { effect: 'none', labels: { untrusted: true, private: false } });
const TOOLS = [MAKER, DEEP, STRANGER, ...KINDS, toolDefinition('elsewhere', { effect: 'none' })];

/** The maker runs as call 1.1.1. */
const making = (options: StoryOptions = {}): Story =>
  asking([{ tool: 'maker' }], { tools: TOOLS, ...options }).given(started('1.1.1'));

const A: CallId = '1.1.1.1';
const B: CallId = '1.1.1.2';

/** Started and done. */
const done = (story: Story, ...ids: readonly CallId[]): Story => {
  for (const id of ids) story.given(started(id), result(id, OK));
  return story;
};

describe('ids', () => {
  test('go on from their maker, and are calls wherever calls are named', () => {
    expect(isCallId('3.7.2.1')).toBe(true);
    expect(['3.7.2.0', '3.7.2.01', '3.7.2.1.1', '3.7'].map(isCallId)).toEqual([false, false, false, false]);
    expect(callPosition('3.7.2.1')).toEqual({ turn: 3, step: 7, index: 2, inner: 1 });
    expect([makerOf('3.7.2.1'), makerOf('3.7.2')]).toEqual(['3.7.2', undefined]);
  });
});

describe('a suspension', () => {
  test('leads to its calls, in order, judged as if the model had made them', () => {
    const then = making().when(
      suspended('1.1.1', [
        ['none', 1],
        ['asks', 2],
        ['nobody', 3],
      ]),
    );
    expect(then).toMatchObject([
      { type: 'call.proposed', data: { call: A, tool: 'none', do: 'run', rule: 'default:no-effect' } },
      { type: 'call.proposed', data: { call: B, tool: 'asks', do: 'ask' } },
      { type: 'call.rejected', data: { call: '1.1.1.3', tool: 'nobody', reason: 'unknown-tool' } },
      { type: 'approval.requested', data: { call: B } },
    ]);
  });

  test.each([
    ['elsewhere', 'not-callable'],
    ['deep', 'calls-too-deep'],
    ['maker', 'not-callable'],
  ])('a call of %s is rejected: %s', (tool, reason) => {
    expect(making().when(suspended('1.1.1', [[tool, 1]]))).toMatchObject([
      { type: 'call.rejected', data: { call: A, reason } },
    ]);
  });

  test('policy denies a call of a call as it does any other', () => {
    const policy = { rules: [{ id: 'no', tools: ['none'], do: 'deny' as const }] };
    expect(making({ policy }).when(suspended('1.1.1', [['none', 1]]))).toMatchObject([
      { type: 'call.rejected', data: { call: A, reason: 'denied-by-policy' } },
    ]);
  });

  test('takes no more than its limit: what is over it is not run, and the maker fails', () => {
    const story = making({ limits: { innerCalls: 2 } });
    done(story.given(suspended('1.1.1', [['once', 1]])), A).given(started('1.1.1', 2));
    const then = story.when(
      suspended(
        '1.1.1',
        [
          ['once', 2],
          ['once', 3],
        ],
        2,
      ),
    );
    expect(then).toMatchObject([{ type: 'call.failed', data: { call: '1.1.1', code: 'too-many-calls' } }]);
    expect(story.work).toEqual(['build 1.2']);
  });

  test('of an attempt that is over means nothing', () => {
    const story = making().given(lost);
    expect(story.when(suspended('1.1.1', [['once', 1]]))).toEqual([]);
    expect(story.work).toEqual(['start 1.1.1#2']);
  });
});

describe('the maker', () => {
  test('waits for all of them, then starts again with what came of them', () => {
    const story = making().given(
      suspended('1.1.1', [
        ['none', 1],
        ['once', 2],
      ]),
    );
    expect(story.call('1.1.1').phase).toBe('calling');
    expect(story.work).toEqual([`start ${A}#1`, `start ${B}#1`]);
    done(story, A);
    expect(story.work).toEqual([`start ${B}#1`]);
    done(story, B);
    expect(story.work).toEqual(['start 1.1.1#2']);
    const active = story.given(started('1.1.1', 2)).state.active;
    expect(active && innerCalls(active, '1.1.1').map(({ closing }) => closing?.kind)).toEqual(['ok', 'ok']);
  });

  test('counts its calls on over several suspensions, and closes like any call', () => {
    const story = done(making().given(suspended('1.1.1', [['none', 1]])), A).given(started('1.1.1', 2));
    expect(types(story.when(suspended('1.1.1', [['none', 2]], 2)))).toEqual(['call.proposed']);
    done(story, B).given(started('1.1.1', 3), result('1.1.1', OK, 3));
    expect(story.call('1.1.1').closing?.kind).toBe('ok');
    expect(story.work).toEqual(['build 1.2']);
  });

  test('lost with its process it is run again, and no call of it with it', () => {
    const story = done(making().given(suspended('1.1.1', [['once', 1]])), A).given(started('1.1.1', 2));
    expect(types(story.when(lost))).toEqual(['call.retry']);
    expect(story.work).toEqual(['start 1.1.1#3']);
  });

  test('suspensions are no failures: after many of them a retry is left as after none', () => {
    const story = making();
    for (let i = 1; i <= 8; i++)
      done(story.given(suspended('1.1.1', [['none', i]], i)), `1.1.1.${i}`).given(started('1.1.1', i + 1));
    expect(types(story.when(result('1.1.1', UNKNOWN, 9)))).toEqual(['call.retry']);
    story.given(started('1.1.1', 10));
    expect(types(story.when(result('1.1.1', UNKNOWN, 10)))).toEqual(['call.failed']);
  });

  test('a late word of an attempt before the suspension does not close it over the heads of its calls', () => {
    const story = making().given(result('1.1.1', UNKNOWN), started('1.1.1', 2));
    story.given(suspended('1.1.1', [['asks', 1]], 2), late('1.1.1', OK, 1));
    expect(story.call('1.1.1').phase).toBe('calling');
    expect(story.waiting.approvals).toEqual([A]);
  });

  test('its clock is that of its first start, whatever comes', () => {
    const story = asking([{ tool: 'maker' }], { tools: TOOLS });
    story.given(started('1.1.1'));
    const at = story.call('1.1.1').startedAt;
    story.later(60_000).given(suspended('1.1.1', [['none', 1]]));
    done(story, A).later(60_000).given(started('1.1.1', 2));
    expect(story.call('1.1.1').startedAt).toBe(at);
  });
});

describe('its calls', () => {
  test('carry the labels of what stood in the request and of what its calls have said before', () => {
    const story = making().given(suspended('1.1.1', [['stranger', 1]]));
    done(story, A).given(started('1.1.1', 2));
    const [proposed] = story.when(suspended('1.1.1', [['none', 2]], 2));
    expect(proposed).toMatchObject({ data: { call: B, seen: ['untrusted'] } });
  });

  test('in doubt they hold their maker up until a person settles them', () => {
    const story = making().given(suspended('1.1.1', [['once', 1]]), started(A));
    expect(types(story.when(lost))).toEqual(['call.doubted']);
    expect(story.work).toEqual([]);
    expect(story.waiting.inDoubt).toEqual([A]);
    story.given(settled(A, { answer: 'happened', content: [] }));
    expect(story.work).toEqual(['start 1.1.1#2']);
  });

  test('a twin of one that was in doubt asks a person, whoever makes it', () => {
    const story = making().given(suspended('1.1.1', [['once', 1]]), started(A), lost);
    story.given(settled(A, { answer: 'give-up' }), started('1.1.1', 2));
    expect(story.when(suspended('1.1.1', [['once', 1]], 2))).toMatchObject([
      { type: 'call.proposed', data: { call: B, do: 'ask', rule: 'runtime:same-call-was-in-doubt' } },
      { type: 'approval.requested' },
    ]);
  });

  test('a person may approve, edit, reject and respond, and leave holds for the calls that follow', () => {
    const story = making().given(
      suspended('1.1.1', [
        ['asks', 1],
        ['asks', 2],
      ]),
    );
    expect(story.answer(A, { do: 'edit', args: '{"n":7}' })).toBe('facts');
    expect(story.call(A)).toMatchObject({ phase: 'ready', args: '{"n":7}', edited: true });
    expect(story.answer(B, { do: 'reject', reason: 'not now' })).toBe('facts');
    done(story, A);
    expect(story.work).toEqual(['start 1.1.1#2']);
    story.given(started('1.1.1', 2));
    story.given(suspended('1.1.1', [['asks', 3]], 2));
    const grant = { when: [], forMs: 1000 };
    expect(story.answer('1.1.1.3', { do: 'approve', grant })).toBe('facts');
    done(story, '1.1.1.3').given(started('1.1.1', 3));
    expect(story.when(suspended('1.1.1', [['asks', 4]], 3))).toMatchObject([
      { type: 'call.proposed', data: { do: 'run', rule: 'grant:1.1.1.3' } },
    ]);
  });

  test.each(['dry-run', 'read-only'] as const)(
    'are withheld in the mode %s while their maker runs',
    (mode) => {
      const story = making({ mode });
      expect(story.when(suspended('1.1.1', [['once', 1]]))).toMatchObject([
        { type: 'call.proposed' },
        { type: 'call.withheld', data: { call: A, mode } },
      ]);
      expect(story.work).toEqual(['start 1.1.1#2']);
    },
  );

  test('nothing of it is started while all is frozen', () => {
    const story = making().given(suspended('1.1.1', [['none', 1]]), modeChanged('frozen'));
    expect(story.work).toEqual([]);
    expect(story.given(modeChanged('normal')).work).toEqual([`start ${A}#1`]);
  });

  test('time is counted one after the other for attempts, side by side for the calls of one', () => {
    const story = making();
    const ms = (): number => story.state.active?.activeMs ?? 0;
    const before = ms();
    story.given({
      type: 'call.suspended',
      data: {
        call: '1.1.1',
        attempt: 1,
        ms: 100,
        calls: [
          { tool: 'none', args: '{}' },
          { tool: 'none', args: '{}' },
        ],
      },
    });
    story.given(started(A), started(B));
    for (const [id, took] of [
      [A, 300],
      [B, 200],
    ] as const)
      story.given({ type: 'call.result', data: { call: id, attempt: 1, outcome: OK, ms: took } });
    expect(ms() - before).toBe(400);
  });
});

describe('a cancel', () => {
  test('proposes nothing more, lets what runs end, and counts it in the receipt', () => {
    const story = making().given(
      suspended('1.1.1', [
        ['once', 1],
        ['asks', 2],
      ]),
      started(A),
    );
    story.given(cancelAsked());
    expect(story.call('1.1.1').closing?.kind).toBe('cancelled');
    expect(story.state.active).toBeDefined();
    const then = story.when(result(A, OK));
    expect(then).toMatchObject([
      { type: 'turn.ended', data: { receipt: { landed: [A], stopped: ['1.1.1', B], inDoubt: [] } } },
    ]);
  });

  test('that meets the attempt itself makes none of the calls that it still asks for', () => {
    const story = making().given(cancelAsked());
    expect(types(story.when(suspended('1.1.1', [['once', 1]])))).toEqual(['call.cancelled', 'turn.ended']);
  });

  test('an inner call in doubt outlives the turn, and is settled afterwards', () => {
    const story = making().given(suspended('1.1.1', [['once', 1]]), started(A), cancelAsked());
    story.given(lost);
    expect(story.state.active).toBeUndefined();
    expect(story.waiting.inDoubt).toEqual([A]);
    expect(story.command({ kind: 'settle', call: A, settlement: { answer: 'give-up' }, by: BEN }).kind).toBe(
      'facts',
    );
    expect(story.waiting.inDoubt).toEqual([]);
  });
});

const told = (story: Story): string => {
  const { active } = story.state;
  return resultText(story.call('1.1.1'), active ? innerCalls(active, '1.1.1') : []).text;
};

describe('what the model is told', () => {
  test('of a maker that brought its result: nothing more, unless a person had a hand in it', () => {
    const story = making().given(
      suspended('1.1.1', [
        ['once', 1],
        ['asks', 2],
      ]),
    );
    story.answer(B, { do: 'edit', args: '{"n":9}' });
    done(story, A, B).given(started('1.1.1', 2), result('1.1.1', OK, 2));
    expect(told(story)).toBe('fine\n[Its call 2, of asks: A person changed its arguments to {"n":9}.]');
  });

  test('of a maker that failed after some of its calls: what became of each', () => {
    const story = making().given(
      suspended('1.1.1', [
        ['once', 1],
        ['asks', 2],
      ]),
    );
    story.answer(B, { do: 'reject', reason: 'too dear' });
    done(story, A).given(started('1.1.1', 2), result('1.1.1', FAILED, 2));
    expect(told(story).split('\n')).toEqual([
      'The call failed (no-luck): It did not work.',
      '[Its call 1, of once: It was made and has its result.]',
      '[Its call 2, of asks: A person rejected this call; it was not run. Reason: too dear]',
    ]);
  });
});
