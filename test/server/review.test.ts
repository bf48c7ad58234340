/** Ways around the door that were tried: each is closed. */
import { describe, expect, test } from 'vitest';
import { blobsNamed } from '../../src/replay/named-blobs.ts';
import { ALIVE_MS } from '../../src/worker/worker.ts';
import { calm } from '../kit/clock.ts';
import { House, HOST } from './house.ts';

const SESSION = { agent: 'clerk', message: 'Do it.' };
const BY = { kind: 'person', name: 'root' } as const;

describe('what is refused changes nothing', () => {
  test('a wait that cannot be understood is refused before the turn is written', async () => {
    const house = await House.open();
    const headers = { prefer: 'wait=soon' };
    const { status, body } = await house.json('/sessions', { body: SESSION, key: 'k', headers });
    expect([status, body['code']]).toEqual([400, 'parameter-invalid']);
    expect(await house.stage.store.sessions()).toEqual([]);
    const session = await house.begin();
    const sent = { body: { message: 'And this.' }, key: 'k2', headers };
    expect((await house.ask(`/sessions/${session}/turns`, sent)).status).toBe(400);
    expect((await house.stage.state(session)).turns).toHaveLength(1);
  });

  test('a method that an address does not take is told which ones it takes', async () => {
    const house = await House.open();
    const { status, headers, body } = await house.json('/agents', { method: 'POST', body: {} });
    expect([status, body['code'], headers.get('allow')]).toEqual([405, 'method-not-allowed', 'GET, HEAD']);
    expect((await house.json('/sessions/s_X/cancel')).headers.get('allow')).toBe('POST');
    expect((await house.ask('/nowhere')).status).toBe(404);
  });
});

describe('a cancel that is sent again', () => {
  test('stops the turn that it names and no later one', async () => {
    const house = await House.open({
      policy: { rules: [] },
      says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: {} }] } : { text: 'Done.' }),
    });
    const session = await house.begin();
    await house.stage.asking(session, '1.1.1');
    await house.json(`/sessions/${session}/turns`, { body: { message: 'Then this.' }, key: 'k2' });
    const path = `/sessions/${session}/cancel`;
    expect((await house.ask(path, { body: { turn: 1 } })).status).toBe(202);
    await house.stage.asking(session, '2.1.1');
    expect((await house.ask(path, { body: { turn: 1 } })).status).toBe(202);
    expect((await house.json(path, { body: { turn: 3 } })).body['code']).toBe('nothing-to-cancel');
    const { turns, active } = await house.stage.state(session);
    expect([turns.map(({ outcome }) => outcome), active?.turn]).toEqual([['cancelled', undefined], 2]);
  });
});

describe('what a token reaches', () => {
  test('a blob of another session is not there, also for who writes its digest into a message', async () => {
    let made = 0;
    const house = await House.open({
      says: (_, step) => (step === 1 ? { calls: [{ tool: 'big', args: {} }] } : { text: 'Done.' }),
      tools: (world) => [world.tool('big', 'none', { execute: () => String(made++).repeat(2_000_000) })],
    });
    const roles = ['submit', 'read'];
    const red = await house.tokenFor({ name: 'ada', roles, tenant: 'red' });
    const blue = await house.tokenFor({ name: 'bob', roles, tenant: 'blue' });
    const sent = { body: SESSION, key: 'k', headers: { prefer: 'wait=10' } };
    const { body } = await house.json<{ session: string }>('/sessions', { ...sent, token: red });
    const result = await house.stage.event(body.session, 'call.result');
    const [digest = ''] = blobsNamed(result.data);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect((await house.ask(`/sessions/${body.session}/blobs/${digest}`, { token: red })).status).toBe(200);
    const other = await house.json<{ session: string }>('/sessions', {
      body: { agent: 'clerk', message: digest },
      key: 'k',
      token: blue,
    });
    const found = await house.ask(`/sessions/${other.body.session}/blobs/${digest}`, { token: blue });
    expect(found.status).toBe(404);
  });

  test('a token for an empty tenant is not made: it would see all of them', async () => {
    const house = await House.open();
    for (const tenant of ['', ' ', 'a b', '../x'])
      await expect(house.app.tokens.add({ name: 'ben', roles: ['read'], tenant }, BY)).rejects.toMatchObject({
        code: 'token-invalid',
      });
    await expect(
      house.app.tokens.add({ name: 'ben', roles: ['read'], expiresAt: NaN }, BY),
    ).rejects.toMatchObject({ code: 'token-invalid' });
  });

  test('a token that was revoked, or has run out, reads no further through an open stream', async () => {
    const house = await House.open();
    const session = await house.begin();
    await house.stage.runtime.rest(session);
    const { id, token } = await house.app.tokens.add({ name: 'ben', roles: ['read'] }, BY);
    const short = await house.tokenFor({
      name: 'cleo',
      roles: ['read'],
      expiresAt: house.stage.clock.now() + 10_000,
    });
    const { seq } = await house.stage.state(session);
    const readings = [token, short].map(async (one) =>
      (await house.ask(`/sessions/${session}/stream?after=${seq}`, { token: one })).text(),
    );
    await calm();
    await house.app.tokens.revoke(id, BY);
    house.stage.clock.advance(15_000);
    for (const text of await Promise.all(readings))
      expect(text).toBe('event: end\ndata: {"reason":"token-ended"}\n\n');
    expect((await house.ask(`/sessions/${session}/stream`, { token })).status).toBe(401);
  });

  test('asking for the head of a stream opens none', async () => {
    const house = await House.open({ door: { streamsPerToken: 1 } });
    const session = await house.begin();
    for (let i = 0; i < 5; i++) {
      const { status, headers } = await house.ask(`/sessions/${session}/stream`, { method: 'HEAD' });
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    }
    const open = await house.ask(`/sessions/${session}/stream?turn=1`);
    expect(open.status).toBe(200);
    await open.body?.cancel();
  });
});

describe('where it comes from', () => {
  test('a page of an origin that was named may use a token of its own, and no other page reads an answer', async () => {
    const house = await House.open({ origins: ['https://console.example'] });
    const asked = { 'access-control-request-method': 'POST', origin: 'https://console.example' };
    const preflight = await house.ask('/sessions', { method: 'OPTIONS', token: null, headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://console.example');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key');
    const read = await house.ask('/agents', { headers: { origin: 'https://console.example' } });
    expect(read.headers.get('access-control-allow-origin')).toBe('https://console.example');
    expect(read.headers.get('access-control-allow-credentials')).toBeNull();
    const own = await house.ask('/agents', { headers: { origin: `http://${HOST}` } });
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
    const evil = { ...asked, origin: 'https://evil.example' };
    const refused = await house.ask('/sessions', { method: 'OPTIONS', token: null, headers: evil });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});

describe('a server that stops', () => {
  test('takes nothing more over connections that were open, and says that it is not healthy', async () => {
    const house = await House.open();
    house.app.close();
    const { status, body, headers } = await house.json('/sessions', { body: SESSION, key: 'k' });
    expect([status, body['code']]).toEqual([503, 'shutting-down']);
    expect(headers.get('retry-after')).toBe('1');
    expect((await house.ask('/healthz', { token: null })).status).toBe(503);
    expect(await house.stage.store.sessions()).toEqual([]);
  });
});

type Listed = { readonly items: readonly Record<string, unknown>[]; readonly next?: string };

const pagesOf = async (house: House, first: string): Promise<readonly Listed[]> => {
  const pages: Listed[] = [];
  for (let path: string | undefined = first; path !== undefined; path = pages.at(-1)?.next)
    pages.push((await house.json<Listed>(path)).body);
  return pages;
};

describe('lists', () => {
  test('of sessions that changed at one moment every one is listed once', async () => {
    const house = await House.open({ door: { page: 3 } });
    const begun: string[] = [];
    for (let i = 0; i < 8; i++) begun.push(await house.begin());
    const seen: string[] = [];
    for (const { items } of await pagesOf(house, '/sessions?limit=2'))
      seen.push(...items.map(({ session }) => String(session)));
    expect(seen.toSorted()).toEqual(begun.toSorted());
    expect((await house.ask('/sessions?after=7')).status).toBe(400);
  });

  test('events of a page end by their bytes, too, and go on where they ended', async () => {
    const house = await House.open();
    const session = await house.begin('x'.repeat(1_000_000));
    await house.stage.runtime.rest(session);
    for (let i = 0; i < 10; i++) {
      const sent = { body: { message: String(i).repeat(1_000_000) }, key: `k${i}` };
      expect((await house.ask(`/sessions/${session}/turns`, sent)).status).toBe(202);
      await house.stage.runtime.rest(session);
    }
    const pages = await pagesOf(house, `/sessions/${session}/events`);
    const seqs = pages.flatMap(({ items }) => items.map(({ seq }) => seq));
    expect(seqs).toEqual((await house.stage.events(session)).map(({ seq }) => seq));
    expect(pages.length).toBeGreaterThan(1);
  });
});

describe('health means progress', () => {
  test('a session that could go on and that nobody drives is said, without its name', async () => {
    const house = await House.open();
    const look = async (): Promise<unknown> => {
      house.stage.clock.advance(1000);
      const { status, body } = await house.json('/healthz', { token: null });
      return [status, body['ok'], body['stalled']];
    };
    const session = await house.begin();
    await house.stage.runtime.rest(session);
    expect(await look()).toEqual([200, true, 0]);
    // Its lease cannot be had: what a driver that hangs without ending looks like from here.
    const { store } = house.stage;
    const claim = store.claim.bind(store);
    store.claim = () => Promise.reject(new Error('no lease'));
    await house.ask(`/sessions/${session}/turns`, { body: { message: 'Go on.' }, key: 'k2' });
    await calm();
    expect(await look()).toEqual([200, true, 0]);
    house.stage.clock.advance(60_000);
    expect(await look()).toEqual([503, false, 1]);
    store.claim = claim;
    await house.stage.runtime.rest(session);
    expect(await look()).toEqual([200, true, 0]);
  });

  test('a server that does not drive sees it, too, once nobody drives any more', async () => {
    const house = await House.open({ drive: false });
    const { store, clock } = house.stage;
    const look = async (): Promise<unknown> => {
      clock.advance(1000);
      return (await house.json('/healthz', { token: null })).body['stalled'];
    };
    const session = await house.begin();
    clock.advance(60_000);
    expect(await look()).toBe(1);
    const owner = { id: 'elsewhere', host: 'h', boot: 'b', pid: 1, started: '1' };
    await store.claim({ session, owner, now: clock.now(), leaseMs: 5000, isGone: () => false });
    expect(await look()).toBe(0);
    clock.advance(5000);
    expect(await look()).toBe(1);
  });

  test('ready is whoever can take requests: not without a store, whatever others do', async () => {
    const house = await House.open({ drive: false });
    const ready = async (): Promise<unknown> => {
      house.stage.clock.advance(1000);
      const { status, body } = await house.json('/readyz', { token: null });
      return [status, body['store']];
    };
    await house.begin();
    house.stage.clock.advance(60_000);
    // Nobody drives, and messages can be taken in all the same.
    expect(await ready()).toEqual([200, 'ok']);
    const { store } = house.stage;
    const sessions = store.sessions.bind(store);
    store.sessions = () => Promise.reject(new Error('connect ECONNREFUSED at a secret place'));
    expect(await ready()).toEqual([503, 'unavailable']);
    store.sessions = () => new Promise(() => undefined);
    const late = ready();
    await calm();
    house.stage.clock.advance(5000);
    expect(await late).toEqual([503, 'no answer']);
    store.sessions = sessions;
    expect(await ready()).toEqual([200, 'ok']);
    house.app.close();
    expect(await ready()).toEqual([503, 'closing']);
  });

  test('worth keeping is whoever still looks, and a store that is away is no reason to end it', async () => {
    const house = await House.open();
    const { store, clock } = house.stage;
    const live = async (): Promise<number> => (await house.ask('/livez', { token: null })).status;
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 5000) {
        clock.advance(5000);
        await calm();
      }
    };
    const sessions = store.sessions.bind(store);
    store.sessions = () => Promise.reject(new Error('away'));
    await pass(ALIVE_MS);
    expect(await live()).toBe(200);
    store.sessions = () => new Promise(() => undefined);
    await pass(ALIVE_MS - 5000);
    expect(await live()).toBe(200);
    await pass(10_000);
    expect(await live()).toBe(503);
    store.sessions = sessions;
    await pass(5000);
    expect(await live()).toBe(200);
  });
});
