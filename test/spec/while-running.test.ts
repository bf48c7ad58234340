/** What a message does that finds a turn running: it waits, is refused, joins it, or goes first; and may be taken back. */
import { describe, expect, test } from 'vitest';
import type { Command, WhenRunning } from '../../src/session/decide.ts';
import { statusOf } from '../../src/session/summary.ts';
import {
  accepted,
  ANNA,
  answered,
  asking,
  BEN,
  built,
  failedRequest,
  OK,
  result,
  started,
  Story,
  types,
} from '../kit/story.ts';

const send = (key: string, when: WhenRunning, text = `message ${key}`): Command => ({
  kind: 'send',
  key,
  input: [{ type: 'text', text }],
  by: BEN,
  when,
});

const running = (): Story => new Story().given(accepted(), built());

describe('without a running turn', () => {
  test.each(['queue', 'reject', 'steer', 'interrupt'] as const)('%s begins a turn', (when) => {
    const story = new Story();
    expect(story.command(send('k', when))).toMatchObject({ kind: 'facts', turn: 1 });
    expect(story.state.active?.turn).toBe(1);
    expect(types(story.events)).toEqual(['session.created', 'turn.accepted']);
  });
});

describe('reject', () => {
  test('is refused, writes nothing, and the same key may be sent again later', () => {
    const story = running();
    expect(story.command(send('k', 'reject'))).toMatchObject({ kind: 'refused', code: 'turn-running' });
    expect(story.state.turns).toHaveLength(1);
    story.given(answered({ text: 'Hi.' }));
    expect(story.command(send('k', 'reject'))).toMatchObject({ kind: 'facts', turn: 2 });
  });
});

describe('interrupt', () => {
  test('cancels the running turn and goes before those that wait', () => {
    const story = running();
    story.command(send('waits', 'queue'));
    const { follow } = story.command(send('urgent', 'interrupt'));
    expect(types(follow)).toEqual([]);
    expect(story.state.active).toMatchObject({ turn: 1, cancel: { by: BEN } });
    expect(story.state.queue).toEqual([3, 2]);
    story.given(failedRequest({ kind: 'cancelled', message: 'stopped' }));
    expect(story.state.turns[0]?.outcome).toBe('cancelled');
    expect(story.state.active?.turn).toBe(3);
  });

  test('a turn that only waits for a person ends at once, and nothing of it runs', () => {
    const story = asking([{ tool: 'asks' }]);
    const { follow } = story.command(send('urgent', 'interrupt'));
    expect(types(follow)).toEqual(['call.cancelled', 'turn.ended']);
    expect(story.state.active?.turn).toBe(2);
    expect(story.work).toEqual(['build 2.1']);
  });
});

describe('steer', () => {
  test('joins the running turn: the answer that would have ended it does not, and the next request is built', () => {
    const story = running();
    expect(story.command(send('s', 'steer'))).toMatchObject({ kind: 'facts', turn: 1, follow: [] });
    expect(types(story.when(answered({ text: 'Done.' })))).toEqual([]);
    expect(story.work).toEqual(['build 1.2']);
    expect(types(story.given(built(1, 2)).when(answered({ text: 'Done again.' }, [1, 2])))).toEqual([
      'turn.ended',
    ]);
    expect(story.state.turns).toHaveLength(1);
  });

  test('its key is known again, also when the turn is over; other content under it is refused', () => {
    const story = running();
    story.command(send('s', 'steer'));
    story.given(answered({ text: 'a' }), built(1, 2), answered({ text: 'b' }, [1, 2]));
    expect(story.command(send('s', 'steer'))).toMatchObject({ kind: 'replayed', turn: 1 });
    expect(story.command(send('s', 'queue'))).toMatchObject({ kind: 'replayed', turn: 1 });
    expect(story.command(send('s', 'steer', 'other'))).toMatchObject({
      kind: 'refused',
      code: 'turn-key-reused',
    });
  });

  test('the limit of steps holds all the same', () => {
    const story = new Story({ limits: { stepsPerTurn: 1 } }).given(accepted(), built());
    story.command(send('s', 'steer'));
    const [end] = story.when(answered({ text: 'Done.' }));
    expect(end).toMatchObject({ type: 'turn.ended', data: { outcome: 'stopped', reason: 'stepsPerTurn' } });
  });

  test('a turn that is being cancelled is not joined: the message is a turn of its own', () => {
    const story = running();
    story.command({ kind: 'cancel', by: ANNA });
    expect(story.command(send('s', 'steer'))).toMatchObject({ kind: 'facts', turn: 2 });
  });

  test('with calls open it waits for their results, and the question stands', () => {
    const story = asking([{ tool: 'asks' }, { tool: 'none' }]);
    story.command(send('s', 'steer'));
    story.given(started('1.1.2'), result('1.1.2', OK));
    expect(story.work).toEqual([]);
    expect(story.waiting.approvals).toEqual(['1.1.1']);
  });
});

const withdraw = (turn: number): Command => ({ kind: 'withdraw', turn, by: BEN });

describe('withdraw', () => {
  test('a turn that waits is taken back and never begins; said twice it is one', () => {
    const story = running();
    story.command(send('a', 'queue'));
    story.command(send('b', 'queue'));
    expect(story.command(withdraw(2))).toMatchObject({ kind: 'facts' });
    expect(story.command(withdraw(2))).toMatchObject({ kind: 'replayed' });
    expect(story.state.queue).toEqual([3]);
    story.given(answered({ text: 'Hi.' }));
    expect(story.state.active?.turn).toBe(3);
    expect(story.command(send('a', 'queue'))).toMatchObject({ kind: 'replayed', turn: 2 });
  });

  test('one that runs, has ended or is not there is not taken back', () => {
    const story = running();
    expect(story.command(withdraw(1))).toMatchObject({ kind: 'refused', code: 'turn-not-waiting' });
    expect(story.command(withdraw(9))).toMatchObject({ kind: 'refused', code: 'turn-not-waiting' });
    story.given(answered({ text: 'Hi.' }));
    expect(story.command(withdraw(1))).toMatchObject({ kind: 'refused', code: 'turn-not-waiting' });
  });

  test('the session stands as its last turn that ran has left it', () => {
    const story = running();
    story.command(send('a', 'queue'));
    story.command(withdraw(2));
    story.given(answered({ text: 'Hi.' }));
    expect(statusOf(story.state)).toBe('done');
  });
});
