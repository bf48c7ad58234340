/** How something grows, as a line drawing: SVG made from the numbers alone, readable on white and on black. */

export type Series = { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] };

export type Plot = {
  /** Names the file: letters, digits and "-". */
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
  /** Whether y grows by factors, too; x always does. */
  readonly logY?: boolean;
};

const WIDTH = 720;
const HEIGHT = 360;
const LEFT = 72;
const RIGHT = 200;
const TOP = 40;
const BOTTOM = 52;
const TICKS = 5;

/** Apart for eyes that do not tell red from green (Okabe and Ito, "Color Universal Design"). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#999999'] as const;

type Scale = {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
};

const logScale = (values: readonly number[], from: number, to: number): Scale => {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from), ticks };
};

const linearScale = (values: readonly number[], from: number, to: number): Scale => {
  const most = Math.max(...values, Number.MIN_VALUE);
  const rough = most / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const high = Math.ceil(most / step) * step;
  const ticks = Array.from({ length: Math.round(high / step) + 1 }, (_, i) => i * step);
  return { at: (value) => from + (value / high) * (to - from), ticks };
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const number = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en-US');

const rounded = (value: number): string => value.toFixed(1);

type Place = { readonly x: number; readonly y: number; readonly anchor?: 'start' | 'middle' | 'end' };

const label = (words: string, { x, y, anchor = 'start' }: Place, more = ''): string =>
  `<text x="${rounded(x)}" y="${rounded(y)}" text-anchor="${anchor}"${more}>${escaped(words)}</text>`;

/** Names at the ends of lines, moved apart where they would lie on each other. */
const apart = (wanted: readonly number[]): readonly number[] => {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  const placed: number[] = [];
  let last = -Infinity;
  for (const { y, i } of order) {
    last = Math.max(y, last + 15);
    placed[i] = last;
  }
  return placed;
};

export const drawn = ({ title, x, y, series, logY = false }: Plot): string => {
  const points = series.flatMap((one) => one.points);
  const right = WIDTH - RIGHT;
  const bottom = HEIGHT - BOTTOM;
  const across = logScale(
    points.map(([value]) => value),
    LEFT,
    right,
  );
  const up = (logY ? logScale : linearScale)(
    points.map(([, value]) => value),
    bottom,
    TOP,
  );
  const ends = series.map((one) => up.at(one.points.at(-1)?.[1] ?? 1));
  const names = apart(ends);
  const lines = series.map(({ name, points: of }, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? COLOURS[0];
    const path = of.map(([px, py]) => `${rounded(across.at(px))},${rounded(up.at(py))}`);
    const dots = path.map((at) => {
      const [cx = '', cy = ''] = at.split(',');
      return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`;
    });
    return [
      `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      label(name, { x: across.at(of.at(-1)?.[0] ?? 1) + 10, y: (names[i] ?? 0) + 4 }, ` fill="${colour}"`),
    ].join('');
  });
  const grid = up.ticks.map(
    (tick) =>
      `<line x1="${LEFT}" x2="${right}" y1="${rounded(up.at(tick))}" y2="${rounded(up.at(tick))}" stroke="#888" stroke-opacity="0.3"/>` +
      label(number(tick), { x: LEFT - 8, y: up.at(tick) + 4, anchor: 'end' }),
  );
  const marks = across.ticks.map((tick) =>
    label(number(tick), { x: across.at(tick), y: bottom + 20, anchor: 'middle' }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#777">`,
    `<title>${escaped(title)}</title>`,
    label(title, { x: LEFT, y: 20 }, ' font-size="14" font-weight="bold"'),
    ...grid,
    ...marks,
    label(x, { x: (LEFT + right) / 2, y: HEIGHT - 12, anchor: 'middle' }),
    label(y, { x: LEFT - 8, y: TOP - 14, anchor: 'end' }),
    ...lines,
    '</svg>\n',
  ].join('\n');
};
