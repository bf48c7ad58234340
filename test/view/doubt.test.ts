import { describe, expect, it } from 'vitest';
import { idempotencyKey } from '../../src/effect/key.ts';
import { resultText } from '../../src/context/result-text.ts';
import type { Settlement } from '../../src/index.ts';
import { findCall } from '../../src/session/state.ts';
import { doubts } from '../../src/view/doubt.ts';
import { trySettle } from '../../src/view/consequence.ts';
import { fateOf } from '../../src/view/fate.ts';
import {
  ANNA,
  asking,
  cancelAsked,
  late,
  lost,
  reconciled,
  result,
  started,
  UNKNOWN,
  type Story,
} from '../kit/story.ts';

const ANSWERS: readonly Settlement[] = [
  { answer: 'happened', content: [{ type: 'text', text: 'seen' }] },
  { answer: 'not-happened' },
  { answer: 'give-up' },
];

const inDoubt = (): Story => asking([{ tool: 'once', args: '{"a":1}' }]).given(started('1.1.1'), lost);

describe('doubts', () => {
  it('hold what is known about a call that a lost process left', () => {
    const told = asking([{ tool: 'once', args: '{"a":1}' }]).later(1000);
    told.given(started('1.1.1')).later(2000).given(lost);
    const [doubt] = doubts(told);
    expect(doubt).toMatchObject({
      session: 's_STORY',
      call: '1.1.1',
      tool: 'once',
      args: '{"a":1}',
      key: idempotencyKey('s_STORY', '1.1.1', '{"a":1}'),
      attempt: 1,
      reason: 'process-lost',
      message: undefined,
      reconciliations: [],
      late: [],
      turnEnded: false,
    });
    expect(doubt?.attempts).toEqual([
      { attempt: 1, startedSeq: 6, startedAt: doubt?.startedAt, outcome: undefined },
    ]);
    expect((doubt?.since ?? 0) - (doubt?.startedAt ?? 0)).toBe(2000);
  });

  it('hold what the tool said when it was asked, and what came late', () => {
    const told = asking([{ tool: 'reconcilable' }]).given(started('1.1.1'), result('1.1.1', UNKNOWN));
    told.when(reconciled('1.1.1', { happened: 'unknown', note: 'the server is down' }));
    told.when(late('1.1.1', UNKNOWN));
    const [doubt] = doubts(told);
    expect(doubt).toMatchObject({ reason: 'reconcile-unknown', message: 'No word from it.' });
    expect(doubt?.reconciliations.map(({ note }) => note)).toEqual(['the server is down']);
    expect(doubt?.late.map(({ outcome }) => outcome)).toEqual([UNKNOWN]);
  });

  it('stay on the desk when their turn has ended, and leave it when settled', () => {
    const told = inDoubt().given(cancelAsked());
    expect(doubts(told)[0]).toMatchObject({ turnEnded: true });
    told.command({ kind: 'settle', call: '1.1.1', settlement: { answer: 'give-up' }, by: ANNA });
    expect(doubts(told)).toEqual([]);
    expect(fateOf(told, '1.1.1', 'settle')).toMatchObject({ kind: 'settled', by: ANNA });
  });
});

describe('what a settlement would lead to', () => {
  it('is what happens then, to the letter', () => {
    for (const settlement of ANSWERS) {
      const told = inDoubt();
      const said = trySettle(told, { call: '1.1.1', settlement, by: ANNA, note: 'by phone' });
      told.command({ kind: 'settle', call: '1.1.1', settlement, by: ANNA, note: 'by phone' });
      const call = findCall(told.state, '1.1.1');
      if (!call) throw new Error('it is there');
      const runs = settlement.answer === 'not-happened';
      expect(said).toEqual(
        runs
          ? { follow: { kind: 'runs', attempt: 2 }, told: undefined }
          : { follow: { kind: 'closed' }, told: resultText(call).text },
      );
      expect(told.work).toEqual(runs ? ['start 1.1.1#2'] : ['build 1.2']);
    }
  });

  it('after the end of the turn is one note to the model, and nothing runs', () => {
    const notes = ANSWERS.map((settlement) => {
      const told = inDoubt().given(cancelAsked());
      const said = trySettle(told, { call: '1.1.1', settlement, by: ANNA });
      expect(said?.follow).toEqual({ kind: 'closed' });
      return said?.told;
    });
    expect(notes).toEqual([
      expect.stringContaining('a person says that it happened: seen'),
      expect.stringContaining('It is not run any more.'),
      expect.stringContaining('it stays unknown'),
    ]);
  });

  it('asks again where policy does, and is nothing for a call that is not in doubt', () => {
    const asks = asking([{ tool: 'asks' }]);
    expect(trySettle(asks, { call: '1.1.1', settlement: { answer: 'give-up' }, by: ANNA })).toBeUndefined();
    const digest = asks.call('1.1.1').digest;
    if (!digest) throw new Error('it asks');
    asks.command({ kind: 'decide', call: '1.1.1', digest, decision: { do: 'approve' }, by: ANNA });
    asks.given(started('1.1.1'), lost);
    expect(trySettle(asks, { call: '1.1.1', settlement: { answer: 'not-happened' }, by: ANNA })).toEqual({
      follow: { kind: 'asks', rule: 'default:effect-asks' },
      told: undefined,
    });
  });
});
