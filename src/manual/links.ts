/** Where a link of a page leads in the served documentation. */
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Token } from 'marked';
import { addressOf, type Manual, type Page } from './manual.ts';
import type { Leads } from './markdown.ts';

/** Other files that a page may show or lead to, by their ending. What is not here is not served. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/plain; charset=utf-8',
  '.json': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ts': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.yaml': 'text/plain; charset=utf-8',
};

const SCHEME = /^[a-z][a-z+.-]*:/i;

/** The file that a link means, from the root, without what stands behind "#"; undefined: outside, or elsewhere. */
const targetOf = (page: string, href: string): string | undefined => {
  if (SCHEME.test(href) || href.startsWith('/')) return undefined;
  const [path = ''] = href.split('#');
  const target = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path));
  return target.startsWith('../') ? undefined : target;
};

/** Links to what this copy does not hold lead nowhere, and so do addresses of mail, which are examples. */
export const linksOf =
  (manual: Manual, { path }: Page): Leads =>
  (href) => {
    if (/^https?:/i.test(href)) return href;
    const target = targetOf(path, href);
    if (target === undefined) return undefined;
    const anchor = href.includes('#') ? href.slice(href.indexOf('#')) : '';
    if (manual.pages.has(target))
      return `${target === path && anchor !== '' ? '' : addressOf(target)}${anchor}`;
    return isFile(manual, target) ? `/${target}` : undefined;
  };

const isFile = ({ folder }: Manual, target: string): boolean =>
  Object.hasOwn(FILE_TYPES, posix.extname(target)) &&
  existsSync(join(folder, target)) &&
  statSync(join(folder, target)).isFile();

/** Every link and picture of a page as it is written. */
export const hrefsOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token) => {
    const own = token.type === 'link' || token.type === 'image' ? [String(token['href'])] : [];
    const cells =
      token.type === 'table'
        ? [...(token['header'] as readonly Cell[]), ...(token['rows'] as readonly Cell[][]).flat()]
        : [];
    const items = token.type === 'list' ? (token['items'] as readonly Cell[]) : [];
    return [...own, ...[token as Cell, ...cells, ...items].flatMap((inner) => hrefsOf(inner.tokens ?? []))];
  });

type Cell = { readonly tokens?: readonly Token[] };

/** Files that a page leads to: these are served, and nothing else of the folder. */
export const linkedFiles = (manual: Manual): ReadonlySet<string> =>
  new Set(
    [...manual.pages.values()].flatMap(({ path, tokens }) =>
      hrefsOf(tokens).flatMap((href) => {
        const target = targetOf(path, href);
        return target !== undefined && !manual.pages.has(target) && isFile(manual, target) ? [target] : [];
      }),
    ),
  );
