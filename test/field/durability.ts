/** Field cases about what has to survive: retries of clients, crashes, forks, stores that fail, clocks that jump. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { importedOrRefused } from './cli.ts';
import { refuseRemote } from '../../src/log/placement.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { open } from '../../src/event/envelope.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { readEvents } from '../../src/client/server-events.ts';
import { tool } from '../../src/tool/tool.ts';
import { until } from '../kit/clock.ts';
import { startChild } from '../kit/child.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { createApp } from '../../src/server/app.ts';
import { clerk, sessionIn } from '../cli/project.ts';
import { soon } from '../crash/children/stage.ts';
import { Disk } from '../crash/children/disk.ts';
import { doorOf } from './approvals.ts';
import { Bench } from './bench.ts';
import { expectEffects, expectLog, expectRun } from './expected.ts';
import type { Plan } from './plan.ts';
import { resultsIn } from './model-io.ts';

type Answered = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
};

/** Counts appends that were begun, and those that are over. */
class HeardStore extends SqliteLog {
  readonly path: string;
  begun = 0;
  ended = 0;

  constructor(path: string) {
    super(path);
    this.path = path;
  }

  override async append(append: Parameters<SqliteLog['append']>[0]): Promise<void> {
    this.begun++;
    await super.append(append);
    this.ended++;
  }
}

const turnsOf = (types: readonly string[]): number => types.filter((type) => type === 'turn.accepted').length;

const replayed = async (bench: Bench): Promise<ReturnType<typeof replay>> =>
  replay({
    session: bench.session,
    events: await bench.events(),
    encoderOf: () => bench.agent.model.encoder,
    program: PROGRAM,
  });

export const DURABILITY: Readonly<Record<string, Plan>> = {
  'FC-75': async (given) => {
    const { house, session } = await doorOf(given);
    await house.stage.runtime.rest(session);
    const say = (message: string): Promise<Answered> =>
      house.json(`/sessions/${session}/turns`, { body: { message }, key: 'k-1' });
    expect((await say('ship order 7')).status).toBe(202);
    const other = await say('ship order 8');
    expect([other.status, other.body['code']]).toEqual([422, 'idempotency-key-reused']);
    expect(JSON.stringify(other.body)).toMatch(/turn 2/);
    expect(JSON.stringify(other.body)).not.toMatch(/order 7/);
    expect(turnsOf(await house.stage.types(session))).toBe(2);
  },
  'FC-76': async (given) => {
    const { house, stubs, session } = await doorOf({
      ...given,
      input: { ...given.input, model: [{ text: 'ready' }, ...(given.input.model ?? [])] },
    });
    await house.stage.runtime.rest(session);
    const say = (): Promise<Answered> =>
      house.json(`/sessions/${session}/turns`, { body: { message: 'pay' }, key: 'k-1' });
    const answers = await Promise.all(Array.from({ length: 50 }, say));
    answers.push(await say());
    await house.stage.runtime.rest(session);
    answers.push(await say());
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body['turn']))).toEqual(new Set([2]));
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect(stubs.effects).toEqual({ pay: 1 });
    expect(turnsOf(await house.stage.types(session))).toBe(2);
  },
  'FC-77': async (given) => {
    const { house, session } = await doorOf({
      ...given,
      input: { ...given.input, model: [{ text: 'ready' }, ...(given.input.model ?? [])] },
    });
    await house.stage.runtime.rest(session);
    const say = (): Promise<Answered> =>
      house.json(`/sessions/${session}/turns`, { body: { message: 'hello' }, key: 'k-1' });
    // Written, and never answered: the process is gone within the append.
    house.stage.crash(1);
    void say().catch(() => undefined);
    await until('the turn is written', async () => turnsOf(await house.stage.types(session)) === 2);
    house.stage.clock.advance(60_000);
    await house.restart();
    const again = await say();
    expect([again.status, again.body['turn']]).toEqual([202, 2]);
    await house.stage.runtime.rest(session);
    expect(turnsOf(await house.stage.types(session))).toBe(2);
    expect(house.stage.heard.at(-1)?.body.match(/"content":"hello"/g)).toHaveLength(1);
  },
  'FC-79': async (given) => {
    const { house, session } = await doorOf({
      ...given,
      input: { ...given.input, model: [{ text: 'abcd' }] },
    });
    const leave = new AbortController();
    const first = await house.ask(`/sessions/${session}/stream?turn=1`, { signal: leave.signal });
    const ids: number[] = [];
    if (!first.body) throw new Error('no stream');
    for await (const { data, type } of readEvents(first.body)) {
      if (type !== 'delta') ids.push((JSON.parse(data) as { seq: number }).seq);
      if (ids.at(-1) === 3) break;
    }
    leave.abort();
    await house.stage.runtime.rest(session);
    const second = await house.ask(`/sessions/${session}/stream?turn=1`, {
      headers: { 'last-event-id': '3' },
    });
    const rest: number[] = [];
    if (!second.body) throw new Error('no stream');
    for await (const { data, type } of readEvents(second.body))
      if (type !== 'delta' && type !== 'end') rest.push((JSON.parse(data) as { seq: number }).seq);
    const all = (await house.stage.events(session)).map(({ seq }) => seq);
    expect([...ids, ...rest]).toEqual(all);
    expect((await house.stage.runtime.rest(session)).status).toBe('done');
  },
  'FC-81': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.reached(2);
    await bench.runtime.send({ session: bench.session, message: 'use port 81', key: 'k-2' });
    await bench.runtime.send({ session: bench.session, message: 'and tell me', key: 'k-3', when: 'steer' });
    bench.say([{ text: 'done' }]);
    await bench.later(5000);
    await bench.rest();
    await expectRun(bench, 'completed');
    expectEffects(bench, { build: 2 });
    expect(bench.request(2)).toMatch(/"role":"results".*"id":"c1".*"id":"c2".*and tell me/s);
    expect(bench.heard.at(-1)).toMatch(/"id":"c2".*use port 81/s);
  },
  'FC-83': async (given) => {
    // Calls of a step run at once here; one at a time are calls of steps, so that the others are never started.
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.reached(3);
    await bench.runtime.cancel(bench.session);
    await bench.later(3000);
    await bench.rest();
    await expectRun(bench, 'cancelled');
    await expectLog(bench, ['run.cancel_requested', 'run.ended cancelled']);
    const ended = (await bench.events()).findLast((event) => event.type === 'turn.ended');
    const started = await bench.count('call.started');
    expect(bench.effects['step']).toBe(started);
    expect(ended?.type === 'turn.ended' && ended.data.receipt?.landed.length).toBe(started);
    bench.say([{ text: 'ok' }]);
    await bench.runtime.send({ session: bench.session, message: 'go on' });
    await bench.rest();
    await expectRun(bench, 'completed');
    expect([...resultsIn(bench.heard.at(-1) ?? '').matchAll(/"id":"(c\d)"/g)].map(([, id]) => id)).toEqual([
      'c1',
      'c2',
      'c3',
    ]);
  },
  'FC-85': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.reached(2);
    await bench.event('call.result');
    const before = JSON.stringify(await bench.events());
    const at = (await bench.events()).findLast((event) => event.type === 'call.result')?.seq;
    // Refused with the nearest borders; taken where it is asked for.
    await expect(
      bench.runtime.fork({ session: bench.session, ...(at !== undefined && { at }) }),
    ).rejects.toMatchObject({ code: 'fork-inside-turn', details: { before: 1 } });
    const forked = await bench.runtime.fork({
      session: bench.session,
      closeOpen: true,
      ...(at !== undefined && { at }),
    });
    expect(JSON.stringify(await bench.events())).toBe(before);
    bench.say([]);
    const branch = await bench.runtime.send({ session: forked.session, message: 'try another way' });
    const rest = await bench.runtime.rest(branch.session);
    expect(rest.approvals).toEqual([]);
    expect(bench.heard.at(-1)).toMatch(/"id":"c1".*"id":"c2".*not known in this branch.*try another way/s);
    await bench.later(30_000);
    await bench.rest();
    await expectRun(bench, 'completed');
    expectEffects(bench, { write_a: 1, write_b: 1 });
  },
  'FC-87': async (given) => {
    const disk = new Disk(4 * 1024 * 1024);
    const bench = new Bench(given, { path: join(disk.folder, 'log.db'), clock: 'real' });
    bench.onAsked = () => disk.fill();
    await bench.open();
    await bench.send();
    await soon('the store is full', () => bench.runtime.storageFault?.fault === 'full');
    expectEffects(bench, { send: 0 });
    const app = createApp({ runtime: bench.runtime, hosts: () => ['127.0.0.1:4280'] });
    const health = await app.fetch(
      new Request('http://127.0.0.1:4280/healthz', { headers: { host: '127.0.0.1:4280' } }),
    );
    expect([health.status, await health.json()]).toEqual([503, expect.objectContaining({ store: 'full' })]);
    // Whoever asks by hand is told which store has no room.
    const refused = await clerk('\n  - { text: ok }\n').onrecord('run', 'clerk', 'go', '--store', bench.path);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(bench.path);
    expect(refused.stderr).toMatch(/no space|full/i);
    bench.onAsked = () => undefined;
    disk.empty();
    await bench.rest();
    await expectRun(bench, 'completed');
    expectEffects(bench, { send: 1 });
    const events = await bench.events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  },
  'FC-88': async (given) => {
    const store = new HeardStore(tempFile());
    onTestFinished(() => store.close());
    const bench = new Bench({ ...given, on: { next: () => store } }, { path: store.path, clock: 'real' });
    let locker: ReturnType<typeof startChild> | undefined;
    const locked = Promise.withResolvers<number>();
    bench.onAsked = async () => {
      if (locker) return;
      locker = startChild('child-locker.ts', [store.path]);
      await locker.line((line) => line === 'locked');
      // Counted before the model answers.
      locked.resolve(store.begun);
    };
    await bench.open();
    await bench.send();
    const before = await locked.promise;
    await soon('the answer is to be written', () => store.begun > before);
    // A message that comes in meanwhile waits as well.
    const sent = bench.runtime.send({ agent: 'clerk', message: 'another', key: 'k-2' });
    await soon('the message is to be written', () => store.begun > before + 1);
    expect(store.ended).toBe(before);
    locker?.say('go');
    await bench.rest();
    await expectRun(bench, 'completed');
    const { session } = await sent;
    expect((await bench.runtime.rest(session)).status).toBe('done');
    // The answer was kept while it waited: nothing was asked twice.
    expect(bench.heard).toHaveLength(2);
    for (const one of [bench.session, session]) {
      const events = (await store.read(one)).map(open);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    }
  },
  'FC-91': async (given) => {
    const text = given.input.files?.['log.jsonl']?.text ?? '';
    const { code, stderr, storeMade } = await importedOrRefused('log.jsonl', text);
    expect(code).not.toBe(0);
    expect(stderr).not.toBe('');
    expect(storeMade).toBe(false);
    // A file of our own, that ends in the middle of a line.
    const place = clerk('\n  - { text: ok }\n');
    const session = sessionIn((await place.onrecord('run', 'clerk', 'go', '--key', 'k')).stdout);
    expect((await place.onrecord('export', session, '-o', 'log.jsonl')).code).toBe(0);
    const lines = readFileSync(join(place.folder, 'log.jsonl'), 'utf8').split('\n');
    const torn = `${lines.slice(0, 4).join('\n')}\n${(lines[4] ?? '').slice(0, 40)}`;
    const refused = await importedOrRefused('torn.jsonl', torn);
    expect([refused.code, refused.storeMade]).toEqual([7, false]);
    expect(refused.stderr).toMatch(/Line 5 is cut.*Nothing was written/s);
  },
  'FC-93': async () => {
    expect(() => refuseRemote('/srv/data', () => 0x6969)).toThrow(
      expect.objectContaining({
        code: 'store-on-network-folder',
        message: expect.stringMatching(/nfs.*local disk.*PostgreSQL/s),
      }),
    );
  },
  'FC-97': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    bench.onAsked = () => bench.clock.setWall(-3_600_000);
    await bench.send();
    await bench.reached(1);
    await bench.later(1999);
    expect(await bench.count('call.result')).toBe(0);
    bench.onAsked = () => undefined;
    await bench.later(1);
    await bench.rest();
    await expectRun(bench, 'completed');
    const events = await bench.events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    for (const { data } of events) if ('ms' in data) expect(data.ms).toBeGreaterThanOrEqual(0);
  },
  'FC-101': async (given) => {
    const bench = new Bench(given);
    await bench.play();
    await bench.restart();
    const events = await bench.events();
    const built = events.filter((event) => event.type === 'request.built');
    const { store } = bench;
    const source = {
      eventAt: (seq: number) => events[seq - 1],
      blob: (digest: Digest) => store.blob(digest),
    };
    for (const [i, { seq }] of built.entries())
      expect((await rebuildRequest(source, seq)).body).toBe(bench.heard[i]);
    expect(bench.request(2)).toContain('{\\"type\\":\\"x\\",\\"ttl\\":\\"5m\\",\\"b\\":[],\\"a\\":1e2}');
    expect((await replayed(bench)).difference).toBeUndefined();
  },
  'FC-103': async (given) => {
    // Instructions are text that is recorded when the session begins: a clock in them is read once.
    const bench = new Bench(given, {
      instructions: `Today is ${new Date().toISOString()} id ${Math.random()}`,
    });
    await bench.play();
    // Nobody polls a store for a day.
    await bench.close();
    bench.clock.advance(24 * 3_600_000);
    const { difference, requests } = await replayed(bench);
    expect([difference, requests]).toEqual([undefined, 1]);
  },
  'FC-104': async (given) => {
    const png = Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      Buffer.from(Array.from({ length: 1024 * 1024 - 8 }, (_, i) => (i * 7919 + (i >> 8)) & 0xff)),
    ]);
    const shot = tool({
      name: 'screenshot',
      description: 'a screenshot',
      inputSchema: { type: 'object' },
      effect: 'none',
      approval: 'never',
      execute: () => png,
    });
    const model = (given.input.model ?? []).map((reply) =>
      reply.repeat === undefined
        ? reply
        : { ...reply, calls: [{ id: 'c{n}', tool: 'screenshot', args: {} }] },
    );
    const bench = new Bench(
      { ...given, input: { ...given.input, model } },
      { tools: [shot], limits: { stepsPerTurn: 100, repeatedCalls: 100 } },
    );
    await bench.play();
    await expectRun(bench, 'completed');
    await bench.close();
    const size = ['', '-wal'].reduce(
      (sum, end) => sum + (existsSync(bench.path + end) ? statSync(bench.path + end).size : 0),
      0,
    );
    expect(size).toBeLessThan(5 * 1024 * 1024);
    expect(bench.heard).toHaveLength(61);
    const store = openSqlite(bench.path);
    const events = (await store.read(bench.session)).map(open);
    const built = events.filter((event) => event.type === 'request.built')[29];
    const source = {
      eventAt: (seq: number) => events[seq - 1],
      blob: (digest: Digest) => store.blob(digest),
    };
    expect((await rebuildRequest(source, built?.seq ?? 0)).body).toBe(bench.heard[29]);
  },
  'FC-115': async (given) => {
    const bench = new Bench(given, { context: { select: { kind: 'last-turns', turns: 1 } } });
    await bench.play();
    const { then } = given.input;
    if (!then) throw new Error('the case goes on');
    bench.say(then.model);
    await bench.runtime.send({ session: bench.session, message: then.user });
    await bench.rest();
    await expectRun(bench, 'completed');
    const last = bench.heard.at(-1) ?? '';
    expect(last).not.toMatch(/"id":"c1"/);
    expect(last).toMatch(/"messages":\[\{"role":"user"/);
    expect((await verify(bench.store, bench.session)).findings).toEqual([]);
  },
};
