/** Gates that hold: what is frozen starts nothing, in any process, and goes on by itself when it is lifted. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Mode } from '../../src/event/definition.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import { tool, type Tool, type ToolOptions } from '../../src/tool/tool.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { expectProof, soon } from '../crash/children/stage.ts';
import { audit } from '../kit/audit.ts';
import { startChild, type Child } from '../kit/child.ts';
import { calm, until } from '../kit/clock.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { ALL_RUN, Stage, type StageOptions } from '../kit/stage.ts';

type Gate = { readonly tool: Tool; readonly began: () => boolean; readonly release: () => void };

/** A tool that runs until it is released. */
const waits = (name: string, effect: ToolOptions<unknown>['effect']): Gate => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let began = false;
  const made = tool({
    name,
    description: 'ends when it is told to',
    inputSchema: { type: 'object' },
    effect: effect ?? 'none',
    execute: () => {
      began = true;
      return promise;
    },
  });
  return { tool: made, began: () => began, release: () => resolve('released') };
};

/** A tool that writes a line into a real file. */
const writes = (file: string): Tool =>
  tool({
    name: 'write',
    description: 'writes a line',
    inputSchema: { type: 'object' },
    effect: 'once',
    execute: () => {
      appendFileSync(file, 'a line\n');
      return 'written';
    },
  });

const lines = (file: string): number => linesIn(file).length;

const says =
  (...steps: readonly ScriptReply[]) =>
  (_: number, step: number): ScriptReply =>
    steps[step - 1] ?? { text: 'Done.' };

const set = async (operator: Child, mode: Mode): Promise<void> => {
  const before = operator.lines.length;
  operator.say(mode);
  await operator.line((line) => line === `set ${mode}` && operator.lines.length > before);
};

const stageIn = (options: StageOptions): Stage => new Stage({ policy: ALL_RUN, ...options });

describe('a store that another process has frozen', () => {
  test('starts nothing; what has begun ends; and when it is lifted, all goes on by itself', async () => {
    const file = tempFile();
    const out = join(tempFolder(), 'out');
    const slow = waits('slow', 'once');
    const stage = stageIn({
      store: openSqlite(file),
      tools: () => [slow.tool, writes(out)],
      says: says({ calls: [{ tool: 'slow' }] }, { calls: [{ tool: 'write' }] }),
    });
    await stage.open();
    const operator = startChild('child-gate.ts', [file]);
    await operator.line((line) => line === 'open');
    const session = await stage.send();
    await soon('the slow call runs', slow.began);

    await set(operator, 'frozen');
    slow.release();
    await soon('its result is in the log', async () => (await stage.types(session)).includes('call.result'));
    expect(await stage.runtime.rest(session)).toMatchObject({ status: 'running' });
    const second = await stage.send('Another one.');
    expect(await stage.runtime.rest(second)).toMatchObject({ status: 'running' });
    expect((await stage.types(session)).filter((type) => type === 'request.built')).toHaveLength(1);
    expect(await stage.types(second)).toEqual(['session.created', 'turn.accepted']);
    expect((await stage.runtime.gate()).last).toMatchObject({ by: { name: 'operator' }, mode: 'frozen' });
    expect((await stage.runtime.sessions()).map(({ session: name }) => name)).not.toContain('control');

    await set(operator, 'normal');
    await soon('both sessions end', async () =>
      (await stage.runtime.sessions()).every(({ summary }) => summary.status === 'done'),
    );
    expect(lines(out)).toBe(1 + 1);
    for (const one of [session, second]) await expectProof(stage.store, one);
    stage.expectNoWarnings();
  });

  test('a call that was approved under the freeze starts when it is lifted, beside one that still runs', async () => {
    const out = join(tempFolder(), 'out');
    const slow = waits('slow', 'none');
    const stage = new Stage({
      store: openSqlite(tempFile()),
      policy: { rules: [] },
      tools: () => [slow.tool, writes(out)],
      says: says({ calls: [{ tool: 'slow' }, { tool: 'write' }] }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    const [call] = await stage.asking(session, '1.1.2');
    await until('the slow call runs', slow.began);
    await runtime.setMode('frozen');
    const { digest } = call ?? {};
    if (!digest) throw new Error('asked');
    await runtime.decide({ session, call: '1.1.2', digest, decision: { do: 'approve' } });
    await calm(50);
    expect(lines(out)).toBe(0);
    await runtime.setMode('normal');
    await until('the approved call runs', () => lines(out) === 1);
    slow.release();
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  });
});

describe('a freeze is no answer', () => {
  test('a preview that it broke off is made again, and the call is not refused', async () => {
    const out = join(tempFolder(), 'out');
    let looks = 0;
    const { promise: forEver } = Promise.withResolvers<never>();
    const shows = tool({
      name: 'write',
      description: 'writes a line',
      inputSchema: { type: 'object' },
      effect: 'once',
      preview: () => (++looks === 1 ? forEver : { title: 'Write a line', blocks: [] }),
      execute: () => {
        appendFileSync(out, 'a line\n');
        return 'written';
      },
    });
    const stage = new Stage({
      policy: { rules: [] },
      tools: () => [shows],
      says: says({ calls: [{ tool: 'write' }] }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await until('the preview is being made', () => looks === 1);
    await runtime.setMode('frozen', { session });
    await runtime.rest(session);
    expect(await stage.types(session)).not.toContain('call.refused');
    await runtime.setMode('normal', { session });
    const [call] = await stage.asking(session, '1.1.1');
    expect(call?.prepared?.title).toBe('Write a line');
    expect(lines(out)).toBe(0);
  });
});

describe('a gate that was lifted keeps nothing back any more', () => {
  test('from a call that is approved afterwards, in a session that nobody drove meanwhile', async () => {
    const slow = waits('slow', 'none');
    const out = join(tempFolder(), 'out');
    const stage = new Stage({
      policy: { rules: [] },
      tools: () => [slow.tool, writes(out)],
      says: says({ calls: [{ tool: 'slow' }, { tool: 'write' }] }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    const [call] = await stage.asking(session, '1.1.2');
    await runtime.setMode('read-only');
    await stage.event(session, 'mode.changed');
    slow.release();
    await runtime.rest(session);
    await runtime.setMode('normal');
    const { digest } = call ?? {};
    if (!digest) throw new Error('asked');
    await runtime.decide({ session, call: '1.1.2', digest, decision: { do: 'approve' } });
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(lines(out)).toBe(1);
    await audit(stage, session, await stage.state(session));
  });

  test('from a call that is proposed afterwards, by a model that was asked before', async () => {
    const out = join(tempFolder(), 'out');
    const { promise, resolve } = Promise.withResolvers<void>();
    const stage = stageIn({ tools: () => [writes(out)], says: says({ calls: [{ tool: 'write' }] }) });
    const { model } = stage.agent;
    const slowly: typeof model = {
      ...model,
      send: async (request) => {
        const reply = await model.send(request);
        await promise;
        return reply;
      },
    };
    const runtime = await stage.open({ agent: { ...stage.agent, model: slowly } });
    const session = await stage.send();
    await until('the model is asked', () => stage.heard.length === 1);
    await runtime.setMode('read-only');
    await stage.event(session, 'mode.changed');
    await runtime.setMode('normal');
    resolve();
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    expect(lines(out)).toBe(1);
  });
});

test('a read-only session reads real files and writes none, whatever policy says, and the model is told', async () => {
  const root = tempFolder();
  writeFileSync(join(root, 'a.txt'), 'as it is\n');
  const stage = stageIn({
    store: openSqlite(tempFile()),
    tools: () => fileTools({ root }),
    says: says({
      calls: [
        { tool: 'files.read', args: { path: 'a.txt' } },
        { tool: 'files.edit', args: { path: 'a.txt', old: 'as it is', new: 'changed' } },
      ],
    }),
  });
  const runtime = await stage.open();
  const { session } = await runtime.send({ agent: 'clerk', message: 'Change nothing.', mode: 'read-only' });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('as it is\n');
  expect(await stage.types(session)).not.toContain('approval.requested');
  expect(stage.heard[1]?.body).toMatch(/as it is.*This session is read-only: files\.edit was not run/s);
});

test('a dry run previews with real files and changes none', async () => {
  const root = tempFolder();
  writeFileSync(join(root, 'a.txt'), 'as it is\n');
  const stage = stageIn({
    tools: () => fileTools({ root }),
    says: says({
      calls: [{ tool: 'files.edit', args: { path: 'a.txt', old: 'as it is', new: 'changed' } }],
    }),
  });
  const runtime = await stage.open();
  const { session } = await runtime.send({ agent: 'clerk', message: 'Try it.', mode: 'dry-run' });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('as it is\n');
  const prepared = await stage.event(session, 'call.prepared');
  expect(JSON.stringify(prepared.data)).toMatch(/changed/);
  expect(stage.heard[1]?.body).toMatch(
    /Dry run: files\.edit was not run and nothing was changed\. It would: /,
  );
});

test('the store’s own log is no session: nothing but its gate is written there', async () => {
  const stage = stageIn({});
  const runtime = await stage.open();
  await runtime.setMode('frozen');
  const no = { code: 'session-not-found' };
  await expect(runtime.send({ session: 'control', message: 'Hello.' })).rejects.toMatchObject(no);
  await expect(runtime.setMode('normal', { session: 'control' })).rejects.toMatchObject(no);
  await expect(runtime.cancel('control')).rejects.toMatchObject(no);
  expect(await stage.types('control')).toEqual(['mode.changed']);
  expect(await runtime.gate()).toMatchObject({ mode: 'frozen', head: 1 });
  expect(await runtime.setMode('normal')).toEqual({ replayed: false });
  expect(await runtime.setMode('normal')).toEqual({ replayed: true });
  await expect(runtime.setMode('loose' as never)).rejects.toMatchObject({ code: 'mode-unknown' });
});

test('a gate that was set twice at once, by two runtimes, is set once', async () => {
  const file = tempFile();
  const runtimes = await Promise.all(
    [1, 2].map(() => openRuntime({ store: openSqlite(file), agents: [], drive: false })),
  );
  const answers = await Promise.all(runtimes.map((runtime) => runtime.setMode('frozen')));
  expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
  for (const runtime of runtimes) expect((await runtime.gate()).head).toBe(1);
});
