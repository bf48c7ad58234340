/** Measures added up: what a collector is sent, and what Prometheus reads. */
import { INSTRUMENTS, type Attributes, type Instrument, type InstrumentName, type Measure } from './span.ts';

/** Sets of attributes of one instrument; further ones are added to one set of their own. */
export const SERIES_MAX = 2000;
/** The set that takes what is over the limit, as OpenTelemetry names it. */
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

export type Series = {
  readonly attributes: Attributes;
  count: number;
  sum: number;
  /** By bound, and behind the last one; empty for a counter. Not cumulative. */
  readonly buckets: number[];
};

export type Tallied = {
  readonly name: InstrumentName;
  readonly instrument: Instrument;
  readonly series: readonly Series[];
};

export class Tally {
  readonly #series = new Map<InstrumentName, Map<string, Series>>();

  add({ instrument, value, attributes }: Measure): void {
    const all = this.#series.get(instrument) ?? new Map<string, Series>();
    this.#series.set(instrument, all);
    const { bounds = [] } = INSTRUMENTS[instrument];
    const series = seriesOf(all, attributes, bounds.length);
    series.count++;
    series.sum += value;
    if (bounds.length === 0) return;
    const at = bounds.findIndex((bound) => value <= bound);
    const place = at < 0 ? bounds.length : at;
    series.buckets[place] = (series.buckets[place] ?? 0) + 1;
  }

  all(): readonly Tallied[] {
    return [...this.#series].map(([name, series]) => ({
      name,
      instrument: INSTRUMENTS[name],
      series: [...series.values()],
    }));
  }
}

const seriesOf = (all: Map<string, Series>, attributes: Attributes, bounds: number): Series => {
  const key = JSON.stringify(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const known = all.get(key);
  if (known) return known;
  if (all.size >= SERIES_MAX && attributes !== OVERFLOW) return seriesOf(all, OVERFLOW, bounds);
  const buckets = bounds === 0 ? [] : Array.from({ length: bounds + 1 }, () => 0);
  const made: Series = { attributes, count: 0, sum: 0, buckets };
  all.set(key, made);
  return made;
};
