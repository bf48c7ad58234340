/** Search by plain words: the sections in which all of them begin a word; the phrase first, then headings. */
import type { Token } from 'marked';
import { addressOf, type Manual, type Page } from './manual.ts';
import { anchors, plainText } from './markdown.ts';

const FOUND_MAX = 30;
const WORDS_MAX = 8;
const EXCERPT_LENGTH = 220;
/** How much stands before the first word that was found. */
const LEAD_LENGTH = 60;

export type Section = {
  readonly page: Page;
  readonly heading: string;
  readonly address: string;
  readonly text: string;
};

export type Found = Section & {
  readonly excerpt: string;
};

export const sectionsOf = (page: Page): readonly Section[] => {
  const anchorOf = anchors();
  const sections: { heading: string; anchor: string; texts: string[] }[] = [];
  for (const token of page.tokens) {
    if (token.type === 'heading') {
      const heading = plainText(token.tokens ?? []);
      sections.push({ heading, anchor: anchorOf(heading), texts: [] });
    } else sections.at(-1)?.texts.push(textOf(token));
  }
  const address = addressOf(page.path);
  return sections.map(({ heading, anchor, texts }, at) => ({
    page,
    heading,
    address: at === 0 ? address : `${address}#${anchor}`,
    text: texts.filter((text) => text !== '').join(' '),
  }));
};

/** Code and tables as they are written; prose without its marks. */
const textOf = (token: Token): string => {
  if (token.type === 'html' || token.type === 'space') return '';
  const text =
    token.type === 'code'
      ? String(token['text'])
      : 'tokens' in token && token.tokens
        ? plainText(token.tokens)
        : token.raw;
  return text.replaceAll(/\s+/g, ' ').trim();
};

export const wordsOf = (query: string): readonly string[] =>
  query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);

/** Where a word begins with these letters; -1 for nowhere. Both are in lower case. */
export const placeOf = (text: string, word: string, from: number = 0): number => {
  for (let at = text.indexOf(word, from); at >= 0; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return at;
  return -1;
};

const PHRASE_RANK = WORDS_MAX + 1;

const rankOf = ({ heading, text }: Section, words: readonly string[]): number | undefined => {
  const [head, body] = [heading.toLowerCase(), text.toLowerCase()];
  if (!words.every((word) => placeOf(head, word) >= 0 || placeOf(body, word) >= 0)) return undefined;
  const phrase = words.join(' ');
  const asPhrase = [head, body].filter((one) => placeOf(one, phrase) >= 0).length;
  return asPhrase * PHRASE_RANK + words.filter((word) => placeOf(head, word) >= 0).length;
};

export type Search = { readonly found: readonly Found[]; readonly total: number };

export const search = (manual: Manual, query: string): Search => {
  const words = wordsOf(query);
  if (words.length === 0) return { found: [], total: 0 };
  const ranked = [...manual.pages.values()].flatMap(sectionsOf).flatMap((section) => {
    const rank = rankOf(section, words);
    return rank === undefined ? [] : [{ rank, section }];
  });
  const found = ranked
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, FOUND_MAX)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(section.text, words) }));
  return { found, total: ranked.length };
};

const excerptOf = (text: string, words: readonly string[]): string => {
  const low = text.toLowerCase();
  const places = [words.join(' '), ...words].map((word) => placeOf(low, word)).filter((at) => at >= 0);
  const from = Math.max(0, (places[0] ?? 0) - LEAD_LENGTH);
  const piece = text.slice(from, from + EXCERPT_LENGTH);
  return `${from > 0 ? '…' : ''}${piece}${from + EXCERPT_LENGTH < text.length ? '…' : ''}`;
};
