/** A person is asked: what stands in the question, which answers count, and what each of them leads to. */
import { describe, expect, test } from 'vitest';
import type { Digest } from '../../src/event/canonical.ts';
import type { ApprovalDecision, NewEvent } from '../../src/event/events.ts';
import type { Command, Decision } from '../../src/session/decide.ts';
import { resultText } from '../../src/context/result-text.ts';
import {
  ANNA,
  answered,
  asking,
  BEN,
  built,
  cancelAsked,
  OK,
  result,
  settled,
  started,
  type Story,
  toolDefinition,
  types,
  UNKNOWN,
  type StoryOptions,
} from '../kit/story.ts';

const prepared = (title: string, base?: string): NewEvent => ({
  type: 'call.prepared',
  data: { call: '1.1.1', preview: { title, blocks: [] }, ...(base !== undefined && { base }) },
});

const digestOfCall = (story: Story): Digest => {
  const { digest } = story.call('1.1.1');
  if (!digest) throw new Error('the call is not asked about');
  return digest;
};

const decision = (
  story: Story,
  what: ApprovalDecision,
  rest: Partial<Extract<Command, { kind: 'decide' }>> = {},
): Command => ({
  kind: 'decide',
  call: '1.1.1',
  digest: digestOfCall(story),
  decision: what,
  by: ANNA,
  ...rest,
});

const waitingFor = (args = '{"to":"a"}', options: StoryOptions = {}): Story =>
  asking([{ tool: 'asks', args }], options);

const code = (one: Decision): string => (one.kind === 'refused' ? one.code : one.kind);

describe('the question', () => {
  test('stands in the log with its digest and rule, and waits without work', () => {
    const story = waitingFor();
    expect(story.events.at(-1)).toMatchObject({
      type: 'approval.requested',
      data: { call: '1.1.1', rule: 'default:effect-asks' },
    });
    expect(story.work).toEqual([]);
    expect(story.waiting).toEqual({ approvals: ['1.1.1'], inDoubt: [] });
  });

  test('waits for the preview of a tool that has one', () => {
    const tools = [toolDefinition('asks', { previews: true })];
    const story = waitingFor('{}', { tools });
    expect(story.waiting.approvals).toEqual([]);
    expect(story.work).toEqual(['prepare 1.1.1/0']);
    expect(types(story.when(prepared('Send it')))).toEqual(['approval.requested']);
  });

  test('is not asked where the tool refuses the arguments', () => {
    const story = waitingFor('{}', { tools: [toolDefinition('asks', { previews: true })] });
    expect(
      types(
        story.when({
          type: 'call.refused',
          data: { call: '1.1.1', code: 'no-such-file', message: 'There is no such file.' },
        }),
      ),
    ).toEqual([]);
    expect(story.call('1.1.1').closing).toEqual({
      kind: 'rejected',
      reason: 'no-such-file',
      message: 'There is no such file.',
    });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('has another digest for other arguments, another tool, preview, base, call or session', () => {
    const previews = [toolDefinition('asks', { previews: true })];
    const shown = (title: string, base?: string): Story => {
      const story = waitingFor('{}', { tools: previews });
      story.when(prepared(title, base));
      return story;
    };
    const second = asking([{ tool: 'none' }, { tool: 'asks', args: '{"to":"a"}' }]);
    const digests = [
      digestOfCall(waitingFor('{"to":"a"}')),
      digestOfCall(waitingFor('{"to":"b"}')),
      digestOfCall(waitingFor('{"to":"a"}', { tools: [toolDefinition('asks', { timeoutMs: 7 })] })),
      digestOfCall(shown('one')),
      digestOfCall(shown('two')),
      digestOfCall(shown('one', 'base')),
      second.call('1.1.2').digest,
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(digestOfCall(waitingFor('{"to":"a"}'))).toBe(digests[0]);
  });
});

describe('the answer', () => {
  test('approve: exactly what was shown is run', () => {
    const story = waitingFor();
    const { kind, follow } = story.command(decision(story, { do: 'approve' }));
    expect([kind, follow]).toEqual(['facts', []]);
    expect(story.work).toEqual(['start 1.1.1#1']);
    expect(story.call('1.1.1').args).toBe('{"to":"a"}');
  });

  test('reject: nothing is run, and the model is told the reason', () => {
    const story = waitingFor();
    story.command(decision(story, { do: 'reject', reason: 'Wrong person.' }));
    expect(story.work).toEqual(['build 1.2']);
    expect(resultText(story.call('1.1.1'))).toEqual({
      isError: true,
      text: expect.stringContaining('Wrong person.') as unknown,
    });
  });

  test('respond: nothing is run, and the answer is the result', () => {
    const story = waitingFor();
    story.command(decision(story, { do: 'respond', content: [{ type: 'text', text: 'Did it by hand.' }] }));
    expect(story.work).toEqual(['build 1.2']);
    expect(resultText(story.call('1.1.1'))).toEqual({ isError: false, text: 'Did it by hand.' });
    expect(story.call('1.1.1').attempt).toBe(0);
  });

  test('edit: the new arguments are run, and the model is told', () => {
    const story = waitingFor();
    const { follow } = story.command(decision(story, { do: 'edit', args: '{ "to": "b" }' }));
    expect(follow).toMatchObject([{ type: 'call.proposed', data: { args: '{"to":"b"}', do: 'run' } }]);
    expect(story.events.at(-2)?.data).toMatchObject({ decision: { do: 'edit', args: '{"to":"b"}' } });
    story.given(started('1.1.1'), result('1.1.1', OK));
    expect(resultText(story.call('1.1.1')).text).toMatch(
      /changed the arguments of this call to \{"to":"b"\}/,
    );
  });

  test.each(['{"to":1', '{"to":"a","to":"b"}', '[]', '{"to":5}'])(
    'edit to %s is refused, and the question stands',
    (args) => {
      const inputSchema = { type: 'object', properties: { to: { type: 'string' } } };
      const story = waitingFor('{"to":"a"}', { tools: [toolDefinition('asks', { inputSchema })] });
      expect(code(story.command(decision(story, { do: 'edit', args })))).toBe('arguments-invalid');
      expect(story.waiting.approvals).toEqual(['1.1.1']);
    },
  );

  test('edit into what policy denies is rejected', () => {
    const policy = { rules: [{ id: 'not-b', when: [{ at: '/to', equals: 'b' }], do: 'deny' as const }] };
    const story = waitingFor('{"to":"a"}', { policy });
    const { follow } = story.command(decision(story, { do: 'edit', args: '{"to":"b"}' }));
    expect(follow).toMatchObject([{ type: 'call.rejected', data: { reason: 'denied-by-policy' } }]);
    expect(story.work).toEqual(['build 1.2']);
  });

  test('edit into what another rule asks about is asked again, under a new digest', () => {
    const policy = { rules: [{ id: 'big', when: [{ at: '/n', atLeast: 100 }], do: 'ask' as const }] };
    const story = waitingFor('{"n":1}', { policy });
    const first = digestOfCall(story);
    const { follow } = story.command(decision(story, { do: 'edit', args: '{"n":500}' }));
    expect(types(follow)).toEqual(['call.proposed', 'approval.requested']);
    expect(digestOfCall(story)).not.toBe(first);
    expect(code(story.command(decision(story, { do: 'approve' }, { digest: first })))).toBe(
      'digest-mismatch',
    );
    expect(code(story.command(decision(story, { do: 'approve' })))).toBe('facts');
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('another digest is refused, and the question stands', () => {
    const story = waitingFor();
    const other = digestOfCall(waitingFor('{"to":"b"}'));
    expect(code(story.command(decision(story, { do: 'approve' }, { digest: other })))).toBe(
      'digest-mismatch',
    );
    expect(story.waiting.approvals).toEqual(['1.1.1']);
    expect(story.work).toEqual([]);
  });

  test('a decision on a call that is not there, not asked about, or cancelled is refused', () => {
    const story = asking([{ tool: 'asks' }, { tool: 'none' }]);
    expect(code(story.command(decision(story, { do: 'approve' }, { call: '9.9.9' })))).toBe('call-not-found');
    expect(code(story.command(decision(story, { do: 'approve' }, { call: '1.1.2' })))).toBe('not-asked');
    const late = decision(story, { do: 'approve' });
    story.given(started('1.1.2'), cancelAsked());
    expect(code(story.command(late))).toBe('turn-cancelled');
  });
});

describe('a second answer', () => {
  test('the same one is the first one again', () => {
    const story = waitingFor();
    const first = decision(story, { do: 'approve' });
    story.command(first);
    const events = story.events.length;
    expect(story.command(first)).toMatchObject({ kind: 'replayed', decided: { do: 'approve', by: ANNA } });
    expect(story.events.length).toBe(events);
  });

  test('another one comes too late and says who was first', () => {
    const story = waitingFor();
    const yes = decision(story, { do: 'approve' });
    const no = decision(story, { do: 'reject' }, { by: BEN });
    story.command(yes);
    expect(story.command(no)).toMatchObject({
      kind: 'refused',
      code: 'already-decided',
      message: expect.stringContaining('approve by anna') as unknown,
      decided: { do: 'approve' },
    });
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('the same kind of answer by somebody else comes too late', () => {
    const story = waitingFor();
    const yes = decision(story, { do: 'approve' });
    story.command(yes);
    expect(code(story.command({ ...yes, by: BEN }))).toBe('already-decided');
  });

  test('an edit with other arguments is not the first edit again', () => {
    const story = waitingFor();
    const one = decision(story, { do: 'edit', args: '{"to":"b"}' });
    const two = decision(story, { do: 'edit', args: '{"to":"c"}' });
    story.command(one);
    expect(code(story.command(one))).toBe('replayed');
    expect(code(story.command(two))).toBe('already-decided');
  });

  test('a response with another content is not the first response again', () => {
    const story = waitingFor();
    const say = (text: string): Command =>
      decision(story, { do: 'respond', content: [{ type: 'text', text }] });
    const [one, two] = [say('yes'), say('no')];
    story.command(one);
    expect(code(story.command(two))).toBe('already-decided');
  });

  test('a fact that answers another question than the one that stands changes nothing', () => {
    const story = waitingFor();
    const other = digestOfCall(waitingFor('{"to":"b"}'));
    story.when({
      type: 'approval.decided',
      data: { call: '1.1.1', digest: other, decision: { do: 'approve' }, by: ANNA },
    });
    expect(story.call('1.1.1').phase).toBe('asking');
  });
});

describe('a call that was in doubt', () => {
  test('is asked about again after "it did not happen", under a new digest', () => {
    const story = waitingFor();
    const first = digestOfCall(story);
    story.command(decision(story, { do: 'approve' }));
    story.given(started('1.1.1'), result('1.1.1', UNKNOWN));
    expect(types(story.when(settled('1.1.1', { answer: 'not-happened' })))).toEqual([
      'call.proposed',
      'approval.requested',
    ]);
    expect(digestOfCall(story)).not.toBe(first);
    story.command(decision(story, { do: 'approve' }));
    expect(story.work).toEqual(['start 1.1.1#2']);
  });

  test('makes its twin ask, even where policy lets it run', () => {
    const policy = { rules: [{ id: 'all', do: 'allow' as const }] };
    const story = asking([{ tool: 'once', args: '{"a":1}' }], { policy });
    story.given(
      started('1.1.1'),
      result('1.1.1', UNKNOWN),
      settled('1.1.1', { answer: 'give-up' }),
      built(1, 2),
    );
    const follow = story.when(
      answered(
        {
          calls: [
            { tool: 'once', args: '{ "a": 1.0 }' },
            { tool: 'once', args: '{"a":2}' },
          ],
        },
        [1, 2],
      ),
    );
    expect(follow).toMatchObject([
      { type: 'call.proposed', data: { do: 'ask', rule: 'runtime:same-call-was-in-doubt' } },
      { type: 'call.proposed', data: { do: 'run', rule: 'all' } },
      { type: 'approval.requested' },
    ]);
  });
});
