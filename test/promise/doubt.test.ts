/** What is not known is said to be not known, until there is evidence. */
import { describe, expect, test } from 'vitest';
import { audit } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';
import { TOOL_TIMEOUT, type Behaviour } from '../kit/world.ts';
import type { JsonObject } from '../../src/event/json.ts';

const oneCall = (tool: string, doing: Behaviour, rest: ConstructorParameters<typeof Stage>[0] = {}): Stage =>
  new Stage({
    says: (turn, step) =>
      turn === 1 && step === 1 ? { calls: [{ tool, args: { do: doing, n: 1 } }] } : { text: 'Done.' },
    ...rest,
  });

/** Sends, and lets the tool run out of time. */
const timedOut = async (stage: Stage): Promise<string> => {
  await stage.open();
  const session = await stage.send();
  await stage.event(session, 'call.started');
  await calm();
  stage.clock.advance(TOOL_TIMEOUT);
  await stage.event(session, 'call.result');
  return session;
};

describe('write-timeout-is-doubt', () => {
  test.each(['late', 'hang'] as const)(
    'a write that ran out of time (%s) is in doubt, and the model is not asked on',
    async (doing) => {
      const stage = oneCall('once', doing);
      const session = await timedOut(stage);
      expect(await stage.runtime.rest(session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.1'] });
      expect(stage.heard).toHaveLength(1);
      expect(stage.world.executions).toHaveLength(1);
      await audit(stage, session, await stage.state(session));
    },
  );

  test('a write that threw half way through is in doubt; a read that threw has failed', async () => {
    for (const [tool, status] of [
      ['once', 'in-doubt'],
      ['none', 'done'],
    ] as const) {
      const stage = oneCall(tool, 'throw');
      await stage.open();
      const session = await stage.send();
      expect(await stage.runtime.rest(session)).toMatchObject({ status });
      await audit(stage, session, await stage.state(session));
    }
  });

  test('a write that says that nothing happened has failed', async () => {
    const stage = oneCall('once', 'fail');
    await stage.open();
    const session = await stage.send();
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.heard[1]?.body).toContain('The world said no.');
  });

  test('a read that ran out of time is made again, then told to the model', async () => {
    const stage = oneCall('none', 'hang');
    const session = await timedOut(stage);
    await stage.event(session, (event) => event.type === 'call.started' && event.data.attempt === 2);
    await calm();
    stage.clock.advance(TOOL_TIMEOUT);
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.world.executions.map((one) => one.attempt)).toEqual([1, 2]);
  });

  test('an idempotent write that ran out of time is made again under the same key', async () => {
    const stage = oneCall('idempotent', 'late');
    const session = await timedOut(stage);
    await stage.event(session, (event) => event.type === 'call.started' && event.data.attempt === 2);
    await calm();
    const keys = stage.world.executions.map((one) => one.key);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('a reconcilable write that ran out of time is asked about, with the arguments of the call', async () => {
    const seen: unknown[] = [];
    const stage = oneCall('file', 'hang', {
      tools: (world) => [
        world.tool('file', 'reconcilable', {
          reconcile: (input: unknown) => {
            seen.push(input);
            return { happened: true, result: 'It is there.' };
          },
        }),
      ],
    });
    const session = await timedOut(stage);
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(seen).toEqual([{ do: 'hang', n: 1 }]);
    expect(stage.heard[1]?.body).toContain('It is there.');
  });
});

describe('late-result-resolves-doubt', () => {
  test('a result that comes after the timeout closes the call, and the turn goes on', async () => {
    const stage = oneCall('once', 'late');
    const session = await timedOut(stage);
    await stage.runtime.rest(session);
    stage.clock.advance(TOOL_TIMEOUT);
    await stage.event(session, 'call.late');
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done', inDoubt: [] });
    expect(stage.heard[1]?.body).toMatch(/came late.*late 1/);
    expect(stage.world.executions).toHaveLength(1);
    await audit(stage, session, await stage.state(session));
    stage.expectNoWarnings();
  });

  test('a result that comes after a person has answered is kept and changes nothing', async () => {
    const stage = oneCall('once', 'late');
    const session = await timedOut(stage);
    await stage.runtime.settle({
      session,
      call: '1.1.1',
      settlement: { answer: 'give-up' },
      note: 'Never mind.',
    });
    await stage.runtime.rest(session);
    stage.clock.advance(TOOL_TIMEOUT);
    await stage.event(session, 'call.late');
    await stage.runtime.rest(session);
    expect(stage.heard).toHaveLength(2);
    expect(stage.heard[1]?.body).toContain('Never mind.');
    await audit(stage, session, await stage.state(session));
  });

  test('a result that comes after the turn was cancelled is told to the model in the next turn', async () => {
    const stage = oneCall('once', 'late');
    const session = await timedOut(stage);
    await stage.runtime.cancel(session);
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'in-doubt' });
    stage.clock.advance(TOOL_TIMEOUT);
    await stage.event(session, 'call.late');
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'cancelled', inDoubt: [] });
    await stage.runtime.send({ session, message: 'And now?' });
    await stage.runtime.rest(session);
    expect(stage.heard.at(-1)?.body).toMatch(/whose outcome was not known: its result came late: late 1/);
    await audit(stage, session, await stage.state(session));
  });
});

describe('the same call again', () => {
  test('after a doubt that was given up asks a person, although policy lets it run', async () => {
    const stage = oneCall('once', 'hang', {
      says: (turn, step) =>
        step === 1
          ? { calls: [{ tool: 'once', args: { do: 'hang', n: turn > 0 ? 1 : 2 } }] }
          : { text: 'Done.' },
    });
    const session = await timedOut(stage);
    await stage.runtime.settle({ session, call: '1.1.1', settlement: { answer: 'give-up' } });
    await stage.runtime.rest(session);
    await stage.runtime.send({ session, message: 'Try again.' });
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'waiting', approvals: ['2.1.1'] });
    expect(stage.world.executions).toHaveLength(1);
  });
});

const changed = (): Stage['agent'] =>
  new Stage({ tools: (world) => [world.tool('idempotent', 'idempotent', { description: 'another one' })] })
    .agent;

describe('a tool that changed', () => {
  test('between an attempt whose end is not known and the next one: nobody says that it was not run', async () => {
    const stage = oneCall('idempotent', 'hang');
    await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    await calm();
    expect(stage.world.executions).toHaveLength(1);
    stage.crash();
    stage.clock.advance(60_000);
    const runtime = await stage.open({ agent: changed() });
    await runtime.rest(session);
    const refusals = (await stage.events(session)).filter((event) => event.type === 'call.refused');
    for (const { data } of refusals) expect((data as JsonObject)['message']).not.toMatch(/not run/);
    expect(await runtime.rest(session)).toMatchObject({ inDoubt: ['1.1.1'] });
  });
});
