/** Tool servers as processes: servers of the SDK's own making, spoken to over standard input and output. */
import { describe, expect, test } from 'vitest';
import type { ToolContent } from '../../src/tool/content.ts';
import { until } from '../kit/clock.ts';
import { opened, processWorld, socketWorld, toolText } from '../kit/mcp-world.ts';
import { contextOf, named, refusal, run, textOf } from './mcp-stage.ts';

describe('over standard input and output', () => {
  test('a call is made once, and its answer keeps every digit', async () => {
    const structured = '{"id":1915883588174806058,"share":0.1000}';
    const answers = `{"content":[{"type":"text","text":"an ad"}],"structuredContent":${structured}}`;
    const world = processWorld({ tools: [toolText('get_ad')], acts: { get_ad: { answers } } });
    const server = await opened({ name: 'ads', command: world.command });
    const result = await run(named(server, 'ads.get_ad'), { campaign: 7 });
    expect(result.parts).toEqual([
      { kind: 'text', text: 'an ad' },
      { kind: 'json-text', text: structured },
    ]);
    expect(world.calls()).toEqual([{ tool: 'get_ad', args: '{"campaign":7}' }]);
  });

  test('the process gets the variables that were named, and no secret comes back', async () => {
    process.env['FOREIGN_TOKEN'] = 'foreign-0123456789';
    const world = processWorld({ tools: [toolText('env')], acts: { env: { echoes: 'environment' } } });
    const server = await opened({
      name: 'files',
      command: world.command,
      env: { LANG: 'C' },
      secrets: { FILES_TOKEN: 'own-"9876543210' },
    });
    const text = textOf(await run(named(server, 'files.env')));
    delete process.env['FOREIGN_TOKEN'];
    expect(Object.keys(JSON.parse(text) as object).filter((name) => !name.startsWith('__'))).toEqual([
      'LANG',
      'FILES_TOKEN',
    ]);
    expect(text).toContain('[secret FILES_TOKEN]');
    expect(text).not.toMatch(/9876543210|foreign/);
  });

  test('a server that dies in a write leaves the call in doubt, and the next call begins it anew', async () => {
    const world = processWorld({ tools: [toolText('save')], acts: { save: { dies: true } } });
    const server = await opened({ name: 'files', command: world.command });
    const save = named(server, 'files.save');
    const lost = await refusal(run(save));
    expect([lost.code, lost.happened]).toEqual(['tool-server-lost', 'unknown']);
    expect(world.calls()).toHaveLength(1);
    world.change({ acts: {} });
    expect(textOf(await run(save))).toBe('ok');
    expect(world.calls()).toHaveLength(2);
  });

  test('what was held for a session is said to be gone once the server was begun anew', async () => {
    const world = processWorld();
    const server = await opened({ name: 'files', command: world.command });
    const save = named(server, 'files.save');
    expect(textOf(await run(save))).toBe('ok');
    await server.close();
    const context = contextOf();
    expect((await save.preview?.({} as never, context))?.warnings).toEqual([
      expect.stringMatching(/begun anew/),
    ]);
    expect(textOf((await save.execute({} as never, context)) as ToolContent)).toMatch(/begun anew.*\nok/);
    expect(textOf(await run(save))).toBe('ok');
    expect(world.calls()).toHaveLength(3);
  });

  test('a program that is not there, or is none of these servers, is named with what it said', async () => {
    const missing = await refusal(opened({ name: 'files', command: ['/nowhere/server'] }));
    expect(missing.message).toMatch(/"files" could not be asked: \/nowhere\/server .*ENOENT/);
    const script = 'console.error("no such database"); process.exit(3)';
    const failing = await refusal(opened({ name: 'files', command: [process.execPath, '-e', script] }));
    expect(failing.message).toMatch(/It said: no such database/);
    expect(failing.happened).toBe(false);
  });

  test('a call that is broken off is in doubt', async () => {
    const world = processWorld({ acts: { save: { hangs: true } } });
    const server = await opened({ name: 'files', command: world.command });
    const abort = new AbortController();
    const context = contextOf({ signal: abort.signal });
    const work = refusal(run(named(server, 'files.save'), {}, context));
    await until('the call is taken', () => world.calls().length === 1);
    abort.abort();
    expect(await work).toMatchObject({ code: 'tool-server-lost', happened: 'unknown' });
  });

  test('a list in pages is read to its end', async () => {
    const tools = ['a', 'b', 'c', 'd', 'e'].map((name) => toolText(name));
    const world = await socketWorld({ tools, page: 2 });
    const server = await opened({ name: 'files', url: world.url });
    expect(server.tools.map(({ name }) => name)).toEqual([
      'files.a',
      'files.b',
      'files.c',
      'files.d',
      'files.e',
    ]);
  });

  test('a key is passed on where the tool is said to take one', async () => {
    const world = await socketWorld({ tools: [toolText('save')], acts: { save: { echoes: 'meta' } } });
    const tools = { save: { effect: 'idempotent' as const } };
    const server = await opened({ name: 'files', url: world.url, tools });
    expect(textOf(await run(named(server, 'files.save')))).toBe('{"onrecord/idempotency-key":"key-1"}');
  });
});
