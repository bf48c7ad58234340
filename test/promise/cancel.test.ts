/** cancel-leaves-receipt, queued-turn-waits: nothing starts after a cancel, and the next turn begins after the last. */
import { expect, test } from 'vitest';
import { CANCEL_GRACE_MS } from '../../src/worker/watch.ts';
import { audit } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

const receiptOf = async (stage: Stage, session: string): Promise<unknown> => {
  const end = (await stage.events(session)).find((event) => event.type === 'turn.ended');
  return end?.type === 'turn.ended' ? end.data.receipt : undefined;
};

const MANY = [
  { tool: 'none', args: { n: 1 } },
  { tool: 'once', args: { do: 'hang', n: 2 } },
  { tool: 'none', args: { do: 'hang', n: 3 } },
  { tool: 'once', args: { n: 4 } },
] as const;

test('cancel-leaves-receipt: what landed, what was stopped, what is in doubt', async () => {
  const stage = new Stage({
    says: () => ({ calls: MANY }),
    policy: {
      rules: [
        { id: 'four', when: [{ at: '/n', equals: 4 }], do: 'ask' },
        { id: 'all', do: 'allow' },
      ],
    },
  });
  const runtime = await stage.open();
  const session = await stage.send();
  await stage.event(session, 'call.result');
  await stage.asking(session, '1.1.4');
  await runtime.cancel(session, { reason: 'Enough.' });
  await calm();
  stage.clock.advance(CANCEL_GRACE_MS);
  expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.2'] });
  expect(await receiptOf(stage, session)).toEqual({
    landed: ['1.1.1'],
    stopped: ['1.1.3', '1.1.4'],
    inDoubt: ['1.1.2'],
  });
  expect(new Set(stage.world.executions.map((one) => one.args['n']))).toEqual(new Set([1, 2, 3]));
  expect(stage.world.executions).toHaveLength(3);
  expect(stage.heard).toHaveLength(1);
  await audit(stage, session, await runtime.state(session));
  stage.expectNoWarnings();
});

test('a tool that stops when it is told to has told whether it happened', async () => {
  const aborted: unknown[] = [];
  const stage = new Stage({
    says: () => ({ calls: [{ tool: 'polite' }] }),
    tools: (world) => [
      world.tool('polite', 'once', {
        execute: (_: unknown, context: { signal: AbortSignal }) =>
          new Promise((resolve) => {
            context.signal.addEventListener('abort', () => {
              aborted.push(context.signal.reason);
              resolve('It was done before.');
            });
          }),
      }),
    ],
  });
  const runtime = await stage.open();
  const session = await stage.send();
  await stage.event(session, 'call.started');
  await calm();
  await runtime.cancel(session);
  expect(await runtime.rest(session)).toMatchObject({ status: 'cancelled' });
  expect(aborted).toHaveLength(1);
  expect(await receiptOf(stage, session)).toEqual({ landed: ['1.1.1'], stopped: [], inDoubt: [] });
});

test('nothing starts after a cancel was accepted', async () => {
  const calls = Array.from({ length: 12 }, (_, n) => ({ tool: 'none', args: { do: 'hang', n } }));
  const stage = new Stage({ says: () => ({ calls }) });
  const runtime = await stage.open();
  const session = await stage.send();
  await stage.event(session, 'call.started');
  await calm();
  expect(stage.world.executions).toHaveLength(8);
  await runtime.cancel(session);
  const head = await stage.store.head(session);
  stage.clock.advance(CANCEL_GRACE_MS);
  await runtime.rest(session);
  const after = (await stage.events(session)).filter((event) => event.seq > (head?.seq ?? 0));
  expect(after.filter((event) => event.type === 'call.started')).toEqual([]);
  expect(stage.world.executions).toHaveLength(8);
});

test('a cancel while the model is asked: the request is given up and may have been billed', async () => {
  const stage = new Stage({ says: () => ({ text: 'Too late.', delayMs: 60_000 }) });
  const runtime = await stage.open();
  const session = await stage.send();
  await stage.event(session, 'request.built');
  await calm();
  await runtime.cancel(session);
  expect(await runtime.rest(session)).toMatchObject({ status: 'cancelled' });
  expect(await stage.types(session)).toEqual([
    'session.created',
    'turn.accepted',
    'request.built',
    'turn.cancel_requested',
    'request.failed',
    'turn.ended',
  ]);
  await audit(stage, session, await runtime.state(session));
});

test('queued-turn-waits: a message that comes during a turn is answered after it, and is not in its requests', async () => {
  const stage = new Stage({
    says: (turn, step) =>
      turn === 1 && step === 1
        ? { calls: [{ tool: 'once', args: { do: 'late', n: 1 } }] }
        : { text: `Answer ${turn}.` },
    tools: (world) => [world.tool('once', 'once', { timeoutMs: 10_000 })],
  });
  const runtime = await stage.open();
  const session = await stage.send('First.');
  await stage.event(session, 'call.started');
  expect(await runtime.send({ session, message: 'Second.' })).toMatchObject({ turn: 2, replayed: false });
  await calm();
  expect(stage.heard).toHaveLength(1);
  stage.clock.advance(2000);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.heard.map((one) => [one.turn, one.step, one.body.includes('Second.')])).toEqual([
    [1, 1, false],
    [1, 2, false],
    [2, 1, true],
  ]);
  await audit(stage, session, await runtime.state(session));
});

test('queued-turn-waits: it begins at once when the turn before it is cancelled', async () => {
  const stage = new Stage({
    says: (turn) => (turn === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Second answer.' }),
    policy: { rules: [] },
  });
  const runtime = await stage.open();
  const session = await stage.send('First.');
  await stage.asking(session, '1.1.1');
  await runtime.send({ session, message: 'Second.' });
  expect(await runtime.rest(session)).toMatchObject({ status: 'waiting' });
  await runtime.cancel(session);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.heard.map((one) => one.turn)).toEqual([1, 2]);
  await audit(stage, session, await runtime.state(session));
});
