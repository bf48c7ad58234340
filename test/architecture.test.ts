import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');
const OPEN = new Set(['errors', 'clock', 'package-folder']);

const table = (): Map<string, Set<string>> => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const section = page.split('### Who may import whom')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| (\w+) \| ?([\w, ]*?) ?\|$/gm)].filter(
    ([, name]) => name !== 'chapter',
  );
  return new Map(
    rows.map(([, name = '', list = '']) => [
      name,
      new Set(
        list
          .split(',')
          .map((word) => word.trim())
          .filter(Boolean),
      ),
    ]),
  );
};

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));

const chapterOf = (file: string): string => (relative(SRC, file).split(sep)[0] ?? '').replace(/\.ts$/, '');

const IMPORT = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

/** Chapters whose code other people run in a browser: of the server they know its types. */
const OUTSIDE = new Set(['web', 'client']);
const TYPES_ALONE = /^(?:import|export) type [^;]*?from\s*['"](\.{1,2}\/[^'"]+)['"]/gm;

const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path = '']) => resolve(dirname(file), path));

describe('the import table of ARCHITECTURE.md', () => {
  const allowed = table();
  const sources = files(SRC);

  it('names every chapter, and only chapters that exist', () => {
    const chapters = new Set(sources.map(chapterOf).filter((name) => !OPEN.has(name)));
    expect([...allowed.keys()].filter((name) => name !== 'suite').sort()).toEqual(
      [...chapters].filter((name) => name !== 'suite').sort(),
    );
  });

  it('holds for every import', () => {
    let seen = 0;
    const broken = sources.flatMap((file) =>
      importsOf(file).flatMap((target) => {
        seen++;
        const [from, to] = [chapterOf(file), chapterOf(target)];
        if (from === to || OPEN.has(to) || allowed.get(from)?.has(to)) return [];
        return [`${relative(ROOT, file)} imports ${relative(ROOT, target)}`];
      }),
    );
    expect(seen).toBeGreaterThan(200);
    expect(broken).toEqual([]);
  });
});

describe('what runs in a browser', () => {
  it('takes nothing but types from the server', () => {
    const taken = files(SRC)
      .filter((file) => OUTSIDE.has(chapterOf(file)))
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8').replaceAll(TYPES_ALONE, '');
        return [...text.matchAll(IMPORT)]
          .filter(([, path = '']) => chapterOf(resolve(dirname(file), path)) === 'server')
          .map(([, path]) => `${relative(ROOT, file)} imports ${path}`);
      });
    expect(taken).toEqual([]);
  });

  it('takes pure code from the view, without what only a server has', () => {
    const used = new Set(
      files(join(SRC, 'web')).flatMap((file) => {
        const text = readFileSync(file, 'utf8').replaceAll(TYPES_ALONE, '');
        return [...text.matchAll(IMPORT)]
          .map(([, path = '']) => resolve(dirname(file), path))
          .filter((target) => chapterOf(target) === 'view');
      }),
    );
    expect(used.size).toBeGreaterThan(0);
    const bound = [...used].filter((file) =>
      /\bprocess\.\w|\bBuffer\.|node:/.test(readFileSync(file, 'utf8')),
    );
    expect(bound).toEqual([]);
  });
});

describe('the pure chapters', () => {
  it('reach for no clock, randomness, environment, file or network', () => {
    const forbidden =
      /\bDate\.now\b|\bnew Date\(\)|Math\.random|\bprocess\.\w|node:(fs|net|http|https|child_process|os|timers)|\bsetTimeout\b|\bfetch\(|randomBytes|randomUUID/;
    const pure = ['event', 'effect', 'session', 'context', 'view', 'replay'];
    const found = files(SRC)
      .filter((file) => pure.includes(chapterOf(file)))
      .filter((file) => forbidden.test(readFileSync(file, 'utf8')))
      .map((file) => relative(ROOT, file));
    expect(found).toEqual([]);
  });
});
