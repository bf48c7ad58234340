/** Forks, proofs, bundles, bills, calls and contexts over the door. */
import { describe, expect, test } from 'vitest';
import { readBundle } from '../../src/bundle/read.ts';
import { bundleStore, verifyBundle } from '../../src/bundle/bundle-store.ts';
import type { StageOptions } from '../kit/stage.ts';
import { Telemetry } from '../../src/telemetry/telemetry.ts';
import { House } from './house.ts';

const works: StageOptions = {
  says: (_, step) =>
    step === 1 ? { calls: [{ tool: 'none', args: { n: 1 } }], cost: 0.5 } : { text: 'Done.', cost: 0.25 },
};

const rested = async (options: StageOptions = works): Promise<{ house: House; session: string }> => {
  const house = await House.open(options);
  const session = await house.begin();
  await house.stage.runtime.rest(session);
  return { house, session };
};

describe('a fork', () => {
  test('has a name: the same key is the same fork, also when the parent has grown', async () => {
    const { house, session } = await rested();
    const { seq } = await house.stage.state(session);
    const asked = { body: { at: seq, title: 'Try again' }, key: 'f-1' };
    const first = await house.json(`/sessions/${session}/forks`, asked);
    expect(first.status).toBe(201);
    expect(first.body['parent']).toMatchObject({ session, seq });
    expect(first.headers.get('location')).toBe(first.body['url']);
    await house.json(`/sessions/${session}/turns`, { body: { message: 'More.' }, key: 'k2' });
    await house.stage.runtime.rest(session);
    const again = await house.json(`/sessions/${session}/forks`, asked);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([
      201,
      'true',
      first.body,
    ]);
    const other = await house.json(`/sessions/${session}/forks`, { body: { at: seq }, key: 'f-1' });
    expect([other.status, other.body['code']]).toEqual([422, 'idempotency-key-reused']);
    const view = await house.json(String(first.body['url']));
    expect(view.body).toMatchObject({ title: 'Try again', agent: 'clerk' });
  });

  test('that cannot be made is refused, and makes no session', async () => {
    const { house, session } = await rested();
    const path = `/sessions/${session}/forks`;
    const code = async (body: object, key?: string): Promise<unknown> =>
      (await house.json(path, { body, ...(key !== undefined && { key }) })).body['code'];
    expect(await code({ at: 1 })).toBe('idempotency-key-missing');
    expect(await code({ at: 999 }, 'f')).toBe('fork-place-missing');
    expect(await code({ at: 0 }, 'f')).toBe('body-invalid');
    expect(await code({}, 'f')).toBe('body-invalid');
    expect(await code({ at: 3 }, 'f')).toBe('fork-inside-turn');
    expect(await house.stage.store.sessions()).toHaveLength(1);
  });

  test('may close what is open inside a turn, where that is asked for', async () => {
    const { house, session } = await rested();
    const body = { at: 3, closeOpen: true };
    const made = await house.json<{ session: string }>(`/sessions/${session}/forks`, { body, key: 'f' });
    expect(made.status).toBe(201);
    expect((await house.stage.state(made.body.session)).turns).toMatchObject([{ outcome: 'cancelled' }]);
  });

  test('belongs to the tenant of its parent, and to nobody else', async () => {
    const house = await House.open(works);
    const roles = ['submit', 'read'];
    const red = await house.tokenFor({ name: 'ada', roles, tenant: 'red' });
    const blue = await house.tokenFor({ name: 'bob', roles, tenant: 'blue' });
    const sent = { body: { agent: 'clerk', message: 'Go.' }, key: 'k', token: red };
    const { session } = (await house.json<{ session: string }>('/sessions', sent)).body;
    await house.stage.runtime.rest(session);
    const { seq } = await house.stage.state(session);
    const fork = { body: { at: seq }, key: 'f' };
    expect((await house.ask(`/sessions/${session}/forks`, { ...fork, token: blue })).status).toBe(404);
    const made = await house.json<{ url: string }>(`/sessions/${session}/forks`, { ...fork, token: red });
    expect(made.status).toBe(201);
    expect((await house.ask(made.body.url, { token: red })).status).toBe(200);
    expect((await house.ask(made.body.url, { token: blue })).status).toBe(404);
    for (const path of ['verify', 'bundle', 'calls', 'cache', 'context'])
      expect((await house.ask(`/sessions/${session}/${path}`, { token: blue })).status).toBe(404);
    const replay = { method: 'POST', token: blue };
    expect((await house.ask(`/sessions/${session}/replay`, replay)).status).toBe(404);
    const bill = await house.json('/costs', { token: blue });
    expect(bill.body['groups']).toEqual([]);
    expect((await house.json('/metrics', { token: blue })).body['code']).toBe('role-missing');
  });
});

describe('proofs', () => {
  test('a record replays and verifies; one that was changed does not, and says where', async () => {
    const { house, session } = await rested();
    const head = (await house.stage.state(session)).seq;
    const replay = await house.json(`/sessions/${session}/replay`, { method: 'POST' });
    expect(replay.body).toMatchObject({
      session,
      identical: true,
      events: head,
      requests: 2,
      difference: null,
    });
    const verified = await house.json(`/sessions/${session}/verify`);
    expect(verified.body).toMatchObject({ session, proved: true, events: head, findings: [] });
    const { store } = house.stage;
    const read = store.read.bind(store);
    store.read = async (...asked) =>
      (await read(...asked)).map((one) =>
        one.seq === 2 ? { ...one, body: one.body.replace('Do it.', 'Do ot.') } : one,
      );
    const forged = await house.json(`/sessions/${session}/verify`);
    expect(forged.body).toMatchObject({ proved: false, findings: [{ seq: 2, kind: 'hash' }] });
    const refused = await house.json(`/sessions/${session}/bundle`);
    expect([refused.status, refused.body['code']]).toEqual([500, 'record-damaged']);
  });

  test('a bundle over the door is one that proves itself elsewhere', async () => {
    const { house, session } = await rested();
    const response = await house.ask(`/sessions/${session}/bundle`);
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${session}.onrecord"`);
    const text = await response.text();
    const bundle = await readBundle(chunks(text));
    const found = await verifyBundle(bundle, await bundleStore(bundle), {});
    expect(found).toMatchObject({ session, findings: [] });
  });

  test('few proofs are made at a time, and one that was left is over', async () => {
    const house = await House.open({ ...works, door: { proofsAtOnce: 1 } });
    const session = await house.begin();
    await house.stage.runtime.rest(session);
    const path = `/sessions/${session}/bundle`;
    expect((await house.ask(path, { method: 'HEAD' })).status).toBe(200);
    const left = await house.ask(path);
    expect((await house.json(`/sessions/${session}/verify`)).body['code']).toBe('too-many-requests');
    await left.body?.cancel();
    expect((await house.ask(`/sessions/${session}/verify`)).status).toBe(200);
  });
});

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

describe('what a session did', () => {
  test('costs are summed by session, agent and day', async () => {
    const { house, session } = await rested();
    const by = async (key: string): Promise<unknown> => (await house.json(`/costs?by=${key}`)).body['groups'];
    expect(await by('session')).toMatchObject([{ name: session, cost: 0.75, attempts: 2, unknown: 0 }]);
    expect(await by('agent')).toMatchObject([{ name: 'clerk', knownCost: 0.75 }]);
    expect(await by('day')).toMatchObject([{ name: '2026-01-05', cost: 0.75 }]);
    const later = await house.json(`/costs?since=${house.stage.clock.now() + 1}`);
    expect(later.body).toMatchObject({ groups: [], total: { cost: 0 }, unread: 0 });
    expect((await house.ask('/costs?by=colour')).status).toBe(400);
  });

  test('calls are listed, open and closed, page by page', async () => {
    const house = await House.open({
      policy: { rules: [{ id: 'reads', tools: ['none'], do: 'allow' }] },
      says: (_, step) =>
        step === 1
          ? {
              calls: [
                { tool: 'none', args: { n: 1 } },
                { tool: 'once', args: { n: 2 } },
              ],
            }
          : { text: 'Done.' },
    });
    const session = await house.begin();
    await house.stage.asking(session, '1.1.2');
    await house.stage.runtime.rest(session);
    const { body } = await house.json<{ items: unknown[] }>(`/sessions/${session}/calls`);
    expect(body.items).toMatchObject([
      { call: '1.1.1', tool: 'none', args: '{"n":1}', phase: 'closed', ended: 'ok' },
      { call: '1.1.2', tool: 'once', phase: 'asking', startedSeq: null },
    ]);
    const one = await house.json<{ items: unknown[]; next?: string }>(`/sessions/${session}/calls?limit=1`);
    expect(one.body.items).toHaveLength(1);
    expect((await house.json<{ items: unknown[] }>(one.body.next ?? '')).body.items).toMatchObject([
      { call: '1.1.2' },
    ]);
  });

  test('contexts are shown and changed: a turn is left out, and the next request says so', async () => {
    const { house, session } = await rested();
    const sent = await house.json<{ parts: { state: string }[] }>(`/sessions/${session}/context?request=2`);
    expect(sent.body.parts.every(({ state }) => state === 'kept')).toBe(true);
    const change = { change: { do: 'leave-out', turns: [1] }, reason: 'Not needed.' };
    const changed = await house.json(`/sessions/${session}/selection`, { body: change });
    expect(changed.status).toBe(200);
    const next = await house.json<{ counts: Record<string, number> }>(`/sessions/${session}/context`);
    expect(next.body.counts['left-out']).toBeGreaterThan(0);
    const odd = { change: { do: 'leave-out', turns: [9] } };
    expect((await house.json(`/sessions/${session}/selection`, { body: odd })).body['code']).toBe(
      'turn-not-found',
    );
    expect((await house.ask(`/sessions/${session}/context?request=99`)).status).toBe(404);
    const cache = await house.json<{ items: unknown[] }>(`/sessions/${session}/cache`);
    expect(cache.body.items).toHaveLength(2);
    const compact = await house.json(`/sessions/${session}/compaction`, { body: {} });
    expect([200, 409]).toContain(compact.status);
  });

  test('the queue is what waits', async () => {
    const house = await House.open({
      policy: { rules: [] },
      says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: {} }] } : { text: 'Done.' }),
    });
    const session = await house.begin();
    await house.stage.asking(session, '1.1.1');
    for (const n of [2, 3])
      await house.json(`/sessions/${session}/turns`, { body: { message: `${n}` }, key: `k${n}` });
    const { body } = await house.json<{ items: { turn: number }[] }>(
      `/sessions/${session}/turns?state=queued`,
    );
    expect(body.items.map(({ turn }) => turn)).toEqual([2, 3]);
  });
});

describe('metrics', () => {
  test('what telemetry adds up stands beside them, in the form that Prometheus reads', async () => {
    const telemetry = new Telemetry();
    const usage = { input: 3, output: 5000, cacheRead: 0, cacheWrite: 0 };
    const house = await House.open({ telemetry, says: () => ({ text: 'Done.', usage, cost: 0.25 }) });
    await house.stage.runtime.rest(await house.begin());
    await telemetry.flush();
    const text = await (await house.ask('/metrics')).text();
    const labels =
      'gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="stage"';
    expect(text).toContain(`gen_ai_client_operation_duration_seconds_count{${labels}} 1\n`);
    const output = `gen_ai_client_token_usage_bucket{${labels},gen_ai_token_type="output",le=`;
    expect(text).toContain(`${output}"4096"} 0\n${output}"16384"} 1\n`);
    expect(text).toContain(`${output}"+Inf"} 1\n`);
    expect(text).toContain(`onrecord_cost_total{${labels},gen_ai_agent_name="clerk"} 0.25\n`);
    // Every line is a comment or a sample, and every name has its type once.
    const names = text
      .trimEnd()
      .split('\n')
      .map((line) => {
        const parts =
          /^(?:# (?:HELP|TYPE) (\w+) .+|([a-zA-Z_]\w*)(?:\{(?:\w+="[^"\n]*",?)+\})? -?[\d.]+(?:e-?\d+)?)$/.exec(
            line,
          );
        return parts ? (parts[1] ?? parts[2]) : `not a line: ${line}`;
      });
    expect(names.filter((name) => name?.startsWith('not a line'))).toEqual([]);
    const types = text.match(/^# TYPE (\w+)/gm) ?? [];
    expect(new Set(types).size).toBe(types.length);
  });

  test('cost one look at an index and one at what stands still, however many ask', async () => {
    const house = await House.open();
    const asked: string[] = [];
    const { store } = house.stage;
    const [sessions, counts] = [store.sessions.bind(store), store.counts.bind(store)];
    store.sessions = (query) => {
      asked.push(`sessions ${JSON.stringify(query?.canGoOn)} ${query?.limit ?? 'all'}`);
      return sessions(query);
    };
    store.counts = () => {
      asked.push('counts');
      return counts();
    };
    await Promise.all(Array.from({ length: 20 }, () => house.ask('/metrics')));
    expect(asked.toSorted()).toEqual(['counts', 'sessions true 100']);
  });

  test('count sessions, turns, requests by route and streams, and name no address', async () => {
    const { house, session } = await rested();
    const stream = await house.ask(`/sessions/${session}/stream`);
    await house.ask(`/sessions/${session}`);
    await house.ask('/nowhere/at/all');
    const response = await house.ask('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('onrecord_sessions{status="done"} 1\n');
    expect(text).toContain('onrecord_sessions{status="waiting"} 0\n');
    expect(text).toContain('onrecord_sessions_stalled 0\n');
    expect(text).toContain('onrecord_streams_open 1\n');
    expect(text).toContain('onrecord_storage_fault 0\n');
    expect(text).toContain(
      'onrecord_requests_total{route="/sessions/:session",method="GET",status="200"} 1\n',
    );
    expect(text).toContain('route="none",method="GET",status="404"');
    expect(text).toMatch(/onrecord_request_seconds_bucket\{route="\/sessions",le="\+Inf"\} 1\n/);
    expect(text).not.toContain(session);
    expect(text).not.toContain(house.token);
    await stream.body?.cancel();
    house.stage.clock.advance(10_000);
    expect(await (await house.ask('/metrics')).text()).toContain('onrecord_streams_open 0\n');
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(
        /^(# (HELP|TYPE) onrecord_\w+ .+|onrecord_\w+(\{(\w+="[^"\n]*",?)+\})? [\d.e+-]+)$/,
      );
  });

  test('are behind a token that may read, unless the server was told to leave them open', async () => {
    const house = await House.open();
    expect((await house.ask('/metrics', { token: null })).status).toBe(401);
    const submits = await house.tokenFor({ name: 'ben', roles: ['submit'] });
    expect((await house.ask('/metrics', { token: submits })).status).toBe(403);
    const open = await House.open({ openMetrics: true });
    expect((await open.ask('/metrics', { token: null })).status).toBe(200);
  });
});
