/**
 * Markdown as markup. The library reads the text; every element is made here, by the template that escapes what is put
 * into it. HTML in a page is shown as text, comments are left out.
 */
import type { MarkedToken, Token, Tokens } from 'marked';
import { attribute, markup, NOTHING, verbatim, type Markup } from '../view/markup.ts';

/** Where a link leads: an address, or nowhere in this copy of the documentation. */
export type Leads = (href: string) => string | undefined;

/** The words of tokens, without their marks. */
export const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if ('tokens' in token && token.tokens && token.tokens.length > 0) return plainText(token.tokens);
      return 'text' in token ? String(token.text) : token.type === 'br' ? ' ' : '';
    })
    .join('');

/** As GitHub makes them: lower case, without marks, spaces as hyphens. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

/** Anchors of headings in their order; the second one of a name gets a number. */
export const anchors = (): ((heading: string) => string) => {
  const seen = new Map<string, number>();
  return (heading) => {
    const name = slug(heading);
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  };
};

/** Block by block. */
export const pageMarkup = (tokens: readonly Token[], leads: Leads): readonly Markup[] => {
  const anchorOf = anchors();
  return tokens.map((token) => block(token as MarkedToken, { leads, anchorOf }));
};

type Place = { readonly leads: Leads; readonly anchorOf: (heading: string) => string };

const all = (tokens: readonly Token[] | undefined, one: (token: Token) => Markup): Markup =>
  markup`${(tokens ?? []).map(one)}`;

const block = (token: MarkedToken, place: Place): Markup => {
  const blocks = (tokens: readonly Token[] | undefined): Markup =>
    all(tokens, (inner) => block(inner as MarkedToken, place));
  switch (token.type) {
    case 'heading':
      return heading(token, place);
    case 'paragraph':
      return markup`<p>${inlines(token.tokens, place.leads)}</p>\n`;
    case 'code':
      return markup`<pre tabindex="0"><code>${verbatim(token.text)}</code></pre>\n`;
    case 'blockquote':
      return markup`<blockquote>${blocks(token.tokens)}</blockquote>\n`;
    case 'hr':
      return markup`<hr>\n`;
    case 'list':
      return list(token, blocks);
    case 'table':
      return table(token, place.leads);
    case 'html':
      return token.text.startsWith('<!--') ? NOTHING : markup`<p>${verbatim(token.text)}</p>\n`;
    case 'text':
      return token.tokens ? inlines(token.tokens, place.leads) : words(token.text);
    default:
      return NOTHING;
  }
};

const HEADINGS = [
  (id: Markup, inner: Markup) => markup`<h1 id="${id}">${inner}</h1>\n`,
  (id: Markup, inner: Markup) => markup`<h2 id="${id}"><a href="#${id}">${inner}</a></h2>\n`,
  (id: Markup, inner: Markup) => markup`<h3 id="${id}"><a href="#${id}">${inner}</a></h3>\n`,
] as const;

const heading = ({ depth, tokens }: Tokens.Heading, { leads, anchorOf }: Place): Markup => {
  const id = attribute(anchorOf(plainText(tokens)));
  const make = HEADINGS[Math.min(depth, HEADINGS.length) - 1] ?? HEADINGS[0];
  // A heading is a link to itself; links in it stay words.
  return make(id, depth === 1 ? inlines(tokens, leads) : inlines(tokens, () => undefined));
};

const list = (
  { ordered, start, items }: Tokens.List,
  blocks: (tokens: readonly Token[]) => Markup,
): Markup => {
  const inner = items.map((item) => markup`<li>${blocks(item.tokens)}</li>\n`);
  if (!ordered) return markup`<ul>${inner}</ul>\n`;
  return markup`<ol start="${attribute(String(start || 1))}">${inner}</ol>\n`;
};

const table = ({ header, rows }: Tokens.Table, leads: Leads): Markup => {
  const cell = ({ tokens, align }: Tokens.TableCell): Markup =>
    align === 'right'
      ? markup`<td class="number">${inlines(tokens, leads)}</td>`
      : markup`<td>${inlines(tokens, leads)}</td>`;
  const named = header.some(({ text }) => text.trim() !== '');
  const head = markup`<thead><tr>${header.map(({ tokens }) => markup`<th>${inlines(tokens, leads)}</th>`)}</tr></thead>`;
  const body = rows.map((row) => markup`<tr>${row.map(cell)}</tr>\n`);
  return markup`<div class="wide" tabindex="0"><table>${named ? head : NOTHING}<tbody>${body}</tbody></table></div>\n`;
};

const inlines = (tokens: readonly Token[] | undefined, leads: Leads): Markup =>
  all(tokens, (token) => inline(token as MarkedToken, leads));

const inline = (token: MarkedToken, leads: Leads): Markup => {
  switch (token.type) {
    case 'strong':
      return markup`<strong>${inlines(token.tokens, leads)}</strong>`;
    case 'em':
      return markup`<em>${inlines(token.tokens, leads)}</em>`;
    case 'del':
      return markup`<del>${inlines(token.tokens, leads)}</del>`;
    case 'codespan':
      return markup`<code>${words(token.text)}</code>`;
    case 'br':
      return markup`<br>`;
    case 'link':
      return link(token, leads);
    case 'image':
      return image(token, leads);
    case 'text':
      return token.tokens ? inlines(token.tokens, leads) : words(token.text);
    case 'escape':
    case 'html':
      return words(token.text);
    default:
      return NOTHING;
  }
};

const link = ({ href, tokens }: Tokens.Link, leads: Leads): Markup => {
  const address = leads(href);
  const inner = inlines(tokens, leads);
  return address === undefined ? inner : markup`<a href="${attribute(address)}">${inner}</a>`;
};

const image = ({ href, text }: Tokens.Image, leads: Leads): Markup => {
  const address = leads(href);
  if (address === undefined) return words(text);
  return markup`<img src="${attribute(address)}" alt="${attribute(text)}">`;
};

/** A line break in a paragraph of the file is a space. */
const words = (text: string): Markup => verbatim(text.replaceAll('\n', ' '));
