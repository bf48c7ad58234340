/** Policy: which rule decides, and what its conditions see. */
import { describe, expect, test } from 'vitest';
import { judge, type Verdict } from '../../src/effect/policy.ts';
import type { Condition, PolicyRule, ToolDefinition } from '../../src/event/definition.ts';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import { parseStrict } from '../../src/event/strict.ts';
import { toolDefinition } from '../kit/story.ts';

const verdict = (
  rules: readonly PolicyRule[],
  args = '{}',
  tool: ToolDefinition = toolDefinition('mail.send'),
): Verdict => {
  const parsed = parseStrict(args);
  if (!parsed.ok) throw new Error(parsed.message);
  return judge({ rules }, tool, { args: parsed.value, seen: [] });
};

const rule = (id: string, doing: PolicyRule['do'], rest: Partial<PolicyRule> = {}): PolicyRule => ({
  id,
  do: doing,
  ...rest,
});

/** Whether a tool pattern matches a name. */
const matches = (pattern: string, name: string): boolean =>
  verdict([rule('r', 'deny', { tools: [pattern] })], '{}', toolDefinition(name)).rule === 'r';

/** Whether one condition holds for an allow rule and for a deny rule. */
const holds = (condition: Condition, args: string): { allow: boolean; deny: boolean } => ({
  allow: verdict([rule('r', 'allow', { when: [condition] })], args).rule === 'r',
  deny: verdict([rule('r', 'deny', { when: [condition] })], args).rule === 'r',
});

describe('which rule decides', () => {
  test.each<[EffectKind, string, string]>([
    ['none', 'run', 'default:no-effect'],
    ['idempotent', 'ask', 'default:effect-asks'],
    ['reconcilable', 'ask', 'default:effect-asks'],
    ['once', 'ask', 'default:effect-asks'],
  ])('without a rule, effect %s: %s', (effect, doing, name) => {
    expect(verdict([], '{}', toolDefinition('t', { effect }))).toEqual({ do: doing, rule: name });
  });

  test('the first rule that matches', () => {
    const rules = [
      rule('other', 'deny', { tools: ['other'] }),
      rule('first', 'allow'),
      rule('second', 'deny'),
    ];
    expect(verdict(rules)).toEqual({ do: 'run', rule: 'first' });
    expect(verdict(rules.toReversed())).toEqual({ do: 'deny', rule: 'second' });
  });

  test('a tool that always asks asks, whatever is allowed, and is denied where that is said', () => {
    const tool = toolDefinition('t', { approval: 'always' });
    expect(verdict([rule('yes', 'allow')], '{}', tool)).toEqual({ do: 'ask', rule: 'tool:always-asks' });
    expect(verdict([rule('no', 'deny')], '{}', tool)).toEqual({ do: 'deny', rule: 'no' });
    expect(verdict([], '{}', toolDefinition('t', { approval: 'always', effect: 'none' }))).toMatchObject({
      do: 'ask',
    });
  });

  test('a tool that never asks still obeys rules', () => {
    const tool = toolDefinition('t', { approval: 'never' });
    expect(verdict([], '{}', tool)).toEqual({ do: 'run', rule: 'tool:never-asks' });
    expect(verdict([rule('stop', 'ask')], '{}', tool)).toEqual({ do: 'ask', rule: 'stop' });
    expect(verdict([rule('no', 'deny')], '{}', tool)).toEqual({ do: 'deny', rule: 'no' });
  });

  test('tool patterns match whole names, or a prefix before ".*"', () => {
    expect(matches('mail.*', 'mail.send')).toBe(true);
    expect(matches('mail.*', 'mailer')).toBe(false);
    expect(matches('mail.send', 'mail.send')).toBe(true);
    expect(matches('mail', 'mail.send')).toBe(false);
    expect(matches('*', 'mail.send')).toBe(false);
  });

  test('effects, tools and conditions must all fit', () => {
    const one = rule('r', 'deny', {
      effects: ['once'],
      tools: ['mail.send'],
      when: [{ at: '/n', atLeast: 5 }],
    });
    expect(verdict([one], '{"n":5}').rule).toBe('r');
    expect(verdict([one], '{"n":4}').rule).not.toBe('r');
    expect(verdict([one], '{"n":5}', toolDefinition('mail.send', { effect: 'idempotent' })).rule).not.toBe(
      'r',
    );
    expect(
      verdict(
        [
          {
            ...one,
            when: [
              { at: '/n', atLeast: 5 },
              { at: '/m', equals: 1 },
            ],
          },
        ],
        '{"n":5}',
      ).rule,
    ).not.toBe('r');
  });

  test('the reason of a rule comes with its verdict', () => {
    expect(verdict([rule('r', 'ask', { reason: 'Money leaves.' })])).toEqual({
      do: 'ask',
      rule: 'r',
      reason: 'Money leaves.',
    });
  });
});

describe('what conditions see', () => {
  const BOTH = { allow: true, deny: true };
  const NEITHER = { allow: false, deny: false };

  test.each<[string, Condition, string, { allow: boolean; deny: boolean }]>([
    ['equal text', { at: '/a', equals: 'x' }, '{"a":"x"}', BOTH],
    ['a text is no number', { at: '/a', equals: 1 }, '{"a":"1"}', NEITHER],
    ['null', { at: '/a', equals: null }, '{"a":null}', BOTH],
    ['a missing value', { at: '/a', equals: null }, '{}', NEITHER],
    ['a list of values', { at: '/a', oneOf: ['x', 2] }, '{"a":2}', BOTH],
    ['at most', { at: '/a', atMost: 10 }, '{"a":10}', BOTH],
    ['over at most', { at: '/a', atMost: 10 }, '{"a":10.5}', NEITHER],
    [
      'a number beyond 2^53 is not small',
      { at: '/a', atMost: 10 },
      '{"a":123456789012345678901234567890}',
      NEITHER,
    ],
    [
      'a number beyond 2^53 is large',
      { at: '/a', atLeast: 10 },
      '{"a":123456789012345678901234567890}',
      BOTH,
    ],
    ['a text of digits is no amount', { at: '/a', atMost: 10 }, '{"a":"5"}', NEITHER],
    ['a nested value', { at: '/a/b/0', equals: 1 }, '{"a":{"b":[1]}}', BOTH],
    ['escapes of pointers', { at: '/a~1b/~0', equals: 1 }, '{"a/b":{"~":1}}', BOTH],
    ['__proto__ is a key like any other', { at: '/__proto__/x', equals: 1 }, '{"__proto__":{"x":1}}', BOTH],
    ['inherited members are not there', { at: '/constructor/name', equals: 'Object' }, '{}', NEITHER],
    ['nothing but what is named', { at: '', only: ['a', 'b'] }, '{"a":1}', BOTH],
    ['something that is not named', { at: '', only: ['a'] }, '{"a":1,"bcc":"x"}', NEITHER],
    ['an empty list that stays empty', { at: '/a', only: [] }, '{"a":[]}', BOTH],
    ['an item that was added', { at: '/a', only: ['0'] }, '{"a":[1,2]}', NEITHER],
    ['a text has no members', { at: '/a', only: [] }, '{"a":""}', NEITHER],
    ['__proto__ is a member like any other', { at: '', only: ['a'] }, '{"a":1,"__proto__":{}}', NEITHER],
    ['length is not a member of lists', { at: '/a/length', equals: 0 }, '{"a":[]}', NEITHER],
    ['an empty list satisfies nothing', { at: '/a/*', equals: 1 }, '{"a":[]}', NEITHER],
    ['every item', { at: '/a/*', equals: 1 }, '{"a":[1,1]}', BOTH],
    [
      'one item: not allowed, but denied',
      { at: '/a/*', equals: 1 },
      '{"a":[2,1]}',
      { allow: false, deny: true },
    ],
  ])('%s', (_, condition, args, expected) => {
    expect(holds(condition, args)).toEqual(expected);
  });

  test('one item that fits is enough to deny, also beside items that lack the value', () => {
    const condition = { at: '/to/*/address', domainIn: ['evil.example'] };
    expect(holds(condition, '{"to":[{"address":"a@evil.example"},{"name":"no address"}]}')).toEqual({
      allow: false,
      deny: true,
    });
    expect(holds(condition, '{"to":[{"name":"no address"},{"address":"a@evil.example"}]}')).toEqual({
      allow: false,
      deny: true,
    });
  });

  test('a whole number beyond 2^53 equals the same number in a rule', () => {
    expect(holds({ at: '/a', equals: 1e16 }, '{"a":10000000000000000}')).toEqual(BOTH);
    expect(holds({ at: '/a', oneOf: [1e16] }, '{"a":10000000000000000}')).toEqual(BOTH);
  });

  test.each([
    ['a@firm.example', true],
    ['a@mail.firm.example', true],
    ['A@FIRM.example', true],
    ['a@notfirm.example', false],
    ['a@firm.example.evil.example', false],
    ['"x" <a@firm.example>', false],
    ['a@evil.example,b@firm.example', false],
    ['a@evil.example\nb@firm.example', false],
    ['a@firm.example ', false],
    ['firm.example', false],
    ['@firm.example', false],
    ['a@b@firm.example', false],
  ])('the mail domain of %j: %s', (address, fits) => {
    expect(holds({ at: '/to', domainIn: ['firm.example'] }, JSON.stringify({ to: address })).allow).toBe(
      fits,
    );
  });

  test.each([
    ['https://firm.example/x', true],
    ['https://FIRM.example:8443/', true],
    ['https://firm.example./', true],
    ['https://firm.example@evil.example/', false],
    ['https://evil.example/firm.example', false],
    ['https://sub.firm.example/', false],
    ['firm.example', false],
    ['//firm.example/', false],
  ])('the host of %j: %s', (url, fits) => {
    expect(holds({ at: '/url', hostIn: ['firm.example'] }, JSON.stringify({ url })).allow).toBe(fits);
  });

  test.each([
    ['reports/a.csv', true],
    ['reports', true],
    ['reports/deep/a.csv', true],
    ['reportsx/a.csv', false],
    ['/reports/a.csv', false],
    ['reports/../secret', false],
    ['./reports/a', false],
    ['reports\\..\\secret', false],
    ['reports/a\0.csv', false],
  ])('the path %j: %s', (path, fits) => {
    expect(holds({ at: '/path', below: ['reports/'] }, JSON.stringify({ path })).allow).toBe(fits);
  });
});
