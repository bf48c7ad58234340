/**
 * HTML to readable text: one pass over the characters, nothing is run, loaded or built. Scripts, styles and
 * what else is not text are left out; blocks become lines, cells tabs, list items dashes.
 */
import { decodeReferences } from './entities.ts';

export type HtmlLink = { readonly text: string; readonly href: string };
export type HtmlText = { readonly title: string; readonly text: string; readonly links: readonly HtmlLink[] };

const LINKS_MAX = 100;
const HREF_CHARS_MAX = 2048;

/** Content up to the matching end tag is not markup and not text for a reader. */
const SKIPPED: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'iframe',
  'noframes',
  'noembed',
  'object',
  'svg',
  'math',
  'select',
  'xmp',
]);
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 head header hr html legend main nav ol p section summary table tbody tfoot thead tr ul'
  ).split(' '),
);
const PARAGRAPHS: ReadonlySet<string> = new Set('p h1 h2 h3 h4 h5 h6 table ul ol blockquote'.split(' '));

type Tag = {
  readonly name: string;
  readonly close: boolean;
  /** Lower-case names; the first of two equal ones counts. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
};

const DASH = '- ';
const SPACE = /[ \t\r\n\f]/;
const NAME_END = /[ \t\r\n\f/>]/g;
const VALUE_END = /[ \t\r\n\f>]/g;

const findFrom = (pattern: RegExp, html: string, from: number): number => {
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? html.length;
};

/** Reads the attributes from `at`, up to and with ">". A ">" inside quotes does not end the tag. */
const readAttributes = (html: string, from: number): { attributes: Map<string, string>; end: number } => {
  const attributes = new Map<string, string>();
  let at = from;
  while (at < html.length && html[at] !== '>') {
    if (SPACE.test(html[at] ?? '') || html[at] === '/') {
      at++;
      continue;
    }
    const start = at;
    at++;
    while (at < html.length && !/[ \t\r\n\f/>=]/.test(html[at] ?? '')) at++;
    const name = html.slice(start, at).toLowerCase();
    while (SPACE.test(html[at] ?? '')) at++;
    let value = '';
    if (html[at] === '=') {
      at++;
      while (SPACE.test(html[at] ?? '')) at++;
      const mark = html[at];
      if (mark === '"' || mark === "'") {
        const close = html.indexOf(mark, at + 1);
        const end = close < 0 ? html.length : close;
        value = html.slice(at + 1, end);
        at = end + 1;
      } else {
        const end = findFrom(VALUE_END, html, at);
        value = html.slice(at, end);
        at = end;
      }
    }
    if (!attributes.has(name)) attributes.set(name, value);
  }
  return { attributes, end: Math.min(at + 1, html.length) };
};

/** The tag that starts at "<"; undefined where "<" is only a character. */
const readTag = (html: string, at: number): Tag | undefined => {
  const close = html[at + 1] === '/';
  const start = at + (close ? 2 : 1);
  if (!/[A-Za-z]/.test(html[start] ?? '')) return undefined;
  const nameEnd = findFrom(NAME_END, html, start);
  const { attributes, end } = readAttributes(html, nameEnd);
  return { name: html.slice(start, nameEnd).toLowerCase(), close, attributes, end };
};

/** Where a comment, doctype or processing instruction ends; undefined where there is none. */
const declarationEnd = (html: string, at: number): number | undefined => {
  const comment = html.startsWith('<!--', at);
  if (!comment && html[at + 1] !== '!' && html[at + 1] !== '?') return undefined;
  const mark = comment ? '-->' : '>';
  const end = html.indexOf(mark, at + (comment ? 4 : 2));
  return end < 0 ? html.length : end + mark.length;
};

/** Collects text as a browser would lay it out in lines. Parts, not one string: appending stays cheap. */
class Page {
  #parts: string[] = [];
  #last = '\n';
  /** Line breaks owed before the next character: 0, 1 or 2. */
  #breaks = 0;
  #space = false;
  pre = 0;

  write(raw: string): void {
    const text = decodeReferences(raw);
    if (this.pre > 0) {
      this.mark(text.replaceAll('\r\n', '\n'));
      return;
    }
    for (const piece of text.split(/([ \t\r\n\f]+)/)) {
      if (piece === '') continue;
      if (SPACE.test(piece[0] ?? '')) this.#space = true;
      else this.mark(piece.replaceAll('\u{A0}', ' '));
    }
  }

  /** `lines` 1 ends the line, 2 leaves an empty one. */
  break(lines: 1 | 2): void {
    // A paragraph inside a list item starts on the line of its dash.
    if (this.#parts.at(-1) !== DASH) this.#breaks = Math.max(this.#breaks, lines);
    this.#space = false;
  }

  /** A break that counts each time, for br. */
  newLine(): void {
    this.#push('\n');
    this.#space = false;
  }

  /** Text as it is, after what is owed before it. */
  mark(text: string): void {
    if (this.#breaks > 0 && this.#parts.length > 0) this.#push('\n'.repeat(this.#breaks));
    else if (this.#space && !SPACE.test(this.#last)) this.#push(' ');
    this.#breaks = 0;
    this.#space = false;
    this.#push(text);
  }

  /** A place in the text, for `since`. */
  get place(): number {
    return this.#parts.length;
  }

  since(place: number): string {
    return this.#parts.slice(place).join('').replaceAll(/\s+/g, ' ').trim();
  }

  text(): string {
    const lines = this.#parts.join('').split('\n');
    return lines
      .map((line) => line.trimEnd())
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
  }

  #push(text: string): void {
    if (text === '') return;
    this.#parts.push(text);
    this.#last = text.at(-1) ?? '';
  }
}

/** End tags searched so far, so that a page full of unclosed ones is still read in one pass. */
type EndTags = { readonly lower: string; readonly absent: Set<string> };

const endOfRaw = (name: string, from: number, ends: EndTags): { end: number; after: number } => {
  const missing = { end: ends.lower.length, after: ends.lower.length };
  if (ends.absent.has(name)) return missing;
  const end = ends.lower.indexOf(`</${name}`, from);
  if (end < 0) {
    ends.absent.add(name);
    return missing;
  }
  const after = ends.lower.indexOf('>', end);
  return { end, after: after < 0 ? ends.lower.length : after + 1 };
};

const layOut = (page: Page, { name, close }: Tag): void => {
  if (name === 'br') page.newLine();
  else if (name === 'li') {
    page.break(1);
    if (!close) page.mark(DASH);
  } else if ((name === 'td' || name === 'th') && close) page.mark('\t');
  else if (name === 'pre') {
    page.break(2);
    page.pre = Math.max(0, page.pre + (close ? -1 : 1));
  } else if (PARAGRAPHS.has(name)) page.break(2);
  else if (BLOCKS.has(name)) page.break(1);
};

export const htmlToText = (html: string): HtmlText => {
  const page = new Page();
  const links: HtmlLink[] = [];
  // Only A-Z, because other letters may change their length and move every position behind them.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const ends: EndTags = { lower, absent: new Set() };
  let title = '';
  let open: { href: string; at: number } | undefined;
  const closeLink = (): void => {
    if (open && links.length < LINKS_MAX) links.push({ text: page.since(open.at), href: open.href });
    open = undefined;
  };
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf('<', at);
    if (next !== at) {
      page.write(html.slice(at, next < 0 ? html.length : next));
      at = next < 0 ? html.length : next;
      continue;
    }
    const skipped = declarationEnd(html, at);
    const tag = skipped === undefined ? readTag(html, at) : undefined;
    if (!tag) {
      if (skipped === undefined) page.write('<');
      at = skipped ?? at + 1;
      continue;
    }
    at = tag.end;
    const raw = tag.name === 'title' || tag.name === 'textarea' || SKIPPED.has(tag.name);
    if (raw && !tag.close) {
      const { end, after } = endOfRaw(tag.name, at, ends);
      const inside = html.slice(at, end);
      if (tag.name === 'textarea') page.write(inside);
      if (tag.name === 'title' && title === '')
        title = decodeReferences(inside).replaceAll(/\s+/g, ' ').trim();
      at = after;
      continue;
    }
    if (tag.name === 'a') {
      closeLink();
      const href = decodeReferences(tag.attributes.get('href') ?? '').trim();
      if (!tag.close && href !== '' && href.length <= HREF_CHARS_MAX) open = { href, at: page.place };
    }
    if (tag.name === 'img') page.write(tag.attributes.get('alt') ?? '');
    layOut(page, tag);
  }
  closeLink();
  return { title, text: page.text(), links };
};
