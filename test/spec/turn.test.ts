/** Turns: keys, order, requests and their failures, and every way in which a turn ends. */
import { describe, expect, test } from 'vitest';
import type { NewEvent, RequestProblemKind } from '../../src/event/events.ts';
import type { Command } from '../../src/session/decide.ts';
import { statusOf } from '../../src/session/summary.ts';
import {
  accepted,
  ANNA,
  answered,
  asking,
  built,
  failedRequest,
  lost,
  OK,
  result,
  started,
  Story,
  types,
  UNKNOWN,
  type StoryOptions,
} from '../kit/story.ts';

const send = (key: string, text: string): Command => ({
  kind: 'send',
  key,
  input: [{ type: 'text', text }],
  by: ANNA,
});

const requested = (options: StoryOptions = {}): Story => new Story(options).given(accepted(), built());

const endData = (then: readonly NewEvent[]): unknown =>
  then.find((event) => event.type === 'turn.ended')?.data;

describe('turn keys', () => {
  test('the same key and content is the same turn, whatever has happened since', () => {
    const story = new Story();
    expect(story.command(send('k', 'hello'))).toMatchObject({ kind: 'facts', turn: 1 });
    expect(story.command(send('k', 'hello'))).toMatchObject({ kind: 'replayed', turn: 1 });
    story.given(built(), answered({ text: 'Hi.' }));
    expect(story.command(send('k', 'hello'))).toMatchObject({ kind: 'replayed', turn: 1 });
    expect(story.state.turns).toHaveLength(1);
  });

  test('the same key with another content is refused, also while the first one runs', () => {
    const story = new Story();
    story.command(send('k', 'hello'));
    const events = story.events.length;
    expect(story.command(send('k', 'bye'))).toMatchObject({ kind: 'refused', code: 'turn-key-reused' });
    expect(story.events.length).toBe(events);
  });

  test('the same content under another key is another turn', () => {
    const story = new Story();
    story.command(send('k', 'hello'));
    expect(story.command(send('l', 'hello'))).toMatchObject({ kind: 'facts', turn: 2 });
  });
});

describe('turns that wait', () => {
  test('begin one after the other, in the order in which they were accepted', () => {
    const story = new Story().given(accepted(1), accepted(2), accepted(3));
    expect(story.work).toEqual(['build 1.1']);
    story.given(built(), accepted(4), answered({ text: 'One.' }));
    expect(story.state.queue).toEqual([3, 4]);
    expect(story.work).toEqual(['build 2.1']);
    story.given(built(2), answered({ text: 'Two.' }, [2, 1]));
    expect(story.work).toEqual(['build 3.1']);
    story.given(
      built(3),
      answered({ text: 'Three.' }, [3, 1]),
      built(4),
      answered({ text: 'Four.' }, [4, 1]),
    );
    expect(story.work).toEqual([]);
    expect(story.state.turns.map((turn) => turn.outcome)).toEqual(['done', 'done', 'done', 'done']);
  });

  test('begin after one that failed, too', () => {
    const story = new Story().given(
      accepted(1),
      accepted(2),
      built(),
      failedRequest({ kind: 'authentication', message: 'No key.' }),
    );
    expect(story.work).toEqual(['build 2.1']);
  });

  test('wait while the first waits for a person', () => {
    const story = asking([{ tool: 'asks' }]).given(accepted(2));
    expect(story.work).toEqual([]);
    expect(statusOf(story.state)).toBe('waiting');
  });
});

describe('a request that failed', () => {
  test.each<RequestProblemKind>([
    'rate-limited',
    'overloaded',
    'unavailable',
    'interrupted',
    'timeout',
    'bad-response',
  ])('with %s is sent again, then ends the turn', (kind) => {
    const story = requested({ limits: { requestAttempts: 3 } });
    for (let attempt = 1; attempt < 3; attempt++) {
      expect(story.when(failedRequest({ kind, message: 'No.' }, attempt))).toMatchObject([
        { type: 'request.retry', data: { attempt: attempt + 1, reason: kind } },
      ]);
      expect(story.work).toEqual([`request 1.1#${attempt + 1}`]);
      story.given({ type: 'request.sent', data: { turn: 1, step: 1, attempt: attempt + 1 } });
    }
    expect(endData(story.when(failedRequest({ kind, message: 'No.' }, 3)))).toEqual({
      turn: 1,
      outcome: 'failed',
      reason: kind,
      message: 'No.',
    });
  });

  test.each<RequestProblemKind>(['bad-request', 'authentication', 'no-balance', 'context-overflow'])(
    'with %s ends the turn at once',
    (kind) => {
      expect(endData(requested().when(failedRequest({ kind, message: 'No.' })))).toMatchObject({
        outcome: 'failed',
        reason: kind,
      });
    },
  );

  test('waits between half and all of a time that doubles up to its limit', () => {
    const story = requested({ limits: { requestAttempts: 12 } });
    for (let attempt = 1; attempt < 12; attempt++) {
      const [retry] = story.when(failedRequest({ kind: 'overloaded', message: '' }, attempt));
      if (retry?.type !== 'request.retry') throw new Error('another attempt was expected');
      const wait = retry.data.notBefore - story.state.lastAt;
      const full = Math.min(60_000, 500 * 2 ** (attempt - 1));
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
      story.given({ type: 'request.sent', data: { turn: 1, step: 1, attempt: attempt + 1 } });
    }
  });

  test('waits as long as the provider asks, and ends the turn where that is too long', () => {
    const story = requested();
    const [retry] = story.when(failedRequest({ kind: 'rate-limited', message: '', retryAfterMs: 7000 }));
    expect(retry?.data).toMatchObject({ notBefore: story.state.lastAt + 7000 });
    expect(
      endData(requested().when(failedRequest({ kind: 'rate-limited', message: '', retryAfterMs: 120_001 }))),
    ).toMatchObject({
      outcome: 'failed',
      reason: 'rate-limited',
    });
  });

  test('because its process was lost is sent again at once, and may have been billed', () => {
    const story = requested();
    expect(story.when(lost)).toMatchObject([
      {
        type: 'request.retry',
        data: { attempt: 2, reason: 'process-lost', maybeBilled: true, notBefore: story.state.lastAt },
      },
    ]);
  });
});

describe('a response', () => {
  test('without calls ends the turn', () => {
    expect(endData(requested().when(answered({ text: 'Done.' })))).toEqual({ turn: 1, outcome: 'done' });
    expect(endData(requested().when(answered({ text: 'Done.', stop: 'stop-sequence' })))).toEqual({
      turn: 1,
      outcome: 'done',
    });
  });

  test.each(['', ' \n'])('whose text is %j is an empty answer, and says so', (text) => {
    const event = answered({ content: text === '' ? [] : [{ type: 'text', text }] });
    expect(endData(requested().when(event))).toEqual({ turn: 1, outcome: 'done', empty: true });
  });

  test('that was cut at the output limit stops the turn', () => {
    expect(endData(requested().when(answered({ text: 'And then', stop: 'length' })))).toMatchObject({
      outcome: 'stopped',
      reason: 'output-limit',
    });
  });

  test('that was cut in its calls goes on', () => {
    const story = requested();
    story.when(answered({ calls: [{ tool: 'none', args: '{"a' }], stop: 'length' }));
    expect(story.work).toEqual(['build 1.2']);
  });

  test('that is a refusal ends the turn as refused, with the provider’s words', () => {
    expect(endData(requested().when(answered({ stop: 'refusal', stopDetail: 'Category 7.' })))).toEqual({
      turn: 1,
      outcome: 'refused',
      reason: 'refusal',
      message: 'Category 7.',
    });
  });

  test.each([
    ['context-overflow', 'context-overflow'],
    ['unknown', 'unknown-stop'],
  ] as const)('that stopped with %s fails the turn', (stop, reason) => {
    expect(endData(requested().when(answered({ text: 'x', stop })))).toMatchObject({
      outcome: 'failed',
      reason,
    });
  });

  test.each(['refusal', 'context-overflow', 'unknown'] as const)(
    'that stopped with %s runs none of its calls',
    (stop) => {
      const story = requested();
      story.when(answered({ calls: [{ tool: 'once' }, { tool: 'none', args: '' }], stop }));
      expect(story.work).toEqual([]);
    },
  );

  test('that was paused goes on with the next step, with and without calls', () => {
    const story = requested();
    expect(story.when(answered({ text: 'Searching', stop: 'paused' }))).toEqual([]);
    expect(story.work).toEqual(['build 1.2']);
  });

  test('counts its cost once, and says where a cost is not known', () => {
    const story = requested();
    story.given(
      answered({ calls: [{ tool: 'none' }], cost: 0.25 }),
      started('1.1.1'),
      result('1.1.1', OK),
      built(1, 2),
    );
    story.given(answered({ text: 'Done.', cost: 0.5 }, [1, 2]));
    expect([story.state.cost, story.state.costUnknown]).toEqual([0.75, false]);
    story.given(accepted(2), built(2), {
      type: 'response.received',
      data: { turn: 2, step: 1, attempt: 1, stop: 'end', content: [], ms: 1 },
    });
    expect(story.state.costUnknown).toBe(true);
  });
});

/** Steps of one read each until the turn ends; the end, or nothing after `most` steps. */
const runSteps = (
  options: StoryOptions,
  most: number,
  each: (step: number) => Parameters<typeof answered>[0],
): unknown => {
  const story = new Story(options).given(accepted());
  for (let step = 1; step <= most; step++) {
    if (story.work[0] !== `build 1.${step}`) break;
    const then = [...story.given(built(1, step)).when(answered(each(step), [1, step]))];
    while (story.work[0]?.startsWith('start')) {
      const id = `1.${step}.1` as const;
      then.push(...story.given(started(id)).when(result(id, OK)));
    }
    if (endData(then)) return { step, ...(endData(then) as object) };
  }
  return undefined;
};

const read = (step: number): Parameters<typeof answered>[0] => ({
  calls: [{ tool: 'none', args: `{"step":${step}}` }],
});

/** The same two calls, in another order each time. */
const two = (step: number): Parameters<typeof answered>[0] => ({
  calls: step % 2 ? [{ tool: 'nobody' }, { tool: 'else' }] : [{ tool: 'else' }, { tool: 'nobody' }],
});

describe('limits', () => {
  test('stepsPerTurn', () => {
    expect(runSteps({ limits: { stepsPerTurn: 3 } }, 9, read)).toMatchObject({
      step: 3,
      outcome: 'stopped',
      reason: 'stepsPerTurn',
    });
  });

  test('stepsPerTurn ends no turn that is done within it', () => {
    expect(
      runSteps({ limits: { stepsPerTurn: 3 } }, 9, (step) => (step < 3 ? read(step) : { text: 'Done.' })),
    ).toMatchObject({ step: 3, outcome: 'done' });
  });

  test('stepsPerTurn stops a model that pauses for ever', () => {
    expect(
      runSteps({ limits: { stepsPerTurn: 4 } }, 9, () => ({ text: '...', stop: 'paused' })),
    ).toMatchObject({ step: 4, reason: 'stepsPerTurn' });
  });

  test('invalidCallsInARow, and a call that can be used in between begins the count anew', () => {
    const wrong = { calls: [{ tool: 'nobody' }] };
    expect(runSteps({ limits: { invalidCallsInARow: 3 } }, 9, () => wrong)).toMatchObject({
      step: 3,
      outcome: 'stopped',
      reason: 'invalidCallsInARow',
    });
    expect(
      runSteps({ limits: { invalidCallsInARow: 3 } }, 9, (step) => (step % 3 === 0 ? read(step) : wrong)),
    ).toBeUndefined();
  });

  test('repeatedCalls: the same calls run so often, then are refused once, then end the turn', () => {
    const story = new Story({ limits: { repeatedCalls: 2, invalidCallsInARow: 9 } }).given(accepted());
    const kinds: string[] = [];
    for (let step = 1; step <= 4; step++) {
      const then = story
        .given(built(1, step))
        .when(answered({ calls: [{ tool: 'none', args: step % 2 ? '{"a":1}' : '{ "a": 1 }' }] }, [1, step]));
      kinds.push(types(then).join(' '));
      const id = `1.${step}.1` as const;
      if (story.work[0]?.startsWith('start')) story.given(started(id), result(id, OK));
    }
    expect(kinds).toEqual(['call.proposed', 'call.proposed', 'call.rejected', 'call.rejected turn.ended']);
    expect(story.state.turns[0]).toMatchObject({ outcome: 'stopped', reason: 'repeatedCalls' });
  });

  test('repeatedCalls counts steps in a row with the same calls, in whatever order', () => {
    expect(runSteps({ limits: { repeatedCalls: 1, invalidCallsInARow: 99 } }, 9, two)).toMatchObject({
      step: 3,
      reason: 'repeatedCalls',
    });
    expect(
      runSteps({ limits: { repeatedCalls: 1 } }, 9, (step) => (step % 2 ? read(1) : read(2))),
    ).toBeUndefined();
  });

  test('turnMs counts work and not the waiting for people', () => {
    const limits = { turnMs: 1000 };
    const story = new Story({ limits })
      .given(accepted(), built())
      .later(600)
      .given(answered({ calls: [{ tool: 'asks' }], ms: 600 }));
    story.later(1_000_000);
    story.command({
      kind: 'decide',
      call: '1.1.1',
      digest: story.call('1.1.1').digest ?? ('' as never),
      decision: { do: 'reject' },
      by: ANNA,
    });
    expect(story.state.active?.activeMs).toBe(600);
    story.given(built(1, 2)).later(400);
    expect(endData(story.when(answered({ calls: [{ tool: 'nobody' }], ms: 400 }, [1, 2])))).toMatchObject({
      outcome: 'stopped',
      reason: 'turnMs',
    });
  });

  test('turnMs does not count what passed on the wall: a clock was set, a machine slept, a process was away', () => {
    const story = new Story().given(accepted(), built()).later(500_000).given(lost).later(-400_000);
    story.given({ type: 'request.sent', data: { turn: 1, step: 1, attempt: 2 } });
    expect(story.state.active?.activeMs).toBe(0);
  });

  test('turnMs counts the longest of the calls that ran side by side', () => {
    const story = asking([{ tool: 'once' }, { tool: 'none' }])
      .given(started('1.1.1'), started('1.1.2'))
      .given({ type: 'call.result', data: { call: '1.1.1', attempt: 1, outcome: OK, ms: 300 } })
      .given({ type: 'call.result', data: { call: '1.1.2', attempt: 1, outcome: UNKNOWN, ms: 500 } });
    // 1 for the request.
    expect(story.state.active?.activeMs).toBe(501);
  });

  test('turnCostUsd, with at most one request over it', () => {
    expect(
      runSteps({ limits: { turnCostUsd: 1 } }, 9, (step) => ({ ...read(step), cost: 0.4 })),
    ).toMatchObject({ step: 3, outcome: 'stopped', reason: 'turnCostUsd' });
  });

  test('an answer that is complete is not taken back by a limit', () => {
    const story = new Story({ limits: { turnCostUsd: 1, turnMs: 10 } }).given(accepted(), built()).later(50);
    expect(endData(story.when(answered({ text: 'Done.', cost: 5 })))).toEqual({ turn: 1, outcome: 'done' });
  });

  test('calls in doubt are waited for before a limit ends the turn', () => {
    const story = asking([{ tool: 'once' }], { limits: { stepsPerTurn: 1 } }).given(started('1.1.1'));
    expect(types(story.when(result('1.1.1', UNKNOWN)))).toEqual(['call.doubted']);
  });
});

describe('what lists say', () => {
  test('the most urgent thing first', () => {
    expect(statusOf(new Story().state)).toBe('idle');
    expect(statusOf(requested().state)).toBe('running');
    expect(statusOf(asking([{ tool: 'asks' }]).state)).toBe('waiting');
    const doubt = asking([{ tool: 'asks' }, { tool: 'once' }]).given(
      started('1.1.2'),
      result('1.1.2', UNKNOWN),
    );
    expect(statusOf(doubt.state)).toBe('in-doubt');
    expect(statusOf(requested().given(answered({ text: 'x' })).state)).toBe('done');
    expect(statusOf(requested().given(answered({ stop: 'refusal' })).state)).toBe('failed');
  });
});
