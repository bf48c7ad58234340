/** Fault plans: each kind does what it says at the place it names, comes once, and is missed where it never comes. */
import { describe, expect, test } from 'vitest';
import { isOnrecordError } from '../../src/errors.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { FAULT_KINDS, FaultPlan, faultPlanSchema } from '../../src/suite/fault-plan.ts';
import { FAULT_POINTS } from '../../src/worker/fault-point.ts';
import { calm, until } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';
import { TOOL_TIMEOUT } from '../kit/world.ts';
import { Planned } from './planned.ts';

const ASKS = { policy: { rules: [{ id: 'ask', do: 'ask' }] } } as const;

const countOf = (events: readonly LogEvent[], type: LogEvent['type']): number =>
  events.filter((event) => event.type === type).length;

const errorOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'no error';
  } catch (error) {
    return isOnrecordError(error) ? error.code : String(error);
  }
};

describe('crash', () => {
  test.each([
    ['once', 'call.after', 'in-doubt', 1],
    ['once', 'call.before', 'in-doubt', 0],
    ['reconcilable', 'call.after', 'done', 1],
    ['idempotent', 'call.before', 'done', 1],
  ] as const)('of a call of kind %s at %s leaves it %s', async (tool, at, status, executions) => {
    const planned = new Planned([{ at, what: tool, do: 'crash' }], { tool });
    const session = await planned.send();
    await until('it dies', () => planned.died.length === 1);
    expect(planned.executions).toBe(at === 'call.after' ? 1 : 0);
    // Another process takes over. The first one is gone; here its lease runs out.
    planned.stage.clock.advance(60_000);
    const next = await planned.stage.open({ drive: false });
    expect(await next.rest(session)).toMatchObject({ status });
    expect(planned.executions).toBe(executions);
  });
});

describe('error', () => {
  test('before the tool is a failure without effect; the model is told', async () => {
    const planned = new Planned([
      { at: 'call.before', do: 'error' },
      { at: 'call.before', attempt: 2, do: 'error' },
    ]);
    expect(await planned.run()).toMatchObject({ status: 'done' });
    expect(planned.executions).toBe(0);
    expect(planned.stage.heard[1]?.body).toContain('The service was not reached');
  });

  test('after the tool leaves doubt: it has run', async () => {
    const planned = new Planned([{ at: 'call.after', do: 'error' }]);
    expect(await planned.run()).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.1'] });
    expect(planned.executions).toBe(1);
  });

  test.each(['request.before', 'request.after'] as const)('at %s is one more attempt', async (at) => {
    const planned = new Planned([{ at, do: 'error' }]);
    const session = await planned.send();
    await planned.rest(session);
    expect(countOf(await planned.events(session), 'request.failed')).toBe(1);
  });

  test.each(['prepare.before', 'prepare.after'] as const)('at %s refuses the call', async (at) => {
    const planned = new Planned([{ at, do: 'error' }], undefined, {
      tools: (world) => [
        world.tool('once', 'once', { preview: () => ({ title: 'Do it.', blocks: [] }), approval: 'always' }),
      ],
    });
    expect(await planned.run()).toMatchObject({ status: 'done' });
    expect(planned.executions).toBe(0);
  });

  test.each(['reconcile.before', 'reconcile.after'] as const)(
    'at %s leaves a reconcilable call in doubt',
    async (at) => {
      const planned = new Planned([{ at, do: 'error' }], { tool: 'reconcilable', doing: 'throw' });
      expect(await planned.run()).toMatchObject({ status: 'in-doubt' });
      expect(planned.executions).toBe(1);
    },
  );

  test.each(['append.before', 'append.after'] as const)(
    'at %s: the same batch again, written once',
    async (at) => {
      const planned = new Planned([{ at, what: 'call.result', do: 'error' }]);
      const session = await planned.send();
      expect(await planned.rest(session)).toMatchObject({ status: 'done' });
      expect(countOf(await planned.events(session), 'call.result')).toBe(1);
      expect(planned.executions).toBe(1);
    },
  );

  test.each([
    ['command.before', 0],
    ['command.after', 1],
  ] as const)('at %s: the caller hears of a fault, and says it again', async (at, recorded) => {
    const planned = new Planned([{ at, do: 'error' }]);
    const runtime = await planned.open();
    const say = (): Promise<{ session: string; replayed: boolean }> =>
      runtime.send({ agent: 'clerk', message: 'Do it.', key: 'key-1' });
    expect(await errorOf(say())).toBe('fault-planned');
    expect(await planned.stage.store.sessions()).toHaveLength(recorded);
    planned.stage.clock.advance(1);
    const { session, replayed } = await say();
    expect(replayed).toBe(recorded === 1);
    await planned.rest(session);
    expect(countOf(await planned.events(session), 'turn.accepted')).toBe(1);
  });
});

test('delay: it takes as long as the plan says, no less', async () => {
  const planned = new Planned([{ at: 'request.before', what: '1.1', do: 'delay', ms: 500 }]);
  const session = await planned.send();
  await planned.stage.event(session, 'request.built');
  await calm();
  planned.stage.clock.advance(499);
  await calm();
  expect(planned.stage.heard).toHaveLength(0);
  planned.stage.clock.advance(1);
  await calm();
  expect(planned.stage.heard).not.toHaveLength(0);
  expect(await planned.rest(session)).toMatchObject({ status: 'done' });
});

test('disk-full: the result in hand is kept until there is room, and the tool does not run again', async () => {
  const planned = new Planned([{ at: 'append.before', what: 'call.result', do: 'disk-full' }]);
  const session = await planned.send();
  await until('the disk is full', () => planned.runtime.storageFault !== undefined);
  expect(planned.runtime.storageFault).toMatchObject({ code: 'store-full', fault: 'full' });
  expect(countOf(await planned.events(session), 'call.result')).toBe(0);
  expect(await planned.rest(session)).toMatchObject({ status: 'done' });
  expect(planned.runtime.storageFault).toBeUndefined();
  expect(planned.executions).toBe(1);
});

test('late: nobody waits any more, and what comes then settles the doubt', async () => {
  const planned = new Planned([{ at: 'call.after', do: 'late', ms: 200 }]);
  const session = await planned.send();
  await planned.stage.event(session, 'call.started');
  await calm();
  planned.stage.clock.advance(TOOL_TIMEOUT);
  await planned.stage.event(session, 'call.doubted');
  planned.stage.clock.advance(199);
  await calm();
  expect(countOf(await planned.events(session), 'call.late')).toBe(0);
  planned.stage.clock.advance(1);
  await planned.stage.event(session, 'call.late');
  expect(await planned.rest(session)).toMatchObject({ status: 'done' });
  expect(planned.executions).toBe(1);
});

describe('duplicate', () => {
  test('of a result: it is recorded once, and the model hears it once', async () => {
    const planned = new Planned([{ at: 'call.after', do: 'duplicate' }]);
    const session = await planned.send();
    expect(await planned.rest(session)).toMatchObject({ status: 'done' });
    const events = await planned.events(session);
    expect([countOf(events, 'call.result'), countOf(events, 'call.late')]).toEqual([1, 0]);
    expect(planned.stage.heard).toHaveLength(2);
  });

  test('of a reply: it is recorded once, and its call is proposed once', async () => {
    const planned = new Planned([{ at: 'request.after', do: 'duplicate' }]);
    const session = await planned.send();
    expect(await planned.rest(session)).toMatchObject({ status: 'done' });
    const events = await planned.events(session);
    expect([countOf(events, 'response.received'), countOf(events, 'call.proposed')]).toEqual([2, 1]);
    expect(planned.executions).toBe(1);
  });

  test('of a message that starts a session: one session, one turn', async () => {
    const planned = new Planned([{ at: 'command.after', what: 'send', do: 'duplicate' }]);
    const runtime = await planned.open();
    const sent = await runtime.send({ agent: 'clerk', message: 'Do it.', key: 'key-1' });
    expect(sent).toMatchObject({ turn: 1, replayed: true });
    await planned.rest(sent.session);
    expect(await planned.stage.store.sessions()).toHaveLength(1);
    expect(countOf(await planned.events(sent.session), 'turn.accepted')).toBe(1);
  });

  test('of a decision: it is recorded once, and the call runs once', async () => {
    const planned = new Planned([{ at: 'command.after', what: 'decide', do: 'duplicate' }], undefined, ASKS);
    const session = await planned.send();
    await until('it asks', async () => (await planned.runtime.rest(session)).approvals.length === 1);
    const { active } = await planned.runtime.state(session);
    const digest = active?.calls[0]?.digest;
    if (digest === undefined) throw new Error('it asks');
    const answered = await planned.runtime.decide({
      session,
      call: '1.1.1',
      digest,
      decision: { do: 'approve' },
    });
    expect(answered).toMatchObject({ replayed: true, decided: { do: 'approve' } });
    expect(await planned.rest(session)).toMatchObject({ status: 'done' });
    expect(countOf(await planned.events(session), 'approval.decided')).toBe(1);
    expect(planned.executions).toBe(1);
  });
});

describe('drop', () => {
  test.each([
    ['call.before', 0],
    ['call.after', 1],
  ] as const)('at %s: no answer ever comes, and the call is given up at its time', async (at, executions) => {
    const planned = new Planned([{ at, do: 'drop' }]);
    expect(await planned.run()).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.1'] });
    expect(planned.executions).toBe(executions);
  });

  test.each(['request.before', 'request.after'] as const)(
    'at %s: the request is given up and sent again',
    async (at) => {
      const planned = new Planned([{ at, do: 'drop' }], undefined, { limits: { requestMs: 1000 } });
      const session = await planned.send();
      expect(await planned.rest(session)).toMatchObject({ status: 'done' });
      const failed = (await planned.events(session)).find(({ type }) => type === 'request.failed');
      expect(failed?.data).toMatchObject({ problem: { kind: 'timeout' }, maybeBilled: true });
    },
  );
});

describe('a fault', () => {
  test('comes at the occurrence that the plan names, and once', async () => {
    const planned = new Planned([{ at: 'append.after', occurrence: 3, do: 'error' }]);
    const place = { session: 's', what: 'call.result' };
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await errorOf(planned.plan.reach('append.after', place)));
    expect(answers).toEqual(['no error', 'no error', 'store-io', 'no error', 'no error']);
  });

  test('comes only to the call, the attempt and the tool that it names', async () => {
    const { plan } = new Planned([
      { at: 'call.before', what: 'send', call: '1.2.1', attempt: 2, do: 'error' },
    ]);
    const place = { session: 's', what: 'send', call: '1.2.1', attempt: 2 } as const;
    for (const other of [{ what: 'sender' }, { call: '1.2.2' }, { attempt: 1 }] as const)
      await plan.reach('call.before', { ...place, ...other });
    await plan.reach('call.after', place);
    expect(plan.unfired()).toHaveLength(1);
    expect(await errorOf(plan.reach('call.before', place))).toContain('ToolError');
    expect(plan.unfired()).toEqual([]);
  });

  test('that has come does not come again in the process that goes on', async () => {
    const clock = new Stage().clock;
    const faults = faultPlanSchema.parse([{ at: 'append.after', occurrence: 2, do: 'error' }]);
    const first = new FaultPlan(faults, { clock });
    const place = { session: 's', what: 'x' };
    await first.reach('append.after', place);
    const second = new FaultPlan(faults, { clock, state: first.state });
    expect(await errorOf(second.reach('append.after', place))).toBe('store-io');
    const third = new FaultPlan(faults, { clock, state: second.state });
    expect(await errorOf(third.reach('append.after', place))).toBe('no error');
    expect(third.unfired()).toEqual([]);
  });

  test('has a place for each kind, and each point knows a crash, an error and a delay', () => {
    for (const places of Object.values(FAULT_KINDS))
      expect(FAULT_POINTS).toEqual(expect.arrayContaining([...places]));
    for (const point of FAULT_POINTS)
      for (const kind of ['crash', 'error', 'delay'] as const) expect(FAULT_KINDS[kind]).toContain(point);
  });
});
