/** A line plot as SVG: pauses in order, values from 0 up. Read without colour: each line has its name and mark. */
import { formatDuration } from '../../view/format.ts';
import { markup, type Markup } from '../markup.ts';

export type Series = {
  readonly name: string;
  readonly points: readonly { readonly gapMs: number; readonly value: number }[];
};

export type PlotOptions = {
  readonly name: string;
  readonly format: (value: number) => string;
  /** The top of the axis; default the largest value. */
  readonly max?: number;
};

const WIDTH = 720;
const HEIGHT = 280;
const LEFT = 84;
const RIGHT = 200;
const TOP = 12;
const BOTTOM = 34;
const TICKS = [0, 0.25, 0.5, 0.75, 1] as const;
const DASHES = ['', '6 3', '2 3', '8 3 2 3', '1 4', '12 4'] as const;

export const plot = (series: readonly Series[], { name, format, max }: PlotOptions): Markup => {
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return markup`<p>Nothing is known of this.</p>`;
  const top = max ?? Math.max(Number.MIN_VALUE, ...points.map((point) => point.value));
  const gaps = [...new Set(points.map((point) => point.gapMs))].sort((one, other) => one - other);
  const x = scale(gaps);
  const y = (value: number): number => round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.min(1, value / top)));
  const lines = series.map((one, i) => line(one, i, { x, y, format }));
  const rules = TICKS.map(
    (part) => markup`
<line x1="${String(LEFT)}" x2="${String(WIDTH - RIGHT)}" y1="${String(y(part * top))}" y2="${String(y(part * top))}" stroke="currentColor" stroke-opacity="0.15"/>
<text x="${String(LEFT - 8)}" y="${String(y(part * top) + 4)}" text-anchor="end" font-size="11" fill="currentColor">${format(part * top)}</text>`,
  );
  const feet = gaps.map(
    (gap) => markup`
<text x="${String(x(gap))}" y="${String(HEIGHT - 12)}" text-anchor="middle" font-size="11" fill="currentColor">${formatDuration(gap)}</text>`,
  );
  return markup`<svg viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" width="100%" role="img" aria-label="${name}">${rules}${feet}${lines}</svg>`;
};

type Axes = {
  readonly x: (gapMs: number) => number;
  readonly y: (value: number) => number;
  readonly format: (value: number) => string;
};

const line = ({ name, points }: Series, i: number, { x, y, format }: Axes): Markup => {
  const last = points.at(-1);
  if (!last) return markup``;
  const path = points.map(({ gapMs, value }) => `${x(gapMs)},${y(value)}`).join(' ');
  const marks = points.map(
    ({ gapMs, value }) => markup`
<circle cx="${String(x(gapMs))}" cy="${String(y(value))}" r="3" fill="currentColor"><title>${name}, ${formatDuration(gapMs)}: ${format(value)}</title></circle>`,
  );
  const height = TOP + 10 + i * 16;
  return markup`
<polyline points="${path}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="${DASHES[i % DASHES.length] ?? ''}"/>${marks}
<line x1="${String(WIDTH - RIGHT + 12)}" x2="${String(WIDTH - RIGHT + 40)}" y1="${String(height - 4)}" y2="${String(height - 4)}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="${DASHES[i % DASHES.length] ?? ''}"/>
<text x="${String(WIDTH - RIGHT + 46)}" y="${String(height)}" font-size="11" fill="currentColor">${name}</text>`;
};

/** Pauses side by side, in order and not to scale: from seconds to hours nothing else can be read. */
const scale = (gaps: readonly number[]): ((gapMs: number) => number) => {
  const width = WIDTH - LEFT - RIGHT - 40;
  return (gap) =>
    round(LEFT + 20 + (gaps.length > 1 ? (gaps.indexOf(gap) / (gaps.length - 1)) * width : width / 2));
};

const round = (value: number): number => Math.round(value * 10) / 10;
