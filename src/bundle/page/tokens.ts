/** Tokens in the order in which they are billed: one bar, and the numbers it stands for. */
import type { Usage } from '../../event/content.ts';
import { formatCount } from '../../view/format.ts';
import { attribute, markup, type Markup } from '../../view/markup.ts';

export const TOKEN_CLASSES: readonly (readonly [keyof Omit<Usage, 'cacheWriteLong'>, string, string])[] = [
  ['cacheRead', 'cache read', 't-read'],
  ['cacheWrite', 'cache write', 't-write'],
  ['input', 'uncached input', 't-fresh'],
  ['output', 'output', 't-out'],
];

const total = (usage: Usage): number => TOKEN_CLASSES.reduce((sum, [name]) => sum + usage[name], 0);

/** A drawing needs no style of its own: bars are SVG, whose lengths are attributes. */
export const tokenBar = (usage: Usage): Markup => {
  const all = total(usage);
  const words = TOKEN_CLASSES.map(([name, title]) => `${title} ${formatCount(usage[name])}`).join(', ');
  let at = 0;
  const pieces = TOKEN_CLASSES.map(([name, , look]) => {
    const width = all === 0 ? 0 : (usage[name] / all) * 100;
    const piece = markup`<rect class="${look}" x="${number(at)}" width="${number(width)}" height="8" y="0"/>`;
    at += width;
    return piece;
  });
  return markup`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="${attribute(words)}">${pieces}</svg>`;
};

export const tokenWords = (usage: Usage | undefined): Markup =>
  usage === undefined
    ? markup`<span class="dim">tokens unknown</span>`
    : markup`<span class="legend">${TOKEN_CLASSES.map(
        ([name, title, look]) => markup`<span><i class="${look}"></i>${title} ${usage[name]}</span>`,
      )}</span>`;

/** A number within an attribute: no thousands comma. */
export const number = (value: number): string => String(Math.round(value * 100) / 100);
