/** Promise: whoever decides too late is told what became of the question, and nothing runs. */
import { expect, test } from 'vitest';
import { House } from './house.ts';

const asking = async (): Promise<{
  house: House;
  session: string;
  say: () => Promise<readonly unknown[]>;
}> => {
  const house = await House.open({
    policy: { rules: [], ask: { expiresMs: 60_000 } },
    says: (turn, step) =>
      turn === 1 && step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' },
  });
  const session = await house.begin();
  const [call] = await house.stage.asking(session, '1.1.1');
  const body = { digest: call?.digest, decision: { do: 'approve' } };
  const say = async (): Promise<readonly unknown[]> => {
    const answer = await house.json(`/sessions/${session}/calls/1.1.1/decision`, { body });
    return [answer.status, answer.body['code']];
  };
  return { house, session, say };
};

test.each(['while the turn ends', 'when another turn has followed'])('after a cancel, %s', async (when) => {
  const { house, session, say } = await asking();
  expect((await house.ask(`/sessions/${session}/cancel`, { body: {} })).status).toBe(202);
  if (when.startsWith('when')) {
    await house.stage.runtime.send({ session, message: 'Something else.' });
    await house.stage.runtime.rest(session);
  }
  expect(await say()).toEqual([409, 'turn-cancelled']);
  expect(house.stage.world.executions).toEqual([]);
});

test('after the question has lapsed and its turn has ended', async () => {
  const { house, session, say } = await asking();
  house.stage.clock.advance(60_001);
  await house.stage.runtime.sweep();
  await house.stage.runtime.rest(session);
  expect((await house.stage.state(session)).active).toBeUndefined();
  expect(await say()).toEqual([409, 'approval-expired']);
  expect(house.stage.world.executions).toEqual([]);
});

test('about a call that nobody was asked about, and one that there is not', async () => {
  const house = await House.open({
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'none' }] } : { text: 'Done.' }),
  });
  const session = await house.begin();
  await house.stage.runtime.rest(session);
  const body = { digest: '0'.repeat(64), decision: { do: 'approve' } };
  const path = (call: string): string => `/sessions/${session}/calls/${call}/decision`;
  expect((await house.json(path('1.1.1'), { body })).body['code']).toBe('not-asked');
  expect((await house.json(path('1.1.2'), { body })).body['code']).toBe('call-not-found');
});
