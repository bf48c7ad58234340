/** Pages that can be sent to somebody: no script, nothing loaded, every text of others escaped and made visible. */
import { createHash } from 'node:crypto';
import { formatCount } from '../view/format.ts';
import { reveal } from '../view/reveal.ts';

/** Markup that may go into a page. Only markup`` makes it, from the source's own words and escaped text. */
export type Markup = { readonly markup: string };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  reveal(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

export type Value = Markup | string | number | readonly Markup[];

/** Our own markup with values in it: a string or number is text of others, a list is one after the other. */
export const markup = (words: TemplateStringsArray, ...values: readonly Value[]): Markup => ({
  markup: words.map((word, i) => word + textOf(values[i] ?? '')).join(''),
});

const textOf = (value: Value): string => {
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return formatCount(value);
  if ('markup' in value) return value.markup;
  return value.map((one) => one.markup).join('');
};

/** Content-Security-Policy of a page: nothing but its one style, known by its digest. */
export const pagePolicy = (style: string): string => {
  const digest = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
};
