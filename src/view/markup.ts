/**
 * Markup for pages. Only the template tag makes it, from our own literal words; whatever is put into them is text of
 * others and comes out escaped, with everything hidden in it made visible.
 */
import { formatCount } from './format.ts';
import { codePointLabel, segments, type RevealOptions } from './reveal.ts';

export type Markup = { readonly markup: string };

type Value = Markup | string | number | undefined | readonly Markup[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const NOTHING: Markup = { markup: '' };

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/**
 * A string or number is text of others, a list is one after the other, undefined is nothing. Within a tag, where no
 * element may stand, a text is escaped for an attribute.
 */
export const markup = (words: TemplateStringsArray, ...values: readonly Value[]): Markup => {
  const places = placesIn(words);
  return { markup: words.map((word, i) => word + valueOf(values[i], places[i] === true)).join('') };
};

const known = new WeakMap<TemplateStringsArray, readonly boolean[]>();

/** Behind which of our words a tag is open: these are literals, so an angle bracket in them is one. */
const placesIn = (words: TemplateStringsArray): readonly boolean[] => {
  const found = known.get(words) ?? inTags(words);
  known.set(words, found);
  return found;
};

const inTags = (words: TemplateStringsArray): readonly boolean[] => {
  let inTag = false;
  return words.map((word) => {
    const last = Math.max(word.lastIndexOf('<'), word.lastIndexOf('>'));
    if (last >= 0) inTag = word[last] === '<';
    return inTag;
  });
};

const valueOf = (value: Value, inTag: boolean): string => {
  if (value === undefined) return '';
  if (typeof value === 'string') return (inTag ? attribute(value) : textMarkup(value, {})).markup;
  if (typeof value === 'number') return formatCount(value);
  return 'markup' in value ? value.markup : value.map((one) => one.markup).join('');
};

/** For the inside of an attribute, where no element may stand. */
export const attribute = (text: string): Markup => ({
  markup: escaped(
    segments(text)
      .map((segment) => segment.text)
      .join(''),
  ),
});

/** Text with its hidden characters as chips that name them. */
export const textMarkup = (text: string, options: RevealOptions): Markup => ({
  markup: segments(text, options)
    .map(({ text: shown, hidden }) =>
      hidden === undefined
        ? escaped(shown)
        : `<span class="cp">${escaped(hidden.count > 1 ? shown : codePointLabel(hidden.codePoint))}</span>`,
    )
    .join(''),
});

/** Text that this project wrote itself: nothing in it is hidden, and its spaces stay. */
export const verbatim = (text: string): Markup => ({ markup: escaped(text) });

/** Several lines as they are, for an element that keeps white space. */
export const lines = (text: string): Markup =>
  textMarkup(text.replaceAll('\r\n', '\n'), { newlines: true, tabs: true, indent: true });
