/** run_javascript in sessions: on the record, asked about with its room, resumed by ordinary calls, never widened. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { toolsOf, toolSetSchema, type ToolSet } from '../../src/cli/tool-sets.ts';
import type { JsonObject } from '../../src/event/json.ts';
import type { ScriptCall, ScriptReply } from '../../src/model/script.ts';
import { BOUNDARY } from '../../src/room/level.ts';
import type { Rooms } from '../../src/room/rooms.ts';
import type { JavascriptResult } from '../../src/tool/javascript/tools.ts';
import { javascriptTools } from '../../src/tool/javascript/tools.ts';
import type { CallState } from '../../src/session/state.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { audit } from '../kit/audit.ts';
import { tempFolder } from '../kit/folder.ts';
import { levelsHere, openTestRooms, roomFolder } from '../kit/rooms.ts';
import { Stage } from '../kit/stage.ts';

const levels = await levelsHere();
let rooms: Rooms;
let tools: readonly Tool[];
beforeAll(async () => {
  rooms = await openTestRooms({ level: 'wasm' });
  tools = await javascriptTools({ rooms, tools: ['once', 'none'] });
});
afterAll(() => rooms.close());

const ASK = { rules: [] };
const ALWAYS = { rules: [{ id: 'programs', tools: ['run_javascript'], do: 'ask' as const }] };

const js = (args: JsonObject): ScriptCall => ({ tool: 'run_javascript', args });

const stageOf = (
  calls: readonly (readonly ScriptCall[])[],
  more: ConstructorParameters<typeof Stage>[0] = {},
): Stage =>
  new Stage({
    tools: (world) => [...tools, world.tool('once', 'once'), world.tool('none', 'none')],
    policy: ASK,
    says: (_, step): ScriptReply => (calls[step - 1] ? { calls: calls[step - 1] ?? [] } : { text: 'Done.' }),
    ...more,
  });

const results = async (stage: Stage, session: string): Promise<readonly JavascriptResult[]> =>
  (await stage.events(session)).flatMap((event) => {
    if (event.type !== 'call.result' || event.data.outcome.kind !== 'ok') return [];
    const [part] = event.data.outcome.content;
    return part?.type === 'json' && part.text.includes('"room"')
      ? [JSON.parse(part.text) as JavascriptResult]
      : [];
  });

/** Replay has no tool, and so no room: it is handed the log alone. */
const expectReplays = async (stage: Stage, session: string): Promise<void> => {
  await audit(stage, session, await stage.runtime.state(session));
};

test('a program is run without a question, and its result says what bounded it', async () => {
  const code =
    'console.log("seen", input.n); files.write("out.csv", files.read("in.csv") + "3\\n"); return { sum: input.n + 1 }';
  const stage = stageOf([[js({ code, input: { n: 41 }, files: [{ name: 'in.csv', text: '1\n2\n' }] })]]);
  const runtime = await stage.open();
  const session = await stage.send();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  const [result] = await results(stage, session);
  expect(result).toMatchObject({
    ok: true,
    value: { sum: 42 },
    console: { text: 'seen 41' },
    files: [{ name: 'out.csv', bytes: 6 }],
    room: { level: 'wasm', engine: 'quickjs', limits: { ticks: 10_000 }, clockMs: stage.clock.now() },
  });
  const found = await stage.event(session, 'call.result');
  const content =
    found.type === 'call.result' && found.data.outcome.kind === 'ok' ? found.data.outcome.content : [];
  const blob = content.find((part) => part.type === 'blob');
  const bytes = blob?.type === 'blob' ? await stage.store.blob(blob.blob.digest) : undefined;
  expect(Buffer.from(bytes ?? []).toString()).toBe('1\n2\n3\n');
  await expectReplays(stage, session);
});

test('a program that fails gives the model its error with the line', async () => {
  const stage = stageOf([[js({ code: 'const a = {};\n\na.b.c = 1' })]]);
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  const [result] = await results(stage, session);
  expect(result).toMatchObject({ ok: false, error: { why: 'threw', line: 3 }, room: { level: 'wasm' } });
  expect(stage.heard[1]?.body).toContain('TypeError');
});

test.each([
  ['a file name that leads out', { code: 'return 1', files: [{ name: '../x', text: '' }] }, /file name/],
  [
    'two files of one name',
    {
      code: 'return 1',
      files: [
        { name: 'x', text: '' },
        { name: 'x', text: '' },
      ],
    },
    /Two files/,
  ],
  ['a file with nothing', { code: 'return 1', files: [{ name: 'x' }] }, /either text or base64/],
  ['a tool that is not there for programs', { code: 'return 1', tools: ['mail.send'] }, /cannot call/],
  ['too large a program', { code: `//${'x'.repeat(300_000)}` }, /codeBytes/],
])('%s is refused, and no room is spent', async (_, args, words) => {
  const stage = stageOf([[js(args)]]);
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  expect(stage.heard[1]?.body).toMatch(words);
});

describe('approval', () => {
  test('an approver sees program, room, reach and limits; the clock is that of the start', async () => {
    const code = 'return Date.now()';
    const stage = stageOf([[js({ code })]], { policy: ALWAYS });
    const runtime = await stage.open();
    const session = await stage.send();
    const [call] = await stage.asking(session, '1.1.1');
    const shown = await stage.event(session, 'call.prepared');
    const text = JSON.stringify(shown.data);
    for (const part of [code, BOUNDARY.wasm, 'network', 'credentials', '10000 ticks', 'quickjs-wasi 3.7.0'])
      expect(text).toContain(part);
    stage.clock.advance(60_000);
    const at = stage.clock.now();
    await runtime.decide({
      session,
      call: '1.1.1',
      digest: call?.digest ?? ('' as never),
      decision: { do: 'approve' },
    });
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(await results(stage, session)).toMatchObject([{ value: at, room: { clockMs: at } }]);
    await expectReplays(stage, session);
  });

  test.skipIf(!levels.includes('gvisor'))(
    'approved at one level and driven at another: refused and never started, the next step says its level',
    async () => {
      const stage = stageOf([[js({ code: 'return 1' })]], { policy: ALWAYS });
      const runtime = await stage.open({ drive: true });
      const session = await stage.send();
      const [call] = await stage.asking(session, '1.1.1');
      stage.crash();
      await runtime.close({ drainMs: 0 });
      const other = await openTestRooms({ level: 'gvisor', folder: roomFolder });
      try {
        const { definition, model } = stage.agent;
        const agent = defineAgent({
          name: definition.name,
          instructions: definition.instructions,
          model,
          tools: [
            ...(await javascriptTools({ rooms: other, tools: ['once', 'none'] })),
            stage.world.tool('once', 'once'),
            stage.world.tool('none', 'none'),
          ],
          policy: definition.policy,
        });
        const later = await stage.open({ agent });
        await later.decide({
          session,
          call: '1.1.1',
          digest: call?.digest ?? ('' as never),
          decision: { do: 'approve' },
        });
        await later.rest(session);
        const types = await stage.types(session);
        expect(types).toContain('call.refused');
        expect(types).not.toContain('call.started');
        expect(types).toContain('agent.updated');
        const refused = await stage.event(session, 'call.refused');
        expect(refused.data).toMatchObject({ code: 'tool-changed' });
      } finally {
        await stage.close();
        await other.close();
      }
    },
    60_000,
  );
});

const decide = (stage: Stage, session: string, call: CallState | undefined): Promise<unknown> =>
  stage.runtime.decide({
    session,
    call: call?.id ?? '1.1.1',
    digest: call?.digest ?? ('' as never),
    decision: { do: 'approve' },
  });

describe('calls of tools from a program', () => {
  const CODE =
    'const r = await tools.once({ n: 7 }); return { said: r, at: Date.now(), luck: Math.random() }';

  test('are calls of the session: asked about, on the record, and the program goes on where it was', async () => {
    const stage = stageOf([[js({ code: CODE, tools: ['once'] })]]);
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const [call] = await stage.asking(session, '1.1.1.1');
    expect(call).toMatchObject({ tool: 'once', args: '{"n":7}' });
    expect(stage.world.executions).toEqual([]);
    const at = stage.clock.now();
    stage.clock.advance(3_600_000);
    await decide(stage, session, call);
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.world.executions).toMatchObject([{ call: `${session} 1.1.1.1`, args: { n: 7 } }]);
    const said = expect.stringContaining('once did 7') as string;
    expect(await results(stage, session)).toMatchObject([
      { ok: true, value: { said, at }, room: { clockMs: at } },
    ]);
    // The model is asked twice: for the program, and after its result.
    expect(stage.heard).toHaveLength(2);
    await expectReplays(stage, session);
  });

  test('after a restart in another process the answers come from the record', async () => {
    const stage = stageOf([
      [
        js({
          code: 'const a = await tools.none({ n: 1 }); const b = await tools.once({ n: 2 }); return [a, b, Math.random()]',
          tools: ['none', 'once'],
        }),
      ],
    ]);
    const first = await stage.open();
    const session = await stage.send();
    await first.rest(session);
    const [call] = await stage.asking(session, '1.1.1.2');
    stage.crash();
    await first.close({ drainMs: 0 });
    await stage.open();
    await decide(stage, session, call);
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.world.of('none')).toHaveLength(1);
    expect(stage.world.of('once')).toHaveLength(1);
    const { executions } = stage.world;
    expect(new Set(executions.map(({ key }) => key)).size).toBe(2);
    await expectReplays(stage, session);
  });

  test('several at once are made at once, and one that is rejected throws in the program', async () => {
    const code = `const [a, b] = await Promise.all([tools.none({ n: 1 }), tools.none({ n: 2 })]);
      let why; try { await tools.once({ n: 3 }) } catch (error) { why = error.message }
      return { many: [a, b].length, why }`;
    const stage = stageOf([[js({ code, tools: ['none', 'once'] })]], {
      policy: { rules: [{ id: 'never', tools: ['once'], do: 'deny' }] },
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const why = expect.stringContaining('Policy does not allow this call (rule never)') as string;
    expect(await results(stage, session)).toMatchObject([{ ok: true, value: { many: 2, why } }]);
    const rounds = (await stage.events(session)).filter(({ type }) => type === 'call.suspended');
    expect(rounds.map(({ data }) => 'calls' in data && data.calls.length)).toEqual([2, 1]);
    await expectReplays(stage, session);
  });

  test('a result that is too large for the model comes whole to the program', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ i, text: 'a row of it' }));
    const rowTools = await javascriptTools({ rooms, tools: ['rows'] });
    const stage = stageOf(
      [[js({ code: 'const rows = await tools.rows({}); return rows.length', tools: ['rows'] })]],
      {
        tools: (world) => [...rowTools, world.tool('rows', 'none', { execute: () => rows })],
      },
    );
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    expect(await results(stage, session)).toMatchObject([{ ok: true, value: 20_000 }]);
  });

  test('more of them than the limit end the program, and nothing more is run', async () => {
    const code = 'for (let n = 0; ; n++) await tools.none({ n })';
    const stage = stageOf([[js({ code, tools: ['none'] })]], { limits: { innerCalls: 3 } });
    const runtime = await stage.open();
    const session = await stage.send();
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(stage.world.of('none')).toHaveLength(3);
    expect(stage.heard[1]?.body).toContain('the limit innerCalls is 3');
    await expectReplays(stage, session);
  });
});

test('the model is told the level in the tool itself, so that the session records it', () => {
  expect(tools[0]).toMatchObject({ name: 'run_javascript', effect: 'none', egress: false });
  expect(tools[0]?.description).toContain(`Level wasm: ${BOUNDARY.wasm}`);
});

test('an agent file asks for it with a level, limits and the tools that programs may call', async () => {
  const home = tempFolder();
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const entry = { javascript: { level: 'wasm', tools: ['files.read'], limits: { ticks: 500 } } };
  const set = toolSetSchema.parse(entry) as ToolSet;
  const [made] = await toolsOf(set, { folder: home, protect: [], env: {}, pins: 'none' });
  expect(made).toMatchObject({ name: 'run_javascript' });
  expect(made?.description).toMatch(/files\.read.*500 ticks/s);
  const wrong = { javascript: { level: 'wasm', limits: { speed: 1 } } };
  await expect(
    toolsOf(toolSetSchema.parse(wrong) as ToolSet, { folder: home, protect: [], env: {}, pins: 'none' }),
  ).rejects.toMatchObject({ code: 'room-invalid' });
  expect(toolSetSchema.safeParse({ javascript: { level: 'vm' } }).success).toBe(false);
});
