/** What follows from a response: each call is proposed or rejected, in order, with a reason the model can use. */
import { describe, expect, test } from 'vitest';
import { accepted, answered, asking, built, KINDS, Story, toolDefinition, types } from '../kit/story.ts';

const STRICT = toolDefinition('strict', {
  effect: 'none',
  inputSchema: {
    type: 'object',
    properties: { n: { type: 'integer' }, s: { type: 'string' } },
    required: ['n'],
    additionalProperties: false,
  },
});

/** The reason for which the only call of a response is rejected; undefined where it is proposed. */
const rejection = (args: string): string | undefined => {
  const [decision] = new Story({ tools: [STRICT] })
    .given(accepted(), built())
    .when(answered({ calls: [{ tool: 'strict', args }] }));
  return decision?.type === 'call.rejected' ? decision.data.reason : undefined;
};

describe('a call is proposed', () => {
  test('with its position, its label and the rule that let it run', () => {
    const then = new Story()
      .given(accepted(), built())
      .when(answered({ calls: [{ tool: 'none', label: 'abc' }] }));
    expect(then).toEqual([
      {
        type: 'call.proposed',
        data: { call: '1.1.1', tool: 'none', label: 'abc', do: 'run', rule: 'default:no-effect' },
      },
    ]);
  });

  test('every call of a response, in the order of the response', () => {
    const calls = [{ tool: 'none' }, { tool: 'nobody' }, { tool: 'asks' }, { tool: 'once' }];
    const then = new Story().given(accepted(), built()).when(answered({ calls }));
    expect(types(then)).toEqual([
      'call.proposed',
      'call.rejected',
      'call.proposed',
      'call.proposed',
      'approval.requested',
    ]);
    expect(then.slice(0, 4).map((one) => 'call' in one.data && one.data.call)).toEqual([
      '1.1.1',
      '1.1.2',
      '1.1.3',
      '1.1.4',
    ]);
  });

  test('with canonical arguments where the raw text is another text for the same', () => {
    const story = asking([{ tool: 'none', args: ' {"b":1.0,"a":"\\u0041"} ' }]);
    expect(story.call('1.1.1').args).toBe('{"a":"A","b":1}');
  });

  test('with all the digits that the model sent', () => {
    const story = asking([{ tool: 'none', args: '{"n":123456789012345678901234567890}' }]);
    expect(story.call('1.1.1').args).toBe('{"n":123456789012345678901234567890}');
  });

  test.each(['', ' ', '\n\t'])('an argument text of %j is the empty object', (args) => {
    expect(asking([{ tool: 'none', args }]).call('1.1.1').args).toBe('{}');
  });

  test('two calls of one response with the same label stay two calls', () => {
    const story = asking([
      { tool: 'none', label: 'same', args: '{"a":1}' },
      { tool: 'none', label: 'same', args: '{"a":2}' },
    ]);
    expect(story.work).toEqual(['start 1.1.1#1', 'start 1.1.2#1']);
  });
});

describe('a call is rejected, and nothing runs', () => {
  test.each([
    ['{"n":1', 'arguments-invalid-json'],
    ["{'n':1}", 'arguments-invalid-json'],
    ['{"n":1}{"n":2}', 'arguments-invalid-json'],
    ['{"n":01}', 'arguments-invalid-json'],
    ['[1]', 'arguments-not-object'],
    ['null', 'arguments-not-object'],
    ['"n"', 'arguments-not-object'],
    ['{"n":1,"n":2}', 'arguments-duplicate-key'],
    ['{"n":1,"\\u006e":2}', 'arguments-duplicate-key'],
    [`{"n":${'['.repeat(101)}${']'.repeat(101)}}`, 'arguments-too-deep'],
    [`{"s":"${'x'.repeat(4 * 1024 * 1024)}"}`, 'arguments-too-large'],
    ['{"n":0.1234567890123456789}', 'arguments-number-not-exact'],
    ['{"n":1e400}', 'arguments-number-not-exact'],
    ['{"n":1,"s":"\\ud800"}', 'arguments-not-well-formed'],
    ['{"s":"no n"}', 'arguments-schema'],
    ['{"n":"1"}', 'arguments-schema'],
    ['{"n":1,"extra":true}', 'arguments-schema'],
    ['{"n":1,"__proto__":{}}', 'arguments-schema'],
    ['{}', 'arguments-schema'],
  ])('%.60s: %s', (args, reason) => {
    expect(rejection(args)).toBe(reason);
  });

  test('a schema message names the place and says that nothing was run', () => {
    const story = asking([{ tool: 'strict', args: '{"n":"one"}' }], { tools: [STRICT] });
    expect(story.call('1.1.1').closing).toMatchObject({
      message: expect.stringMatching(/\/n must be integer.*Nothing was run/) as unknown,
    });
  });

  test('an unknown tool: the message names those that there are', () => {
    const story = asking([{ tool: 'rm' }]);
    expect(story.call('1.1.1').closing).toMatchObject({
      kind: 'rejected',
      reason: 'unknown-tool',
      message: expect.stringContaining('none, idempotent, reconcilable, once, asks') as unknown,
    });
  });

  test('names of the language itself are no tools', () => {
    for (const tool of ['constructor', '__proto__', 'toString', ''])
      expect(asking([{ tool }]).call('1.1.1').closing).toMatchObject({ reason: 'unknown-tool' });
  });

  test('calls over the limit of a step, the first ones run', () => {
    const calls = Array.from({ length: 4 }, (_, i) => ({ tool: 'none', args: `{"i":${i}}` }));
    const story = asking(calls, { limits: { callsPerStep: 3 } });
    expect(story.work).toEqual(['start 1.1.1#1', 'start 1.1.2#1', 'start 1.1.3#1']);
    expect(story.call('1.1.4').closing).toMatchObject({ reason: 'too-many-calls' });
  });

  test('the last call at the output limit, where its text is cut', () => {
    for (const args of ['{"n":1', '', '  ']) {
      const story = new Story().given(accepted(), built());
      story.when(answered({ calls: [{ tool: 'none' }, { tool: 'none', args }], stop: 'length' }));
      expect(story.call('1.1.1').phase).toBe('ready');
      expect(story.call('1.1.2').closing).toMatchObject({ reason: 'arguments-truncated' });
    }
  });

  test('at the output limit a whole last call runs, and a broken earlier one is merely broken', () => {
    const story = new Story().given(accepted(), built());
    story.when(
      answered({
        calls: [
          { tool: 'none', args: '{"n":' },
          { tool: 'none', args: '{"n":1}' },
        ],
        stop: 'length',
      }),
    );
    expect(story.call('1.1.1').closing).toMatchObject({ reason: 'arguments-invalid-json' });
    expect(story.call('1.1.2').phase).toBe('ready');
  });

  test.each([
    ['max_tokens', '{"s":"aaaa', 300, 'arguments-truncated-suspected'],
    ['max_completion_tokens', '{"n":1,', 300, 'arguments-truncated-suspected'],
    ['max_output_tokens', '', 301, 'arguments-truncated-suspected'],
    ['maxOutputTokens', '{"n"', 299, 'arguments-invalid-json'],
    ['seed', '{"n"', 300, 'arguments-invalid-json'],
    ['max_tokens', '{"n":1,"n":2}', 300, 'arguments-duplicate-key'],
    ['max_tokens', '{"n":1}', 300, undefined],
  ])('as long as %s allows, said to be complete, and is %s', (name, args, output, reason) => {
    const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output };
    const [decision] = new Story({ tools: [STRICT], params: { [name]: 300 } })
      .given(accepted(), built())
      .when(answered({ calls: [{ tool: 'strict', args }], usage }));
    expect(decision?.type === 'call.rejected' ? decision.data.reason : undefined).toBe(reason);
  });

  test('a call that policy denies, with rule and reason, and that is no mistake of the model', () => {
    const policy = {
      rules: [{ id: 'no-once', effects: ['once' as const], do: 'deny' as const, reason: 'Not today.' }],
    };
    const story = asking(
      Array.from({ length: 5 }, () => ({ tool: 'once' })),
      { policy, tools: KINDS },
    );
    expect(story.call('1.1.1').closing).toMatchObject({
      reason: 'denied-by-policy',
      message: expect.stringMatching(/no-once: Not today/) as unknown,
    });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('a schema that cannot be used rejects the call instead of letting it through', () => {
    const tools = [toolDefinition('broken', { effect: 'none', inputSchema: { type: 'nonsense' } })];
    expect(asking([{ tool: 'broken' }], { tools }).call('1.1.1').closing).toMatchObject({
      reason: 'arguments-schema',
    });
  });
});
