import { describe, expect, test } from 'vitest';
import { policyProblem } from '../../src/effect/policy-check.ts';
import type { Policy } from '../../src/event/definition.ts';

/** As a program without types hands it over. */
const problem = (...rules: readonly unknown[]): string | undefined =>
  policyProblem({ rules } as unknown as Policy);

const RULE = { id: 'drafts', do: 'ask' };

describe('a policy is refused where a rule could not mean what it says', () => {
  test.each<[string, unknown, RegExp]>([
    ['an unknown verdict', { id: 'a', do: 'alow' }, /"alow".*allow, ask, deny/],
    ['an id like a built-in rule', { id: 'default:reads', do: 'allow' }, /built-in/],
    ['no id', { do: 'allow' }, /needs an id/],
    ['an unknown effect', { ...RULE, effects: ['write'] }, /"write"/],
    ['a condition without a pointer', { ...RULE, when: [{ at: 'to', equals: 'x' }] }, /JSON Pointer/],
    ['a condition without an operator', { ...RULE, when: [{ at: '/to' }] }, /exactly one of/],
    ['a condition with two', { ...RULE, when: [{ at: '/n', atMost: 1, atLeast: 0 }] }, /exactly one of/],
    ['a misspelled operator', { ...RULE, when: [{ at: '/to', domainsIn: ['a.example'] }] }, /exactly one of/],
    ['an empty list', { ...RULE, when: [{ at: '/to', domainIn: [] }] }, /not empty/],
    ['a bound that is no number', { ...RULE, when: [{ at: '/n', atMost: '5' }] }, /must be a number/],
    ['terms where nobody is asked', { ...RULE, do: 'allow', ask: { fourEyes: true } }, /says do: "allow"/],
    ['nobody to ask', { ...RULE, ask: { by: [] } }, /asks nobody/],
    ['one name that is no list', { ...RULE, ask: { by: 'role:cfo' } }, /no list of names/],
    [
      'an escalation to one name',
      { ...RULE, ask: { escalate: { afterMs: 1, to: 'ben' } } },
      /no list of names/,
    ],
    ['a role without a name', { ...RULE, ask: { by: ['role:'] } }, /"role:"/],
    ['no time to decide', { ...RULE, ask: { expiresMs: 0 } }, /"0" ms/],
    ['half a millisecond', { ...RULE, ask: { escalate: { afterMs: 0.5, to: ['ben'] } } }, /"0.5" ms/],
    [
      'an escalation after the end',
      { ...RULE, ask: { expiresMs: 5, escalate: { afterMs: 5, to: ['ben'] } } },
      /escalates after/,
    ],
    ['an unknown label', { ...RULE, seen: ['secret'] }, /"secret"/],
  ])('%s', (_, rule, said) => {
    expect(problem(rule)).toMatch(said);
  });

  test('also where only the terms of the rule and of the policy together make no sense', () => {
    const rules = [{ ...RULE, ask: { expiresMs: 1000 } }];
    const ask = { escalate: { afterMs: 5000, to: ['ben'] } };
    expect(policyProblem({ ask, rules } as unknown as Policy)).toMatch(/"drafts" escalates after/);
    expect(policyProblem({ ask } as unknown as Policy)).toMatch(/rules/);
  });

  test('two rules of one name', () => {
    expect(problem(RULE, RULE)).toMatch(/"drafts" stands twice/);
  });

  test('and not where all is well', () => {
    expect(
      problem({ ...RULE, tools: ['mail.*'], when: [{ at: '/to/*', domainIn: ['a.example'] }] }),
    ).toBeUndefined();
  });
});
