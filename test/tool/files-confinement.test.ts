/** Promise: file tools touch nothing but regular files below their root, whatever a path says. */
import { execFileSync, spawn } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { machineReach } from '../../src/tool/files/directory.ts';
import { openFolder } from '../../src/tool/files/folder.ts';
import { foldName } from '../../src/tool/files/path.ts';
import { fileTools, type FolderToolOptions } from '../../src/tool/files/tools.ts';
import type { Preview } from '../../src/tool/preview.ts';
import { isStandardSchema } from '../../src/tool/schema.ts';
import { ToolError, type Tool, type ToolContext } from '../../src/tool/tool.ts';
import type { Json } from '../../src/event/json.ts';

const contextWith = (base?: Json): ToolContext => ({
  signal: new AbortController().signal,
  idempotencyKey: 'key-1',
  attempt: 1,
  call: 's_1 1.1.1',
  log: { info: () => undefined, warn: () => undefined },
  now: () => 0,
  startedAt: 0,
  made: [],
  callTool: () => undefined,
  base,
});

const inputFor = async (tool: Tool, input: Json): Promise<never> => {
  if (!isStandardSchema(tool.inputSchema)) throw new Error('no schema');
  const checked = await tool.inputSchema['~standard'].validate(input);
  if (checked.issues) throw new Error(JSON.stringify(checked.issues));
  return checked.value as never;
};

let home: string;
let root: string;
let outside: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'onrecord-files-'));
  root = join(home, 'desk');
  outside = join(home, 'outside');
  mkdirSync(join(root, 'd'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, 'ok.txt'), 'fine\n');
  writeFileSync(join(outside, 'secret.txt'), 'secret\n');
});
afterEach(() => rmSync(home, { recursive: true }));

type Call = (name: string, input: Json, base?: Json) => Promise<unknown>;

const callsOf = (
  options: Partial<FolderToolOptions> = {},
): { run: Call; preview: (name: string, input: Json) => Promise<Preview> } => {
  const tools = new Map(fileTools({ root, ...options }).map((tool) => [tool.name, tool]));
  const named = (name: string): Tool => {
    const tool = tools.get(name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool;
  };
  return {
    run: async (name, input, base) =>
      named(name).execute(await inputFor(named(name), input), contextWith(base)),
    preview: async (name, input) => {
      const shown = await named(name).preview?.(await inputFor(named(name), input), contextWith());
      if (!shown) throw new Error(`${name} has no preview`);
      return shown;
    },
  };
};

const codeOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    return `returned ${JSON.stringify(await act)}`;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    expect(error.message).not.toContain(home);
    expect(error.happened).toBe(error.code === 'write-not-confirmed' ? 'unknown' : false);
    return error.code;
  }
};

/** Every tool that takes the path of a file. */
const uses = (path: string): readonly (readonly [string, Json])[] => [
  ['files.read', { path }],
  ['files.write', { path, text: 'x' }],
  ['files.edit', { path, old: 'secret', new: 'x' }],
];

describe('no-path-leads-out', () => {
  test.each([
    ['../desk/ok.txt', 'outside-root'],
    ['d/../../outside/secret.txt', 'outside-root'],
    ['..', 'outside-root'],
    ['/etc/passwd', 'outside-root'],
    ['~/x', 'outside-root'],
    ['C:\\x', 'outside-root'],
    ['\\\\host\\share', 'outside-root'],
    ['d\\..\\x', 'bad-name'],
    ['ok.txt\0.png', 'bad-name'],
    ['a\nb', 'bad-name'],
    ['ok.txt.', 'bad-name'],
    ['ok.txt ', 'bad-name'],
    ['d./x', 'bad-name'],
    ['\ud800', 'bad-name'],
    ['x'.repeat(256), 'bad-name'],
    ['ä'.repeat(128), 'bad-name'],
    ['x/'.repeat(2100), 'bad-name'],
    ['x/'.repeat(65) + 'y', 'bad-name'],
    ['', 'not-a-file'],
    ['.', 'not-a-file'],
    ['d', 'not-a-file'],
    ['ok.txt/', 'not-a-file'],
    ['ok.txt/x', 'not-a-folder'],
  ])('%j is refused as %s', async (path, code) => {
    const { run } = callsOf();
    for (const [name, input] of uses(path))
      expect(`${name}: ${await codeOf(run(name, input))}`).toBe(`${name}: ${code}`);
    expect(readdirSync(root).toSorted()).toEqual(['d', 'ok.txt']);
  });

  test('a link is refused, as a file, on the way, dangling, and to the inside', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(root, 'leak'));
    symlinkSync(outside, join(root, 'way'));
    symlinkSync(join(outside, 'new.txt'), join(root, 'dangling'));
    symlinkSync('ok.txt', join(root, 'inside'));
    const { run } = callsOf();
    for (const path of ['leak', 'way/secret.txt', 'way/new.txt', 'dangling', 'inside'])
      for (const [name, input] of uses(path))
        expect(await codeOf(run(name, input)), `${name} ${path}`).toBe('outside-root');
    expect(await codeOf(run('files.list', { path: 'way' }))).toBe('outside-root');
    expect(await codeOf(run('files.search', { text: 'secret', path: 'way' }))).toBe('outside-root');
    expect(await run('files.search', { text: 'secret' })).toMatchObject({ hits: [], skipped: 4 });
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
  });

  test('a hard link is refused for reading and writing', async () => {
    linkSync(join(outside, 'secret.txt'), join(root, 'hard.txt'));
    const { run } = callsOf();
    for (const [name, input] of uses('hard.txt')) expect(await codeOf(run(name, input))).toBe('hard-link');
    expect(await run('files.search', { text: 'secret' })).toMatchObject({ hits: [] });
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
  });

  test('a FIFO, a socket and a device are refused at once', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const { run } = callsOf();
    for (const [name, input] of uses('fifo')) expect(await codeOf(run(name, input))).toBe('not-a-file');
    expect(await run('files.list', {})).toMatchObject({
      entries: [
        { path: 'd', kind: 'folder' },
        { path: 'fifo', kind: 'other' },
        { path: 'ok.txt', kind: 'file', bytes: 5 },
      ],
    });
    const devices = callsOf({ root: '/dev' });
    expect(await codeOf(devices.run('files.read', { path: 'zero' }))).toBe('not-a-file');
    expect(await codeOf(devices.run('files.write', { path: 'null', text: 'x' }))).toBe('not-a-file');
  });

  test.runIf(process.platform === 'linux')('/proc has no way out by its own links', async () => {
    const { run } = callsOf({ root: '/proc', readOnly: true });
    for (const path of ['self/root/etc/passwd', 'self/environ', 'thread-self/cwd/x'])
      expect(await codeOf(run('files.read', { path }))).toBe('outside-root');
    expect(await codeOf(run('files.read', { path: `${process.pid}/root/etc/passwd` }))).toBe('outside-root');
    expect(await codeOf(run('files.read', { path: `${process.pid}/fd/0` }))).toBe('outside-root');
  });

  test('the same rules hold where descriptors cannot be used', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(root, 'leak'));
    symlinkSync(outside, join(root, 'way'));
    const { run } = callsOf({ root: openFolder(root, { reach: { ...machineReach, byDescriptor: false } }) });
    for (const path of ['leak', 'way/secret.txt', 'way/new.txt'])
      for (const [name, input] of uses(path)) expect(await codeOf(run(name, input))).toBe('outside-root');
    await run('files.write', { path: 'a/b.txt', text: 'one' });
    await run('files.edit', { path: 'a/b.txt', old: 'one', new: 'two' });
    expect(readFileSync(join(root, 'a/b.txt'), 'utf8')).toBe('two');
  });
});

describe('protected-by-identity', () => {
  const names = ['.runtime/store.db', './.runtime//policy.yaml', '.runtime/new.txt', '.runtime'];

  test('a protected folder is refused through every spelling, and for new files', async () => {
    mkdirSync(join(root, '.runtime'));
    writeFileSync(join(root, '.runtime/store.db'), 'store');
    symlinkSync(join(root, '.runtime'), join(home, 'alias'));
    const { run, preview } = callsOf({ protect: [join(home, 'alias')] });
    for (const path of names)
      for (const [name, input] of uses(path))
        expect(`${path}: ${await codeOf(run(name, input))}`).toBe(`${path}: protected-path`);
    expect(await codeOf(preview('files.write', { path: '.runtime/policy.yaml', text: 'allow: all' }))).toBe(
      'protected-path',
    );
    expect(await codeOf(run('files.list', { path: '.runtime' }))).toBe('protected-path');
    expect(await run('files.list', {})).toMatchObject({
      entries: [{ path: '.runtime', kind: 'protected' }, { path: 'd' }, { path: 'ok.txt' }],
    });
    expect(await run('files.search', { text: 'store' })).toMatchObject({ hits: [], skipped: 1 });
    await run('files.write', { path: 'reports/review.md', text: 'by the agent' });
    expect(readdirSync(join(root, '.runtime'))).toEqual(['store.db']);
  });

  test('a protected file need not exist yet, and covers what SQLite keeps beside it', async () => {
    const { run } = callsOf({ protect: [join(root, 'd/store.db')] });
    for (const path of ['d/store.db', 'd/store.db-wal', 'd/store.db-shm', 'd/store.db-journal', 'd/Store.DB'])
      expect(`${path}: ${await codeOf(run('files.write', { path, text: 'x' }))}`).toBe(
        `${path}: protected-path`,
      );
    await run('files.write', { path: 'd/store.db.md', text: 'x' });
    expect(readdirSync(join(root, 'd'))).toEqual(['store.db.md']);
  });

  test('another name of a protected file is refused', async () => {
    writeFileSync(join(outside, 'store.db'), 'store');
    linkSync(join(outside, 'store.db'), join(root, 'other.txt'));
    const { run } = callsOf({ protect: [join(outside, 'store.db')] });
    expect(await codeOf(run('files.read', { path: 'other.txt' }))).toBe('protected-path');
  });

  test('a root inside a protected folder is refused when the tools are made', () => {
    expect(() => fileTools({ root: join(root, 'd'), protect: [root] })).toThrow(/protected/u);
    expect(() => fileTools({ root: join(home, 'nowhere') })).toThrow(/not there/u);
  });
});

describe('one-file-one-name', () => {
  /** A disk that takes all spellings of a name for one, as APFS and NTFS do. */
  const foldingReach = {
    byDescriptor: machineReach.byDescriptor,
    at: (place: string, name: string): string =>
      join(place, readdirSync(place).find((entry) => foldName(entry) === foldName(name)) ?? name),
  };

  test.each([
    ['README.md', 'readme.md'],
    ['Straße.txt', 'STRASSE.TXT'],
    ['e\u0301.txt', '\u00e9.txt'],
  ])('on a disk that folds names %s is shown as changed when %s is written', async (disk, asked) => {
    writeFileSync(join(root, disk), 'old\n');
    const { run, preview } = callsOf({ root: openFolder(root, { reach: foldingReach }) });
    const shown = await preview('files.write', { path: asked, text: 'new\n' });
    expect(shown.target).toBe(disk);
    expect(shown.blocks).toMatchObject([{ kind: 'diff', path: disk, newFile: false, added: 1, removed: 1 }]);
    expect(await run('files.write', { path: asked, text: 'new\n' }, shown.base)).toMatchObject({
      path: disk,
      created: false,
    });
    expect(await codeOf(run('files.write', { path: asked, text: 'x', new: true }))).toBe('file-exists');
    expect(await run('files.read', { path: asked })).toMatchObject({ path: disk, text: 'new\n' });
    expect(readdirSync(root).toSorted()).toEqual([disk, 'd', 'ok.txt'].toSorted());
    expect(lstatSync(join(root, disk)).nlink).toBe(1);
  });

  test('protection and folders fold too', async () => {
    mkdirSync(join(root, 'Store'));
    mkdirSync(join(root, 'Docs'));
    const folder = openFolder(root, { reach: foldingReach, protect: [join(root, 'Store')] });
    const { run } = callsOf({ root: folder });
    expect(await codeOf(run('files.write', { path: 'sTORE/x', text: 'x' }))).toBe('protected-path');
    expect(await run('files.write', { path: 'docs/a.md', text: 'x' })).toMatchObject({ path: 'Docs/a.md' });
  });

  test('on a disk that tells them apart there are two files, and the preview says so', async () => {
    writeFileSync(join(root, 'README.md'), 'old\n');
    const { run, preview } = callsOf();
    const shown = await preview('files.write', { path: 'readme.md', text: 'new\n' });
    expect(shown.blocks).toMatchObject([{ kind: 'diff', path: 'readme.md', newFile: true }]);
    expect(shown.warnings).toEqual([expect.stringContaining('"README.md" exists beside it')]);
    await run('files.write', { path: 'readme.md', text: 'new\n' }, shown.base);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe('old\n');
    expect(await codeOf(run('files.read', { path: 'ReadMe.md' }))).toBe('not-found');
  });
});

/**
 * Swaps a folder and a file for links to the outside and back, as fast as it can, until it is killed. A write
 * may make the folder anew while it is away: that one is thrown away.
 */
const SWAPPER = `
const { renameSync, rmSync, symlinkSync } = require('node:fs');
const [root, outside] = process.argv.slice(1);
const attempt = (act) => { try { act(); } catch {} };
const swap = (name, target) => {
  const path = root + name;
  attempt(() => renameSync(path, path + '.real'));
  attempt(() => symlinkSync(target, path));
  attempt(() => rmSync(path, { recursive: true, force: true }));
  attempt(() => renameSync(path + '.real', path));
};
// Whoever started it may be killed: it does not go on alone.
const parent = process.ppid;
process.stdout.write('up');
while (process.ppid === parent) {
  swap('/d', outside);
  swap('/d/secret.txt', outside + '/secret.txt');
}`;

describe('no-escape-in-a-race', () => {
  const READS = 800;
  const WRITES = 200;
  const RACE_MS = 120_000;
  /** Both sides of the swap, and a write: without them there was no race. */
  const MET = ['returned {"path":"d/', 'outside-root', 'wrote'];

  test.runIf(process.platform === 'linux')(
    'a swapper cannot lead a read or a write out',
    async ({ signal }) => {
      writeFileSync(join(root, 'd/secret.txt'), 'harmless\n');
      const swapper = spawn(process.execPath, ['-e', SWAPPER, root, outside], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(swapper, 'exit');
      try {
        await once(swapper.stdout, 'data');
        const { run } = callsOf();
        const seen = new Map<string, number>();
        const missed = (): readonly string[] => MET.filter((outcome) => !seen.has(outcome));
        const goesOn = (): boolean => missed().length > 0 && swapper.exitCode === null && !signal.aborted;
        // How often the two processes take turns is the machine's affair: it goes on until the race was one.
        for (let round = 0; round < READS || goesOn(); round += 1) {
          const reading = codeOf(run('files.read', { path: 'd/secret.txt' }));
          const writing =
            round % Math.round(READS / WRITES) === 0
              ? codeOf(run('files.write', { path: 'd/new.txt', text: `round ${round}` }))
              : 'none';
          const [read, wrote] = await Promise.all([reading, writing]);
          expect(read).not.toContain('"secret');
          for (const outcome of [read, wrote.startsWith('returned') ? 'wrote' : wrote])
            seen.set(outcome.slice(0, 20), (seen.get(outcome.slice(0, 20)) ?? 0) + 1);
        }
        expect(missed()).toEqual([]);
        expect(swapper.exitCode).toBeNull();
      } finally {
        swapper.kill('SIGKILL');
        await ended;
      }
      expect(readdirSync(outside)).toEqual(['secret.txt']);
      expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
    },
    RACE_MS,
  );
});
