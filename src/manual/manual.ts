/**
 * The pages that come with the package: Markdown files as they lie there. An address is the file's path without its
 * ending, so that whoever asks for the path itself gets the file.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { lexer, type TokensList } from 'marked';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { plainText } from './markdown.ts';

/** Of the package, or of the checkout. */
export const MANUAL_FOLDER: string = PACKAGE_FOLDER;

/** The page that the others are found by. */
export const CONTENTS = 'docs/README.md';

const ALONE = [
  'README.md',
  'GLOSSARY.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'bench/RESULTS.md',
];
/** Examples and notes are there in a checkout only. */
const FOLDERS = ['docs', 'examples', 'notes'];
/** Enough for examples/NAME/README.md and docs/decisions/NAME.md. */
const DEPTH_MAX = 3;

export type Page = {
  /** From the root of the package, with slashes: "docs/tools.md". */
  readonly path: string;
  readonly title: string;
  /** The file as it lies there. */
  readonly text: string;
  readonly tokens: TokensList;
};

export type Manual = {
  readonly folder: string;
  /** By path, the contents first. */
  readonly pages: ReadonlyMap<string, Page>;
};

export const addressOf = (path: string): string =>
  path === CONTENTS ? '/' : `/${path.replace(/\.md$/, '')}`;

export const readManual = (folder: string = MANUAL_FOLDER): Manual => {
  const paths = [
    CONTENTS,
    ...ALONE.filter((path) => existsSync(join(folder, path))),
    ...FOLDERS.flatMap((name) => pagesIn(folder, name)).filter((path) => path !== CONTENTS),
  ];
  return { folder, pages: new Map(paths.map((path) => [path, pageAt(folder, path)])) };
};

const pagesIn = (root: string, folder: string, depth: number = 1): readonly string[] => {
  if (depth > DEPTH_MAX || !existsSync(join(root, folder))) return [];
  return (
    readdirSync(join(root, folder), { withFileTypes: true })
      // What an example that runs leaves behind is no page, and may be gone before it was looked into.
      .filter(({ name }) => !name.startsWith('.'))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap((entry) => {
        const path = posix.join(folder, entry.name);
        if (entry.isDirectory()) return pagesIn(root, path, depth + 1);
        return entry.isFile() && entry.name.endsWith('.md') ? [path] : [];
      })
  );
};

/** Read when it is asked for: a command that prints one page needs no other. */
const pageAt = (folder: string, path: string): Page => {
  let text: string | undefined;
  let tokens: TokensList | undefined;
  return {
    path,
    get text() {
      return (text ??= readFileSync(join(folder, path), 'utf8'));
    },
    get tokens() {
      return (tokens ??= lexer(this.text));
    },
    get title() {
      const heading = this.tokens.find((token) => token.type === 'heading');
      return heading ? plainText(('tokens' in heading && heading.tokens) || []) : path;
    },
  };
};

export type Group = {
  readonly title: string;
  readonly links: readonly { readonly words: string; readonly href: string }[];
};

/** The contents as groups: each paragraph that begins with strong words, and its links. */
export const contentsOf = (manual: Manual): readonly Group[] => {
  const page = manual.pages.get(CONTENTS);
  return (page?.tokens ?? []).flatMap((token) => {
    if (token.type !== 'paragraph') return [];
    const [first, ...rest] = token.tokens ?? [];
    if (first?.type !== 'strong') return [];
    const links = rest.flatMap((inner) =>
      inner.type === 'link' ? [{ words: plainText(inner.tokens ?? []), href: String(inner['href']) }] : [],
    );
    return [{ title: plainText([first]), links }];
  });
};
