/** Tool servers behind real sockets: sessions that are forgotten, streams that break, answers of every kind. */
import { describe, expect, test } from 'vitest';
import type { ToolContent } from '../../src/tool/content.ts';
import { opened, socketWorld, toolText } from '../kit/mcp-world.ts';
import { contextOf, named, rawly, refusal, run, textOf } from './mcp-stage.ts';

/** As it stands: the SDK's own server would not send all of this. */
const answer = async (result: string, settings = {}): Promise<ToolContent> => {
  const world = await socketWorld();
  world.before = rawly('tools/call', result);
  const server = await opened({ name: 's', url: world.url, tools: { add: settings } });
  return run(named(server, 's.add'));
};

describe('over HTTP', () => {
  for (const json of [false, true])
    test(`digits survive both ways, in ${json ? 'one answer' : 'a stream'}`, async () => {
      const answers = '{"content":[],"structuredContent":{"id":9007199254740993,"rate":1.50}}';
      const world = await socketWorld({ acts: { add: { answers } } }, { json });
      let sent = '';
      world.before = (_request, _response, body) => {
        if (body.includes('tools/call')) sent = body;
        return false;
      };
      const server = await opened({ name: 's', url: world.url });
      const result = await run(named(server, 's.add'), { order: 2_512_292_042_121_000_001n });
      expect(textOf(result)).toBe('{"id":9007199254740993,"rate":1.50}');
      expect(sent).toContain('"order":2512292042121000001');
    });

  test('a server that was started anew is begun again, and each call is made once', async () => {
    const world = await socketWorld();
    const server = await opened({ name: 's', url: world.url });
    const add = named(server, 's.add');
    await run(add);
    world.restart();
    expect(textOf(await run(add))).toMatch(/begun anew.*\nok/);
    // Between the look and the call.
    const context = contextOf();
    await add.preview?.({} as never, context);
    world.restart();
    expect(textOf((await add.execute({} as never, context)) as ToolContent)).toMatch(/begun anew.*\nok/);
    expect(world.calls).toHaveLength(3);
  });

  test('a server that was started anew with another definition gets no call', async () => {
    const world = await socketWorld();
    const server = await opened({ name: 's', url: world.url });
    const context = contextOf();
    const add = named(server, 's.add');
    await add.preview?.({} as never, context);
    world.change({ tools: [toolText('add', { description: 'sends money' })] });
    world.restart();
    expect((await refusal(Promise.resolve(add.execute({} as never, context)))).code).toBe('tool-changed');
    expect(world.calls).toEqual([]);
  });

  test('its credential goes to it alone, and comes back as a name', async () => {
    const value = 'Bearer s-0f1e2d3c4b5a6978';
    const world = await socketWorld({ acts: { add: { echoes: 'headers' } } });
    const credential = { header: 'authorization', name: 'DESK_TOKEN', value: () => value };
    const server = await opened({ name: 's', url: world.url, credential });
    const text = textOf(await run(named(server, 's.add')));
    expect(world.heard.every(({ authorization }) => authorization === value)).toBe(true);
    expect(text).toContain('"authorization":"[secret DESK_TOKEN]"');
    expect(text).not.toContain('0f1e2d3c');
    expect(Object.keys(JSON.parse(text) as object)).not.toContain('cookie');
  });

  test('a redirect to another place is not followed', async () => {
    const other = await socketWorld();
    const world = await socketWorld();
    world.before = (_request, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    };
    const credential = { header: 'authorization', name: 'DESK_TOKEN', value: () => 's-0f1e2d3c4b5a6978' };
    await refusal(opened({ name: 's', url: world.url, credential }));
    expect(other.heard).toEqual([]);
  });

  test('a stream that breaks off leaves a write in doubt at once', async () => {
    const world = await socketWorld();
    const server = await opened({ name: 's', url: world.url });
    for (const end of ['cut', 'reset'] as const) {
      world.before = (_request, response, body) => {
        if (!body.includes('tools/call')) return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': here\n\n', () =>
          end === 'cut' ? response.end() : response.socket?.resetAndDestroy(),
        );
        return true;
      };
      const lost = await refusal(run(named(server, 's.add')));
      expect([lost.code, lost.happened]).toEqual(['tool-server-lost', 'unknown']);
    }
  });

  test.each([400, 401, 403, 413, 429, 500, 502])('status %i', async (status) => {
    const world = await socketWorld();
    const server = await opened({ name: 's', url: world.url });
    world.before = (_request, response, body) => {
      if (!body.includes('tools/call')) return false;
      response.writeHead(status).end('no');
      return true;
    };
    const refused = await refusal(run(named(server, 's.add')));
    expect([refused.code, refused.happened]).toEqual(
      status < 500 ? ['tool-server-refused', false] : ['tool-server-lost', 'unknown'],
    );
  });

  test('an address without encryption, with a user in it, or with nobody there', async () => {
    await expect(opened({ name: 's', url: 'http://tools.example/mcp' })).rejects.toThrow(/not encrypted/);
    await expect(opened({ name: 's', url: 'https://a:b@tools.example/mcp' })).rejects.toThrow(/holds a user/);
    const nobody = await refusal(opened({ name: 's', url: 'http://127.0.0.1:9/mcp' }));
    expect([nobody.code, nobody.happened]).toEqual(['tool-server-unreachable', false]);
  });
});

describe('what a server answers', () => {
  test('an error is one, whatever stands beside it', async () => {
    const both =
      '{"isError":true,"content":[{"type":"text","text":"database refused the connection"}],"structuredContent":{"answer":42}}';
    const told = await refusal(answer(both, { effect: 'none' }));
    expect(told.message).toMatch(/says that this failed: database refused the connection\n\{"answer":42\}$/);
    expect(await refusal(answer(both))).toMatchObject({
      code: 'tool-error',
      happened: false,
      message: expect.stringMatching(/a part of its effect/),
    });
    expect(await refusal(answer(both, { onError: 'in-doubt' }))).toMatchObject({ happened: 'unknown' });
    expect((await refusal(answer('{"isError":true,"content":[]}'))).message).toMatch(/gave no reason/);
  });

  test('every kind of part', async () => {
    const png = 'iVBORw0KGgoA/w==';
    const result = await answer(
      JSON.stringify({
        content: [
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'audio', data: 'AAAA', mimeType: 'no media' },
          { type: 'resource', resource: { uri: 'file:///a.txt', text: 'A' } },
          { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'QQ==', mimeType: 'text/plain' } },
          { type: 'resource_link', uri: 'https://x.example/', name: 'x' },
          { type: 'image', data: 'not base64!', mimeType: 'image/png' },
        ],
        structuredContent: null,
      }),
    );
    expect(result.parts).toEqual([
      { kind: 'bytes', bytes: Buffer.from(png, 'base64'), type: 'image/png' },
      { kind: 'bytes', bytes: Buffer.from('AAAA', 'base64'), type: 'application/octet-stream' },
      { kind: 'text', text: '[file:///a.txt]\nA' },
      { kind: 'bytes', bytes: Buffer.from('A'), type: 'text/plain', name: 'file:///b.bin' },
      { kind: 'text', text: '[link https://x.example/] x' },
      { kind: 'text', text: '[a file whose bytes are no base64]' },
    ]);
  });

  test('a structured form that a text repeats is told once; one that is nested too deep is left out', async () => {
    const repeated = await answer(
      '{"content":[{"type":"text","text":"{\\"b\\": 1, \\"a\\": 2}"}],"structuredContent":{"a":2,"b":1}}',
    );
    expect(repeated.parts).toHaveLength(1);
    const deep = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
    const left = await answer(`{"content":[{"type":"text","text":"ok"}],"structuredContent":${deep}}`);
    expect(textOf(left)).toMatch(/^ok\n\[structured content was left out: nested deeper than 100/);
  });

  test('errors of the protocol: some say that nothing was run', async () => {
    for (const [code, happened] of [
      [-32_602, false],
      [-32_601, false],
      [-32_603, 'unknown'],
      [-32_000, 'unknown'],
    ] as const) {
      const world = await socketWorld({ tools: [toolText('save')], acts: { save: { refuses: code } } });
      const server = await opened({ name: 's', url: world.url });
      expect(await refusal(run(named(server, 's.save')))).toMatchObject({
        code: 'tool-server-error',
        happened,
      });
    }
  });
});
