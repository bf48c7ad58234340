/** Field cases about tool servers: servers of the SDK's own making, in processes and behind sockets. */
import { expect } from 'vitest';
import type { LogEvent } from '../../src/event/events.ts';
import type { Policy } from '../../src/event/definition.ts';
import type { ServerToolSettings } from '../../src/tool/mcp/server.ts';
import type { ToolServer } from '../../src/tool/mcp/tools.ts';
import { opened, processWorld, socketWorld, toolText, type SocketWorld } from '../kit/mcp-world.ts';
import { rawly } from '../tool/mcp-stage.ts';
import { sse, delta, fn } from '../model/chat-stage.ts';
import { Bench, type BenchOptions } from './bench.ts';
import { expectEffects, expectLog, expectRun } from './expected.ts';
import type { GivenCase } from './given.ts';
import { resultsIn } from './model-io.ts';
import type { Plan } from './plan.ts';
import { chat, events, standIn } from './providers.ts';

const ALL: Policy = { rules: [{ id: 'all', do: 'allow' }] };

/** The tools of these servers are all that the agent has. */
const benchOf = (given: GivenCase, servers: readonly ToolServer[], more: BenchOptions = {}): Bench =>
  new Bench(given, {
    tools: servers.flatMap(({ tools }) => tools),
    setAside: servers.flatMap(({ setAside }) => setAside),
    policy: ALL,
    ...more,
  });

type GivenServer = {
  readonly result_raw?: string;
  readonly result?: unknown;
  readonly tools?: readonly GivenDefinition[];
  readonly then_list_changed_to?: readonly GivenDefinition[];
};
type GivenDefinition = { readonly name: string; readonly description?: string };

const serverIn = ({ input }: GivenCase, name: string): GivenServer =>
  (input['mcp'] as Readonly<Record<string, GivenServer>>)[name] ?? {};

const textsOf = (list: readonly GivenDefinition[]): readonly string[] =>
  list.map(({ name, ...more }) => toolText(name, more));

/** A server that answers every call with this text. */
const answering = async (
  name: string,
  tool: string,
  result: string,
  settings: ServerToolSettings = {},
): Promise<{ readonly server: ToolServer; readonly world: SocketWorld }> => {
  const world = await socketWorld({ tools: [toolText(tool)] });
  world.before = rawly('tools/call', result);
  const server = await opened({ name, url: world.url, defaults: settings });
  return { server, world };
};

const refusals = async (bench: Bench): Promise<readonly LogEvent[]> =>
  (await bench.events()).filter(({ type }) => type === 'call.refused');

export const MCP: Readonly<Record<string, Plan>> = {
  'FC-07': async (given) => {
    const { result_raw: result = '' } = serverIn(given, 'ads');
    const { server } = await answering('ads', 'get_ad', result);
    const bench = benchOf(given, [server]);
    await bench.play();
    await expectRun(bench, 'completed');
    expect(resultsIn(bench.request(2))).toContain('1915883588174806058');
    expect(JSON.stringify([await bench.events(), bench.heard])).not.toContain('1915883588174806000');
  },
  'FC-11': async (given) => {
    const nested = `${'{"type":"object","properties":{"a":'.repeat(500)}{}${'}}'.repeat(500)}`;
    const world = await socketWorld();
    world.before = rawly(
      'tools/list',
      `{"tools":[{"name":"bad","inputSchema":${nested}},${toolText('fine')}]}`,
    );
    const server = await opened({ name: 'odd', url: world.url });
    const bench = benchOf(given, [server]);
    await bench.play();
    await expectRun(bench, 'completed');
    await expectLog(bench, given.expect.log ?? []);
    const [created] = await bench.events();
    expect(created).toMatchObject({
      data: { agent: { setAside: [{ name: 'odd.bad', code: 'schema-too-deep' }] } },
    });
    expect(bench.request(1)).not.toContain('odd.bad');
  },
  'FC-107': async (given) => {
    const { tools = [], then_list_changed_to: later = [] } = serverIn(given, 'files');
    const world = processWorld({ tools: textsOf(tools) });
    const server = await opened({ name: 'files', command: world.command });
    const bench = benchOf(given, [server]);
    bench.onAsked = () => world.change({ tools: textsOf(later) });
    await bench.play();
    await expectRun(bench, 'completed');
    await expectLog(bench, given.expect.log ?? []);
    expect(world.calls()).toEqual([]);
    const [refused] = await refusals(bench);
    expect(refused).toMatchObject({
      data: {
        message: expect.stringMatching(/definition was [0-9a-f]{12} and now is [0-9a-f]{12}.*approve/),
      },
    });
    // What was approved stays what is offered: see docs/decisions/0023.
    expect(bench.request(2)).toContain('saves a draft');
    expect(bench.request(2)).not.toMatch(/publishes|purge/);
  },
  'FC-109': async (given) => {
    const world = await socketWorld({ tools: [toolText('add')] });
    const server = await opened({ name: 's', url: world.url });
    const bench = benchOf(given, [server]);
    bench.onAsked = () => {
      if (bench.heard.length === 2) world.restart();
    };
    await bench.play();
    await expectRun(bench, 'completed');
    await expectLog(bench, given.expect.log ?? []);
    expect(world.calls).toHaveLength(2);
  },
  'FC-111': async (given) => {
    const { result } = serverIn(given, 's');
    const { server } = await answering('s', 'ask', JSON.stringify(result));
    const bench = benchOf(given, [server]);
    await bench.play();
    await expectRun(bench, 'completed');
    await expectLog(bench, ['tool.failed c1']);
    const told = resultsIn(bench.request(2));
    expect(told).toMatch(/"isError":true/);
    expect(told).toContain('database refused the connection');
    expect(await bench.count('call.failed')).toBe(1);
  },
  'FC-113': async (given) => {
    const servers = given.input['mcp'] as Readonly<Record<string, { readonly tools: readonly string[] }>>;
    const taken: string[] = [];
    const open = (): Promise<ToolServer[]> =>
      Promise.all(
        Object.entries(servers).map(async ([name, { tools }]) => {
          const world = await socketWorld({ tools: tools.map((tool) => toolText(tool)) });
          const server = await opened({ name, url: world.url });
          return {
            ...server,
            look: async () => (taken.push(...world.calls.map(({ tool }) => tool)), server.look()),
          };
        }),
      );
    const opened1 = await open();
    const long = opened1[0]?.tools[1]?.name ?? '';
    const { url, bodies } = await standIn((response, n) => {
      const call = delta({
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: fn(long.replaceAll('.', '__'), '{}') },
        ],
      });
      events(response).end(
        n === 1
          ? sse(call, delta({}, 'tool_calls'), '[DONE]')
          : sse(delta({ content: 'ok' }), delta({}, 'stop'), '[DONE]'),
      );
    });
    const bench = benchOf(given, opened1, { model: chat(url) });
    await bench.play();
    await expectRun(bench, 'completed');
    await expectLog(bench, ['tool.finished c1']);
    const names = (JSON.parse(bodies[0] ?? '') as { tools: { function: { name: string } }[] }).tools.map(
      (one) => one.function.name,
    );
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    await Promise.all(opened1.map((server) => server.look()));
    expect(taken).toEqual(['synchronize-all-customer-data-across-regions']);
    const again = await open();
    expect(again.flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(
      opened1.flatMap(({ tools }) => tools.map(({ name }) => name)),
    );
    // The record says whose tool stands behind a name.
    const [created] = await bench.events();
    const definitions = created?.type === 'session.created' ? created.data.agent.tools : [];
    expect(definitions.find(({ name }) => name === long)?.server).toMatchObject({
      name: 'enterprise-database-management-eu-west',
      tool: 'synchronize-all-customer-data-across-regions',
    });
    expectEffects(bench, {});
  },
};
