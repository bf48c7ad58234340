/** Promise: an edit changes the bytes of the replaced text and no others. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { editText } from '../../src/tool/files/edit.ts';
import { lfView } from '../../src/tool/files/lines.ts';
import { decodeText, encodeText, spliceText } from '../../src/tool/files/text.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import type { Preview } from '../../src/tool/preview.ts';
import { ToolError, type Reconciled, type ToolContext } from '../../src/tool/tool.ts';
import type { Json } from '../../src/event/json.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'onrecord-change-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const put = (name: string, text: string | Uint8Array): void => writeFileSync(join(root, name), text);
const get = (name: string): string => readFileSync(join(root, name), 'utf8');

type Bound = {
  readonly preview: () => Promise<Preview>;
  readonly run: (base?: Json, signal?: AbortSignal) => Promise<unknown>;
  readonly settle: (base?: Json) => Promise<Reconciled>;
};

const context = (base?: Json, signal = new AbortController().signal): ToolContext => ({
  signal,
  idempotencyKey: 'session-1/2.3.4',
  attempt: 1,
  call: 's_1 2.3.4',
  log: { info: () => undefined, warn: () => undefined },
  now: () => 0,
  startedAt: 0,
  made: [],
  callTool: () => undefined,
  base,
});

/** One call of one tool with these arguments. */
const call = (name: string, input: Json): Bound => {
  const tool = fileTools({ root }).find((one) => one.name === `files.${name}`);
  if (!tool?.preview || !tool.reconcile) throw new Error(`files.${name} is not a tool that writes`);
  const { preview, reconcile, execute } = tool;
  return {
    preview: async () => preview(input as never, context()),
    run: async (base, signal) => execute(input as never, context(base, signal)),
    settle: async (base) => reconcile(input as never, context(base)),
  };
};

const codeOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    return `returned ${JSON.stringify(await act)}`;
  } catch (error) {
    if (error instanceof ToolError) return error.code;
    throw error;
  }
};

const bytesOf = (text: string, edit: { old: string; new: string; all?: boolean }): string => {
  const file = decodeText(Buffer.from(text));
  if (!file) throw new Error('not text');
  return Buffer.from(editText('n.txt', file, edit).bytes).toString();
};

describe('only-the-replaced-range-changes', () => {
  test('CRLF files are matched with LF and keep their line ends', async () => {
    put('a.txt', 'a = 1\r\nb = 2\r\nc = 3\r\n');
    const edit = call('edit', { path: 'a.txt', old: 'a = 1\nb = 2', new: 'a = 1\nb = 22' });
    const shown = await edit.preview();
    expect(shown.blocks).toMatchObject([{ added: 1, removed: 1 }]);
    await edit.run(shown.base);
    expect(get('a.txt')).toBe('a = 1\r\nb = 22\r\nc = 3\r\n');
  });

  test.each([
    ['new lines follow the lines before them', 'a\r\nb\r\n', { old: 'b', new: 'b\nc' }, 'a\r\nb\r\nc\r\n'],
    [
      'in a file of mixed line ends too',
      'a\nb\r\nc\r\nd\n',
      { old: 'b\nc\nd', new: 'b\nx\nc\nd' },
      'a\nb\r\nx\r\nc\r\nd\n',
    ],
    [
      'CRLF from the model does not get into an LF file',
      'a\nb\n',
      { old: 'a\r\nb', new: 'a\r\nc\r\nb' },
      'a\nc\nb\n',
    ],
    ['a lone CR is text', 'a\rb\r\r\n', { old: 'b\r\r\n', new: 'x\n' }, 'a\rx\r\n'],
    ['all occurrences', 'aXa\r\na', { old: 'a', new: 'b\n', all: true }, 'b\r\nXb\r\n\r\nb\r\n'],
    ['astral characters that share a half', 'x😀y', { old: '😀', new: '😁' }, 'x😁y'],
    ['and another half', 'x😀y', { old: '😀', new: '\u{1fa00}' }, 'x\u{1fa00}y'],
    ['removal', 'a\r\nb\r\nc', { old: 'b\n', new: '' }, 'a\r\nc'],
  ])('%s', (_, before, edit, after) => {
    expect(bytesOf(before, edit)).toBe(after);
  });

  test.each([
    ['utf-8 with a mark', Buffer.from('\ufeffä=1\r\nb=2\r\n'), Buffer.from('\ufeffä=1\r\nb=é\r\n')],
    [
      'utf-16le',
      Buffer.from('\ufeffä=1\r\nb=2\r\n', 'utf16le'),
      Buffer.from('\ufeffä=1\r\nb=é\r\n', 'utf16le'),
    ],
    [
      'utf-16be',
      Buffer.from('\ufeffä=1\r\nb=2\r\n', 'utf16le').swap16(),
      Buffer.from('\ufeffä=1\r\nb=é\r\n', 'utf16le').swap16(),
    ],
    ['windows-1252', Buffer.from('ä=1\r\nb=2\r\n', 'latin1'), Buffer.from('ä=1\r\nb=é\r\n', 'latin1')],
  ])('an edit keeps %s', async (_, before, after) => {
    put('n.txt', before);
    await call('edit', { path: 'n.txt', old: 'b=2', new: 'b=é' }).run();
    expect(readFileSync(join(root, 'n.txt'))).toEqual(after);
  });

  test.each([
    ['edit-not-found', { old: 'zzz', new: 'y' }],
    ['edit-ambiguous', { old: 'aa', new: 'y' }],
    ['edit-changes-nothing', { old: 'aaa', new: 'aaa' }],
    ['text-not-encodable', { old: 'b=2', new: '\ud800' }],
    ['edit-not-found', { old: '\ude00', new: 'y' }],
  ])('%s', async (code, edit) => {
    put('n.txt', 'aaa\nb=2 😀\n');
    expect(await codeOf(call('edit', { path: 'n.txt', ...edit }).preview())).toBe(code);
    expect(await codeOf(call('edit', { path: 'n.txt', ...edit }).run())).toBe(code);
    expect(get('n.txt')).toBe('aaa\nb=2 😀\n');
  });

  test('errors say where and why', async () => {
    put('n.txt', 'x = 1\n  y  = 2\nx = 1\ncafe\u0301\n');
    const message = async (old: string): Promise<string> => {
      const error = await call('edit', { path: 'n.txt', old, new: '' })
        .run()
        .then(String, (cause: unknown) => cause);
      return error instanceof ToolError ? error.message : String(error);
    };
    expect(await message('x = 1')).toBe(
      'The text to replace occurs 2 times in "n.txt", in line 1, 3. Add text around it, or set "all".',
    );
    expect(await message('y = 2')).toContain('with other white space');
    expect(await message('caf\u00e9')).toContain('another Unicode form');
    put('n.bin', Uint8Array.of(0, 1, 2));
    expect(await codeOf(call('edit', { path: 'n.bin', old: 'a', new: 'b' }).run())).toBe('not-text');
  });

  test('the LF view maps every position back, and splices touch nothing else', () => {
    const text = fc
      .array(fc.constantFrom('\r', '\n', '\r\n', 'a', 'ä', '😀'), { maxLength: 30 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        text,
        fc.nat(),
        fc.nat(),
        fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
        (original, a, b, encoding) => {
          const view = lfView(original);
          expect(view.text).toBe(original.replaceAll('\r\n', '\n'));
          for (let at = 0; at < view.text.length; at += 1) {
            const piece = original.slice(view.original(at), view.original(at + 1));
            expect(piece.replaceAll('\r\n', '\n')).toBe(view.text[at]);
          }
          const mark = encoding === 'utf-8' ? new Uint8Array() : encodeText('\ufeff', encoding);
          const bytes = Buffer.concat([mark, encodeText(original, encoding)]);
          const [start = 0, end = 0] = [a % (original.length + 1), b % (original.length + 1)].toSorted(
            (x, y) => x - y,
          );
          const rest = original.slice(0, start) + original.slice(end);
          if (!rest.isWellFormed() || !original.slice(0, start).isWellFormed()) return;
          const spliced = spliceText({ text: original, encoding, mark, bytes }, [{ start, end, text: 'é' }]);
          const wanted = `${original.slice(0, start)}é${original.slice(end)}`;
          expect(Buffer.from(spliced)).toEqual(Buffer.concat([mark, encodeText(wanted, encoding)]));
        },
      ),
    );
  });
});
