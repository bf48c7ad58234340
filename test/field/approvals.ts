/** Field cases about people: what they are shown, what they say, and what may start without them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { open } from '../../src/event/envelope.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import { tool } from '../../src/tool/tool.ts';
import { httpTools } from '../../src/tool/http/get.ts';
import { approvals } from '../../src/view/approval.ts';
import { reveal } from '../../src/view/reveal.ts';
import { verify } from '../../src/replay/verify.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';
import { clerk, sessionIn } from '../cli/project.ts';
import { House } from '../server/house.ts';
import { Bench, repliesOf } from './bench.ts';
import { expectEffects, expectGiven, expectLog, expectRun } from './expected.ts';
import type { GivenCase } from './given.ts';
import type { Plan } from './plan.ts';
import { Stubs } from './stubs.ts';
import { resultsIn } from './model-io.ts';

export type Door = { readonly house: House; readonly stubs: Stubs; readonly session: string };

/** The case behind the HTTP door, and a session that has begun. */
export const doorOf = async (given: GivenCase, message = 'go'): Promise<Door> => {
  const replies = [...repliesOf(given.input.model ?? [])];
  let opened: House | undefined;
  const stubs = new Stubs(() => {
    if (!opened) throw new Error('the house is not open');
    return opened.stage.clock;
  });
  const house = await House.open({
    store: given.on?.next() ?? openSqlite(tempFile()),
    policy: { rules: [] },
    says: () => replies.shift() ?? { text: 'No further answer is scripted.' },
    tools: () => stubs.of(given),
  });
  opened = house;
  return { house, stubs, session: await house.begin(message, 'k-0') };
};

const decisionPath = (session: string, call = '1.1.1'): string =>
  `/sessions/${session}/calls/${call}/decision`;

const asked = async ({ house, session }: Door): Promise<string> => {
  const [call] = await house.stage.asking(session, '1.1.1');
  if (call?.digest === undefined) throw new Error('no digest');
  return call.digest;
};

const count = async ({ house, session }: Door, type: string): Promise<number> =>
  (await house.stage.types(session)).filter((one) => one === type).length;

/** Replies in the product's own tool names. */
const renamed = (
  given: GivenCase,
  names: Readonly<Record<string, string>>,
  tools: readonly string[] = [],
): GivenCase => ({
  ...given,
  input: {
    ...given.input,
    tools: Object.fromEntries(
      Object.entries(given.input.tools ?? {}).filter(([name]) => tools.includes(name)),
    ),
    model: (given.input.model ?? []).map((reply) => ({
      ...reply,
      ...(reply.calls && {
        calls: reply.calls.map((call) => ({ ...call, tool: names[call.tool] ?? call.tool })),
      }),
    })),
  },
});

export const APPROVALS: Readonly<Record<string, Plan>> = {
  'FC-52': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.asking('c2');
    await bench.rest();
    expect(bench.heard).toHaveLength(1);
    await bench.restart();
    await bench.decide('c2');
    await bench.rest();
    await expectGiven(bench, {
      ...given,
      expect: {
        ...given.expect,
        log: (given.expect.log ?? []).filter((entry) => entry !== 'server.started'),
      },
    });
    const ids = [...resultsIn(bench.request(2)).matchAll(/"id":"(c\d)"/g)].map(([, id]) => id);
    expect(ids).toEqual(['c1', 'c2', 'c3']);
  },
  'FC-54': async (given) => {
    const door = await doorOf(given);
    const digest = await asked(door);
    const body = { digest, decision: { do: 'approve' } };
    const press = (): Promise<{ status: number; headers: Headers }> =>
      door.house.json(decisionPath(door.session), { body });
    const answers = await Promise.all([press(), press()]);
    await door.house.stage.runtime.rest(door.session);
    answers.push(await press());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(2);
    expect(door.stubs.effects).toEqual({ pay: 1 });
    expect(await count(door, 'approval.decided')).toBe(1);
  },
  'FC-55': async (given) => {
    for (const first of ['reject', 'approve']) {
      const door = await doorOf(given);
      const digest = await asked(door);
      const other = await door.house.tokenFor({ name: 'user-2', roles: ['approve', 'read'] });
      const say = (does: string, token: string): Promise<{ status: number; body: Record<string, unknown> }> =>
        door.house.json(decisionPath(door.session), { body: { digest, decision: { do: does } }, token });
      const second = first === 'reject' ? 'approve' : 'reject';
      const answers = await Promise.all([say(first, door.house.token), say(second, other)]);
      await door.house.stage.runtime.rest(door.session);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      const lost = answers.find(({ status }) => status === 409);
      expect(lost?.body['code']).toBe('already-decided');
      expect(JSON.stringify(lost?.body)).toMatch(/anna|user-2/);
      const won = (await door.house.stage.events(door.session)).find(
        (event) => event.type === 'approval.decided',
      );
      if (won?.type !== 'approval.decided') throw new Error('nothing was decided');
      expect(door.stubs.effects['pay'] ?? 0).toBe(won.data.decision.do === 'approve' ? 1 : 0);
      expect(await count(door, 'approval.decided')).toBe(1);
    }
  },
  'FC-57': async (given) => {
    const door = await doorOf(given);
    const digest = await asked(door);
    const cancelled = await door.house.ask(`/sessions/${door.session}/cancel`, { method: 'POST', body: {} });
    expect([200, 202]).toContain(cancelled.status);
    const late = await door.house.json(decisionPath(door.session), {
      body: { digest, decision: { do: 'approve' } },
    });
    expect([late.status, late.body['code']]).toEqual([409, 'turn-cancelled']);
    expect(door.stubs.effects).toEqual({});
    expect((await door.house.json<{ items: unknown[] }>('/approvals')).body.items).toEqual([]);
    expect(await door.house.stage.types(door.session)).toEqual(
      expect.arrayContaining(['turn.cancel_requested', 'call.cancelled', 'turn.ended']),
    );
  },
  'FC-58': async (given) => {
    // What stands between a yes and the start here is the tool's own schema.
    let amount = 100;
    const ran: unknown[] = [];
    const pay = tool({
      name: 'pay',
      description: 'pays',
      inputSchema: z.object({ to: z.string(), amount: z.number().transform(() => amount) }),
      effect: 'once',
      approval: 'always',
      execute: (input) => ran.push(input),
    });
    const bench = new Bench(given, { tools: [pay] });
    await bench.open();
    await bench.send();
    await bench.asking('c1');
    amount = 1000;
    await bench.decide('c1');
    await bench.rest();
    await expectGiven(bench, given);
    expect(ran).toEqual([]);
    const prepared = (await bench.events()).findLast((event) => event.type === 'call.prepared');
    expect(JSON.stringify(prepared)).toMatch(/1000/);
  },
  'FC-59': async (given) => {
    const play = async (outside: string): Promise<{ readonly bench: Bench; readonly file: string }> => {
      const root = tempFolder();
      const file = join(root, 'price.txt');
      writeFileSync(file, 'a=1\nb=2\n');
      const bench = new Bench(renamed(given, { edit_file: 'files.edit' }), { tools: fileTools({ root }) });
      await bench.open();
      await bench.send();
      await bench.asking('c1');
      writeFileSync(file, outside);
      await bench.decide('c1');
      await bench.rest();
      return { bench, file };
    };
    // Now the edit fits twice: it is refused, and nobody is asked about one of two possible changes.
    const { bench: twice, file } = await play('a=1\na=1\n');
    expect(readFileSync(file, 'utf8')).toBe('a=1\na=1\n');
    expect(await twice.count('call.refused')).toBe(1);
    expect(await twice.count('call.started')).toBe(0);
    // It still fits once: it is asked again, with the new diff, and the first yes runs nothing.
    const other = await play('c=0\na=1\nb=2\n');
    await expectRun(other.bench, 'waiting_approval');
    await expectLog(other.bench, ['approval.invalidated c1 reason=preview_stale', 'approval.requested c1']);
    expect(readFileSync(other.file, 'utf8')).toBe('c=0\na=1\nb=2\n');
    await other.bench.decide('c1');
    await other.bench.rest();
    expect(readFileSync(other.file, 'utf8')).toBe('c=0\na=9\nb=2\n');
  },
  'FC-61': async (given) => {
    const door = await doorOf(given);
    const digest = await asked(door);
    const wrong: readonly unknown[] = [
      {},
      { decision: null },
      { decision: 'true' },
      { digest, decision: null },
      { digest, decision: 'approve' },
      { digest, decision: { do: 'true' } },
      { digest, decision: { do: true } },
      { digest, decision: [] },
      { digest, decision: { do: 'APPROVE' } },
      { decision: { do: 'approve' } },
    ];
    for (const body of wrong) {
      const { status } = await door.house.json(decisionPath(door.session), { body });
      expect([400, 422]).toContain(status);
    }
    const other = await door.house.json(decisionPath(door.session, '1.1.2'), {
      body: { digest, decision: { do: 'approve' } },
    });
    expect([404, 409, 422]).toContain(other.status);
    expect(door.stubs.effects).toEqual({});
    expect((await door.house.stage.runtime.rest(door.session)).status).toBe('waiting');
  },
  'FC-63': async (given) => {
    const bench = new Bench(given);
    await bench.play();
    const [card] = approvals({
      session: bench.session,
      state: await bench.runtime.state(bench.session),
      events: await bench.events(),
    } as never);
    // The card is data: what it shows people goes through reveal(), as on the terminal.
    expect(reveal(card?.args ?? '')).toMatch(/U\+202E.*U\+200B/);
    await bench.decide('c1');
    await bench.rest();
    expect(bench.given[0]?.input).toEqual({ cmd: 'rm -rf ./data \u202e gnp.oedarap/\u200b' });
    // In words and for programs; on a terminal: test/cli/approvals.test.ts.
    const text = String(given.input.model?.[0]?.calls?.[0]?.args?.['cmd']);
    const place = clerk(
      `\n  - ${JSON.stringify({ calls: [{ tool: 'files.write', args: { path: 'a.txt', text } }] })}\n  - { text: ok }\n`,
    );
    const run = await place.onrecord('run', 'clerk', 'go', '--key', 'k');
    const session = sessionIn(run.stdout + run.stderr);
    const shown = await place.onrecord('approvals', session);
    expect(shown.stdout).toMatch(/U\+202E/);
    expect(shown.stdout).not.toMatch(/[\u202e\u200b]/);
    const { stdout } = await place.onrecord('approvals', session, '--json');
    expect(stdout).not.toMatch(/[\u202e\u200b]/);
    expect(JSON.stringify(JSON.parse(stdout))).toContain('\u202e');
  },
  'FC-65': async (given) => {
    const door = await doorOf({
      ...given,
      input: {
        ...given.input,
        tools: { pay: { effect: 'write', approval: 'always' } },
        model: [{ calls: [{ id: 'c1', tool: 'pay', args: {} }] }],
      },
    });
    await asked(door);
    for (const path of [
      `/approvals?session=${door.session}&action=approve`,
      `${decisionPath(door.session)}?action=approve&decision=approve`,
      `/approvals/1.1.1?token=t&action=approve`,
    ])
      for (const method of ['GET', 'HEAD']) {
        const { status } = await door.house.ask(path, { method });
        expect([200, 404, 405]).toContain(status);
      }
    expect(await count(door, 'approval.decided')).toBe(0);
    expect((await door.house.stage.runtime.rest(door.session)).status).toBe('waiting');
  },
  'FC-66': async (given) => {
    const door = await doorOf({
      ...given,
      input: {
        ...given.input,
        tools: { pay: { effect: 'write', approval: 'always' } },
        model: [{ calls: [{ id: 'c1', tool: 'pay', args: {} }] }],
      },
    });
    const digest = await asked(door);
    const body = { digest, decision: { do: 'approve' }, by: 'user-1' };
    expect((await door.house.json(decisionPath(door.session), { body, token: null })).status).toBe(401);
    const program = await door.house.tokenFor({ name: 'agent', kind: 'program', roles: ['submit'] });
    const plain = { digest, decision: { do: 'approve' } };
    expect((await door.house.json(decisionPath(door.session), { body: plain, token: program })).status).toBe(
      403,
    );
    const withName = await door.house.json(decisionPath(door.session), { body });
    expect([200, 422]).toContain(withName.status);
    const decided = (await door.house.stage.events(door.session)).find(
      (event) => event.type === 'approval.decided',
    );
    if (decided?.type === 'approval.decided') expect(decided.data.by.name).toBe('anna');
    else expect(door.stubs.effects).toEqual({});
    // The tool that asks servers does not reach this machine.
    const [get] = httpTools({ allow: [{ origin: 'http://127.0.0.1:4280' }] });
    if (!get) throw new Error('no tool');
    const bench = new Bench(
      {
        ...given,
        input: {
          ...given.input,
          model: [
            { calls: [{ id: 'c2', tool: get.name, args: { url: 'http://127.0.0.1:4280/approvals' } }] },
            { text: 'ok' },
          ],
        },
      },
      { tools: [get], policy: { rules: [{ id: 'all', do: 'allow' }] } },
    );
    await bench.play();
    await expectLog(bench, ['tool.failed c2 reason=address_blocked']);
  },
  'FC-70': async (given) => {
    const bench = new Bench(
      {
        ...given,
        input: {
          ...given.input,
          tools: {
            pay: { effect: 'write', approval: 'always' },
            read_big: { effect: 'read', returns: 'word '.repeat(600) },
          },
        },
      },
      { context: { compactAtTokens: 200 } },
    );
    await bench.open();
    await bench.send();
    await bench.asking('c1');
    await bench.runtime.rest(bench.session);
    expect(await bench.count('history.summarised')).toBe(0);
    expect(bench.heard).toHaveLength(1);
    bench.say([{ text: 'done' }]);
    await bench.decide('c1');
    await bench.rest();
    await expectRun(bench, 'completed');
    expectEffects(bench, { pay: 1 });
    expect(bench.request(2)).toMatch(/"name":"pay"[^]*"role":"results"/);
  },
  'FC-72': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send('go', 'read-only');
    await bench.rest();
    await expectGiven(bench, given);
    expect(resultsIn(bench.request(2))).toMatch(/read-only/);
    expect(await bench.count('approval.requested')).toBe(0);
  },
  'FC-73': async (given) => {
    const root = tempFolder();
    mkdirSync(join(root, '.runtime'));
    mkdirSync(join(root, 'reports'));
    for (const name of ['policy.yaml', 'store.db']) writeFileSync(join(root, '.runtime', name), 'ask: all\n');
    const protect = [
      join(root, '.runtime', 'policy.yaml'),
      join(root, '.runtime', 'store.db'),
      join(root, '.runtime'),
    ];
    const tools = fileTools({ root, protect });
    const names = { file_write: 'files.write', file_read: 'files.read' };
    const more = [
      {
        id: 'c4',
        tool: 'files.write',
        args: { path: './reports/../.runtime/policy.yaml', text: 'allow: all' },
      },
      { id: 'c5', tool: 'files.write', args: { path: '.runtime/new.yaml', text: 'x' } },
      { id: 'c6', tool: 'files.list', args: { path: '.runtime' } },
    ];
    const base = renamed(given, names);
    const [first, ...rest] = base.input.model ?? [];
    const bench = new Bench(
      {
        ...base,
        input: { ...base.input, model: [{ ...first, calls: [...(first?.calls ?? []), ...more] }, ...rest] },
      },
      { tools, policy: { rules: [{ id: 'all', do: 'allow' }] } },
    );
    await bench.play();
    await expectLog(bench, [
      'tool.failed c1 reason=protected_path',
      'tool.failed c2 reason=protected_path',
      'tool.finished c3',
      'tool.failed c4 reason=outside_root',
      'tool.failed c5 reason=protected_path',
    ]);
    expect(readFileSync(join(root, '.runtime/policy.yaml'), 'utf8')).toBe('ask: all\n');
    const { store } = bench;
    expect((await verify(store, bench.session)).findings).toEqual([]);
    expect((await store.read(bench.session)).map(open).length).toBeGreaterThan(0);
  },
};
