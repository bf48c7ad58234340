/**
 * The documentation as a function from a request to a response. Its pages hold no script, load nothing from elsewhere
 * and are read-only; `/docs/tools` is a page and `/docs/tools.md` its file.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { attribute, markup, NOTHING, verbatim, type Markup } from '../view/markup.ts';
import { nearest } from '../view/nearest.ts';
import { FILE_TYPES, linkedFiles, linksOf } from './links.ts';
import { llmsText } from './llms.ts';
import { addressOf, contentsOf, CONTENTS, type Manual, type Page } from './manual.ts';
import { anchors, pageMarkup, plainText } from './markdown.ts';
import { placeOf, search, wordsOf, type Found } from './search.ts';
import { STYLE } from './style.ts';

export type Site = { readonly fetch: (request: Request) => Response };

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const QUERY_LENGTH_MAX = 200;
/** Pages with more headings than these are found by search, not by a list. */
const LISTED_HEADINGS_MAX = 60;
const LISTED_HEADINGS_MIN = 3;

const answer = (body: string | Uint8Array<ArrayBuffer>, type: string, status: number = 200): Response =>
  new Response(body, { status, headers: { ...HEADERS, 'content-type': type } });

const html = ({ markup: body }: Markup, status?: number): Response =>
  answer(`<!doctype html>\n${body}`, 'text/html; charset=utf-8', status);

export const siteOf = (manual: Manual): Site => {
  const files = linkedFiles(manual);
  const byAddress = new Map([...manual.pages.values()].map((page) => [addressOf(page.path), page]));
  const found = (path: string): Response | undefined => {
    const page = byAddress.get(path);
    if (page) return html(pageOf(manual, page));
    if (path === '/style.css') return answer(STYLE, 'text/css; charset=utf-8');
    if (path === '/llms.txt') return answer(llmsText(manual), 'text/plain; charset=utf-8');
    const file = path.slice(1);
    const kept = manual.pages.get(file);
    if (kept) return answer(kept.text, FILE_TYPES['.md'] ?? 'text/plain');
    if (!files.has(file)) return undefined;
    const type = FILE_TYPES[posix.extname(file)] ?? 'application/octet-stream';
    return answer(Uint8Array.from(readFileSync(join(manual.folder, file))), type);
  };
  const get = (request: Request): Response => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answer('Only GET and HEAD.\n', 'text/plain; charset=utf-8', 405);
    if (pathname === '/search') {
      const query = (searchParams.get('q') ?? '').slice(0, QUERY_LENGTH_MAX);
      return html(searchPage(manual, query));
    }
    return found(pathname) ?? html(missing(manual, pathname), 404);
  };
  return {
    fetch(request) {
      const response = get(request);
      return request.method === 'HEAD' ? new Response(null, response) : response;
    },
  };
};

const pageOf = (manual: Manual, page: Page): Markup => {
  const { path, title, tokens } = page;
  const made = pageMarkup(tokens, linksOf(manual, page));
  return frame(manual, {
    title,
    path,
    body: markup`<article>${made.slice(0, 1)}${headings(page)}${made.slice(1)}</article>
<p class="file">This page as a file: <a href="/${attribute(path)}"><code>${verbatim(path)}</code></a></p>`,
  });
};

/** What is on a long page. */
const headings = ({ tokens }: Page): Markup => {
  const anchorOf = anchors();
  const listed = tokens.flatMap((token) => {
    if (token.type !== 'heading') return [];
    const words = plainText(token.tokens ?? []);
    const anchor = anchorOf(words);
    return token['depth'] === 2 ? [{ words, anchor }] : [];
  });
  if (listed.length < LISTED_HEADINGS_MIN || listed.length > LISTED_HEADINGS_MAX) return NOTHING;
  return markup`<details class="on-page"><summary>On this page</summary><ul>${listed.map(
    ({ words, anchor }) => markup`<li><a href="#${attribute(anchor)}">${verbatim(words)}</a></li>`,
  )}</ul></details>`;
};

type Frame = {
  readonly title: string;
  readonly path?: string;
  readonly query?: string;
  readonly body: Markup;
};

const frame = (manual: Manual, { title, path, query = '', body }: Frame): Markup =>
  markup`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${verbatim(title)} · Onrecord</title><link rel="stylesheet" href="/style.css"></head>
<body><a class="skip" href="#content">To the page</a>
<header><a class="brand" href="/">Onrecord</a><form role="search" action="/search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" value="${attribute(query)}" maxlength="${attribute(String(QUERY_LENGTH_MAX))}"><button>Search</button></form></header>
<div class="sheet"><details class="contents"><summary>Contents</summary>${navigation(manual, path)}</details>
<nav class="contents" aria-label="Contents">${navigation(manual, path)}</nav>
<main id="content">${body}</main></div></body></html>`;

const navigation = (manual: Manual, path: string | undefined): Markup => {
  const contents = manual.pages.get(CONTENTS);
  if (!contents) return NOTHING;
  const leads = linksOf(manual, contents);
  const seen = new Set<string>();
  return markup`${contentsOf(manual).map(({ title, links }) => {
    // A page that serves several readers stands with the first of them.
    const rows = links.flatMap(({ words, href }) => {
      const address = leads(href);
      if (address === undefined || seen.has(address)) return [];
      seen.add(address);
      const here = path !== undefined && address === addressOf(path);
      const name = capital(words);
      return [
        here
          ? markup`<li><a href="${attribute(address)}" aria-current="page">${verbatim(name)}</a></li>`
          : markup`<li><a href="${attribute(address)}">${verbatim(name)}</a></li>`,
      ];
    });
    return rows.length === 0
      ? NOTHING
      : markup`<h2>${verbatim(title.replace(/\.$/, ''))}</h2><ul>${rows}</ul>`;
  })}`;
};

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const searchPage = (manual: Manual, query: string): Markup => {
  const { found, total } = search(manual, query);
  const shown = total > found.length ? `, the first ${found.length} are shown` : '';
  const count =
    total === 0
      ? 'No section holds all of these words.'
      : `${total} ${total === 1 ? 'section holds' : 'sections hold'} all of these words${shown}.`;
  return frame(manual, {
    title: query === '' ? 'Search' : `Search: ${query}`,
    query,
    body: markup`<h1>Search</h1><p>${query === '' ? 'Words that have to stand in one section.' : count}</p><ol class="found">${found.map(
      (one) => resultOf(one, wordsOf(query)),
    )}</ol>`,
  });
};

const resultOf = ({ page, heading, address, excerpt }: Found, words: readonly string[]): Markup =>
  markup`<li><a href="${attribute(address)}">${verbatim(heading)}</a>${
    heading === page.title ? NOTHING : markup` <span class="where">${verbatim(page.title)}</span>`
  }<p>${marked(excerpt, words)}</p></li>`;

/** The words that were looked for, marked in the text. */
const marked = (text: string, words: readonly string[]): Markup => {
  const low = text.toLowerCase();
  const pieces: Markup[] = [];
  let at = 0;
  while (at < text.length) {
    const next = words
      .map((word) => ({ word, from: placeOf(low, word, at) }))
      .filter(({ from }) => from >= 0)
      .toSorted((one, other) => one.from - other.from || other.word.length - one.word.length)[0];
    if (!next) break;
    const end = next.from + next.word.length;
    pieces.push(
      markup`${verbatim(text.slice(at, next.from))}<mark>${verbatim(text.slice(next.from, end))}</mark>`,
    );
    at = end;
  }
  return markup`${pieces}${verbatim(text.slice(at))}`;
};

const missing = (manual: Manual, path: string): Markup => {
  const near = nearest(path, [...manual.pages.keys()].map(addressOf));
  const meant =
    near === undefined ? NOTHING : markup` Did you mean <a href="${attribute(near)}">${verbatim(near)}</a>?`;
  return frame(manual, {
    title: 'No such page',
    body: markup`<h1>No such page</h1><p>There is no page <code>${verbatim(path)}</code>.${meant}</p>`,
  });
};
