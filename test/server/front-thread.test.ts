/** A session under a given id is begun once, and is nobody else's. */
import { expect, test } from 'vitest';
import { threadSession } from '../../src/server/front/thread.ts';
import { Stage } from '../kit/stage.ts';

const SESSION = threadSession('red', 'clerk', 'thread-1');
const FIRST = { session: SESSION, agent: 'clerk', tenant: 'red', message: 'Do it.', key: 'k-1' };

test('twenty who begin it at once begin one session, also after a restart', async () => {
  const stage = new Stage();
  const runtime = await stage.open();
  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      runtime.send({ ...FIRST, key: `k-${i % 2}`, message: `Message ${i % 2}.` }),
    ),
  );
  expect(new Set(sent.map(({ session }) => session))).toEqual(new Set([SESSION]));
  expect(sent.filter(({ replayed }) => !replayed)).toHaveLength(2);
  stage.crash();
  const again = await (await stage.open()).send({ ...FIRST, key: 'k-0', message: 'Message 0.' });
  expect(again).toMatchObject({ session: SESSION, replayed: true });
  expect((await stage.state(SESSION)).turns).toHaveLength(2);
});

test('another tenant and another agent do not get in by naming it', async () => {
  const stage = new Stage();
  const runtime = await stage.open();
  await runtime.send(FIRST);
  for (const tenant of ['blue', ''])
    await expect(runtime.send({ ...FIRST, tenant, key: 'k-2' })).rejects.toMatchObject({
      code: 'session-not-found',
    });
  await expect(runtime.send({ ...FIRST, agent: 'nobody', key: 'k-2' })).rejects.toMatchObject({
    code: 'agent-not-found',
  });
  expect((await stage.state(SESSION)).turns).toHaveLength(1);
  const places = [
    ['red', 'clerk', 'thread-1'],
    ['', 'clerk', 'thread-1'],
    ['red', 'clerk thread-1', ''],
    ['red', 'clerk', 'thread-2'],
  ] as const;
  expect(new Set(places.map(([tenant, agent, thread]) => threadSession(tenant, agent, thread))).size).toBe(
    places.length,
  );
});
