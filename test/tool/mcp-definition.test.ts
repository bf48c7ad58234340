/** What a tool server says of its tools is held against limits, pinned, and never believed. */
import { describe, expect, test } from 'vitest';
import { opened, socketWorld, toolText } from '../kit/mcp-world.ts';
import { contextOf, named, rawly, refusal, run, textOf } from './mcp-stage.ts';

const nested = (levels: number): string =>
  `{"type":"object","properties":${'{"a":{"type":"object","properties":'.repeat(levels)}{}${'}}'.repeat(levels)}}`;

describe('a definition that changes', () => {
  const schema = { type: 'object', properties: { to: { type: 'string' } } };
  const changes: readonly (readonly [string, readonly string[], string])[] = [
    ['its description', [toolText('save', { description: 'publishes' })], 'tool-changed'],
    ['a parameter more', [toolText('save', { inputSchema: schema })], 'tool-changed'],
    ['its annotations', [toolText('save', { annotations: { readOnlyHint: true } })], 'tool-changed'],
    ['what it answers with', [toolText('save', { outputSchema: schema })], 'tool-changed'],
    ['a text that nobody sees', [toolText('save', { description: 'does save\u{e0041}' })], 'tool-changed'],
    ['listed twice', [toolText('save'), toolText('save')], 'tool-changed'],
    ['another name', [toolText('save_all')], 'tool-gone'],
  ];
  test.each(changes)('%s: nothing is called', async (_, tools, code) => {
    const world = await socketWorld({ tools: [toolText('save')] });
    const server = await opened({ name: 'files', url: world.url });
    const save = named(server, 'files.save');
    await run(save);
    world.change({ tools });
    const refused = await refusal(run(save));
    expect([refused.code, refused.happened]).toEqual([code, false]);
    // Nor where nobody has looked before.
    expect((await refusal(Promise.resolve(save.execute({} as never, contextOf())))).code).toBe(code);
    expect(world.calls).toHaveLength(1);
    world.change({ tools: [toolText('purge'), toolText('save')] });
    await run(save);
    expect(world.calls).toHaveLength(2);
  });

  test('what programs tell each other beside the definition is no change', async () => {
    const world = await socketWorld({ tools: [toolText('save')] });
    const server = await opened({ name: 'files', url: world.url });
    world.change({ tools: [toolText('save', { _meta: { build: 2 } })] });
    expect(textOf(await run(named(server, 'files.save')))).toBe('ok');
  });
});

describe('definitions that cannot be offered', () => {
  const bad: readonly (readonly [string, string, string])[] = [
    ['500 levels', `{"name":"bad","inputSchema":${nested(500)}}`, 'schema-too-deep'],
    [
      '20,000 levels',
      `{"name":"bad","inputSchema":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      'schema-too-deep',
    ],
    ['100 kB of text', toolText('bad', { description: 'x'.repeat(100_000) }), 'tool-definition-too-large'],
    ['hidden text', toolText('bad', { description: 'reads\u202e files' }), 'tool-text-hidden'],
    [
      'hidden text in a parameter',
      toolText('bad', { inputSchema: { type: 'object', description: 'a\u200bb' } }),
      'tool-text-hidden',
    ],
    ['an escape for terminals', toolText('bad', { description: 'reads\u001b[2K' }), 'tool-text-hidden'],
    ['a schema of a list', toolText('bad', { inputSchema: { type: 'array' } }), 'schema-unusable'],
    [
      'a schema that lies elsewhere',
      toolText('bad', { inputSchema: { type: 'object', $ref: 'https://x.example/s' } }),
      'schema-unusable',
    ],
    ['no schema', '{"name":"bad"}', 'schema-unusable'],
    ['a name twice', `${toolText('bad')},${toolText('bad', { description: 'another' })}`, 'tool-name-twice'],
    [
      'a key twice',
      '{"name":"bad","name":"bad","inputSchema":{"type":"object"}}',
      'tool-definition-unreadable',
    ],
  ];
  // One server for all: what it lists is raw text, which the SDK's server could not hold.
  test.each(bad)('%s: set aside, and the others stay', async (_, text, code) => {
    const world = await socketWorld();
    const result = `{"tools":[${text},${toolText('fine')}]}`;
    world.before = rawly('tools/list', result);
    const server = await opened({ name: 'odd', url: world.url });
    expect(server.tools.map(({ name }) => name)).toEqual(['odd.fine']);
    expect(server.setAside).toEqual([{ name: 'odd.bad', code, message: expect.any(String) }]);
    expect(textOf(await run(named(server, 'odd.fine')))).toBe('ok');
  });

  test('emoji, German and a schema of an older draft are fine', async () => {
    const inputSchema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
    const description = 'Grüße 👩‍💻️\n\tin zwei Zeilen';
    const world = await socketWorld({ tools: [toolText('save', { description, inputSchema })] });
    const server = await opened({ name: 'files', url: world.url });
    expect(server.setAside).toEqual([]);
    expect(named(server, 'files.save').inputSchema).toEqual({ type: 'object' });
  });
});

describe('what a tool of a server is held to be', () => {
  test('once, untrusted, asked about by policy, and able to send something out, whatever its server says', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
    const world = await socketWorld({ tools: [toolText('save', { annotations })] });
    const server = await opened({ name: 'files', url: world.url });
    expect(named(server, 'files.save')).toMatchObject({
      effect: 'once',
      approval: 'policy',
      egress: true,
      labels: { untrusted: true, private: false },
      description: 'From the tool server "files", in its own words: does save',
      server: { name: 'files', tool: 'save', pin: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  test('only what the configuration names is offered, as the configuration says', async () => {
    const world = await socketWorld({ tools: [toolText('read'), toolText('save'), toolText('purge')] });
    const server = await opened({
      name: 'files',
      url: world.url,
      defaults: { timeoutMs: 1000 },
      tools: { read: { effect: 'none', labels: { private: true } }, save: {} },
    });
    expect(server.tools.map(({ name, effect, timeoutMs }) => [name, effect, timeoutMs])).toEqual([
      ['files.read', 'none', 1000],
      ['files.save', 'once', 1000],
    ]);
    expect(named(server, 'files.read').labels).toEqual({ untrusted: true, private: true });
    await expect(opened({ name: 'files', url: world.url, tools: { wipe: {} } })).rejects.toThrow(
      /has no tool "wipe"; it has read, save, purge/,
    );
  });
});
