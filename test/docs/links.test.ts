/** Every link of the documentation leads to a file that is there, and to a heading that it has. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../cli/project.ts';

/** Not in what an example leaves behind while it runs: it may be gone before it was looked into. */
const pagesIn = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return pagesIn(path);
      return entry.name.endsWith('.md') ? [path] : [];
    });

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'GLOSSARY.md',
  ...['docs', 'notes', 'examples', 'deploy'].flatMap((folder) =>
    existsSync(join(ROOT, folder)) ? pagesIn(folder) : [],
  ),
];

/** As GitHub makes them of headings. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[`*]/g, '')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );

test('links lead somewhere', () => {
  const broken: string[] = [];
  let looked = 0;
  for (const page of PAGES) {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```|`[^`\n]*`/gm, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      looked++;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      if (!existsSync(file)) broken.push(`${page}: ${target}`);
      else if (
        anchor !== undefined &&
        file.endsWith('.md') &&
        !anchorsOf(readFileSync(file, 'utf8')).has(anchor)
      )
        broken.push(`${page}: ${relative(ROOT, file)} has no heading for #${anchor}`);
    }
  }
  expect(broken).toEqual([]);
  expect(looked).toBeGreaterThan(50);
});
