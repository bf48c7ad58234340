/** Promise: a file is changed exactly as it was shown, once, whole, or not at all. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from 'diff';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { machineReach } from '../../src/tool/files/directory.ts';
import { openFolder, sha256Of } from '../../src/tool/files/folder.ts';
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
const digest = (text: string): string => sha256Of(Buffer.from(text));

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

const patchOf = (shown: Preview): string => {
  const block = shown.blocks.find((one) => one.kind === 'diff');
  if (block?.kind !== 'diff') throw new Error('no diff');
  return block.patch;
};

const manyLines = (word: string): string =>
  Array.from({ length: 1200 }, (_, at) => `${word} ${at}\n`).join('');

describe('what-is-shown-is-what-happens', () => {
  test('a new file', async () => {
    const write = call('write', { path: 'a/b/n.txt', text: 'one\ntwo' });
    const shown = await write.preview();
    expect(shown).toMatchObject({
      title: 'Create a file',
      target: 'a/b/n.txt',
      blocks: [{ kind: 'diff', newFile: true, added: 2, removed: 0 }],
      warnings: ['Creates the folder "a" and "a/b".'],
      base: { path: 'a/b/n.txt', before: null, after: digest('one\ntwo') },
    });
    expect(patchOf(shown)).toContain('--- /dev/null');
    expect(patchOf(shown)).toContain('\\ No newline at end of file');
    expect(readdirSync(root)).toEqual([]);
    expect(await write.run(shown.base)).toEqual({
      path: 'a/b/n.txt',
      sha256: digest('one\ntwo'),
      bytes: 7,
      created: true,
    });
    expect(get('a/b/n.txt')).toBe('one\ntwo');
  });

  test('an edit keeps mode bits and everything else of the file', async () => {
    put('price.txt', 'a=1\nb=2\n');
    chmodSync(join(root, 'price.txt'), 0o640);
    const edit = call('edit', { path: 'price.txt', old: 'a=1', new: 'a=9' });
    const shown = await edit.preview();
    expect(shown.blocks).toMatchObject([{ kind: 'diff', added: 1, removed: 1, newFile: false }]);
    expect(patchOf(shown)).toBe('--- price.txt\n+++ price.txt\n@@ -1,2 +1,2 @@\n-a=1\n+a=9\n b=2\n');
    expect(await edit.run(shown.base)).toMatchObject({ created: false, replaced: 1 });
    expect(get('price.txt')).toBe('a=9\nb=2\n');
    expect(statSync(join(root, 'price.txt')).mode & 0o777).toBe(0o640);
    expect(readdirSync(root)).toEqual(['price.txt']);
  });

  test.each([
    ['rewritten with a text the edit would fit', 'a=1\na=1\n'],
    ['rewritten with a text the edit fits once', 'a=1\nb=3\n'],
    ['emptied', ''],
  ])('a file %s since the preview is left alone', async (_, meanwhile) => {
    put('price.txt', 'a=1\nb=2\n');
    const edit = call('edit', { path: 'price.txt', old: 'a=1', new: 'a=9' });
    const { base } = await edit.preview();
    put('price.txt', meanwhile);
    expect(await codeOf(edit.run(base))).toBe('file-changed');
    expect(get('price.txt')).toBe(meanwhile);
    expect(readdirSync(root)).toEqual(['price.txt']);
  });

  test('a file that came to be, or went, since the preview is left alone', async () => {
    const write = call('write', { path: 'n.txt', text: 'mine' });
    const fresh = await write.preview();
    put('n.txt', 'theirs');
    expect(await codeOf(write.run(fresh.base))).toBe('file-changed');
    const over = await write.preview();
    rmSync(join(root, 'n.txt'));
    expect(await codeOf(write.run(over.base))).toBe('file-changed');
    expect(readdirSync(root)).toEqual([]);
  });

  test('arguments other than those of the preview are refused', async () => {
    const { base } = await call('write', { path: 'n.txt', text: 'shown' }).preview();
    expect(await codeOf(call('write', { path: 'n.txt', text: 'other' }).run(base))).toBe('file-changed');
    expect(await codeOf(call('write', { path: 'm.txt', text: 'shown' }).run(base))).toBe('file-changed');
    expect(await codeOf(call('write', { path: 'n.txt', text: 'shown' }).run({ path: 1 }))).toBe(
      'preview-unreadable',
    );
    put('m.txt', 'shown');
    expect(await codeOf(call('write', { path: 'm.txt', text: 'shown' }).run(base))).toBe('file-changed');
    expect(readdirSync(root)).toEqual(['m.txt']);
  });

  test('two edits of one file at the same moment: one is done, the other refused', async () => {
    put('n.txt', 'a\nb\n');
    const one = call('edit', { path: 'n.txt', old: 'a', new: 'A' });
    const two = call('edit', { path: 'n.txt', old: 'b', new: 'B' });
    const bases = [(await one.preview()).base, (await two.preview()).base];
    const outcomes = await Promise.all([codeOf(one.run(bases[0])), codeOf(two.run(bases[1]))]);
    expect(outcomes.filter((outcome) => outcome === 'file-changed')).toHaveLength(1);
    expect(['A\nb\n', 'a\nB\n']).toContain(get('n.txt'));
  });

  test('twenty new files of one name at the same moment: one is created', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        codeOf(call('write', { path: 'n.txt', text: `text ${at}` }).run()),
      ),
    );
    // The others either saw no file and were refused, or saw the first and were refused: none overwrote it.
    const made = outcomes.filter((outcome) => outcome.startsWith('returned'));
    expect(made.filter((outcome) => outcome.includes('"created":true'))).toHaveLength(1);
    expect(readdirSync(root)).toEqual(['n.txt']);
  });

  test('a file that another process makes at the last instant is not overwritten', async () => {
    const reach = {
      byDescriptor: machineReach.byDescriptor,
      at: (place: string, name: string): string => {
        // The temporary file is complete: the next thing to happen is the last step.
        if (name === 'n.txt' && readdirSync(root).some((entry) => entry.endsWith('.tmp')))
          put('n.txt', 'theirs');
        return join(place, name);
      },
    };
    const folder = openFolder(root, { reach });
    expect(
      await codeOf(folder.replace('n.txt', { bytes: Buffer.from('mine'), before: null, key: 'k' })),
    ).toBe('file-changed');
    const before = digest('theirs');
    expect(await codeOf(folder.replace('n.txt', { bytes: Buffer.from('mine'), before, key: 'k' }))).toBe(
      'file-changed',
    );
    expect(get('n.txt')).toBe('theirs');
    expect(readdirSync(root)).toEqual(['n.txt']);
  });

  test('a fault of the program is not told as one of the disk', async () => {
    const broken = { bytes: Buffer.from('x'), before: null, key: 7 as unknown as string };
    await expect(openFolder(root).replace('n.txt', broken)).rejects.toThrow(TypeError);
    expect(readdirSync(root)).toEqual([]);
  });

  test('the folder itself compares the digest', async () => {
    put('n.txt', 'theirs');
    const replaced = async (path: string, before: string | null): Promise<string> =>
      codeOf(openFolder(root).replace(path, { bytes: Buffer.from('mine'), before, key: 'k' }));
    expect(await replaced('n.txt', digest('other'))).toBe('file-changed');
    expect(await replaced('n.txt', null)).toBe('file-changed');
    expect(await replaced('m.txt', digest('other'))).toBe('file-changed');
    expect(await replaced('d/m.txt', digest('other'))).toBe('file-changed');
    expect(get('n.txt')).toBe('theirs');
    expect(readdirSync(root)).toEqual(['n.txt']);
  });

  test('a cancelled call writes nothing', async () => {
    const write = call('write', { path: 'n.txt', text: 'x' });
    expect(await codeOf(write.run((await write.preview()).base, AbortSignal.abort()))).toBe('cancelled');
    expect(readdirSync(root)).toEqual([]);
  });

  test('changes of encoding and of line ends are named', async () => {
    put('n.txt', '\ufeffa\r\nb\r\n');
    const shown = await call('write', { path: 'n.txt', text: 'a\nb\n' }).preview();
    expect(shown.warnings).toEqual([
      'The encoding changes from utf-8 with byte order mark to utf-8.',
      'The line ends change from crlf to lf.',
    ]);
    put('n.bin', Uint8Array.of(0, 1, 2));
    const binary = await call('write', { path: 'n.bin', text: 'a' }).preview();
    expect(binary.blocks[0]).toMatchObject({
      kind: 'text',
      text: 'Replaces 3 bytes, which are not text, by 1 bytes.',
    });
  });

  test('a huge change is one hunk in its place, and a huge new file is all added', async () => {
    put('n.txt', `1\n2\n3\n4\n5\n${manyLines('old')}end\n`);
    const shown = await call('write', {
      path: 'n.txt',
      text: `1\n2\n3\n4\n5\n${manyLines('new')}end\n`,
    }).preview();
    expect(patchOf(shown)).toContain('\n@@ -3,1204 +3,1204 @@\n 3\n 4\n 5\n-old 0\n');
    expect(shown.blocks).toMatchObject([{ added: 1200, removed: 1200 }]);
    const fresh = await call('write', { path: 'm.txt', text: manyLines('new') }).preview();
    expect(patchOf(fresh)).toContain('\n@@ -0,0 +1,1200 @@\n+new 0\n');
  });

  test('every diff, small or huge, applied to the old text gives the new one', async () => {
    expect.hasAssertions();
    const line = fc.constantFrom('', 'a', 'b', 'c', 'a\r', '+x', '-y', '\\ No newline at end of file');
    const text = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
      .map(([lines, end]) => lines.join('\n') + (end ? '\n' : ''));
    await fc.assert(
      fc.asyncProperty(text, text, fc.boolean(), async (before, after, huge) => {
        fc.pre(before !== after || huge);
        const filler = huge ? Array.from({ length: 1200 }, (_, at) => `line ${at}\n`).join('') : '';
        put('n.txt', before + filler);
        const shown = await call('write', {
          path: 'n.txt',
          text: after + filler.replaceAll('line', 'row'),
        }).preview();
        const now = after + filler.replaceAll('line', 'row');
        expect(applyPatch(before + filler, patchOf(shown), { autoConvertLineEndings: false })).toBe(now);
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});

describe('a-crash-is-settled-by-asking-the-file', () => {
  test.each([
    ['write', { path: 'n.txt', text: 'after\n' }],
    ['edit', { path: 'n.txt', old: 'before', new: 'after' }],
  ])('%s', async (name, input) => {
    put('n.txt', 'before\n');
    const one = call(name, input);
    const { base } = await one.preview();

    // Before the write, and with the temporary file of an attempt that died half way.
    expect(await one.settle(base)).toEqual({ happened: false });
    const key = sha256Of(Buffer.from('session-1/2.3.4')).slice(0, 16);
    put(`.onrecord-${key}-1-1.tmp`, 'aft');
    put('.onrecord-0123456789abcdef-1-1.tmp', 'of another call');
    expect(await one.settle(base)).toEqual({ happened: false });
    expect(readdirSync(root).toSorted()).toEqual(['.onrecord-0123456789abcdef-1-1.tmp', 'n.txt']);

    // After the write and before its record.
    const result = await one.run(base);
    expect(await one.settle(base)).toEqual({ happened: true, result });
    // Run again although it happened: the same result, the same file.
    expect(await one.run(base)).toEqual(result);
    expect(get('n.txt')).toBe('after\n');

    // Somebody wrote since: nobody can say.
    put('n.txt', 'third\n');
    expect(await one.settle(base)).toMatchObject({ happened: 'unknown' });
    expect(await one.settle()).toMatchObject({ happened: 'unknown' });
    rmSync(join(root, 'n.txt'));
    mkdirSync(join(root, 'n.txt'));
    expect(await one.settle(base)).toMatchObject({
      happened: 'unknown',
      note: expect.stringContaining('is a folder') as string,
    });
  });

  test('a crash between link and unlink of a new file is cleared away', async () => {
    const write = call('write', { path: 'd/n.txt', text: 'x' });
    const { base } = await write.preview();
    expect(await write.settle(base)).toEqual({ happened: false });
    const result = await write.run(base);
    const { linkSync } = await import('node:fs');
    const key = sha256Of(Buffer.from('session-1/2.3.4')).slice(0, 16);
    linkSync(join(root, 'd/n.txt'), join(root, 'd', `.onrecord-${key}-1-1.tmp`));
    expect(await write.settle(base)).toEqual({ happened: true, result });
    expect(readdirSync(join(root, 'd'))).toEqual(['n.txt']);
  });
});

test('a read-only folder has no tools that write, and refuses a write of its own accord', async () => {
  expect(fileTools({ root, readOnly: true }).map(({ name }) => name)).toEqual([
    'files.list',
    'files.read',
    'files.search',
  ]);
  const folder = openFolder(root, { readOnly: true });
  expect(await codeOf(folder.replace('n.txt', { bytes: Buffer.from('x'), before: null, key: 'k' }))).toBe(
    'read-only',
  );
});
