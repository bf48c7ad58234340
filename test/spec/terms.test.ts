/** Who may decide, and until when: the terms of a question hold for every answer to it. */
import { describe, expect, test } from 'vitest';
import { resultText } from '../../src/context/result-text.ts';
import type { Actor } from '../../src/event/content.ts';
import type { AskTerms, PolicyRule } from '../../src/event/definition.ts';
import type { ApprovalDecision } from '../../src/event/events.ts';
import { wakeAtOf } from '../../src/session/deadlines.ts';
import { START_MS } from '../kit/clock.ts';
import {
  ANNA,
  asking,
  BEN,
  OK,
  prepared,
  result,
  settled,
  started,
  type Story,
  timeReached,
  toolDefinition,
  types,
  UNKNOWN,
} from '../kit/story.ts';

const CARA: Actor = { kind: 'person', name: 'cara', roles: ['cfo'] };
const MINUTE_MS = 60_000;
const YES: ApprovalDecision = { do: 'approve' };

const ask = (terms: AskTerms, more: Partial<PolicyRule> = {}): PolicyRule => ({
  id: 'asked',
  do: 'ask',
  ask: terms,
  ...more,
});

/** A call that is asked about under these terms; anna asked for the turn. */
const under = (terms: AskTerms, args = '{"n":1}'): Story =>
  asking([{ tool: 'asks', args }], { policy: { rules: [ask(terms)] } });

describe('who may decide', () => {
  test('whoever is named, or has the role, and nobody else', () => {
    const by = ['ben', 'role:cfo'];
    expect(under({ by }).answer('1.1.1', YES, BEN)).toBe('facts');
    expect(under({ by }).answer('1.1.1', YES, CARA)).toBe('facts');
    const story = under({ by });
    for (const actor of [
      ANNA,
      { ...BEN, name: 'role:cfo' },
      { ...BEN, name: 'Ben' },
      { ...ANNA, roles: ['ben', 'CFO', 'cfo '] },
      { ...ANNA, roles: [] },
    ])
      for (const decision of [
        YES,
        { do: 'edit', args: '{"n":2}' },
        { do: 'reject' },
        { do: 'respond', content: [] },
      ] as const)
        expect(story.answer('1.1.1', decision, actor)).toBe('not-an-approver');
    expect(story.waiting.approvals).toEqual(['1.1.1']);
  });

  test('anybody, where the terms name nobody', () => {
    expect(under({}).answer('1.1.1', YES, { kind: 'program', name: 'desk' })).toBe('facts');
  });

  test('the rule says it before the policy, and the policy for rules that say nothing', () => {
    const policy = {
      ask: { by: ['ben'], expiresMs: MINUTE_MS },
      rules: [ask({ by: ['cara'] }, { when: [{ at: '/n', equals: 1 }] })],
    };
    const story = asking(
      [
        { tool: 'asks', args: '{"n":1}' },
        { tool: 'asks', args: '{"n":2}' },
      ],
      { policy },
    );
    expect(story.call('1.1.1').terms).toMatchObject({ by: ['cara'], expiresAt: START_MS + MINUTE_MS });
    expect(story.call('1.1.2').terms).toMatchObject({ by: ['ben'] });
    expect(story.answer('1.1.1', YES, BEN)).toBe('not-an-approver');
    expect(story.answer('1.1.2', YES, BEN)).toBe('facts');
  });

  test('a rule that asks says it also for a tool that always asks', () => {
    const tools = [toolDefinition('asks', { approval: 'always' })];
    const policy = { rules: [ask({ by: ['role:cfo'] })] };
    const story = asking([{ tool: 'asks' }], { tools, policy });
    expect(story.call('1.1.1')).toMatchObject({ rule: 'asked', terms: { by: ['role:cfo'] } });
    expect(story.answer('1.1.1', YES, BEN)).toBe('not-an-approver');
    expect(story.answer('1.1.1', { do: 'approve', grant: { when: [], forMs: 1 } }, CARA)).toBe(
      'grant-invalid',
    );
  });
});

describe('four eyes', () => {
  const terms = { fourEyes: true };

  test('whoever asked for the turn cannot let it run, as it is or changed', () => {
    const story = under(terms);
    expect(story.answer('1.1.1', YES, ANNA)).toBe('four-eyes');
    expect(story.answer('1.1.1', { do: 'edit', args: '{"n":2}' }, ANNA)).toBe('four-eyes');
    expect(story.answer('1.1.1', YES, { ...ANNA, roles: ['cfo'] })).toBe('four-eyes');
    expect(story.waiting.approvals).toEqual(['1.1.1']);
    expect(story.answer('1.1.1', YES, BEN)).toBe('facts');
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('but can reject it, or answer it without a start', () => {
    expect(under(terms).answer('1.1.1', { do: 'reject' }, ANNA)).toBe('facts');
    const story = under(terms);
    expect(story.answer('1.1.1', { do: 'respond', content: [{ type: 'text', text: 'Done.' }] }, ANNA)).toBe(
      'facts',
    );
    expect(story.work).toEqual(['build 1.2']);
  });

  test('an edit by the second person that another rule asks about is asked under the terms of that rule', () => {
    const policy = {
      rules: [
        ask({ by: ['cara'] }, { id: 'big', when: [{ at: '/n', atLeast: 100 }] }),
        ask(terms, { id: 'small' }),
      ],
    };
    const story = asking([{ tool: 'asks', args: '{"n":1}' }], { policy });
    expect(story.answer('1.1.1', { do: 'edit', args: '{"n":500}' }, BEN)).toBe('facts');
    expect(story.call('1.1.1')).toMatchObject({ phase: 'asking', rule: 'big', terms: { fourEyes: false } });
    expect(story.answer('1.1.1', YES, BEN)).toBe('not-an-approver');
    expect(story.answer('1.1.1', YES, CARA)).toBe('facts');
  });
});

describe('the deadline', () => {
  const terms = { expiresMs: MINUTE_MS };

  test('a millisecond before it counts, exactly at it does not', () => {
    expect(
      under(terms)
        .later(MINUTE_MS - 1)
        .answer('1.1.1', YES),
    ).toBe('facts');
    const story = under(terms).later(MINUTE_MS);
    expect(story.answer('1.1.1', YES)).toBe('approval-expired');
    expect(story.answer('1.1.1', { do: 'reject' })).toBe('approval-expired');
    expect(types(story.when(timeReached))).toEqual(['approval.expired']);
    expect(resultText(story.call('1.1.1'))).toMatchObject({
      isError: true,
      text: expect.stringContaining('before its deadline') as unknown,
    });
    expect(story.work).toEqual(['build 1.2']);
    expect(story.answer('1.1.1', YES)).toBe('approval-expired');
  });

  test('is the next moment that the session waits for, until somebody has decided', () => {
    const story = under(terms);
    expect(wakeAtOf(story.state)).toBe(START_MS + MINUTE_MS);
    story.answer('1.1.1', YES);
    expect(wakeAtOf(story.state)).toBeUndefined();
  });

  test('a yes before it is none where nothing was started before it, and the model hears what happened', () => {
    const story = under(terms).later(MINUTE_MS - 1);
    expect(story.answer('1.1.1', YES)).toBe('facts');
    expect(types(story.later(1).when(timeReached))).toEqual(['approval.expired']);
    expect(story.work).toEqual(['build 1.2']);
    expect(resultText(story.call('1.1.1')).text).toMatch(/was approved, but could not be started before/);
  });

  test('an edit before it is none either', () => {
    const story = under(terms).later(MINUTE_MS - 1);
    expect(story.answer('1.1.1', { do: 'edit', args: '{"n":2}' })).toBe('facts');
    expect(types(story.later(1).when(timeReached))).toEqual(['approval.expired']);
  });

  test('what was started before it goes on after it, also with further attempts', () => {
    const story = under(terms).later(MINUTE_MS - 1);
    story.answer('1.1.1', YES);
    story.when(started('1.1.1'));
    expect(story.later(1).when(timeReached)).toEqual([]);
    expect(story.when(result('1.1.1', OK))).toEqual([]);
    expect(story.call('1.1.1').closing?.kind).toBe('ok');
  });

  test('each question has its own, also the one after a call in doubt', () => {
    const story = under(terms);
    story.answer('1.1.1', YES);
    story.given(started('1.1.1'), result('1.1.1', UNKNOWN)).later(2 * MINUTE_MS);
    story.when(settled('1.1.1', { answer: 'not-happened' }));
    expect(story.call('1.1.1')).toMatchObject({
      phase: 'asking',
      terms: { expiresAt: START_MS + 3 * MINUTE_MS },
    });
    story.answer('1.1.1', YES);
    expect(story.work).toEqual(['start 1.1.1#2']);
    expect(types(story.later(MINUTE_MS).when(timeReached))).toEqual(['approval.expired']);
    expect(story.work).toEqual(['build 1.2']);
  });

  test('one call lapses and its neighbour goes on waiting', () => {
    const rules = [ask(terms, { when: [{ at: '/n', equals: 1 }] }), ask({}, { id: 'patient' })];
    const calls = [1, 2].map((n) => ({ tool: 'asks', args: `{"n":${n}}` }));
    const story = asking(calls, { policy: { rules } }).later(MINUTE_MS);
    expect(story.when(timeReached)).toMatchObject([{ type: 'approval.expired', data: { call: '1.1.1' } }]);
    expect(story.waiting.approvals).toEqual(['1.1.2']);
  });
});

describe('escalation', () => {
  const terms: AskTerms = {
    by: ['ben'],
    expiresMs: 10 * MINUTE_MS,
    escalate: { afterMs: MINUTE_MS, to: ['role:cfo'] },
  };

  test('at its moment further people may decide, once, and those who could before still can', () => {
    const story = under(terms);
    expect(wakeAtOf(story.state)).toBe(START_MS + MINUTE_MS);
    expect(story.answer('1.1.1', YES, CARA)).toBe('not-an-approver');
    story.later(MINUTE_MS - 1);
    expect(story.when(timeReached)).toEqual([]);
    expect(story.later(1).when(timeReached)).toEqual([
      { type: 'approval.escalated', data: { call: '1.1.1', to: ['role:cfo'] } },
    ]);
    expect(story.when(timeReached)).toEqual([]);
    expect(wakeAtOf(story.state)).toBe(START_MS + 10 * MINUTE_MS);
    expect(story.answer('1.1.1', YES, CARA)).toBe('facts');
  });

  test('keeps four eyes', () => {
    const story = under({ ...terms, fourEyes: true, escalate: { afterMs: MINUTE_MS, to: ['anna'] } });
    story.later(MINUTE_MS).when(timeReached);
    expect(story.answer('1.1.1', YES, ANNA)).toBe('four-eyes');
    expect(story.answer('1.1.1', { do: 'reject' }, ANNA)).toBe('facts');
  });

  test('is followed by the deadline, which counts from the question', () => {
    const story = under(terms);
    story.later(MINUTE_MS).when(timeReached);
    expect(types(story.later(9 * MINUTE_MS).when(timeReached))).toEqual(['approval.expired']);
  });

  test('a session that was looked at too late for it lapses', () => {
    expect(
      types(
        under(terms)
          .later(10 * MINUTE_MS)
          .when(timeReached),
      ),
    ).toEqual(['approval.expired']);
  });

  test('waits for the preview like the question itself', () => {
    const tools = [toolDefinition('asks', { previews: true })];
    const story = asking([{ tool: 'asks' }], { tools, policy: { rules: [ask(terms)] } });
    story.later(5 * MINUTE_MS).when(prepared('1.1.1', 'Send it'));
    expect(story.call('1.1.1').terms).toMatchObject({
      expiresAt: START_MS + 15 * MINUTE_MS,
      escalates: { at: START_MS + 6 * MINUTE_MS },
    });
  });
});

test('what was recorded as gated stays gated when the configuration is loosened', () => {
  const story = under({ by: ['ben'], fourEyes: true, expiresMs: MINUTE_MS });
  const before = story.call('1.1.1');
  const agent = { ...story.state.agent, policy: { rules: [{ id: 'all', do: 'allow' as const }] } };
  expect(story.when({ type: 'agent.updated', data: { agent, program: 'story' } })).toEqual([]);
  expect(story.call('1.1.1')).toEqual(before);
  expect(story.work).toEqual([]);
  expect(story.answer('1.1.1', YES, ANNA)).toBe('not-an-approver');
  expect(types(story.later(MINUTE_MS).when(timeReached))).toEqual(['approval.expired']);
});
