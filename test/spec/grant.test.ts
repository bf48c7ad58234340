/** Leave for further calls: as wide as its conditions, as long as its time, and never more than the yes it came with. */
import { describe, expect, test } from 'vitest';
import { GRANT_MS_MAX, sameValues } from '../../src/effect/grant.ts';
import { parseStrict, type StrictValue } from '../../src/event/strict.ts';
import type { AskTerms, Condition, PolicyRule } from '../../src/event/definition.ts';
import type { Grant, NewDecision, NewEvent } from '../../src/event/events.ts';
import {
  ANNA,
  accepted,
  agentDefinition,
  answered,
  asking,
  BEN,
  built,
  OK,
  prepared,
  result,
  settled,
  started,
  type SaidCall,
  type Story,
  type StoryOptions,
  timeReached,
  toolDefinition,
  UNKNOWN,
} from '../kit/story.ts';

const HOUR_MS = 3_600_000;
const TO_A: Condition = { at: '/to', equals: 'a' };

const rule = (ask: AskTerms = {}, more: Partial<PolicyRule> = {}): PolicyRule => ({
  id: 'asked',
  do: 'ask',
  ask,
  ...more,
});

const give = (when: readonly Condition[] = [TO_A], forMs = HOUR_MS): { do: 'approve'; grant: Grant } => ({
  do: 'approve',
  grant: { when, forMs },
});

/** Anna asked; ben has approved a call to "a" with leave for more like it, and it has run. */
const granted = (options: StoryOptions = {}, grant: ReturnType<typeof give> = give()): Story => {
  const story = asking([{ tool: 'asks', args: '{"to":"a","n":1}' }], {
    policy: { rules: [rule()] },
    ...options,
  });
  expect(story.answer('1.1.1', grant, BEN)).toBe('facts');
  return story.given(started('1.1.1'), result('1.1.1', OK));
};

const nextStep = (story: Story, call: SaidCall, step = 2): readonly NewDecision[] => {
  story.when(built(1, step));
  return story.when(answered({ calls: [call] }, [1, step]));
};

const RUNS = [{ type: 'call.proposed', data: { do: 'run', rule: 'grant:1.1.1' } }];
const ASKS = [{ type: 'call.proposed', data: { do: 'ask' } }, { type: 'approval.requested' }];

describe('a call like the one that was approved', () => {
  test('runs without a question, and the record names the call whose approval allowed it', () => {
    expect(nextStep(granted(), { tool: 'asks', args: '{"n":2,"to":"a"}' })).toMatchObject(RUNS);
  });

  test('also in the next turn of the same person', () => {
    const story = granted();
    nextStep(story, { tool: 'none' });
    story.given(started('1.2.1'), result('1.2.1', OK), built(1, 3), answered({ text: 'Done.' }, [1, 3]));
    story.given(accepted(2), built(2, 1));
    expect(story.when(answered({ calls: [{ tool: 'asks', args: '{"to":"a"}' }] }, [2, 1]))).toMatchObject(
      RUNS,
    );
  });

  test.each(['{"to":"b"}', '{}', '{"to":["a"]}', '{"to":"A"}', '{"to":"a "}', '{"nested":{"to":"a"}}'])(
    'is asked about where the arguments are %s',
    (args) => expect(nextStep(granted(), { tool: 'asks', args })).toMatchObject(ASKS),
  );

  test('is asked about where any one of several conditions does not hold', () => {
    const grant = give([TO_A, { at: '/n', atMost: 10 }]);
    expect(nextStep(granted({}, grant), { tool: 'asks', args: '{"to":"a","n":10}' })).toMatchObject(RUNS);
    expect(nextStep(granted({}, grant), { tool: 'asks', args: '{"to":"a","n":11}' })).toMatchObject(ASKS);
    expect(nextStep(granted({}, grant), { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(ASKS);
  });

  test('is asked about where another rule asks', () => {
    const rules = [rule({}, { id: 'big', when: [{ at: '/n', atLeast: 100 }] }), rule()];
    const story = granted({ policy: { rules } });
    expect(nextStep(story, { tool: 'asks', args: '{"to":"a","n":100}' })).toMatchObject([
      { data: { do: 'ask', rule: 'big' } },
      { type: 'approval.requested' },
    ]);
  });

  test('is denied where a rule denies', () => {
    const rules = [{ id: 'no', do: 'deny' as const, when: [{ at: '/n', equals: 13 }] }, rule()];
    expect(
      nextStep(granted({ policy: { rules } }), { tool: 'asks', args: '{"to":"a","n":13}' }),
    ).toMatchObject([{ type: 'call.rejected', data: { reason: 'denied-by-policy' } }]);
  });

  test('is asked about where it is another tool, whatever its arguments', () => {
    const tools = [toolDefinition('asks'), toolDefinition('asks2')];
    expect(nextStep(granted({ tools }), { tool: 'asks2', args: '{"to":"a"}' })).toMatchObject(ASKS);
  });

  test('is asked about where the definition of the tool has changed', () => {
    const story = granted();
    const tools = [toolDefinition('asks', { description: 'it does more now' })];
    const agent = agentDefinition({ tools, policy: story.state.agent.policy });
    story.when({ type: 'agent.updated', data: { agent, program: 'story' } });
    expect(nextStep(story, { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(ASKS);
  });

  test('runs a millisecond before the leave runs out, and is asked about at its end', () => {
    const last = granted().later(HOUR_MS - 1);
    expect(nextStep(last, { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(RUNS);
    const over = granted().later(HOUR_MS);
    expect(nextStep(over, { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(ASKS);
  });

  test('in the same step waits: the leave is for calls that are proposed later', () => {
    const calls = [1, 2].map((n) => ({ tool: 'asks', args: `{"to":"a","n":${n}}` }));
    const story = asking(calls, { policy: { rules: [rule()] } });
    story.answer('1.1.1', give());
    expect(story.waiting.approvals).toEqual(['1.1.2']);
  });
});

const second = (text: string): NewEvent => ({
  type: 'turn.accepted',
  data: { turn: 2, key: 'key-2', fingerprint: text as never, input: [{ type: 'text', text }], by: BEN },
});

describe('leave is worth no more than the yes of whoever gave it', () => {
  test('under four eyes it does not hold in a turn that its giver asked for', () => {
    const story = granted({ policy: { rules: [rule({ fourEyes: true })] } });
    nextStep(story, { tool: 'asks', args: '{"to":"a","n":2}' });
    expect(story.call('1.2.1').rule).toBe('grant:1.1.1');
    story.given(started('1.2.1'), result('1.2.1', OK), built(1, 3), answered({ text: 'Done.' }, [1, 3]));
    story.given(second('Ben asks now.'), built(2, 1));
    expect(story.when(answered({ calls: [{ tool: 'asks', args: '{"to":"a"}' }] }, [2, 1]))).toMatchObject(
      ASKS,
    );
    expect(story.answer('2.1.1', { do: 'approve' }, BEN)).toBe('four-eyes');
  });

  test('it ends where the rule asks other people now', () => {
    const story = granted({ policy: { rules: [rule({ by: ['ben'] })] } });
    const agent = agentDefinition({ policy: { rules: [rule({ by: ['role:cfo'] })] } });
    story.when({ type: 'agent.updated', data: { agent, program: 'story' } });
    expect(nextStep(story, { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(ASKS);
  });

  test('whoever may decide after an escalation may give it, too', () => {
    const terms: AskTerms = { by: ['cara'], escalate: { afterMs: 1000, to: ['ben'] } };
    const story = asking([{ tool: 'asks', args: '{"to":"a"}' }], { policy: { rules: [rule(terms)] } });
    story.later(1000).when(timeReached);
    story.answer('1.1.1', give(), BEN);
    story.given(started('1.1.1'), result('1.1.1', OK));
    expect(nextStep(story, { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(RUNS);
  });

  test('it goes with a yes that lapsed', () => {
    const story = asking([{ tool: 'asks', args: '{"to":"a"}' }], {
      policy: { rules: [rule({ expiresMs: 1000 })] },
    });
    story.answer('1.1.1', give());
    story.later(1000).when(timeReached);
    expect(story.call('1.1.1').closing?.kind).toBe('expired');
    expect(nextStep(story, { tool: 'asks', args: '{"to":"a"}' })).toMatchObject(ASKS);
  });

  test('it goes with a yes to a preview that has changed', () => {
    const tools = [toolDefinition('asks', { previews: true })];
    const story = asking([{ tool: 'asks', args: '{"to":"a"}' }], { tools, policy: { rules: [rule()] } });
    story.when(prepared('1.1.1', 'one', 'base'));
    story.answer('1.1.1', give());
    story.later(1).when(prepared('1.1.1', 'two', 'other base'));
    expect(story.answer('1.1.1', { do: 'reject' })).toBe('facts');
    expect(story.state.grants).toEqual([]);
  });
});

describe('some calls are asked about whatever leave was given', () => {
  test('the twin of a call in doubt, and then whoever the rule names is asked', () => {
    const story = granted({ policy: { rules: [rule({ by: ['ben'] })] } });
    nextStep(story, { tool: 'asks', args: '{"to":"a","n":2}' });
    story.given(started('1.2.1'), result('1.2.1', UNKNOWN), settled('1.2.1', { answer: 'give-up' }));
    expect(nextStep(story, { tool: 'asks', args: '{"n":2,"to":"a"}' }, 3)).toMatchObject(ASKS);
    expect(story.call('1.3.1')).toMatchObject({ rule: 'asked', terms: { by: ['ben'] } });
    expect(story.answer('1.3.1', { do: 'approve' }, ANNA)).toBe('not-an-approver');
  });

  test('a tool that always asks: the yes with leave is refused and the question stands', () => {
    const tools = [toolDefinition('asks', { approval: 'always' })];
    const story = asking([{ tool: 'asks', args: '{"to":"a"}' }], { tools });
    expect(story.answer('1.1.1', give())).toBe('grant-invalid');
    expect(story.waiting.approvals).toEqual(['1.1.1']);
  });

  test('a twin that was asked about as such gives no leave', () => {
    const policy = { rules: [{ id: 'all', do: 'allow' as const }] };
    const story = asking([{ tool: 'once', args: '{"to":"a"}' }], { policy });
    story.given(started('1.1.1'), result('1.1.1', UNKNOWN), settled('1.1.1', { answer: 'give-up' }));
    nextStep(story, { tool: 'once', args: '{"to":"a"}' });
    expect(story.answer('1.2.1', give())).toBe('grant-invalid');
  });
});

describe('leave that could not mean what it says is refused', () => {
  test.each([
    ['no time', [TO_A], 0],
    ['half a millisecond', [TO_A], 0.5],
    ['for ever', [TO_A], Number.POSITIVE_INFINITY],
    ['more than a week', [TO_A], GRANT_MS_MAX + 1],
    ['a condition that the call itself does not meet', [{ at: '/to', equals: 'b' }], 1],
    ['a place that the call does not have', [{ at: '/cc', equals: null }], 1],
    ['no pointer', [{ at: 'to', equals: 'a' }], 1],
    ['no operator', [{ at: '/to' } as never], 1],
    ['two operators', [{ at: '/to', equals: 'a', oneOf: ['a'] } as never], 1],
    ['too many conditions', Array.from({ length: 51 }, () => TO_A), 1],
    ['no list', 'all' as never, 1],
  ] as const)('%s', (_, when, forMs) => {
    const story = asking([{ tool: 'asks', args: '{"to":"a"}' }]);
    expect(story.answer('1.1.1', give(when, forMs))).toBe('grant-invalid');
    expect(story.waiting.approvals).toEqual(['1.1.1']);
    expect(story.state.grants).toEqual([]);
  });
});

const read = (text: string): StrictValue => {
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
};

test('conditions for the same values never hold for a neighbour of a number that a double cannot hold', () => {
  const [condition] = sameValues(read('{"account":9007199254740993}'), ['/account']);
  if (!condition) throw new Error('one place, one condition');
  const story = asking([{ tool: 'asks', args: '{"account":9007199254740993}' }]);
  expect(story.answer('1.1.1', give([condition]))).toBe('grant-invalid');
});
