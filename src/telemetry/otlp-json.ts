/**
 * Spans and tallies in OTLP's JSON form (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hexadecimal,
 * 64-bit numbers as strings, enumerations as numbers.
 */
import type { Attribute, Attributes, Span } from './span.ts';
import type { Series, Tallied } from './tally.ts';

export type Resource = Attributes;
export type Scope = { readonly name: string; readonly version: string };

const KIND: Readonly<Record<Span['kind'], number>> = { internal: 1, client: 3 };
const STATUS_ERROR = 2;
const CUMULATIVE = 2;
const SAMPLED = 1;

/** Milliseconds may have a fraction, which is kept to the microsecond. */
const nanos = (ms: number): string => `${BigInt(Math.round(ms * 1000))}000`;

const value = (attribute: Attribute): object => {
  if (typeof attribute === 'string') return { stringValue: attribute };
  if (typeof attribute === 'boolean') return { boolValue: attribute };
  if (typeof attribute !== 'number') return { arrayValue: { values: attribute.map((one) => value(one)) } };
  return Number.isSafeInteger(attribute) ? { intValue: String(attribute) } : { doubleValue: attribute };
};

const pairs = (attributes: Attributes): readonly object[] =>
  Object.entries(attributes).map(([key, one]) => ({ key, value: value(one) }));

const spanJson = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
  flags: SAMPLED,
  name: span.name,
  kind: KIND[span.kind],
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(span.endMs),
  attributes: pairs(span.attributes),
  events: span.events.map(({ name, atMs, attributes }) => ({
    name,
    timeUnixNano: nanos(atMs),
    attributes: pairs(attributes),
  })),
  status: span.error === undefined ? {} : { code: STATUS_ERROR, message: span.error },
});

export const traceJson = (spans: readonly Span[], resource: Resource, scope: Scope): string =>
  JSON.stringify({
    resourceSpans: [
      { resource: { attributes: pairs(resource) }, scopeSpans: [{ scope, spans: spans.map(spanJson) }] },
    ],
  });

export type Period = { readonly startMs: number; readonly nowMs: number };

const pointTimes = ({ startMs, nowMs }: Period): object => ({
  startTimeUnixNano: nanos(startMs),
  timeUnixNano: nanos(nowMs),
});

const metricJson = ({ name, instrument, series }: Tallied, period: Period): object => {
  const { unit, description, kind, bounds } = instrument;
  const times = pointTimes(period);
  const histogramPoint = ({ attributes, count, sum, buckets }: Series): object => ({
    ...times,
    attributes: pairs(attributes),
    count: String(count),
    sum,
    bucketCounts: buckets.map(String),
    explicitBounds: bounds,
  });
  const sumPoint = ({ attributes, sum }: Series): object => ({
    ...times,
    attributes: pairs(attributes),
    asDouble: sum,
  });
  const data =
    kind === 'histogram'
      ? { histogram: { aggregationTemporality: CUMULATIVE, dataPoints: series.map(histogramPoint) } }
      : {
          sum: {
            aggregationTemporality: CUMULATIVE,
            isMonotonic: true,
            dataPoints: series.map(sumPoint),
          },
        };
  return { name, unit, description, ...data };
};

export const metricsJson = (
  tallied: readonly Tallied[],
  period: Period,
  resource: Resource,
  scope: Scope,
): string =>
  JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: pairs(resource) },
        scopeMetrics: [{ scope, metrics: tallied.map((one) => metricJson(one, period)) }],
      },
    ],
  });
