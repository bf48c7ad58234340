/** A cancel, in every phase of a turn: what stops, what lands, what stays in doubt, and what the receipt says. */
import { describe, expect, test } from 'vitest';
import type { NewEvent } from '../../src/event/events.ts';
import type { Receipt } from '../../src/event/content.ts';
import {
  accepted,
  ANNA,
  answered,
  asking,
  built,
  cancelAsked,
  FAILED,
  failedRequest,
  late,
  lost,
  OK,
  reconciled,
  result,
  RETRYABLE,
  settled,
  started,
  Story,
  toolDefinition,
  types,
  UNKNOWN,
} from '../kit/story.ts';

/** The end of the turn that follows from an event. */
const endOf = (then: readonly NewEvent[]): { outcome?: string; receipt?: Receipt } => {
  const end = then.find((event) => event.type === 'turn.ended');
  return end?.type === 'turn.ended' ? end.data : {};
};

const NOTHING: Receipt = { landed: [], stopped: [], inDoubt: [] };

describe('before there is a call', () => {
  test('nothing was asked of the model yet', () => {
    const story = new Story().given(accepted());
    expect(endOf(story.when(cancelAsked()))).toMatchObject({ outcome: 'cancelled', receipt: NOTHING });
    expect(story.work).toEqual([]);
  });

  test('a request is under way: it is waited for, and what it asks for is not run', () => {
    const story = new Story().given(accepted(), built());
    expect(story.when(cancelAsked())).toEqual([]);
    const then = story.when(answered({ calls: [{ tool: 'none' }, { tool: 'once' }] }));
    expect(types(then)).toEqual(['call.rejected', 'call.rejected', 'turn.ended']);
    expect(endOf(then).receipt).toEqual({ landed: [], stopped: ['1.1.1', '1.1.2'], inDoubt: [] });
  });

  test.each<[string, NewEvent]>([
    ['fails', failedRequest({ kind: 'cancelled', message: 'Aborted.' })],
    ['fails with what is otherwise tried again', failedRequest({ kind: 'overloaded', message: 'Busy.' })],
    ['is lost with its process', lost],
  ])('a request is under way and %s', (_, event) => {
    const story = new Story().given(accepted(), built(), cancelAsked());
    expect(endOf(story.when(event))).toMatchObject({ outcome: 'cancelled' });
  });

  test('a request waits for its next attempt', () => {
    const story = new Story().given(
      accepted(),
      built(),
      failedRequest({ kind: 'overloaded', message: 'Busy.' }),
    );
    expect(endOf(story.when(cancelAsked()))).toMatchObject({ outcome: 'cancelled', receipt: NOTHING });
    expect(story.work).toEqual([]);
  });
});

describe('with calls', () => {
  test('that wait for a person, for a preview, or for their start: none is run', () => {
    const tools = [
      toolDefinition('previewed', { previews: true }),
      toolDefinition('asks'),
      toolDefinition('once', { approval: 'never' }),
    ];
    const story = asking([{ tool: 'asks' }, { tool: 'previewed' }, { tool: 'once' }], { tools });
    const then = story.when(cancelAsked());
    expect(types(then)).toEqual(['call.cancelled', 'call.cancelled', 'call.cancelled', 'turn.ended']);
    expect(endOf(then).receipt).toEqual({ landed: [], stopped: ['1.1.1', '1.1.2', '1.1.3'], inDoubt: [] });
  });

  test.each([
    ['none', OK, 'landed'],
    ['once', OK, 'landed'],
    ['none', FAILED, 'stopped'],
    ['once', FAILED, 'stopped'],
    ['none', UNKNOWN, 'stopped'],
    ['once', UNKNOWN, 'inDoubt'],
    ['idempotent', UNKNOWN, 'inDoubt'],
  ] as const)('one of kind %s runs and ends %o: %s', (tool, outcome, where) => {
    const story = asking([{ tool }]).given(started('1.1.1'));
    expect(story.when(cancelAsked())).toEqual([]);
    const { receipt } = endOf(story.when(result('1.1.1', outcome)));
    expect(receipt).toEqual({ ...NOTHING, [where]: ['1.1.1'] });
    expect(story.work).toEqual([]);
  });

  test.each([
    ['none', 'stopped'],
    ['once', 'inDoubt'],
    ['idempotent', 'inDoubt'],
  ] as const)('one of kind %s runs and its process is lost: %s', (tool, where) => {
    const story = asking([{ tool }]).given(started('1.1.1'), cancelAsked());
    expect(endOf(story.when(lost)).receipt).toEqual({ ...NOTHING, [where]: ['1.1.1'] });
  });

  test.each([
    [{ happened: true, content: [] }, 'landed'],
    [{ happened: false }, 'stopped'],
    [{ happened: 'unknown', note: '' }, 'inDoubt'],
  ] as const)('a reconcilable one runs, its end is not known, and its tool says %o: %s', (answer, where) => {
    const story = asking([{ tool: 'reconcilable' }]).given(started('1.1.1'), cancelAsked());
    expect(story.when(result('1.1.1', UNKNOWN))).toEqual([]);
    expect(story.work).toEqual(['reconcile 1.1.1#1']);
    expect(endOf(story.when(reconciled('1.1.1', answer))).receipt).toEqual({
      ...NOTHING,
      [where]: ['1.1.1'],
    });
  });

  test('one failed and waits for its next attempt: that is not made', () => {
    const tools = [
      toolDefinition('once', { approval: 'never', retry: { attempts: 3, baseMs: 1000, maxMs: 1000 } }),
    ];
    const story = asking([{ tool: 'once' }], { tools }).given(started('1.1.1'), result('1.1.1', RETRYABLE));
    expect(endOf(story.when(cancelAsked())).receipt).toEqual({ ...NOTHING, stopped: ['1.1.1'] });
  });

  test('an idempotent one has an attempt of unknown end and waits for the next: that stays in doubt', () => {
    const story = asking([{ tool: 'idempotent' }]).given(started('1.1.1'), result('1.1.1', UNKNOWN));
    expect(story.call('1.1.1').phase).toBe('retrying');
    expect(endOf(story.when(cancelAsked())).receipt).toEqual({ ...NOTHING, inDoubt: ['1.1.1'] });
  });

  test('of every sort: the receipt names each once', () => {
    const story = asking([
      { tool: 'none' },
      { tool: 'once' },
      { tool: 'asks' },
      { tool: 'once' },
      { tool: 'nobody' },
    ]);
    story.given(
      started('1.1.1'),
      started('1.1.2'),
      started('1.1.4'),
      result('1.1.1', OK),
      cancelAsked(),
      result('1.1.2', UNKNOWN),
    );
    expect(story.state.active?.turn).toBe(1);
    expect(endOf(story.when(result('1.1.4', OK))).receipt).toEqual({
      landed: ['1.1.1', '1.1.4'],
      stopped: ['1.1.3', '1.1.5'],
      inDoubt: ['1.1.2'],
    });
  });

  test('one is in doubt: the turn does not wait for the answer, which can come later', () => {
    const story = asking([{ tool: 'once' }]).given(started('1.1.1'), result('1.1.1', UNKNOWN));
    expect(endOf(story.when(cancelAsked())).receipt).toEqual({ ...NOTHING, inDoubt: ['1.1.1'] });
    expect(story.waiting.inDoubt).toEqual(['1.1.1']);
    story.when(settled('1.1.1', { answer: 'not-happened' }));
    expect(story.waiting.inDoubt).toEqual([]);
    expect(story.work).toEqual([]);
  });

  test('a late result after the end answers for the call that was left open', () => {
    const story = asking([{ tool: 'once' }]).given(started('1.1.1'), cancelAsked(), result('1.1.1', UNKNOWN));
    story.when(late('1.1.1', OK));
    expect(story.waiting.inDoubt).toEqual([]);
    expect(story.state.leftOpen).toEqual([]);
  });
});

describe('the command', () => {
  test('names the turn that runs, and a second one is the first again', () => {
    const story = new Story().given(accepted(), built());
    const cancel = { kind: 'cancel', by: ANNA, reason: 'Enough.' } as const;
    expect(story.command(cancel)).toMatchObject({
      kind: 'facts',
      turn: 1,
      facts: [{ data: { turn: 1, reason: 'Enough.' } }],
    });
    const events = story.events.length;
    expect(story.command(cancel)).toMatchObject({ kind: 'replayed', turn: 1 });
    expect(story.events.length).toBe(events);
  });

  test('without a turn that runs is refused', () => {
    expect(new Story().command({ kind: 'cancel', by: ANNA })).toMatchObject({
      kind: 'refused',
      code: 'nothing-to-cancel',
    });
    const story = new Story().given(accepted(), built(), answered({ text: 'Done.' }));
    expect(story.command({ kind: 'cancel', by: ANNA })).toMatchObject({
      kind: 'refused',
      code: 'nothing-to-cancel',
    });
  });

  test('cancels the turn that runs and not the ones that wait behind it', () => {
    const story = new Story().given(accepted(1), built(), accepted(2));
    story.given(cancelAsked(), failedRequest({ kind: 'cancelled', message: '' }));
    expect(story.state.active?.turn).toBe(2);
    expect(story.work).toEqual(['build 2.1']);
  });

  test('a request to cancel a turn that is over changes nothing', () => {
    const story = new Story().given(accepted(1), accepted(2), cancelAsked(1));
    expect(story.state.active?.turn).toBe(2);
    expect(story.when(cancelAsked(1))).toEqual([]);
    expect(story.state.active?.cancel).toBeUndefined();
  });
});
