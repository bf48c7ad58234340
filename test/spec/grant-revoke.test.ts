/** Leave that is taken back: nothing more starts by it, also not what it had let pass already; what has begun ends. */
import { describe, expect, test } from 'vitest';
import type { Condition, PolicyRule } from '../../src/event/definition.ts';
import type { ApprovalDecision, NewEvent } from '../../src/event/events.ts';
import { beforeStart } from '../../src/session/before-start.ts';
import { earlierAnswer } from '../../src/session/earlier-answer.ts';
import {
  agentDefinition,
  ANNA,
  answered,
  asking,
  BEN,
  built,
  modeChanged,
  OK,
  result,
  RETRYABLE,
  started,
  suspended,
  toolDefinition,
  UNKNOWN,
  type SaidCall,
  type Story,
} from '../kit/story.ts';

const HOUR_MS = 3_600_000;
const TO_A: Condition = { at: '/to', equals: 'a' };
const A: SaidCall = { tool: 'asks', args: '{"to":"a"}' };
const ASK_ALL: PolicyRule = { id: 'asked', do: 'ask', tools: ['asks', 'asks2'] };
const RETRIED = { attempts: 3, baseMs: 100, maxMs: 100 };
const TOOLS = [
  toolDefinition('asks', { retry: RETRIED }),
  toolDefinition('asks2'),
  toolDefinition('makes', { effect: 'none', calls: ['asks'] }),
];

const give = (when: readonly Condition[] = [TO_A]): ApprovalDecision => ({
  do: 'approve',
  grant: { when, forMs: HOUR_MS },
});

const revoked: NewEvent = { type: 'grant.revoked', data: { grant: '1.1.1', by: ANNA } };

/** Ben gave leave for calls of `asks` to "a" with 1.1.1; this is the step after it. */
const next = (...calls: readonly SaidCall[]): Story => {
  const story = asking([A], { tools: TOOLS, policy: { rules: [ASK_ALL] } });
  story.answer('1.1.1', give());
  return story.given(started('1.1.1'), result('1.1.1', OK), built(1, 2), answered({ calls }, [1, 2]));
};

const take = (story: Story, call?: '1.1.1' | '1.1.2'): ReturnType<Story['command']> =>
  story.command({ kind: 'revoke', by: ANNA, ...(call && { call }) });

const ASKED = [{ type: 'call.proposed', data: { do: 'ask', rule: 'asked' } }, { type: 'approval.requested' }];

describe('when leave is taken back', () => {
  test('a call that it would have let run is asked about', () => {
    const story = next({ tool: 'makes' });
    expect(take(story, '1.1.1')).toMatchObject({
      kind: 'facts',
      facts: [{ type: 'grant.revoked', data: { grant: '1.1.1', by: ANNA } }],
      follow: [],
    });
    story.given(started('1.2.1'), result('1.2.1', OK), built(1, 3));
    expect(story.when(answered({ calls: [A] }, [1, 3]))).toMatchObject(ASKED);
  });

  test('a call that it has let pass and that was not started is asked about, and runs with a yes', () => {
    const story = next(A);
    expect(story.work).toEqual(['start 1.2.1#1']);
    expect(take(story).follow).toMatchObject(ASKED);
    expect(story.work).toEqual([]);
    expect(story.answer('1.2.1', { do: 'approve' })).toBe('facts');
    expect(story.work).toEqual(['start 1.2.1#1']);
  });

  test('also under a gate that held it, which then opens', () => {
    const story = next(A).given(modeChanged('frozen'));
    expect(take(story).follow).toMatchObject(ASKED);
    story.when(modeChanged('normal'));
    expect([story.work, story.waiting.approvals]).toEqual([[], ['1.2.1']]);
  });

  test('also one that a call makes', () => {
    const story = asking([A], { tools: TOOLS, policy: { rules: [ASK_ALL] } });
    story.answer('1.1.1', give([]));
    story.given(started('1.1.1'), result('1.1.1', OK), built(1, 2));
    story.given(answered({ calls: [{ tool: 'makes' }] }, [1, 2]), started('1.2.1'));
    story.when(suspended('1.2.1', [['asks', 1]]));
    expect(story.work).toEqual(['start 1.2.1.1#1']);
    expect(take(story).follow).toMatchObject(ASKED);
    expect(story.waiting.approvals).toEqual(['1.2.1.1']);
  });

  test('an attempt that has begun ends, and another one of it may follow', () => {
    const story = next(A).given(started('1.2.1'));
    expect(take(story).follow).toEqual([]);
    expect(story.work).toEqual(['attempt 1.2.1#1']);
    expect(story.when(result('1.2.1', RETRYABLE))).toMatchObject([{ type: 'call.retry' }]);
    const between = next(A).given(started('1.2.1'), result('1.2.1', RETRYABLE));
    expect(take(between).follow).toEqual([]);
    expect(between.work).toEqual(['start 1.2.1#2']);
  });

  test('a call that a person approved for itself runs', () => {
    const story = next({ tool: 'asks', args: '{"to":"b"}' });
    story.answer('1.2.1', { do: 'approve' });
    expect(take(story).follow).toEqual([]);
    expect(story.work).toEqual(['start 1.2.1#1']);
  });

  test('leave for another tool stands', () => {
    const story = asking([A, { tool: 'asks2' }], { tools: TOOLS, policy: { rules: [ASK_ALL] } });
    story.answer('1.1.1', give());
    story.answer('1.1.2', give([]));
    expect(take(story, '1.1.1').follow).toEqual([]);
    expect(story.state.grants).toMatchObject([{ call: '1.1.2' }]);
    story.given(started('1.1.1'), result('1.1.1', OK), started('1.1.2'), result('1.1.2', OK), built(1, 2));
    story.when(answered({ calls: [A, { tool: 'asks2' }] }, [1, 2]));
    expect([story.waiting.approvals, story.work]).toEqual([['1.2.1'], ['start 1.2.2#1']]);
  });

  test('the twin of a call in doubt is asked about as such, whatever the rules have become', () => {
    const story = next(A, A).given(started('1.2.1'), modeChanged('frozen'), result('1.2.1', UNKNOWN));
    const agent = agentDefinition({ tools: TOOLS, policy: { rules: [{ id: 'all', do: 'allow' }] } });
    story.when({ type: 'agent.updated', data: { agent, program: 'story' } });
    expect(take(story).follow).toMatchObject([
      { type: 'call.proposed', data: { do: 'ask', rule: 'runtime:same-call-was-in-doubt' } },
      { type: 'approval.requested' },
    ]);
  });
});

describe('what can be taken back', () => {
  test('without a call: all that stands', () => {
    const story = asking([A, { tool: 'asks2' }], { tools: TOOLS, policy: { rules: [ASK_ALL] } });
    story.answer('1.1.1', give());
    story.answer('1.1.2', give([]));
    expect(take(story)).toMatchObject({
      facts: [{ data: { grant: '1.1.1' } }, { data: { grant: '1.1.2' } }],
    });
    expect(story.state.grants).toEqual([]);
  });

  test('not what has run out, nor what nobody gave', () => {
    const over = next({ tool: 'makes' }).later(HOUR_MS);
    expect(take(over, '1.1.1')).toMatchObject({ kind: 'refused', code: 'grant-not-found' });
    expect(take(over)).toMatchObject({ kind: 'refused', code: 'grant-not-found' });
    expect(take(next(A), '1.1.2')).toMatchObject({ kind: 'refused', code: 'grant-not-found' });
    expect(take(asking([A]))).toMatchObject({ kind: 'refused', code: 'grant-not-found' });
  });

  test('what has run out, where a call that it had let pass in its time would still run', () => {
    const story = next(A).given(modeChanged('frozen')).later(HOUR_MS);
    expect(take(story)).toMatchObject({ kind: 'facts', follow: ASKED });
  });

  test('the same again has the answer of the first time', () => {
    const story = next(A).given(revoked);
    expect(take(story, '1.1.1')).toMatchObject({ kind: 'refused', code: 'grant-not-found' });
    const again = (call?: '1.1.1' | '1.1.2'): unknown =>
      earlierAnswer(story.events, { kind: 'revoke', by: BEN, ...(call && { call }) });
    expect([again('1.1.1'), again()]).toEqual([{ kind: 'replayed' }, { kind: 'replayed' }]);
    expect(again('1.1.2')).toBeUndefined();
  });

  test('whoever took it back may give it again', () => {
    const story = next(A).given(revoked);
    story.answer('1.2.1', give());
    story.given(started('1.2.1'), result('1.2.1', OK), built(1, 3), answered({ calls: [A] }, [1, 3]));
    expect(story.call('1.3.1').rule).toBe('grant:1.2.1');
  });
});

/** What is said of the first call of the step. */
const about = (story: Story, at = story.state.lastAt): ReturnType<typeof beforeStart> => {
  const call = story.state.active?.calls[0];
  if (!call) throw new Error('the step has a call');
  return beforeStart(story.state, call, at);
};

describe('right before the start of a call that a grant has let pass', () => {
  test('nothing is said while it stands, up to the moment at which it ends', () => {
    const story = next(A);
    const ends = story.state.grants[0]?.expiresAt ?? 0;
    expect(about(story, ends - 1)).toBeUndefined();
    expect(about(story, ends)).toMatchObject({ data: { grant: '1.1.1', reason: 'its time is over' } });
  });

  test('that it does not stand any more, where newer ones have taken its place', () => {
    const story = next(A);
    const gone = beforeStart({ ...story.state, grants: [] }, story.state.active?.calls[0] as never, 0);
    expect(gone).toMatchObject({
      type: 'grant.revoked',
      data: { grant: '1.1.1', by: { kind: 'runtime' }, reason: 'it does not stand any more' },
    });
  });

  test('nothing about a call that was started while it stood, nor about one that a person approved for itself', () => {
    const retried = next(A).given(started('1.2.1'), result('1.2.1', RETRYABLE));
    expect(about(retried, Infinity)).toBeUndefined();
    const approved = next({ tool: 'asks', args: '{"to":"b"}' });
    approved.answer('1.2.1', { do: 'approve' });
    expect(about(approved, approved.state.lastAt + HOUR_MS)).toBeUndefined();
  });
});
