/** OpenTelemetry's own SDK with exporters in memory, as one process has it. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type IdGenerator,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-node';
import { onTestFinished } from 'vitest';
import { otelTelemetry, recordIds } from '../../src/otel.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';

export type Sdk = {
  readonly telemetry: Telemetry;
  readonly warnings: readonly string[];
  readonly spans: () => readonly ReadableSpan[];
  /** Points of all metrics: name, attributes, and the histogram's count and sum, or the sum. */
  readonly metrics: () => Promise<readonly Point[]>;
};

export type Point = {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: unknown;
};

export const sdk = (options: { idGenerator?: IdGenerator | 'own'; sampler?: Sampler } = {}): Sdk => {
  const { idGenerator = recordIds, sampler } = options;
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    ...(idGenerator !== 'own' && { idGenerator }),
    ...(sampler && { sampler }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(async () => {
    await tracerProvider.shutdown();
    await meterProvider.shutdown();
  });
  const warnings: string[] = [];
  return {
    telemetry: otelTelemetry({
      tracerProvider,
      meterProvider,
      warn: (message) => void warnings.push(message),
    }),
    warnings,
    spans: () => exporter.getFinishedSpans(),
    metrics: async () => {
      await reader.forceFlush();
      const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? [];
      return scopes.flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => ({
            name: descriptor.name,
            unit: descriptor.unit,
            attributes,
            value,
          })),
        ),
      );
    },
  };
};

/** The tree of one trace, one line a span, in the order of the starts. */
export const tree = (spans: readonly ReadableSpan[]): readonly string[] => {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (parent: string | undefined, depth: number): readonly string[] =>
    spans
      .filter(({ parentSpanContext: above }) =>
        parent === undefined ? above === undefined || !known.has(above.spanId) : above?.spanId === parent,
      )
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name}${span.status.message === undefined ? '' : ` !${span.status.message}`}`,
        ...below(span.spanContext().spanId, depth + 1),
      ]);
  return below(undefined, 0);
};

export const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`there is no span ${name}: ${spans.map((span) => span.name).join(', ')}`);
  return found;
};
