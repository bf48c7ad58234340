/** A turn has a name: sent again it is the same turn, with the same answer; and what a message does while one runs. */
import { describe, expect, test } from 'vitest';
import { calm, until } from '../kit/clock.ts';
import type { StageOptions } from '../kit/stage.ts';
import { House } from './house.ts';

const SESSION = { agent: 'clerk', message: 'Do it.' };

const slow: StageOptions = {
  says: (turn, step) =>
    turn === 1 && step === 1
      ? { calls: [{ tool: 'once', args: { do: 'late', n: 1 } }] }
      : { text: `Answer ${turn}.${step}.` },
  tools: (world) => [world.tool('once', 'once', { timeoutMs: 10_000 })],
};

const asks: StageOptions = {
  policy: { rules: [] },
  says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' }),
};

describe('a key names one turn', () => {
  test('the same key and content has the same answer: while it runs, when it is over, after a restart', async () => {
    const house = await House.open(slow);
    const first = await house.json('/sessions', { body: SESSION, key: 'k-1' });
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([202, null]);
    const again = async (): Promise<void> => {
      const { status, headers, body } = await house.json('/sessions', { body: SESSION, key: '"k-1"' });
      expect([status, headers.get('idempotent-replayed'), body]).toEqual([202, 'true', first.body]);
      expect(headers.get('location')).toBe(first.body['url']);
    };
    const session = String(first.body['session']);
    await house.stage.event(session, 'call.started');
    await again();
    await calm();
    house.stage.clock.advance(2000);
    await house.stage.runtime.rest(session);
    await again();
    await house.restart();
    await again();
    expect((await house.stage.types(session)).filter((type) => type === 'turn.accepted')).toHaveLength(1);
    expect(house.stage.world.executions).toHaveLength(1);
  });

  test('other content under the same key is refused, names the turn, and changes nothing', async () => {
    const house = await House.open();
    const session = await house.begin('Ship order 7.', 'k-1');
    const sent = { body: { message: 'Ship order 8.' }, key: 'k-1' };
    const { status, body } = await house.json(`/sessions/${session}/turns`, sent);
    expect([status, body['code']]).toEqual([422, 'idempotency-key-reused']);
    expect(body['detail']).toMatch(/turn 1/);
    expect(JSON.stringify(body)).not.toContain('order 7');
    expect((await house.stage.state(session)).turns).toHaveLength(1);
  });

  test('fifty at one moment are one turn', async () => {
    const house = await House.open(asks);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => house.json('/sessions', { body: SESSION, key: 'k-1' })),
    );
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    const session = String(answers[0]?.body['session']);
    await house.stage.asking(session, '1.1.1');
    expect(house.stage.heard).toHaveLength(1);
    expect((await house.stage.state(session)).turns).toHaveLength(1);
  });
});

describe('waiting for the answer', () => {
  test('Prefer: wait answers with the turn when it has ended', async () => {
    const house = await House.open();
    const asked = { body: SESSION, key: 'k', headers: { prefer: 'respond-async, wait=10' } };
    const { status, body, headers } = await house.json('/sessions', asked);
    expect(status).toBe(200);
    expect(headers.get('preference-applied')).toBe('wait');
    expect(body).toMatchObject({ turn: 1, state: 'done', text: 'Done.', by: { name: 'anna' } });
  });

  test('it answers when somebody is needed, and when the time is over', async () => {
    const house = await House.open(asks);
    const waiting = await house.json('/sessions', {
      body: SESSION,
      key: 'k',
      headers: { prefer: 'wait=10' },
    });
    expect(waiting.body).toMatchObject({ state: 'waiting' });
    const other = await House.open(slow);
    const pending = other.json('/sessions', { body: SESSION, key: 'k', headers: { prefer: 'wait=1' } });
    await until('the door waits', () => other.stage.clock.nextIn === 1000);
    other.stage.clock.advance(1000);
    expect((await pending).body).toMatchObject({ state: 'running' });
    expect(
      (await other.ask('/sessions', { body: SESSION, key: 'k', headers: { prefer: 'wait=soon' } })).status,
    ).toBe(400);
  });
});

const during = async (
  when?: string,
): Promise<{ house: House; session: string; status: number; body: Record<string, unknown> }> => {
  const house = await House.open(slow);
  const session = await house.begin();
  await house.stage.event(session, 'call.started');
  const message = { message: 'And this.', ...(when !== undefined && { when }) };
  const { status, body } = await house.json(`/sessions/${session}/turns`, { body: message, key: 'k2' });
  return { house, session, status, body };
};

const finish = async (house: House, session: string): Promise<readonly (readonly [number, number])[]> => {
  await calm();
  house.stage.clock.advance(20_000);
  await house.stage.runtime.rest(session);
  return house.stage.heard.map(({ turn, step }) => [turn, step] as const);
};

describe('while a turn runs', () => {
  test('by default it waits; it can be seen in the queue and taken back', async () => {
    const { house, session, status, body } = await during();
    expect([status, body['turn']]).toEqual([202, 2]);
    const { body: turns } = await house.json<{ items: { state: string }[] }>(`/sessions/${session}/turns`);
    expect(turns.items.map(({ state }) => state)).toEqual(['running', 'queued']);
    const back = await house.json(`/sessions/${session}/turns/2`, { method: 'DELETE' });
    expect([back.status, back.body['state']]).toEqual([200, 'withdrawn']);
    expect((await house.ask(`/sessions/${session}/turns/2`, { method: 'DELETE' })).status).toBe(200);
    expect((await house.json(`/sessions/${session}/turns/1`, { method: 'DELETE' })).body['code']).toBe(
      'turn-not-waiting',
    );
    expect(await finish(house, session)).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  test('rejected: nothing is written', async () => {
    const { house, session, status, body } = await during('reject');
    expect([status, body['code']]).toEqual([409, 'turn-running']);
    expect((await house.stage.state(session)).turns).toHaveLength(1);
  });

  test('steered: it joins the running turn', async () => {
    const { house, session, status, body } = await during('steer');
    expect([status, body['turn']]).toEqual([202, 1]);
    expect(await finish(house, session)).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(house.stage.heard[1]?.body).toContain('And this.');
  });

  test('interrupting: the running turn is cancelled and it goes next', async () => {
    const { house, session, body } = await during('interrupt');
    expect(body['turn']).toBe(2);
    expect(await finish(house, session)).toEqual([
      [1, 1],
      [2, 1],
    ]);
    const turn = await house.json(`/sessions/${session}/turns/1`);
    expect(turn.body['state']).toBe('cancelled');
  });

  test('cancel is a command, and nothing starts after it has answered', async () => {
    const house = await House.open(asks);
    const session = await house.begin();
    const [call] = await house.stage.asking(session, '1.1.1');
    const cancelled = await house.json(`/sessions/${session}/cancel`, { body: { reason: 'Not today.' } });
    expect([cancelled.status, cancelled.body['status']]).toEqual([202, 'cancelled']);
    const late = await house.json(`/sessions/${session}/calls/1.1.1/decision`, {
      body: { digest: call?.digest, decision: { do: 'approve' } },
    });
    expect([late.status, late.body['code']]).toEqual([409, 'turn-cancelled']);
    expect(house.stage.world.executions).toEqual([]);
  });
});

describe('people answer', () => {
  test('approve, once: the same again is the first answer, another is told that it comes too late', async () => {
    const house = await House.open(asks);
    const session = await house.begin();
    await house.stage.asking(session, '1.1.1');
    const { body } = await house.json<{ items: { digest: string; args: string }[] }>('/approvals');
    const digest = body.items[0]?.digest;
    expect(body.items).toMatchObject([{ session, call: '1.1.1', tool: 'once', args: '{"n":1}' }]);
    const path = `/sessions/${session}/calls/1.1.1/decision`;
    const approve = { body: { digest, decision: { do: 'approve' } }, key: 'd-1' };
    const [one, two] = await Promise.all([house.json(path, approve), house.json(path, approve)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect([one, two].filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(1);
    await house.stage.runtime.rest(session);
    const again = await house.json(path, approve);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const other = await house.json(path, { body: { digest, decision: { do: 'reject' } }, key: 'd-2' });
    expect([other.status, other.body['code']]).toEqual([409, 'already-decided']);
    expect(other.body['decided']).toMatchObject({ do: 'approve', by: { name: 'anna' } });
    const reused = await house.json(path, { body: { digest, decision: { do: 'reject' } }, key: 'd-1' });
    expect([reused.status, reused.body['code']]).toEqual([422, 'idempotency-key-reused']);
    expect(house.stage.world.executions).toHaveLength(1);
  });

  test('a grant is listed and taken back; the same again is the first answer, and the next call is asked about', async () => {
    const house = await House.open({
      ...asks,
      says: (_, step) => (step < 3 ? { calls: [{ tool: 'once', args: { n: step } }] } : { text: 'Done.' }),
    });
    const session = await house.begin();
    const [call] = await house.stage.asking(session, '1.1.1');
    await house.json(`/sessions/${session}/mode`, { method: 'PUT', body: { mode: 'frozen' } });
    const decision = { do: 'approve', grant: { when: [], forMs: 60_000 } };
    await house.json(`/sessions/${session}/calls/1.1.1/decision`, {
      body: { digest: call?.digest, decision },
    });
    const listed = await house.json(`/sessions/${session}/grants`);
    expect(listed.body['items']).toMatchObject([
      { call: '1.1.1', tool: 'once', when: [], by: { name: 'anna' } },
    ]);
    const path = `/sessions/${session}/revoke`;
    const unknown = await house.json(path, { body: { call: '1.1.2' } });
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'grant-not-found']);
    const wrong = await house.json(path, { body: { grant: '1.1.1' } });
    expect(wrong.status).toBe(422);
    const taken = await house.json(path, { body: { call: '1.1.1', reason: 'Too wide.' } });
    expect([taken.status, taken.headers.get('idempotent-replayed')]).toEqual([200, null]);
    const again = await house.json(path, { body: { call: '1.1.1' } });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await house.json(`/sessions/${session}/grants`)).body['items']).toEqual([]);
    await house.json(`/sessions/${session}/mode`, { method: 'PUT', body: { mode: 'normal' } });
    await house.stage.asking(session, '1.2.1');
    expect(house.stage.world.executions).toHaveLength(1);
  });

  test.each([
    ['nothing', {}],
    ['no decision', { decision: null }],
    ['a word', { decision: 'approve' }],
    ['a word of its own', { decision: { do: 'yes' } }],
    ['true', { decision: { do: true } }],
  ])('%s is no yes', async (_, decision) => {
    const house = await House.open(asks);
    const session = await house.begin();
    const [call] = await house.stage.asking(session, '1.1.1');
    const path = `/sessions/${session}/calls/1.1.1/decision`;
    const { status } = await house.json(path, { body: { digest: call?.digest, ...decision } });
    expect(status).toBe(422);
    for (const method of ['GET', 'HEAD']) expect((await house.ask(path, { method })).status).toBe(405);
    expect((await house.stage.state(session)).active?.calls[0]?.phase).toBe('asking');
  });

  test('a decision on another digest, or about another call, does nothing', async () => {
    const house = await House.open(asks);
    const session = await house.begin();
    const [call] = await house.stage.asking(session, '1.1.1');
    const decision = { do: 'approve' };
    const wrong = { body: { digest: 'f'.repeat(64), decision } };
    expect((await house.json(`/sessions/${session}/calls/1.1.1/decision`, wrong)).body['code']).toBe(
      'digest-mismatch',
    );
    const there = { body: { digest: call?.digest, decision } };
    expect((await house.json(`/sessions/${session}/calls/1.1.2/decision`, there)).body['code']).toBe(
      'call-not-found',
    );
    expect((await house.ask(`/sessions/${session}/calls/1.1/decision`, there)).status).toBe(400);
    expect(house.stage.world.executions).toEqual([]);
  });

  test('the gate of the whole store: closed nothing starts, opened it goes on', async () => {
    const house = await House.open();
    const closed = await house.json('/mode', {
      method: 'PUT',
      body: { mode: 'frozen', reason: 'Look first.' },
    });
    expect(closed.body).toMatchObject({ mode: 'frozen', by: { name: 'anna' }, reason: 'Look first.' });
    const session = await house.begin();
    await calm();
    expect(house.stage.heard).toEqual([]);
    await house.json('/mode', { method: 'PUT', body: { mode: 'normal' } });
    expect(await house.stage.runtime.rest(session)).toMatchObject({ status: 'done' });
  });
});
