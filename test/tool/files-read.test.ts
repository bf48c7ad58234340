/** Promise: a read says what it read, how, and what it left out. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ToolContent } from '../../src/tool/content.ts';
import { FILE_BYTES_MAX, openFolder } from '../../src/tool/files/folder.ts';
import { matchesGlob } from '../../src/tool/files/glob.ts';
import { LIST_ENTRIES_MAX } from '../../src/tool/files/list.ts';
import { READ_CHARS_MAX } from '../../src/tool/files/read.ts';
import { SEARCH_MS_MAX } from '../../src/tool/files/search.ts';
import { fileTools, type FolderToolOptions } from '../../src/tool/files/tools.ts';
import { toJsonSchema } from '../../src/tool/schema.ts';
import { ToolError, type ToolContext } from '../../src/tool/tool.ts';
import type { Json } from '../../src/event/json.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'onrecord-read-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const put = (name: string, text: string | Uint8Array): void => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
};

type Given = { readonly options?: Partial<FolderToolOptions>; readonly context?: Partial<ToolContext> };

const run = async (
  name: string,
  input: Json,
  { options = {}, context = {} }: Given = {},
): Promise<unknown> => {
  const tool = fileTools({ root, ...options }).find((one) => one.name === `files.${name}`);
  if (!tool) throw new Error(`no tool files.${name}`);
  return tool.execute(input as never, {
    signal: new AbortController().signal,
    idempotencyKey: 'k',
    attempt: 1,
    call: 's_1 1.1.1',
    log: { info: () => undefined, warn: () => undefined },
    now: () => 0,
    startedAt: 0,
    made: [],
    callTool: () => undefined,
    base: undefined,
    ...context,
  });
};

const codeOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    return `returned ${JSON.stringify(await act)}`;
  } catch (error) {
    if (error instanceof ToolError) return error.code;
    throw error;
  }
};

const labels = (options: Partial<FolderToolOptions>): unknown =>
  Object.fromEntries(fileTools({ root, ...options }).map((tool) => [tool.name, [tool.effect, tool.labels]]));

test('tools are labelled: what is read is private, and untrusted where the operator says so', () => {
  expect(labels({ prefix: 'inbox', untrusted: true })).toMatchObject({
    'inbox.list': ['none', { private: true, untrusted: true }],
    'inbox.read': ['none', { private: true, untrusted: true }],
    'inbox.search': ['none', { private: true, untrusted: true }],
    'inbox.write': ['reconcilable', { private: false, untrusted: false }],
    'inbox.edit': ['reconcilable', { private: false, untrusted: false }],
  });
  expect(labels({})).toMatchObject({ 'files.read': ['none', { private: true, untrusted: false }] });
  for (const { name, inputSchema } of fileTools({ root }))
    expect(toJsonSchema(name, inputSchema)).toMatchObject({ type: 'object', additionalProperties: false });
});

describe('read', () => {
  test.each([
    ['utf-8', 'ä\nb', Buffer.from('ä\nb'), 'lf'],
    ['utf-8 with byte order mark', 'ä\r\n', Buffer.from('\ufeffä\r\n'), 'crlf'],
    ['utf-16le with byte order mark', 'ä\rb\n', Buffer.from('\ufeffä\rb\n', 'utf16le'), 'mixed'],
    ['utf-16be with byte order mark', 'ä', Buffer.from('\ufeffä', 'utf16le').swap16(), 'none'],
    ['windows-1252', 'ä€', Buffer.of(0xe4, 0x80), 'none'],
    ['utf-8', '', Buffer.of(), 'none'],
  ])('%s is decoded and named', async (encoding, text, bytes, lineEnds) => {
    put('n.txt', bytes);
    const shown = await run('read', { path: 'n.txt' });
    expect(shown).toMatchObject({ path: 'n.txt', text, encoding, lineEnds, bytes: bytes.length });
    expect(Object.hasOwn(shown as object, 'note')).toBe(encoding === 'windows-1252');
  });

  test('lines from to, numbered, up to the limits, and on from next', async () => {
    put('n.txt', 'a\nb\r\nc\nd');
    expect(await run('read', { path: 'n.txt', from: 2, lines: 2, numbered: true })).toMatchObject({
      text: '2\tb\r\n3\tc\n',
      from: 2,
      to: 3,
      lines: 4,
      next: 4,
    });
    expect(await codeOf(run('read', { path: 'n.txt', from: 5 }))).toBe('line-not-found');
    const line = `${'x'.repeat(999)}\n`;
    put('long.txt', line.repeat(250));
    const part = await run('read', { path: 'long.txt' });
    expect(part).toMatchObject({ to: 100, next: 101, lines: 250 });
    put('one.txt', `${'😀'.repeat(READ_CHARS_MAX)}\nend`);
    const cut = (await run('read', { path: 'one.txt' })) as { text: string };
    expect(cut).toMatchObject({
      to: 1,
      next: 2,
      note: expect.stringContaining('Line 1 is longer') as string,
    });
    expect(cut.text.isWellFormed()).toBe(true);
  });

  test('what is not text comes as bytes with its type, and without them when it is large', async () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(10)]);
    put('a/p.png', png);
    const shown = await run('read', { path: 'a/p.png' });
    expect(shown).toBeInstanceOf(ToolContent);
    expect(shown).toMatchObject({
      parts: [
        { kind: 'json', value: { path: 'a/p.png', bytes: 18, encoding: 'binary', type: 'image/png' } },
        { kind: 'bytes', type: 'image/png', name: 'p.png', bytes: png },
      ],
    });
    put('big.bin', Buffer.alloc(2 * 1024 * 1024));
    expect(await run('read', { path: 'big.bin' })).toMatchObject({
      encoding: 'binary',
      note: expect.stringContaining('left out') as string,
    });
    put('huge.bin', Buffer.alloc(FILE_BYTES_MAX + 1));
    expect(await codeOf(run('read', { path: 'huge.bin' }))).toBe('file-too-large');
  });

  test('a colleague can read and replace through the folder alone', async () => {
    const folder = openFolder(root);
    put('n.txt', 'one');
    const { sha256 } = await folder.read('n.txt');
    const done = await folder.replace('n.txt', { bytes: Buffer.from('two'), before: sha256, key: 'k' });
    expect(done).toMatchObject({ path: 'n.txt', bytes: 3, created: false });
    expect(await codeOf(folder.read('n.txt', 2))).toBe('file-too-large');
  });
});

describe('list', () => {
  test('in order, to a depth, with what is left out', async () => {
    put('b/c/d.txt', 'x');
    put('a.txt', 'xy');
    put('.onrecord-0123456789abcdef-1-1.tmp', 'half');
    symlinkSync('a.txt', join(root, 'l'));
    expect(await run('list', { depth: 2 })).toEqual({
      path: '',
      entries: [
        { path: 'a.txt', kind: 'file', bytes: 2 },
        { path: 'b', kind: 'folder' },
        { path: 'b/c', kind: 'folder' },
        { path: 'l', kind: 'link' },
      ],
      more: false,
    });
    expect(await run('list', { path: './b/c/' })).toMatchObject({ entries: [{ path: 'b/c/d.txt' }] });
    expect(await codeOf(run('list', { path: 'zz' }))).toBe('not-found');
    expect(await codeOf(run('list', { path: 'a.txt' }))).toBe('not-a-folder');
    for (let at = 0; at < LIST_ENTRIES_MAX; at += 1) put(`many/${at}`, '');
    expect(await run('list', { path: 'many' })).toMatchObject({
      more: false,
      entries: { length: LIST_ENTRIES_MAX },
    });
    put('many/one-more', '');
    expect(await run('list', { path: 'many' })).toMatchObject({
      more: true,
      entries: { length: LIST_ENTRIES_MAX },
    });
  });
});

describe('search', () => {
  test('lines with the text, by pattern and case', async () => {
    put('a.md', 'one\r\nTwo two\r\n');
    put('d/b.txt', 'two');
    put('d/c.bin', Buffer.from('two\0'));
    put('.git/x', 'two');
    put('w.txt', Buffer.from('\ufefftwo', 'utf16le'));
    expect(await run('search', { text: 'two' })).toEqual({
      hits: [
        { path: 'a.md', line: 2, text: 'Two two' },
        { path: 'd/b.txt', line: 1, text: 'two' },
        { path: 'w.txt', line: 1, text: 'two' },
      ],
      filesRead: 3,
      skipped: 2,
    });
    expect(await run('search', { text: 'TWO', ignoreCase: true, files: '*.txt', path: 'd' })).toMatchObject({
      hits: [{ path: 'd/b.txt' }],
    });
    expect(await run('search', { text: 'two', path: '.git' })).toMatchObject({ hits: [{ path: '.git/x' }] });
    expect(await run('search', { text: 'two', limit: 1 })).toMatchObject({
      hits: { length: 1 },
      stopped: 'enough hits',
    });
    expect(await run('search', { text: 'one\nTwo' })).toMatchObject({ hits: [] });
  });

  test('it ends in time, and at once when cancelled', async () => {
    for (let at = 0; at < 20; at += 1) put(`${at}.txt`, 'x');
    let clock = 0;
    const found = await run(
      'search',
      { text: 'x' },
      { context: { now: () => (clock += SEARCH_MS_MAX / 25) } },
    );
    expect(found).toMatchObject({ stopped: 'out of time' });
    expect(await codeOf(run('search', { text: 'x' }, { context: { signal: AbortSignal.abort() } }))).toBe(
      'cancelled',
    );
  });

  test('a long line is cut around the hit', async () => {
    put('n.txt', `${'😀'.repeat(500)}needle${'😀'.repeat(500)}`);
    const { hits } = (await run('search', { text: 'needle' })) as { hits: { text: string }[] };
    expect(hits[0]?.text).toContain('needle');
    expect(hits[0]?.text.isWellFormed()).toBe(true);
    expect(hits[0]?.text.length).toBeLessThan(310);
  });
});

describe('patterns', () => {
  test.each([
    ['*.md', 'a/b.md', true],
    ['a/*.md', 'a/b.md', true],
    ['a/*.md', 'a/c/b.md', false],
    ['a/**/*.md', 'a/b.md', true],
    ['a/**/*.md', 'a/c/d/b.md', true],
    ['**/c/*', 'a/c/d', true],
    ['**/c/*', 'a/c/d/e', false],
    ['a/**', 'a/b/c', true],
    ['?.txt', 'ab.txt', false],
    ['a*b*c', 'aXbXbXc', true],
    ['[a].txt', '[a].txt', true],
  ])('%s and %s: %s', (pattern, path, matches) => expect(matchesGlob(pattern, path)).toBe(matches));

  test('no pattern is slow', () => {
    expect(matchesGlob(`${'*a'.repeat(400)}b`, 'a'.repeat(255))).toBe(false);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('*', 'a', 'b', '?'), { maxLength: 8 }),
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }),
        (p, n) => {
          const regex = new RegExp(`^${p.join('').replaceAll('*', '.*').replaceAll('?', '.')}$`, 'u');
          expect(matchesGlob(p.join(''), n.join(''))).toBe(regex.test(n.join('')));
        },
      ),
    );
  });
});
