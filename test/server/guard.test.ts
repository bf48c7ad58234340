/** Who and what comes through the door: names, origins, tokens, roles, tenants, keys and bodies. */
import { describe, expect, test } from 'vitest';
import { forgeryToken, FORGERY_HEADER, SESSION_COOKIE } from '../../src/server/guard.ts';
import { House } from './house.ts';

const SESSION = { agent: 'clerk', message: 'Do it.' };

describe('who asks', () => {
  test.each([
    ['no token', null, 'token-missing'],
    ['an unknown token', 'onr_nobody', 'token-invalid'],
    ['an empty token', '', 'token-invalid'],
  ])('%s is told to bring one, and learns nothing else', async (_, token, code) => {
    const house = await House.open();
    for (const path of ['/sessions', '/sessions/s_X', '/approvals', '/agents', '/mode', '/nowhere']) {
      const { status, headers, body } = await house.json(path, { token });
      expect([status, body['code']]).toEqual([401, code]);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test('a revoked token and one that has run out are none', async () => {
    const house = await House.open();
    const by = { kind: 'person', name: 'root' } as const;
    const { id, token } = await house.app.tokens.add({ name: 'ben', roles: ['read'] }, by);
    const short = await house.tokenFor({
      name: 'cleo',
      roles: ['read'],
      expiresAt: house.stage.clock.now() + 1000,
    });
    expect((await house.ask('/agents', { token })).status).toBe(200);
    expect((await house.ask('/agents', { token: short })).status).toBe(200);
    await house.app.tokens.revoke(id, by);
    house.stage.clock.advance(1000);
    expect((await house.ask('/agents', { token })).status).toBe(401);
    expect((await house.ask('/agents', { token: short })).status).toBe(401);
  });

  test('tokens are kept as digests, in a log that is no session', async () => {
    const house = await House.open();
    const stored = (await house.stage.store.read('tokens')).map(({ body }) => body).join('\n');
    expect(stored).toContain('token.added');
    expect(stored).not.toContain(house.token);
    for (const log of ['tokens', 'control']) expect((await house.ask(`/sessions/${log}`)).status).toBe(404);
    expect((await house.json<{ items: unknown[] }>('/sessions')).body.items).toEqual([]);
  });

  test.each([
    ['submit', '/sessions', { body: SESSION, key: 'k' }],
    ['read', '/sessions', {}],
    ['read', '/approvals', {}],
    ['operate', '/mode', { method: 'PUT', body: { mode: 'frozen' } }],
  ] as const)('without the role %s there is no %s', async (role, path, asked) => {
    const house = await House.open();
    const others = ['submit', 'read', 'approve', 'operate'].filter((one) => one !== role);
    const token = await house.tokenFor({ name: 'ben', roles: others });
    const { status, body } = await house.json(path, { ...asked, token });
    expect([status, body['code']]).toEqual([403, 'role-missing']);
  });

  test('the actor comes from the token: what a body says of it is refused', async () => {
    const house = await House.open();
    const { status, body } = await house.json('/sessions', {
      body: { ...SESSION, by: { kind: 'person', name: 'boss' } },
      key: 'k',
    });
    expect([status, body['code']]).toEqual([422, 'body-invalid']);
    const session = await house.begin();
    const [, accepted] = await house.stage.events(session);
    expect(accepted?.data).toMatchObject({ by: { kind: 'person', name: 'anna' } });
  });

  test('what belongs to another tenant is not there', async () => {
    const house = await House.open({
      policy: { rules: [] },
      says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: {} }] } : { text: 'Done.' }),
    });
    const roles = ['submit', 'read', 'approve', 'operate'];
    const red = await house.tokenFor({ name: 'ada', roles, tenant: 'red' });
    const blue = await house.tokenFor({ name: 'bob', roles, tenant: 'blue' });
    const { body } = await house.json<{ session: string }>('/sessions', {
      body: SESSION,
      key: 'k',
      token: red,
    });
    const { session } = body;
    const [call] = await house.stage.asking(session, '1.1.1');
    const other = await house.json<{ session: string }>('/sessions', {
      body: SESSION,
      key: 'k',
      token: blue,
    });
    expect(other.body.session).not.toBe(session);
    const decision = { digest: call?.digest, decision: { do: 'approve' } };
    for (const [path, asked] of [
      [`/sessions/${session}`, {}],
      [`/sessions/${session}/turns`, {}],
      [`/sessions/${session}/turns/1`, {}],
      [`/sessions/${session}/turns/1`, { method: 'DELETE' }],
      [`/sessions/${session}/events`, {}],
      [`/sessions/${session}/stream`, {}],
      [`/sessions/${session}/requests/1`, {}],
      [`/sessions/${session}/cancel`, { body: {} }],
      [`/sessions/${session}/mode`, { method: 'PUT', body: { mode: 'frozen' } }],
      [`/sessions/${session}/turns`, { body: { message: 'hi' }, key: 'k2' }],
      [`/sessions/${session}/calls/1.1.1/decision`, { body: decision }],
      [`/sessions/${session}/calls/1.1.1/settlement`, { body: { settlement: { answer: 'give-up' } } }],
      [`/sessions/${session}/grants`, {}],
      [`/sessions/${session}/revoke`, { body: {} }],
      [`/approvals?session=${session}`, {}],
      [`/doubts?session=${session}`, {}],
    ] as const) {
      const answer = await house.json(path, { ...asked, token: blue });
      expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'session-not-found']);
    }
    const mine = await house.json<{ items: { session: string }[] }>('/approvals', { token: red });
    expect(mine.body.items.map((item) => item.session)).toEqual([session]);
    const listed = await house.json<{ items: { session: string }[] }>('/sessions', { token: blue });
    expect(listed.body.items.map((item) => item.session)).toEqual([other.body.session]);
    const gate = await house.json('/mode', { method: 'PUT', body: { mode: 'frozen' }, token: blue });
    expect(gate.body['code']).toBe('role-missing');
    expect(house.stage.world.executions).toEqual([]);
  });
});

describe('where it comes from', () => {
  test('a name that is not this server is refused, also on a loopback address', async () => {
    const house = await House.open();
    for (const host of [
      'evil.example',
      'evil.example:4280',
      '127.0.0.1',
      '127.0.0.1:1',
      'localhost.evil.example:4280',
    ]) {
      const { status, body } = await house.json('/agents', { headers: { host } });
      expect([status, body['code']]).toEqual([421, 'host-not-allowed']);
    }
  });

  test('pages of other origins may not use it, those that were named may', async () => {
    const house = await House.open({ origins: ['https://console.example'] });
    for (const origin of [
      'https://evil.example',
      'null',
      'http://127.0.0.1:9999',
      'http://127.0.0.1:4280.evil.example',
    ])
      expect((await house.ask('/agents', { headers: { origin } })).status).toBe(403);
    for (const origin of ['http://127.0.0.1:4280', 'https://console.example'])
      expect((await house.ask('/agents', { headers: { origin } })).status).toBe(200);
  });

  test('a cookie alone reads and changes nothing; with the word of its page it does', async () => {
    const house = await House.open();
    const headers = { cookie: `${SESSION_COOKIE}=${house.token}` };
    expect((await house.ask('/agents', { token: null, headers })).status).toBe(200);
    const asked = { token: null, body: SESSION, key: 'k' };
    const forged = await house.json('/sessions', { ...asked, headers });
    expect([forged.status, forged.body['code']]).toEqual([403, 'forgery-suspected']);
    const wrong = { ...headers, [FORGERY_HEADER]: forgeryToken('other') };
    expect((await house.ask('/sessions', { ...asked, headers: wrong })).status).toBe(403);
    const right = { ...headers, [FORGERY_HEADER]: forgeryToken(house.token) };
    expect((await house.ask('/sessions', { ...asked, headers: right })).status).toBe(202);
  });

  test('answers are neither kept, framed nor run', async () => {
    const house = await House.open();
    for (const path of ['/agents', '/nowhere', '/openapi.json', '/healthz']) {
      const { headers } = await house.ask(path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });
});

describe('what is sent', () => {
  test.each(['', 'a b', '"unclosed', '\u00fc', 'x'.repeat(256), '"a"b"', '""', '"a b"'])(
    'the key %j is refused before anything else is looked at',
    async (key) => {
      const house = await House.open();
      const { status, body } = await house.json('/sessions', {
        token: null,
        raw: '{broken',
        headers: { 'idempotency-key': key },
      });
      expect([status, body['code']]).toEqual([400, 'idempotency-key-invalid']);
    },
  );

  test('a turn without a key is refused, and nothing is written', async () => {
    const house = await House.open();
    const { status, body } = await house.json('/sessions', { body: SESSION });
    expect([status, body['code']]).toEqual([400, 'idempotency-key-missing']);
    expect(await house.stage.store.sessions()).toEqual([]);
  });

  test.each([
    ['no JSON', '{"agent":"clerk","message":"x"', 400, 'body-not-json'],
    ['a name twice', '{"agent":"clerk","message":"a","message":"b"}', 400, 'body-not-json'],
    ['endless depth', '['.repeat(5000), 400, 'body-not-json'],
    ['a list', '[]', 422, 'body-invalid'],
    ['nothing in it', '{}', 422, 'body-invalid'],
    ['a number for a message', '{"agent":"clerk","message":7}', 422, 'body-invalid'],
    ['an unknown member', '{"agent":"clerk","message":"x","admin":true}', 422, 'body-invalid'],
    ['an unknown agent', '{"agent":"nobody","message":"x"}', 404, 'agent-not-found'],
    ['an empty message', '{"agent":"clerk","message":" "}', 422, 'message-empty'],
    ['a prototype', '{"agent":"clerk","message":"x","__proto__":{"mode":"normal"}}', 422, 'body-invalid'],
  ])('a body with %s is refused with a stable code, and nothing is written', async (_, raw, status, code) => {
    const house = await House.open();
    const answer = await house.json('/sessions', { raw, key: 'k' });
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
    expect(answer.body).toMatchObject({ status, type: `/problems/${code}`, title: expect.any(String) });
    expect(await house.stage.store.sessions()).toEqual([]);
  });

  test('bytes that are no UTF-8, another media type and too large a body are refused', async () => {
    const house = await House.open({ door: { bodyBytes: 1000 } });
    const bytes = await house.json('/sessions', { raw: Uint8Array.from([0x7b, 0xff, 0x7d]), key: 'k' });
    expect([bytes.status, bytes.body['code']]).toEqual([400, 'body-not-json']);
    const form = await house.json('/sessions', {
      raw: '{"agent":"clerk","message":"x"}',
      key: 'k',
      headers: { 'content-type': 'text/plain' },
    });
    expect([form.status, form.body['code']]).toEqual([415, 'content-type-unsupported']);
    const large = await house.json('/sessions', {
      body: { agent: 'clerk', message: 'x'.repeat(1001) },
      key: 'k',
    });
    expect([large.status, large.body['code']]).toEqual([413, 'body-too-large']);
    expect(await house.stage.store.sessions()).toEqual([]);
  });

  test('more than a token may ask for is told to come back', async () => {
    const house = await House.open({ door: { requestBurst: 3, requestsPerSecond: 1 } });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await house.ask('/agents')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await house.ask('/agents')).headers.get('retry-after')).toBe('1');
    const other = await house.tokenFor({ name: 'ben', roles: ['read'] });
    expect((await house.ask('/agents', { token: other })).status).toBe(200);
    house.stage.clock.advance(2000);
    expect((await house.ask('/agents')).status).toBe(200);
  });

  test('what breaks inside is nobody else\u2019s business', async () => {
    const house = await House.open();
    const { runtime } = house.stage;
    runtime.sessions = () => Promise.reject(new Error('secret path /home/anna'));
    const { status, body } = await house.json('/sessions');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(house.stage.warnings.join('\n')).toContain('secret path');
  });
});
