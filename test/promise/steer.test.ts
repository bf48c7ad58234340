/** steer, interrupt: a message to a running turn joins it at its next step, in the request and on the record. */
import { expect, test } from 'vitest';
import { audit } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

const slowThenText = (): Stage =>
  new Stage({
    says: (turn, step) =>
      turn === 1 && step === 1
        ? { text: 'I look.', calls: [{ tool: 'once', args: { do: 'late', n: 1 } }] }
        : { text: `Answer ${turn}.${step}.` },
    tools: (world) => [world.tool('once', 'once', { timeoutMs: 10_000 })],
  });

test('steer: the message stands after the results of the step that was running, and the turn goes on', async () => {
  const stage = slowThenText();
  const runtime = await stage.open();
  const session = await stage.send('First.');
  await stage.event(session, 'call.started');
  const steer = { session, message: 'Mind the date.', when: 'steer', key: 'steer-1' } as const;
  expect(await runtime.send(steer)).toMatchObject({ turn: 1, replayed: false });
  expect(await runtime.send(steer)).toMatchObject({ turn: 1, replayed: true });
  await calm();
  stage.clock.advance(2000);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.heard.map(({ turn, step }) => [turn, step])).toEqual([
    [1, 1],
    [1, 2],
  ]);
  const { messages } = JSON.parse(stage.heard[1]?.body ?? '{}') as { messages: { role: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'results', 'user']);
  expect(JSON.stringify(messages.at(-1))).toContain('Mind the date.');
  await audit(stage, session, await runtime.state(session));
});

test('steer: one that comes while the last answer is on its way is answered before the turn ends', async () => {
  const stage = new Stage({ says: (_, step) => ({ text: `Answer ${step}.`, delayMs: 1000 }) });
  const runtime = await stage.open();
  const session = await stage.send('First.');
  await stage.event(session, 'request.built');
  await calm();
  await runtime.send({ session, message: 'One more thing.', when: 'steer' });
  stage.clock.advance(1000);
  await stage.event(session, (event) => event.type === 'request.built' && event.data.step === 2);
  await calm();
  stage.clock.advance(1000);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  const { messages } = JSON.parse(stage.heard[1]?.body ?? '{}') as { messages: { role: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  await audit(stage, session, await runtime.state(session));
});

test('interrupt: the running turn is cancelled with a receipt, and the message is answered next', async () => {
  const stage = slowThenText();
  const runtime = await stage.open();
  const session = await stage.send('First.');
  await stage.event(session, 'call.started');
  await runtime.send({ session, message: 'Waits.' });
  await runtime.send({ session, message: 'Now this.', when: 'interrupt' });
  await calm();
  stage.clock.advance(20_000);
  await runtime.rest(session);
  expect(stage.heard.map(({ turn }) => turn)).toEqual([1, 3, 2]);
  const events = await stage.events(session);
  expect(events.find((event) => event.type === 'turn.ended')?.data).toMatchObject({
    turn: 1,
    outcome: 'cancelled',
  });
  await audit(stage, session, await runtime.state(session));
});
