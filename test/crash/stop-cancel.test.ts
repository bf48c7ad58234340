/** Cancel at every moment: what landed, what was stopped, what is in doubt; nothing begins after it; the next message works. */
import { describe, expect, test } from 'vitest';
import type { CallId } from '../../src/event/call-id.ts';
import { PREPARE_MS } from '../../src/worker/jobs.ts';
import { CANCEL_GRACE_MS } from '../../src/worker/watch.ts';
import type { Runtime } from '../../src/worker/runtime.ts';
import { audit, expectConversation } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { Stage, type StageOptions } from '../kit/stage.ts';

type Says = NonNullable<StageOptions['says']>;

/** The first turn asks for calls; every later one only answers. */
const asksFor =
  (calls: readonly { tool: string; args: Record<string, string | number> }[]): Says =>
  (turn, step) =>
    turn === 1 && step === 1 ? { calls } : { text: `Answer ${turn}.` };

const ids = (from: number, to: number): CallId[] =>
  Array.from({ length: to - from + 1 }, (_, i): CallId => `1.1.${from + i}`);

type Scene = { readonly stage: Stage; readonly runtime: Runtime; readonly session: string };

const scene = async (options: StageOptions): Promise<Scene> => {
  const stage = new Stage(options);
  const runtime = await stage.open();
  return { stage, runtime, session: await stage.send() };
};

const receiptOf = async ({ stage, session }: Scene): Promise<unknown> => {
  const end = await stage.event(session, (event) => event.type === 'turn.ended' && event.data.turn === 1);
  return end.type === 'turn.ended' ? end.data.receipt : undefined;
};

/** Nothing was begun after the cancel, and the next message is answered with a result for each call before it. */
const expectNothingBegunAndNextWorks = async ({ stage, runtime, session }: Scene): Promise<void> => {
  const executions = stage.world.executions.length;
  const before = await stage.events(session);
  const cancelled = before.find((event) => event.type === 'turn.cancel_requested')?.seq ?? 0;
  const begun = before.filter(
    (event) =>
      event.seq > cancelled && ['call.started', 'request.built', 'request.sent'].includes(event.type),
  );
  expect(begun.map((event) => event.type)).toEqual([]);
  stage.clock.advance(60_000);
  await calm();
  await runtime.send({ session, key: 'next', message: 'And now?' });
  await stage.event(session, (event) => event.type === 'turn.ended' && event.data.turn === 2);
  expect(stage.world.executions).toHaveLength(executions);
  expectConversation(stage.heard.at(-1)?.body ?? '{}');
  expect(stage.heard.at(-1)).toMatchObject({ turn: 2, step: 1, attempt: 1 });
  await audit(stage, session, await runtime.state(session));
  stage.expectNoWarnings();
};

describe('while the model is asked', () => {
  test('it is told, and what it says after is not heard', async () => {
    const one = await scene({
      says: (turn) => (turn === 1 ? { text: 'Too late.', delayMs: 60_000 } : { text: 'Answer 2.' }),
    });
    await one.stage.event(one.session, 'request.built');
    await calm();
    await one.runtime.cancel(one.session);
    expect(await receiptOf(one)).toEqual({ landed: [], stopped: [], inDoubt: [] });
    expect((await one.stage.event(one.session, 'request.failed')).data).toMatchObject({
      problem: { kind: 'cancelled' },
    });
    await expectNothingBegunAndNextWorks(one);
    expect(await one.stage.types(one.session)).not.toContain('call.proposed');
  });

  test('a model that does not listen is given up after the grace, and may have been billed', async () => {
    const stage = new Stage();
    const { model } = stage.agent;
    const agent = { ...stage.agent, model: { ...model, send: () => new Promise<never>(() => undefined) } };
    const runtime = await stage.open({ agent });
    const session = await stage.send();
    await stage.event(session, 'request.built');
    await calm();
    await runtime.cancel(session);
    await calm();
    stage.clock.advance(CANCEL_GRACE_MS - 1);
    await calm();
    expect(await stage.types(session)).not.toContain('turn.ended');
    stage.clock.advance(1);
    expect(await runtime.rest(session)).toMatchObject({ status: 'cancelled' });
    expect((await stage.event(session, 'request.failed')).data).toMatchObject({ maybeBilled: true });
  });
});

describe('while one of three calls runs on', () => {
  const kinds = [
    ['none', { landed: ['1.1.1', '1.1.2'], stopped: ['1.1.3'], inDoubt: [] }],
    ['idempotent', { landed: ['1.1.1', '1.1.2'], stopped: [], inDoubt: ['1.1.3'] }],
    ['reconcilable', { landed: ['1.1.1', '1.1.2', '1.1.3'], stopped: [], inDoubt: [] }],
    ['once', { landed: ['1.1.1', '1.1.2'], stopped: [], inDoubt: ['1.1.3'] }],
  ] as const;

  test.each(kinds)('%s, and does not listen', async (tool, receipt) => {
    const one = await scene({
      says: asksFor([
        { tool: 'none', args: { n: 1 } },
        { tool: 'once', args: { n: 2 } },
        { tool, args: { n: 3, do: 'hang' } },
      ]),
      tools: (world) =>
        (['none', 'once', 'idempotent', 'reconcilable'] as const).map((kind) =>
          world.tool(kind, kind, { timeoutMs: 600_000 }),
        ),
    });
    const { stage, runtime, session } = one;
    await stage.event(session, (event) => event.type === 'call.result' && event.data.call === '1.1.2');
    await calm();
    await runtime.cancel(session);
    await calm();
    stage.clock.advance(CANCEL_GRACE_MS - 1);
    await calm();
    expect(await stage.types(session)).not.toContain('turn.ended');
    stage.clock.advance(1);
    expect(await receiptOf(one)).toEqual(receipt);
    await expectNothingBegunAndNextWorks(one);
  });

  test('with calls behind it that have not begun: they never do', async () => {
    const calls = Array.from({ length: 12 }, (_, n) => ({ tool: 'once', args: { n, do: 'hang' } }));
    const one = await scene({
      says: asksFor(calls),
      tools: (world) => [world.tool('once', 'once', { timeoutMs: 600_000 })],
    });
    await one.stage.event(one.session, 'call.started');
    await calm();
    await one.runtime.cancel(one.session);
    await calm();
    one.stage.clock.advance(CANCEL_GRACE_MS);
    expect(await receiptOf(one)).toEqual({ landed: [], stopped: ids(9, 12), inDoubt: ids(1, 8) });
    await expectNothingBegunAndNextWorks(one);
    expect(one.stage.world.executions).toHaveLength(8);
  });

  test('a result that comes after is kept, and settles the doubt', async () => {
    const one = await scene({
      says: asksFor([
        { tool: 'none', args: { n: 1 } },
        { tool: 'slow', args: { n: 2, do: 'late' } },
      ]),
      tools: (world) => [
        world.tool('none', 'none'),
        world.tool('slow', 'once', {
          timeoutMs: 600_000,
          execute: () =>
            new Promise((resolve) =>
              one.stage.clock.after(2 * CANCEL_GRACE_MS, () => resolve('It was done.')),
            ),
        }),
      ],
    });
    const { stage, runtime, session } = one;
    await stage.event(session, (event) => event.type === 'call.started' && event.data.call === '1.1.2');
    await calm();
    await runtime.cancel(session);
    await calm();
    stage.clock.advance(CANCEL_GRACE_MS);
    expect(await receiptOf(one)).toMatchObject({ inDoubt: ['1.1.2'] });
    expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt' });
    stage.clock.advance(2 * CANCEL_GRACE_MS);
    await stage.event(session, 'call.late');
    expect(await runtime.rest(session)).toMatchObject({ status: 'cancelled', inDoubt: [] });
    await expectNothingBegunAndNextWorks(one);
    expect(stage.heard.at(-1)?.body).toContain('It was done.');
  });
});

describe('while a person is asked', () => {
  test('the question is withdrawn, and a later answer does nothing', async () => {
    const one = await scene({ says: asksFor([{ tool: 'once', args: { n: 1 } }]), policy: { rules: [] } });
    const { stage, runtime, session } = one;
    const [call] = await stage.asking(session, '1.1.1');
    await runtime.cancel(session);
    expect(await receiptOf(one)).toEqual({ landed: [], stopped: ['1.1.1'], inDoubt: [] });
    const digest = call?.digest ?? ('' as never);
    await expect(
      runtime.decide({ session, call: '1.1.1', digest, decision: { do: 'approve' } }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/^(turn-cancelled|call-not-found)$/) as string,
      next: 'look-again',
    });
    expect((await runtime.sessions())[0]?.summary).toMatchObject({ status: 'cancelled', waiting: 0 });
    await expectNothingBegunAndNextWorks(one);
  });

  test('an answer at the same moment: one of the two is first, and what it says is what happens', async () => {
    for (const first of ['cancel', 'approve'] as const) {
      const one = await scene({ says: asksFor([{ tool: 'once', args: { n: 1 } }]), policy: { rules: [] } });
      const { stage, runtime, session } = one;
      const [call] = await stage.asking(session, '1.1.1');
      const digest = call?.digest ?? ('' as never);
      const approve = (): Promise<unknown> =>
        runtime
          .decide({ session, call: '1.1.1', digest, decision: { do: 'approve' } })
          .catch(() => 'refused');
      const cancel = (): Promise<unknown> => runtime.cancel(session).catch(() => 'refused');
      await Promise.all(first === 'cancel' ? [cancel(), approve()] : [approve(), cancel()]);
      const { inDoubt } = await runtime.rest(session);
      const types = await stage.types(session);
      expect(inDoubt).toEqual([]);
      expect(stage.world.executions.length > 0).toBe(types.includes('call.started'));
      // Not there is -1, which is before everything.
      const approved = types.indexOf('approval.decided');
      expect(types.includes('call.started') && approved < 0).toBe(false);
      expect(approved).toBeLessThan(types.indexOf('turn.cancel_requested'));
      await audit(stage, session, await runtime.state(session));
    }
  });

  test('while the question is being prepared: the preview is stopped, and nobody waits for one that is not', async () => {
    const signals: AbortSignal[] = [];
    const one = await scene({
      says: asksFor([{ tool: 'shown', args: { n: 1 } }]),
      policy: { rules: [] },
      tools: (world) => [
        world.tool('shown', 'once', {
          preview: (_: unknown, context: { signal: AbortSignal }) => {
            signals.push(context.signal);
            return new Promise<never>(() => undefined);
          },
        }),
      ],
    });
    const { stage, runtime, session } = one;
    await stage.event(session, 'call.proposed');
    await calm();
    await runtime.cancel(session);
    expect(await runtime.rest(session)).toMatchObject({ status: 'cancelled' });
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    expect(stage.clock.monotonic()).toBeLessThan(PREPARE_MS);
    await expectNothingBegunAndNextWorks(one);
  });
});

describe('while something waits', () => {
  test('a call in doubt stays on the desk and can be settled after', async () => {
    const one = await scene({ says: asksFor([{ tool: 'once', args: { n: 1, do: 'throw' } }]) });
    const { stage, runtime, session } = one;
    expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt' });
    await runtime.cancel(session);
    expect(await receiptOf(one)).toEqual({ landed: [], stopped: [], inDoubt: ['1.1.1'] });
    await expectNothingBegunAndNextWorks(one);
    expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.1'] });
    await runtime.settle({ session, call: '1.1.1', settlement: { answer: 'not-happened' } });
    expect(await runtime.rest(session)).toMatchObject({ status: 'done', inDoubt: [] });
    // Nothing of a turn that has ended is run, whatever is said of it.
    expect(stage.world.executions).toHaveLength(1);
  });

  test('a retry of a call is not made', async () => {
    const one = await scene({
      says: asksFor([
        { tool: 'none', args: { n: 1 } },
        { tool: 'once', args: { n: 2, do: 'retryable' } },
      ]),
    });
    await one.stage.event(one.session, 'call.retry');
    await calm();
    await one.runtime.cancel(one.session);
    expect(await receiptOf(one)).toEqual({ landed: ['1.1.1'], stopped: ['1.1.2'], inDoubt: [] });
    await expectNothingBegunAndNextWorks(one);
    expect(one.stage.world.of('once')).toEqual([]);
  });

  test('a retry of an idempotent write whose first attempt may have happened leaves a doubt', async () => {
    const one = await scene({
      says: asksFor([{ tool: 'idempotent', args: { n: 1, do: 'hang' } }]),
      tools: (world) => [world.tool('idempotent', 'idempotent', { timeoutMs: 1000 })],
    });
    await one.stage.event(one.session, 'call.started');
    await calm();
    one.stage.clock.advance(1000);
    await one.stage.event(one.session, (event) => event.type === 'call.started' && event.data.attempt === 2);
    await calm();
    await one.runtime.cancel(one.session);
    await calm();
    one.stage.clock.advance(CANCEL_GRACE_MS);
    expect(await receiptOf(one)).toEqual({ landed: [], stopped: [], inDoubt: ['1.1.1'] });
    await expectNothingBegunAndNextWorks(one);
  });

  test('a request that is to be sent again is not sent', async () => {
    const one = await scene({
      says: (turn) => (turn === 1 ? { error: { kind: 'overloaded' } } : { text: 'Answer 2.' }),
    });
    await one.stage.event(one.session, 'request.retry');
    await calm();
    await one.runtime.cancel(one.session);
    expect(await receiptOf(one)).toEqual({ landed: [], stopped: [], inDoubt: [] });
    await expectNothingBegunAndNextWorks(one);
    expect(one.stage.heard.map((heard) => heard.turn)).toEqual([1, 2]);
  });
});

test('twice: the second is answered as the first, and a third after the end finds nothing to cancel', async () => {
  const one = await scene({
    says: asksFor([{ tool: 'once', args: { n: 1, do: 'hang' } }]),
    tools: (world) => [world.tool('once', 'once', { timeoutMs: 600_000 })],
  });
  const { stage, runtime, session } = one;
  await stage.event(session, 'call.started');
  await calm();
  expect(await runtime.cancel(session)).toEqual({ replayed: false });
  expect(await runtime.cancel(session)).toEqual({ replayed: true });
  await calm();
  stage.clock.advance(CANCEL_GRACE_MS);
  await receiptOf(one);
  const asked = (await stage.types(session)).filter((type) => type === 'turn.cancel_requested');
  expect(asked).toHaveLength(1);
  await expect(runtime.cancel(session)).rejects.toMatchObject({ code: 'nothing-to-cancel' });
  await expectNothingBegunAndNextWorks(one);
});

test('in a process that is lost before the grace is over: the next one ends the turn', async () => {
  const one = await scene({
    says: asksFor([
      { tool: 'once', args: { n: 1, do: 'hang' } },
      { tool: 'none', args: { n: 2, do: 'hang' } },
    ]),
    tools: (world) => [
      world.tool('once', 'once', { timeoutMs: 600_000 }),
      world.tool('none', 'none', { timeoutMs: 600_000 }),
    ],
  });
  const { stage, session } = one;
  await stage.event(session, 'call.started');
  await calm();
  await one.runtime.cancel(session);
  stage.crash();
  stage.clock.advance(20_000);
  const runtime = await stage.open();
  expect(await receiptOf(one)).toEqual({ landed: [], stopped: ['1.1.2'], inDoubt: ['1.1.1'] });
  await expectNothingBegunAndNextWorks({ ...one, runtime });
});
