/** Every pair of colours that text, or the edge of a control, stands in: computed from the stylesheet, in both themes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const CSS = readFileSync(join(import.meta.dirname, '../../src/web/style/tokens.css'), 'utf8');

type Rgb = readonly [number, number, number];
type Pair = { readonly light: Rgb; readonly dark: Rgb };

const rgb = (hex: string): Rgb =>
  [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;

const TOKENS: ReadonlyMap<string, Pair> = new Map(
  [...CSS.matchAll(/--([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light: rgb(light), dark: rgb(dark) }],
  ),
);

/** WCAG 2.2, relative luminance and contrast ratio. */
const luminance = (color: Rgb): number => {
  const [r, g, b] = color.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const contrast = (one: Rgb, other: Rgb): number => {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

const TEXT = 4.5;
const EDGE = 3;

const GROUNDS = ['paper', 'sheet', 'well', 'hover'] as const;
const STATES = ['run', 'wait', 'doubt', 'done', 'fail', 'stop'] as const;

const PAIRS: readonly (readonly [string, string, number])[] = [
  ...['ink', 'ink-2', 'ink-3', 'pen'].flatMap((ink) => GROUNDS.map((ground) => [ink, ground, TEXT] as const)),
  ...['ink', 'ink-2', 'ink-3', 'pen'].map((ink) => [ink, 'pen-soft', TEXT] as const),
  ...STATES.map((state) => [state, `${state}-soft`, TEXT] as const),
  ...STATES.flatMap((state) =>
    ['sheet', 'pen-soft', 'hover'].map((ground) => [state, ground, TEXT] as const),
  ),
  ['on-pen', 'pen', TEXT],
  ...['add', 'del'].flatMap((kind) =>
    ['line', 'mark'].flatMap((depth) => [['ink', `${kind}-${depth}`, TEXT] as const]),
  ),
  ['ink-2', 'add-line', TEXT],
  ['ink-2', 'del-line', TEXT],
  ['ink', 'untrusted', TEXT],
  ['ink-2', 'untrusted', TEXT],
  ['edge', 'sheet', EDGE],
  ['edge', 'paper', EDGE],
  ['untrusted-line', 'untrusted', EDGE],
  ['t-read', 'sheet', EDGE],
  ['t-write', 'sheet', EDGE],
  ['t-fresh', 'sheet', EDGE],
  ['t-out', 'sheet', EDGE],
];

describe('colours', () => {
  test.for(['light', 'dark'] as const)('can be read in the %s theme', (theme) => {
    expect(TOKENS.size).toBeGreaterThan(30);
    const weak = PAIRS.flatMap(([ink, ground, least]) => {
      const [over, under] = [TOKENS.get(ink), TOKENS.get(ground)];
      if (!over || !under) return [`${ink} on ${ground}: no such colour`];
      const found = contrast(over[theme], under[theme]);
      return found < least ? [`${ink} on ${ground}: ${found.toFixed(2)}, wanted ${least}`] : [];
    });
    expect(weak).toEqual([]);
  });
});
