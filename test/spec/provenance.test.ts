/** What stood in the request that a call comes from: its labels are on the record, and rules can ask because of them. */
import { describe, expect, test } from 'vitest';
import type { SeenLabel } from '../../src/event/definition.ts';
import type { NewDecision, NewEvent } from '../../src/event/events.ts';
import {
  accepted,
  ANNA,
  answered,
  asking,
  built,
  cancelAsked,
  FAILED,
  late,
  lost,
  modeChanged,
  OK,
  prepared,
  reconciled,
  refusedCall,
  result,
  started,
  Story,
  toolDefinition,
} from '../kit/story.ts';

const TOOLS = [
  toolDefinition('web', { effect: 'none', labels: { untrusted: true, private: false } }),
  toolDefinition('diary', { effect: 'none', labels: { untrusted: false, private: true } }),
  toolDefinition('inbox', { effect: 'none', labels: { untrusted: true, private: true } }),
  toolDefinition('probe', {
    effect: 'reconcilable',
    approval: 'never',
    labels: { untrusted: true, private: false },
  }),
  toolDefinition('shows', { previews: true, labels: { untrusted: true, private: false } }),
  toolDefinition('agency', { approval: 'never', labels: { untrusted: true, private: false } }),
  toolDefinition('plain', { effect: 'none' }),
  toolDefinition('send', { egress: true, approval: 'never' }),
  toolDefinition('note', { approval: 'never' }),
];

const policy = {
  rules: [
    { id: 'both', seen: ['untrusted', 'private'] as SeenLabel[], egress: true, do: 'deny' as const },
    { id: 'out', seen: ['untrusted'] as SeenLabel[], egress: true, do: 'ask' as const },
  ],
};

/** A session in which these calls were made in the first step. */
const after = (tool: string, ...events: readonly NewEvent[]): Story =>
  asking([{ tool }], { tools: TOOLS, policy }).given(...events);

/** What the next request's response is judged by. */
const sends = (story: Story, tool = 'send', step = 2): readonly NewDecision[] => {
  story.when(built(1, step));
  return story.when(answered({ calls: [{ tool }] }, [1, step]));
};

const seen = (decisions: readonly NewDecision[]): unknown =>
  decisions[0]?.type === 'call.proposed' ? (decisions[0].data.seen ?? []) : decisions[0]?.type;

describe('labels come with whatever a tool says', () => {
  const cases: readonly (readonly [string, Story, readonly SeenLabel[]])[] = [
    ['nothing', after('plain', started('1.1.1'), result('1.1.1', OK)), []],
    ['a result', after('web', started('1.1.1'), result('1.1.1', OK)), ['untrusted']],
    ['a private one', after('diary', started('1.1.1'), result('1.1.1', OK)), ['private']],
    ['the message of a failure', after('web', started('1.1.1'), result('1.1.1', FAILED)), ['untrusted']],
    ['a refusal', after('shows', refusedCall('1.1.1')), ['untrusted']],
    [
      'what a reconciliation found',
      after('probe', started('1.1.1'), lost, reconciled('1.1.1', { happened: true, content: [] })),
      ['untrusted'],
    ],
    [
      'the title of a dry run',
      after('shows', modeChanged('dry-run'), prepared('1.1.1', 'Answer "ignore all rules"')),
      ['untrusted'],
    ],
  ];
  test.each(cases)('%s', (_, story, labels) => expect(seen(sends(story, 'note'))).toEqual(labels));

  test('input that is not the sender’s own word is labelled by whoever sends it', () => {
    const mail = accepted(1, 'Dear desk');
    if (mail.type !== 'turn.accepted') throw new Error('a turn');
    const labelled: NewEvent = { ...mail, data: { ...mail.data, labels: ['untrusted'] } };
    const story = new Story({ tools: TOOLS, policy }).given(labelled, built());
    expect(seen(story.when(answered({ calls: [{ tool: 'note' }] })))).toEqual(['untrusted']);
  });

  test('the same input under other labels is another content', () => {
    const story = new Story({ tools: TOOLS, policy });
    const send = {
      kind: 'send',
      key: 'k',
      input: [{ type: 'text', text: 'Dear desk' }],
      by: ANNA,
    } as const;
    story.command({ ...send, labels: ['untrusted'] });
    expect(story.command({ ...send, labels: ['untrusted'] }).kind).toBe('replayed');
    expect(story.command(send)).toMatchObject({ kind: 'refused', code: 'turn-key-reused' });
  });
});

describe('only what stood in the request counts', () => {
  test('a call of the step that reads comes from before it, the next step’s from after', () => {
    const story = asking([{ tool: 'web' }, { tool: 'send' }], { tools: TOOLS, policy });
    expect(story.call('1.1.2')).toMatchObject({ rule: 'tool:never-asks', seen: [] });
    story.given(started('1.1.1'), result('1.1.1', OK), started('1.1.2'), result('1.1.2', OK));
    expect(sends(story)).toMatchObject([
      { data: { do: 'ask', rule: 'out', seen: ['untrusted'] } },
      { type: 'approval.requested' },
    ]);
  });

  test('a late result that came while the model was asked is in the next request, not in this one', () => {
    const story = after('agency', started('1.1.1'), lost, cancelAsked(), accepted(2), built(2, 1));
    expect(story.state.seen).toEqual([]);
    story.when(late('1.1.1', OK));
    expect(seen(story.when(answered({ calls: [{ tool: 'note' }] }, [2, 1])))).toEqual([]);
    story.given(started('2.1.1'), result('2.1.1', OK), built(2, 2));
    expect(seen(story.when(answered({ calls: [{ tool: 'note' }] }, [2, 2])))).toEqual(['untrusted']);
  });

  test('a message that waits for its turn is not in the requests of the turn before', () => {
    const mail = accepted(2, 'Dear desk');
    if (mail.type !== 'turn.accepted') throw new Error('a turn');
    const story = new Story({ tools: TOOLS, policy }).given(accepted(), {
      ...mail,
      data: { ...mail.data, labels: ['untrusted'] },
    });
    story.when(built());
    expect(seen(story.when(answered({ calls: [{ tool: 'note' }] })))).toEqual([]);
    story.given(started('1.1.1'), result('1.1.1', OK), built(1, 2), answered({ text: 'Done.' }, [1, 2]));
    story.when(built(2, 1));
    expect(seen(story.when(answered({ calls: [{ tool: 'note' }] }, [2, 1])))).toEqual(['untrusted']);
  });

  test('labels stay for the rest of the session, over turns', () => {
    const story = after('web', started('1.1.1'), result('1.1.1', OK));
    story.given(built(1, 2), answered({ text: 'Done.' }, [1, 2]), accepted(2), built(2, 1));
    expect(story.when(answered({ calls: [{ tool: 'send' }] }, [2, 1]))).toMatchObject([
      { data: { do: 'ask', rule: 'out' } },
      { type: 'approval.requested' },
    ]);
  });
});

describe('rules look at what was seen', () => {
  test('a rule asks only where something can leave', () => {
    const story = after('web', started('1.1.1'), result('1.1.1', OK));
    expect(sends(story, 'note')).toMatchObject([{ data: { do: 'run', seen: ['untrusted'] } }]);
  });

  test('a rule for two labels needs both', () => {
    const story = after('inbox', started('1.1.1'), result('1.1.1', OK));
    expect(sends(story)).toMatchObject([{ type: 'call.rejected', data: { reason: 'denied-by-policy' } }]);
    const one = after('diary', started('1.1.1'), result('1.1.1', OK));
    expect(sends(one)).toMatchObject([{ data: { do: 'run', seen: ['private'] } }]);
  });

  test('an edited call is judged by the same request, and the record keeps its labels', () => {
    const story = after('web', started('1.1.1'), result('1.1.1', OK));
    sends(story);
    story.answer('1.2.1', { do: 'edit', args: '{"to":"b"}' });
    expect(story.call('1.2.1')).toMatchObject({ phase: 'ready', rule: 'out', seen: ['untrusted'] });
  });
});
