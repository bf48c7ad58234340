/** Streams: every event once and in order, from any position, for any reader; and they say when they are over. */
import { describe, expect, test } from 'vitest';
import { OnrecordClient, type StreamItem } from '../../src/client/client.ts';
import { readEvents } from '../../src/client/server-events.ts';
import type { StageOptions } from '../kit/stage.ts';
import { calm, until } from '../kit/clock.ts';
import { House, HOST } from './house.ts';

const two: StageOptions = {
  says: (_, step) =>
    step < 3 ? { text: `Step ${step}.`, calls: [{ tool: 'none', args: { n: step } }] } : { text: 'Done.' },
};

type Read = { readonly ids: number[]; readonly types: string[] };

const read = async (response: Response): Promise<Read> => {
  const [ids, types]: [number[], string[]] = [[], []];
  if (!response.body) throw new Error('no body');
  for await (const { type, data } of readEvents(response.body)) {
    types.push(type);
    const { seq } = JSON.parse(data) as { seq?: number };
    if (type !== 'delta' && seq !== undefined) ids.push(seq);
  }
  return { ids, types };
};

describe('the stream of a session', () => {
  test('holds every event once, in order, each with its seq as id, and ends with the turn when asked to', async () => {
    const house = await House.open(two);
    const session = await house.begin();
    const { ids, types } = await read(await house.ask(`/sessions/${session}/stream?turn=1`));
    const events = await house.stage.events(session);
    expect(ids).toEqual(events.map(({ seq }) => seq));
    expect(types.at(-1)).toBe('end');
    const raw = await (await house.ask(`/sessions/${session}/stream?turn=1&deltas=false`)).text();
    for (const { seq, type } of events) expect(raw).toContain(`id: ${seq}\nevent: ${type}\n`);
  });

  test('from any position, by header or query, holds exactly what comes after it', async () => {
    const house = await House.open(two);
    const session = await house.begin();
    await house.stage.runtime.rest(session);
    const all = (await house.stage.events(session)).map(({ seq }) => seq);
    for (const after of [0, ...all]) {
      const byQuery = await read(await house.ask(`/sessions/${session}/stream?turn=1&after=${after}`));
      const headers = { 'last-event-id': String(after) };
      const byHeader = await read(await house.ask(`/sessions/${session}/stream?turn=1`, { headers }));
      expect(byQuery.ids).toEqual(all.slice(after));
      expect(byHeader).toEqual(byQuery);
      expect(byQuery.types.at(-1)).toBe('end');
    }
    for (const headers of [{ 'last-event-id': 'x' }, { 'last-event-id': '-1' }])
      expect((await house.ask(`/sessions/${session}/stream`, { headers })).status).toBe(400);
    expect((await house.ask(`/sessions/${session}/stream?after=999`)).status).toBe(404);
  });

  test('filters leave events out and positions as they are', async () => {
    const house = await House.open(two);
    const session = await house.begin();
    const { types } = await read(
      await house.ask(`/sessions/${session}/stream?turn=1&deltas=false&types=call.*,turn.ended`),
    );
    expect(new Set(types)).toEqual(
      new Set(['call.proposed', 'call.started', 'call.result', 'turn.ended', 'end']),
    );
  });

  test('what the model is just saying comes marked as such and without an id', async () => {
    const house = await House.open(two);
    await house.stage.runtime.setMode('frozen');
    const session = await house.begin();
    const response = await house.ask(`/sessions/${session}/stream?turn=1`);
    const reading = response.text();
    await calm();
    await house.stage.runtime.setMode('normal');
    const text = await reading;
    const deltas = text.split('\n\n').filter((frame) => frame.startsWith('event: delta'));
    expect(deltas.length).toBeGreaterThan(0);
    for (const delta of deltas) expect(delta).toMatch(/"attempt":1/);
  });

  test('a reader that takes nothing holds nobody up, and one that leaves is forgotten', async () => {
    const house = await House.open(two);
    const session = await house.begin();
    const response = await house.ask(`/sessions/${session}/stream`);
    expect(await house.stage.runtime.rest(session)).toMatchObject({ status: 'done' });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('id: 1\n');
    await reader?.cancel();
    const limited = await House.open({ ...two, door: { streamsPerToken: 1 } });
    const other = await limited.begin();
    const first = await limited.ask(`/sessions/${other}/stream`);
    expect((await limited.json(`/sessions/${other}/stream`)).body['code']).toBe('too-many-streams');
    await first.body?.cancel();
    expect((await limited.ask(`/sessions/${other}/stream?turn=1`)).status).toBe(200);
  });

  test('a quiet stream says that it is still there', async () => {
    const house = await House.open(two);
    const session = await house.begin();
    await house.stage.runtime.rest(session);
    const { seq } = await house.stage.state(session);
    const reader = (await house.ask(`/sessions/${session}/stream?after=${seq}`)).body?.getReader();
    const chunk = reader?.read();
    await calm();
    house.stage.clock.advance(15_000);
    expect(new TextDecoder().decode((await chunk)?.value)).toBe(': still here\n\n');
    await reader?.cancel();
  });

  test('a server that stops says so to every reader', async () => {
    const house = await House.open(two);
    const session = await house.begin();
    await house.stage.runtime.rest(session);
    const reading = (await house.ask(`/sessions/${session}/stream?deltas=false`)).text();
    await calm();
    house.app.close();
    expect(await reading).toMatch(/event: end\ndata: \{"reason":"server-stops"\}\n\n$/);
  });
});

/** Cuts every connection after `pieces` chunks of a stream. */
const cutting =
  (house: House, cut: () => number): typeof fetch =>
  async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    headers.set('host', HOST);
    const response = await house.app.fetch(new Request(url, { ...init, headers }));
    if (!url.pathname.endsWith('/stream')) return response;
    let left = cut();
    const reader = response.body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (left-- <= 0) {
          await reader?.cancel();
          return controller.error(new TypeError('terminated'));
        }
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done || !value) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  };

const clientOf = (house: House, cut: () => number): OnrecordClient =>
  new OnrecordClient({
    url: `http://${HOST}`,
    token: house.token,
    fetch: cutting(house, cut),
    sleep: async () => undefined,
  });

describe('a client', () => {
  test('that is cut off after every single event reads all of them once, in order', async () => {
    const house = await House.open(two);
    const client = clientOf(house, () => 1);
    const { session } = await client.createSession({ agent: 'clerk', message: 'Go.' });
    await house.stage.runtime.rest(session);
    const seqs: number[] = [];
    for await (const item of client.stream(session, { turn: 1, deltas: false }))
      if (item.kind === 'event') seqs.push(item.event.seq);
    expect(seqs).toEqual((await house.stage.events(session)).map(({ seq }) => seq));
  });

  test.each([1, 2, 3, 5, 8])(
    'that is cut off after %i pieces reads all of them once, in order',
    async (pieces) => {
      const house = await House.open(two);
      let cuts = 0;
      const client = clientOf(house, () => {
        cuts++;
        return pieces;
      });
      const { session } = await client.createSession({ agent: 'clerk', message: 'Go.' });
      const items: StreamItem[] = [];
      const reading = (async () => {
        for await (const item of client.stream(session, { turn: 1 })) items.push(item);
      })();
      await house.stage.runtime.rest(session);
      await until('the stream has ended', async () => {
        const done = await Promise.race([reading.then(() => true), calm(1).then(() => false)]);
        return done;
      });
      const seqs = items.flatMap((item) => (item.kind === 'event' ? [item.event.seq] : []));
      expect(seqs).toEqual((await house.stage.events(session)).map(({ seq }) => seq));
      expect(cuts).toBeGreaterThan(1);
    },
  );
});
