/** Small charts: what they show stands in a sentence for those who hear them, and in a table below for everybody. */
import type { ReactNode } from 'react';
import type { SpendView } from '../../server/spend-shapes.ts';
import { formatCost, formatDuration } from '../../view/format.ts';

export type Group = SpendView['total'];
type Split = Group['split'];

type TokenClass = { readonly key: keyof Split; readonly word: string; readonly className: string };

export const CLASSES: readonly TokenClass[] = [
  { key: 'cacheRead', word: 'cache read', className: 'read' },
  { key: 'cacheWrite', word: 'cache write', className: 'written' },
  { key: 'input', word: 'uncached input', className: 'uncached' },
  { key: 'output', word: 'output', className: 'output' },
  { key: 'unsplit', word: 'not told apart', className: 'unsplit' },
];

const WIDTH = 640;
const HEIGHT = 190;
const LEFT = 52;
const BASE = 166;
const TOP = 14;
const LABELS_MAX = 16;

/** Columns by day, each of the classes of tokens in the order in which they are billed. */
export const DayChart = ({ days }: { readonly days: readonly Group[] }): ReactNode => {
  const most = Math.max(...days.map(({ cost }) => cost), 0);
  const step = tickOf(most);
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
  const scale = (cost: number): number => (most === 0 ? 0 : (cost / most) * (BASE - TOP));
  const slot = (WIDTH - LEFT) / Math.max(1, days.length);
  const every = Math.ceil(days.length / LABELS_MAX);
  return (
    <svg className="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={chartWords(days)}>
      {ticks.map((cost) => (
        <g key={cost}>
          <line
            className={cost === 0 ? 'axis-line' : 'grid-line'}
            x1={LEFT}
            x2={WIDTH}
            y1={BASE - scale(cost)}
            y2={BASE - scale(cost)}
          />
          <text x={LEFT - 8} y={BASE - scale(cost) + 4} textAnchor="end">
            {formatCost(cost)}
          </text>
        </g>
      ))}
      {days.map((day, at) => (
        <g key={day.name}>
          <Column day={day} x={LEFT + at * slot + slot * 0.2} width={slot * 0.6} scale={scale} />
          {at % every === 0 && (
            <text x={LEFT + (at + 0.5) * slot} y={BASE + 17} textAnchor="middle">
              {Number(day.name.slice(8))}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
};

type ColumnProps = {
  readonly day: Group;
  readonly x: number;
  readonly width: number;
  readonly scale: (cost: number) => number;
};

const Column = ({ day, x, width, scale }: ColumnProps): ReactNode => {
  let under = 0;
  return CLASSES.map(({ key, className }) => {
    const height = scale(day.split[key]);
    under += height;
    return height === 0 ? null : (
      <rect
        key={key}
        className={className}
        x={x}
        width={width}
        y={BASE - under}
        height={Math.max(0.5, height - 0.8)}
      />
    );
  });
};

/** 1, 2 or 5 times a power of ten, so that there are two to five lines. */
const tickOf = (most: number): number => {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [0.2, 0.5, 1, 2].map((one) => one * power).find((one) => most / one <= 5) ?? power;
};

const chartWords = (days: readonly Group[]): string => {
  const paid = days.filter(({ cost }) => cost > 0);
  const [first, last] = [days.at(0)?.name ?? '', days.at(-1)?.name ?? ''];
  if (paid.length === 0) return `Cost by day, ${first} to ${last}: nothing known was paid.`;
  const most = paid.reduce((one, other) => (other.cost > one.cost ? other : one));
  return `Cost by day, ${first} to ${last}. Highest ${formatCost(most.cost)} on ${most.name}; nothing on ${days.length - paid.length} of ${days.length} days. The table below has all values.`;
};

/** What one group's money went into, as long as its share of the dearest. */
export const SplitBar = ({ group, most }: { readonly group: Group; readonly most: number }): ReactNode => {
  const { split, cost } = group;
  const words = CLASSES.filter(({ key }) => split[key] > 0)
    .map(({ key, word }) => `${word} ${formatCost(split[key])}`)
    .join(', ');
  return (
    <span
      className="split-bar"
      role="img"
      aria-label={words === '' ? 'nothing known' : words}
      style={{ width: `${most === 0 ? 0 : Math.max(1, (cost / most) * 100)}%` }}
    >
      {CLASSES.map(({ key, className }) =>
        split[key] > 0 ? <i key={key} className={className} style={{ flexGrow: split[key] / cost }} /> : null,
      )}
    </span>
  );
};

const RANGE = 200;

/** Dot: median. Thick to p90, thin to p99. */
export const LatencyRange = ({
  of,
  mostMs,
}: {
  readonly of: NonNullable<Group['firstToken']>;
  readonly mostMs: number;
}): ReactNode => {
  const x = (ms: number): number => (mostMs === 0 ? 0 : 5 + (ms / mostMs) * (RANGE - 10));
  return (
    <svg
      className="range"
      viewBox={`0 0 ${RANGE} 14`}
      role="img"
      aria-label={`median ${formatDuration(of.median)}, p90 ${formatDuration(of.p90)}, p99 ${formatDuration(of.p99)}`}
    >
      <line className="grid-line" x1="0" x2={RANGE} y1="7" y2="7" />
      <line className="far" x1={x(of.p90)} x2={x(of.p99)} y1="7" y2="7" />
      <line className="near" x1={x(of.median)} x2={x(of.p90)} y1="7" y2="7" />
      <circle cx={x(of.median)} cy="7" r="4" />
    </svg>
  );
};
