/** What the door counts, in the text form of Prometheus (exposition format 0.0.4). */

import type { Series as TallySeries, Tallied } from '../telemetry/tally.ts';

/** Seconds, as Prometheus has them. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60] as const;

export type Answered = {
  /** The route's pattern; never an address. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** Until the answer began; a stream goes on. */
  readonly ms: number;
};

export type Gauge = {
  readonly name: string;
  readonly help: string;
  readonly type?: 'gauge' | 'counter';
  readonly values: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
};

type Series = { count: number; seconds: number; readonly within: number[] };

export class Metrics {
  readonly #requests = new Map<
    string,
    { readonly labels: Readonly<Record<string, string>>; count: number }
  >();
  readonly #latency = new Map<string, Series>();

  request({ route, method, status, ms }: Answered): void {
    const key = `${method} ${route} ${status}`;
    const known = this.#requests.get(key);
    if (known) known.count += 1;
    else this.#requests.set(key, { labels: { route, method, status: String(status) }, count: 1 });
    const series = this.#latency.get(route) ?? { count: 0, seconds: 0, within: BUCKETS.map(() => 0) };
    this.#latency.set(route, series);
    const seconds = ms / 1000;
    series.count += 1;
    series.seconds += seconds;
    for (const [i, limit] of BUCKETS.entries())
      if (seconds <= limit) series.within[i] = (series.within[i] ?? 0) + 1;
  }

  /** The whole page, with what is measured elsewhere. */
  text(gauges: readonly Gauge[]): string {
    const requests: Gauge = {
      name: 'onrecord_requests_total',
      help: 'Requests by route and status.',
      type: 'counter',
      values: [...this.#requests.values()].map(({ labels, count }) => ({ labels, value: count })),
    };
    return [...[...gauges, requests].flatMap(gaugeLines), ...this.#latencyLines()].join('\n') + '\n';
  }

  #latencyLines(): readonly string[] {
    const name = 'onrecord_request_seconds';
    const lines = head(name, 'Seconds until an answer began, by route.', 'histogram');
    for (const [route, { count, seconds, within }] of this.#latency) {
      for (const [i, limit] of BUCKETS.entries())
        lines.push(line(`${name}_bucket`, within[i] ?? 0, { route, le: String(limit) }));
      lines.push(line(`${name}_bucket`, count, { route, le: '+Inf' }));
      lines.push(line(`${name}_sum`, seconds, { route }), line(`${name}_count`, count, { route }));
    }
    return lines;
  }
}

const head = (name: string, help: string, type: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const gaugeLines = ({ name, help, type = 'gauge', values }: Gauge): readonly string[] => [
  ...head(name, help, type),
  ...values.map(({ labels = {}, value }) => line(name, value, labels)),
];

const line = (name: string, value: number, labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
};

/** A name of OpenTelemetry's as Prometheus has it: the unit at the end, unless it only says what is counted. */
const prometheusName = ({ name, instrument: { kind, unit } }: Tallied): string =>
  name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '') + (kind === 'counter' ? '_total' : '');

/** What telemetry has added up in this process. */
export const tallyLines = (tallied: readonly Tallied[]): string =>
  tallied
    .flatMap((one) => [
      ...head(prometheusName(one), one.instrument.description, one.instrument.kind),
      ...one.series.flatMap((series) => seriesLines(one, series)),
    ])
    .join('\n') + (tallied.length > 0 ? '\n' : '');

const seriesLines = (
  tallied: Tallied,
  { attributes, count, sum, buckets }: TallySeries,
): readonly string[] => {
  const name = prometheusName(tallied);
  const labels = Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key.replaceAll('.', '_'), String(value)]),
  );
  const { kind, bounds = [] } = tallied.instrument;
  if (kind === 'counter') return [line(name, sum, labels)];
  let within = 0;
  const cumulative = bounds.map((bound, i) =>
    line(`${name}_bucket`, (within += buckets[i] ?? 0), { ...labels, le: String(bound) }),
  );
  return [
    ...cumulative,
    line(`${name}_bucket`, count, { ...labels, le: '+Inf' }),
    line(`${name}_sum`, sum, labels),
    line(`${name}_count`, count, labels),
  ];
};

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
