/** What a session cost, as its record says, and budgets that stop it before the next request. */
import { expect, onTestFinished, test } from 'vitest';
import type { Usage } from '../../src/event/content.ts';
import type { Limits } from '../../src/event/definition.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Model, ModelReply } from '../../src/model/model.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { spendBy, spendLines, spendOf } from '../../src/view/spend.ts';
import { seededRandom, FakeClock } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

const USAGE: Usage = { cacheRead: 0, cacheWrite: 0, input: 100_000, output: 10_000 };
const ANSWER: ModelReply = {
  kind: 'response',
  stop: 'end',
  content: [{ type: 'text', text: 'Done.' }],
  usage: USAGE,
  firstTokenMs: 12,
};

/** claude-sonnet-5 at 2 in and 10 out: 100,000 * 2 + 10,000 * 10 = 300,000 millionths. */
const ANSWER_USD = 0.3;

class Paid {
  readonly clock = new FakeClock();
  readonly store = new MemoryLog();
  asked = 0;
  #opened = 0;

  agent(
    replies: (asked: number) => ModelReply,
    limits: Partial<Limits> = {},
    name = 'claude-sonnet-5',
  ): Agent {
    const model: Model = {
      definition: { provider: 'anthropic', name, params: {} },
      encoder: neutralEncoder,
      send: async () => replies(++this.asked),
    };
    return defineAgent({ name: 'clerk', instructions: 'Be exact.', model, limits });
  }

  async open(agent: Agent): Promise<Runtime> {
    const runtime = await openRuntime({
      store: this.store,
      agents: [agent],
      clock: this.clock,
      random: seededRandom(++this.#opened),
    });
    onTestFinished(async () => {
      const closed = runtime.close({ drainMs: 0 });
      this.clock.advance(0);
      await closed;
    });
    return runtime;
  }

  async events(session: string): Promise<readonly LogEvent[]> {
    return (await this.store.read(session)).map(open);
  }
}

test('a-response-has-its-price: dollars, source and day are in the record, and replay agrees', async () => {
  const paid = new Paid();
  const runtime = await paid.open(paid.agent(() => ANSWER));
  const { session } = await runtime.send({ agent: 'clerk', message: 'Do it.' });
  await runtime.rest(session);
  const events = await paid.events(session);
  const answer = events.find((event) => event.type === 'response.received');
  expect(answer?.data).toMatchObject({
    cost: ANSWER_USD,
    price: { source: 'genai-prices 0.1.8', date: '2026-09-23', model: 'claude-sonnet-5' },
  });
  expect((await runtime.state(session)).cost).toBe(ANSWER_USD);
  const [line] = spendLines(session, events);
  expect(line).toMatchObject({ billing: 'known', cost: ANSWER_USD, turn: 1, step: 1, firstTokenMs: 12 });
  expect(
    replay({ session, events, encoderOf: () => neutralEncoder, program: 'test' }).difference,
  ).toBeUndefined();
});

test('an-unknown-model-costs-unknown, never nothing', async () => {
  const paid = new Paid();
  const runtime = await paid.open(paid.agent(() => ANSWER, {}, 'claude-sonnet-5-9'));
  const { session } = await runtime.send({ agent: 'clerk', message: 'Do it.' });
  await runtime.rest(session);
  const state = await runtime.state(session);
  expect({ cost: state.cost, unknown: state.costUnknown }).toEqual({ cost: 0, unknown: true });
  const total = spendOf('all', spendLines(session, await paid.events(session)));
  expect(total).toMatchObject({ cost: 0, unknown: 1, maybeBilled: 0 });
});

test('a-failed-attempt-counts: its usage is priced, and one that may be billed unseen is said to be', async () => {
  const paid = new Paid();
  const problem = { kind: 'interrupted', message: 'Cut.', retryAfterMs: 0 } as const;
  const runtime = await paid.open(
    paid.agent((asked) => {
      if (asked === 1) return { kind: 'failed', problem, maybeBilled: true, usage: USAGE };
      if (asked === 2) return { kind: 'failed', problem, maybeBilled: true };
      return asked === 3 ? { kind: 'failed', problem, maybeBilled: false } : ANSWER;
    }),
  );
  const { session } = await runtime.send({ agent: 'clerk', message: 'Do it.' });
  await runtime.rest(session);
  const lines = spendLines(session, await paid.events(session));
  expect(lines.map(({ attempt, billing, cost }) => [attempt, billing, cost])).toEqual([
    [1, 'known', ANSWER_USD],
    [2, 'maybe-billed', undefined],
    [4, 'known', ANSWER_USD],
  ]);
  const [turn] = spendBy(lines, 'turn', () => '');
  expect(turn).toMatchObject({ name: `${session} 1`, cost: 2 * ANSWER_USD, maybeBilled: 1, attempts: 3 });
  const state = await runtime.state(session);
  expect({ cost: state.cost, unknown: state.costUnknown }).toEqual({ cost: 2 * ANSWER_USD, unknown: true });
});

test('a-lost-attempt-counts: a request that was under way when its process died may have been billed', async () => {
  const stage = new Stage({ says: () => ({ text: 'Done.', cost: 0.01, delayMs: 1000 }) });
  await stage.open();
  const session = await stage.send();
  await stage.event(session, 'request.built');
  stage.crash();
  stage.clock.advance(LEASE_MS + 1);
  const second = await stage.open();
  const rested = second.rest(session);
  await stage.event(session, 'request.sent');
  stage.clock.advance(1000);
  await rested;
  const lines = spendLines(session, await stage.events(session));
  expect(lines.map(({ attempt, billing }) => [attempt, billing])).toEqual([
    [1, 'maybe-billed'],
    [2, 'known'],
  ]);
  expect((await stage.state(session)).costUnknown).toBe(true);
});

test('a-budget-stops-by-name, before the next request: the turn at its own, the session at its own', async () => {
  const paid = new Paid();
  const runtime = await paid.open(paid.agent(() => ANSWER, { sessionCostUsd: 0.5 }));
  const { session } = await runtime.send({ agent: 'clerk', message: 'One.' });
  await runtime.rest(session);
  await runtime.send({ session, message: 'Two.' });
  await runtime.rest(session);
  expect(paid.asked).toBe(2);
  await runtime.send({ session, message: 'Three.' });
  await runtime.rest(session);
  expect(paid.asked).toBe(2);
  const events = await paid.events(session);
  expect(events.slice(-2).map(({ type, data }) => ({ type, data }))).toMatchObject([
    { type: 'request.refused', data: { turn: 3, step: 1, code: 'sessionCostUsd', outcome: 'stopped' } },
    { type: 'turn.ended', data: { turn: 3, outcome: 'stopped', reason: 'sessionCostUsd' } },
  ]);
  expect(
    replay({ session, events, encoderOf: () => neutralEncoder, program: 'test' }).difference,
  ).toBeUndefined();
});

test('a-raised-budget-goes-on: the session works again with the agent that has more', async () => {
  const paid = new Paid();
  const first = await paid.open(paid.agent(() => ANSWER, { sessionCostUsd: 0.2 }));
  const { session } = await first.send({ agent: 'clerk', message: 'One.' });
  await first.rest(session);
  await first.send({ session, message: 'Two.' });
  await first.rest(session);
  expect((await first.state(session)).turns[1]?.reason).toBe('sessionCostUsd');
  const closed = first.close({ drainMs: 0 });
  paid.clock.advance(0);
  await closed;
  const second = await paid.open(paid.agent(() => ANSWER, { sessionCostUsd: 5 }));
  await second.send({ session, message: 'Three.' });
  await second.rest(session);
  expect((await second.state(session)).turns[2]?.outcome).toBe('done');
});

test('a-retry-is-a-request-too: a failed attempt that used up the budget is the last', async () => {
  const paid = new Paid();
  const problem = { kind: 'interrupted', message: 'Cut.', retryAfterMs: 0 } as const;
  const runtime = await paid.open(
    paid.agent(() => ({ kind: 'failed', problem, maybeBilled: true, usage: USAGE }), { turnCostUsd: 0.25 }),
  );
  const { session } = await runtime.send({ agent: 'clerk', message: 'One.' });
  await runtime.rest(session);
  expect(paid.asked).toBe(1);
  expect((await runtime.state(session)).turns[0]).toMatchObject({
    outcome: 'stopped',
    reason: 'turnCostUsd',
  });
});
