/** Pages sign in: a token becomes a cookie that only this server's pages can use, and guessing is slow. */
import { describe, expect, test } from 'vitest';
import { FORGERY_HEADER, SESSION_COOKIE } from '../../src/server/guard.ts';
import { House } from './house.ts';

const SESSION = { agent: 'clerk', message: 'Do it.' };

const signIn = async (house: House): Promise<{ cookie: string; forgeryToken: string; set: string }> => {
  const { status, headers, body } = await house.json('/login', { token: null, body: { token: house.token } });
  expect(status).toBe(200);
  const set = headers.get('set-cookie') ?? '';
  return { cookie: set.split(';', 1)[0] ?? '', forgeryToken: String(body['forgeryToken']), set };
};

describe('signing in', () => {
  test('sets a cookie that no script reads and no other site sends, and answers who it is', async () => {
    const house = await House.open();
    const { cookie, set, forgeryToken } = await signIn(house);
    expect(cookie).toBe(`${SESSION_COOKIE}=${house.token}`);
    expect(set).toMatch(/HttpOnly/);
    expect(set).toMatch(/SameSite=Strict/);
    expect(set).toMatch(/Path=\//);
    expect(set).not.toMatch(/Secure|Domain|Expires|Max-Age/);
    const me = await house.json('/me', { token: null, headers: { cookie } });
    expect(me.body).toMatchObject({
      name: 'anna',
      kind: 'person',
      roles: ['approve', 'operate', 'read', 'submit'],
      forgeryToken,
    });
    expect(JSON.stringify(me.body)).not.toContain(house.token);
    const headers = { cookie, [FORGERY_HEADER]: forgeryToken };
    expect((await house.ask('/sessions', { token: null, headers, body: SESSION, key: 'k' })).status).toBe(
      202,
    );
  });

  test('by token alone /me says who asks, and no forgery token', async () => {
    const house = await House.open();
    const token = await house.tokenFor({ name: 'bot', kind: 'program', roles: ['read'], tenant: 'red' });
    const { body } = await house.json('/me', { token });
    expect(body).toMatchObject({ name: 'bot', kind: 'program', roles: ['read'], tenant: 'red' });
    expect(body).not.toHaveProperty('forgeryToken');
    expect((await house.ask('/me', { token: null })).status).toBe(401);
  });

  test('under another name than loopback the cookie goes over TLS only', async () => {
    const house = await House.open({ hosts: ['agents.example.com'] });
    const { headers } = await house.ask('/login', {
      token: null,
      body: { token: house.token },
      headers: { host: 'agents.example.com' },
    });
    expect(headers.get('set-cookie')).toMatch(/Secure/);
  });

  test('signing out takes the cookie away, and needs the word of its page', async () => {
    const house = await House.open();
    const { cookie, forgeryToken } = await signIn(house);
    const forged = await house.ask('/logout', { method: 'POST', token: null, headers: { cookie } });
    expect(forged.status).toBe(403);
    const headers = { cookie, [FORGERY_HEADER]: forgeryToken };
    const out = await house.ask('/logout', { method: 'POST', token: null, headers });
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toMatch(new RegExp(`^${SESSION_COOKIE}=;.*Max-Age=0`));
  });

  test('a wrong token sets nothing, and ten attempts a minute are taken from one address', async () => {
    const house = await House.open();
    const tries: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { body, headers } = await house.json('/login', { token: null, body: { token: `onr_${i}` } });
      expect(headers.get('set-cookie')).toBeNull();
      tries.push(String(body['code']));
    }
    expect(tries.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'token-invalid'));
    expect(tries.slice(10)).toEqual(['too-many-logins', 'too-many-logins']);
    // The right one is not taken either: who guesses learns nothing.
    const { status, headers } = await house.json('/login', { token: null, body: { token: house.token } });
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    const elsewhere = new Request('http://127.0.0.1:4280/login', {
      method: 'POST',
      headers: { host: '127.0.0.1:4280', 'content-type': 'application/json' },
      body: JSON.stringify({ token: house.token }),
    });
    expect((await house.app.fetch(elsewhere, '192.0.2.7')).status).toBe(200);
    house.stage.clock.advance(60_000);
    await signIn(house);
  });

  test('another site cannot sign somebody in', async () => {
    const house = await House.open();
    const body = { token: house.token };
    const origin = { origin: 'https://evil.example' };
    expect((await house.ask('/login', { token: null, body, headers: origin })).status).toBe(403);
    const form = { 'content-type': 'text/plain' };
    expect((await house.ask('/login', { token: null, body, headers: form })).status).toBe(415);
  });
});
