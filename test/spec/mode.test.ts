/** What each mode does to a call, wherever the call stands when the mode is set, and what happens when it is lifted. */
import { describe, expect, test } from 'vitest';
import { resultText } from '../../src/context/result-text.ts';
import type { Mode } from '../../src/event/definition.ts';
import { canGoOn } from '../../src/session/summary.ts';
import {
  accepted,
  answered,
  asking,
  BEN,
  built,
  cancelAsked,
  failedRequest,
  lost,
  modeChanged,
  OK,
  prepared,
  reconciled,
  result,
  RETRYABLE,
  settled,
  started,
  Story,
  toolDefinition,
  types,
  UNKNOWN,
} from '../kit/story.ts';

const TOOLS = [
  toolDefinition('none', { effect: 'none' }),
  toolDefinition('once', { approval: 'never', retry: { attempts: 3, baseMs: 100, maxMs: 100 } }),
  toolDefinition('idempotent', { effect: 'idempotent', approval: 'never' }),
  toolDefinition('reconcilable', { effect: 'reconcilable', approval: 'never' }),
  toolDefinition('asks'),
  toolDefinition('shows', { previews: true }),
];

const call = (tool: string): Story => asking([{ tool }], { tools: TOOLS });

/** A call in each phase that a mode can find it in. */
const PHASES = {
  ready: () => call('once'),
  'ready, a read': () => call('none'),
  asking: () => call('asks'),
  'to be asked, its preview not made yet': () => call('shows'),
  'approved, to be rechecked': () => {
    const story = call('shows').given(prepared('1.1.1', 'one', 'base'));
    story.answer('1.1.1', { do: 'approve' });
    return story;
  },
  started: () => call('once').given(started('1.1.1')),
  'to be tried again after a failure': () => call('once').given(started('1.1.1'), result('1.1.1', RETRYABLE)),
  'to be tried again, unproven': () => call('idempotent').given(started('1.1.1'), lost),
  'to be reconciled': () => call('reconcilable').given(started('1.1.1'), lost),
  'in doubt': () => call('once').given(started('1.1.1'), result('1.1.1', UNKNOWN)),
} as const;

type Expected = { readonly follows: readonly string[]; readonly work: readonly string[] };
const WITHHELD: Expected = { follows: ['call.withheld'], work: ['build 1.2'] };
const DOUBT: Expected = { follows: ['call.doubted'], work: [] };
const stays = (...work: readonly string[]): Expected => ({ follows: [], work });

const TABLE: Readonly<Record<keyof typeof PHASES, Readonly<Record<Exclude<Mode, 'normal'>, Expected>>>> = {
  ready: { 'read-only': WITHHELD, 'dry-run': WITHHELD, frozen: stays() },
  'ready, a read': {
    'read-only': stays('start 1.1.1#1'),
    'dry-run': stays('start 1.1.1#1'),
    frozen: stays(),
  },
  asking: { 'read-only': stays(), 'dry-run': stays(), frozen: stays() },
  'to be asked, its preview not made yet': {
    'read-only': WITHHELD,
    'dry-run': stays('prepare 1.1.1/0'),
    frozen: stays(),
  },
  'approved, to be rechecked': {
    'read-only': WITHHELD,
    'dry-run': stays('prepare 1.1.1/1 again'),
    frozen: stays(),
  },
  started: {
    'read-only': stays('attempt 1.1.1#1'),
    'dry-run': stays('attempt 1.1.1#1'),
    frozen: stays('attempt 1.1.1#1'),
  },
  'to be tried again after a failure': { 'read-only': WITHHELD, 'dry-run': WITHHELD, frozen: stays() },
  'to be tried again, unproven': { 'read-only': DOUBT, 'dry-run': DOUBT, frozen: stays() },
  'to be reconciled': {
    'read-only': stays('reconcile 1.1.1#1'),
    'dry-run': stays('reconcile 1.1.1#1'),
    frozen: stays('reconcile 1.1.1#1'),
  },
  'in doubt': { 'read-only': stays(), 'dry-run': stays(), frozen: stays() },
};

const CASES = Object.keys(PHASES).flatMap((phase) =>
  (['read-only', 'dry-run', 'frozen'] as const).flatMap((mode) =>
    (['session', 'store'] as const).map((scope) => ({ phase: phase as keyof typeof PHASES, mode, scope })),
  ),
);

describe('a call meets a mode', () => {
  test.each(CASES)('$phase: $mode for the $scope', ({ phase, mode, scope }) => {
    const story = PHASES[phase]();
    const { follows, work } = TABLE[phase][mode];
    expect(types(story.when(modeChanged(mode, scope)))).toEqual(follows);
    expect(story.work).toEqual(work);
    expect(types(story.events).filter((type) => type === 'call.started')).toHaveLength(
      story.call('1.1.1').attempt,
    );
  });

  test.each(Object.keys(PHASES) as (keyof typeof PHASES)[])(
    '%s: a freeze that is lifted leaves it as it was',
    (phase) => {
      const [frozen, free] = [PHASES[phase](), PHASES[phase]()];
      frozen.given(modeChanged('frozen'), modeChanged('normal'));
      expect(frozen.work).toEqual(free.work);
      expect(frozen.waiting).toEqual(free.waiting);
    },
  );
});

describe('what is proposed or decided under a mode', () => {
  test('read-only: reads run, the rest is withheld before anybody is asked, and the model is told', () => {
    const story = new Story({ tools: TOOLS, mode: 'read-only' }).given(accepted(), built());
    const calls = ['none', 'once', 'asks', 'shows'].map((tool) => ({ tool }));
    const follow = types(story.when(answered({ calls })));
    expect(follow.filter((type) => type === 'call.withheld')).toHaveLength(3);
    expect(follow).not.toContain('approval.requested');
    expect(story.work).toEqual(['start 1.1.1#1']);
    expect(resultText(story.call('1.1.2'))).toEqual({
      isError: true,
      text: 'This session is read-only: once was not run. Only tools that change nothing are run.',
    });
  });

  test('dry run: the preview is made, nothing is asked, and the model hears what would be done', () => {
    const story = new Story({ tools: TOOLS, mode: 'dry-run' }).given(accepted(), built());
    story.when(answered({ calls: [{ tool: 'shows' }] }));
    expect(story.work).toEqual(['prepare 1.1.1/0']);
    expect(types(story.when(prepared('1.1.1', 'Send it to a')))).toEqual(['call.withheld']);
    expect(resultText(story.call('1.1.1'))).toEqual({
      isError: false,
      text: 'Dry run: shows was not run and nothing was changed. It would: Send it to a',
    });
  });

  test('dry run: an edit is previewed with the new arguments before the model hears of it', () => {
    const story = call('shows').given(prepared('1.1.1', 'Send it to a'), modeChanged('dry-run'));
    story.answer('1.1.1', { do: 'edit', args: '{"to":"b"}' });
    expect(story.work).toEqual(['prepare 1.1.1/1']);
    story.when(prepared('1.1.1', 'Send it to b'));
    expect(resultText(story.call('1.1.1')).text).toMatch(/It would: Send it to b$/);
  });

  test.each(['read-only', 'dry-run'] as const)('a yes under %s starts nothing', (mode) => {
    const story = call('asks').given(modeChanged(mode));
    story.answer('1.1.1', { do: 'approve' });
    expect(story.call('1.1.1').closing).toMatchObject({ kind: 'withheld', mode });
    expect(story.work).toEqual(['build 1.2']);
  });

  test('a yes under a freeze is kept and starts when it is lifted', () => {
    const story = call('asks').given(modeChanged('frozen', 'store'));
    story.answer('1.1.1', { do: 'approve' });
    expect([story.work, canGoOn(story.state)]).toEqual([[], true]);
    story.when(modeChanged('normal', 'store'));
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('an edit under a freeze is judged now and starts when it is lifted', () => {
    const story = call('asks').given(modeChanged('frozen'));
    story.answer('1.1.1', { do: 'edit', args: '{"n":2}' });
    expect([story.call('1.1.1').phase, story.work]).toEqual(['ready', []]);
    story.when(modeChanged('normal'));
    expect(story.work).toEqual(['start 1.1.1#1']);
  });

  test('"it did not happen" under read-only runs nothing', () => {
    const story = PHASES['in doubt']().given(modeChanged('read-only'));
    expect(types(story.when(settled('1.1.1', { answer: 'not-happened' })))).toEqual(['call.withheld']);
  });

  test('what the tool finds to be done is done; what it finds to be absent is not tried again', () => {
    const done = PHASES['to be reconciled']().given(modeChanged('read-only'));
    done.when(reconciled('1.1.1', { happened: true, content: [] }));
    expect(done.call('1.1.1').closing?.kind).toBe('ok');
    const absent = PHASES['to be reconciled']().given(modeChanged('read-only'));
    expect(types(absent.when(reconciled('1.1.1', { happened: false })))).toEqual([
      'call.retry',
      'call.withheld',
    ]);
  });

  test('a read-only session says so of every call, and a mode that is lifted does not bring them back', () => {
    const story = call('once').given(modeChanged('read-only'), modeChanged('normal'));
    expect(story.call('1.1.1').closing?.kind).toBe('withheld');
    story.when(built(1, 2));
    story.when(answered({ calls: [{ tool: 'once', args: '{"n":2}' }] }, [1, 2]));
    expect(story.work).toEqual(['start 1.2.1#1']);
  });
});

describe('a freeze', () => {
  test('holds a request that is to be built and one that is to be sent again; one under way ends', () => {
    const fresh = new Story().given(accepted(), modeChanged('frozen'));
    expect(fresh.work).toEqual([]);
    expect(fresh.given(modeChanged('normal')).work).toEqual(['build 1.1']);
    const again = new Story().given(accepted(), built());
    again.given(failedRequest({ kind: 'overloaded', message: 'Full.' }), modeChanged('frozen'));
    expect(again.work).toEqual([]);
    const open = new Story().given(accepted(), built(), modeChanged('frozen'));
    expect(open.work).toEqual(['request 1.1#1']);
    open.when(answered({ calls: [{ tool: 'once' }] }));
    expect(open.work).toEqual([]);
    expect(open.given(modeChanged('normal')).work).toEqual(['start 1.1.1#1']);
  });

  test('a result that comes under it is taken, and nothing follows', () => {
    const story = PHASES.started().given(modeChanged('frozen'), result('1.1.1', OK));
    expect([story.call('1.1.1').closing?.kind, story.work]).toEqual(['ok', []]);
  });

  test('a cancel under it closes what waits and ends the turn', () => {
    for (const phase of ['ready', 'asking', 'approved, to be rechecked'] as const) {
      const story = PHASES[phase]().given(modeChanged('frozen'));
      expect(types(story.when(cancelAsked()))).toEqual(['call.cancelled', 'turn.ended']);
    }
    const unproven = PHASES['to be tried again, unproven']().given(modeChanged('frozen'));
    expect(types(unproven.when(cancelAsked()))).toEqual(['call.doubted', 'turn.ended']);
    const running = PHASES.started().given(modeChanged('frozen'), cancelAsked());
    expect(running.work).toEqual(['attempt 1.1.1#1']);
    expect(types(running.when(result('1.1.1', OK)))).toEqual(['turn.ended']);
  });

  test('of the session keeps the session from going on; one of the store does not', () => {
    expect(canGoOn(PHASES.ready().given(modeChanged('frozen', 'session')).state)).toBe(false);
    expect(canGoOn(PHASES.ready().given(modeChanged('frozen', 'store')).state)).toBe(true);
    expect(canGoOn(PHASES.asking().given(modeChanged('frozen', 'store')).state)).toBe(false);
  });
});

test('the stricter of the two gates counts, whichever was set last', () => {
  const story = PHASES.ready().given(modeChanged('frozen', 'store'), modeChanged('normal', 'session'));
  expect(story.work).toEqual([]);
  expect(types(story.when(modeChanged('read-only', 'session')))).toEqual([]);
  expect(types(story.when(modeChanged('normal', 'store')))).toEqual(['call.withheld']);
});

test('a mode that is set twice is set once', () => {
  const story = PHASES.ready();
  const set = { kind: 'set-mode', scope: 'session', mode: 'frozen', by: BEN } as const;
  expect(story.command(set).kind).toBe('facts');
  expect(story.command(set).kind).toBe('replayed');
});
