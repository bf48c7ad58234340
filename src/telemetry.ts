/** Traces and metrics of what a runtime does, for `openRuntime({ telemetry })`. Needs no further package. */
export { otlpTelemetry, type OtlpTelemetryOptions } from './telemetry/begin.ts';
export type { Attribute, Attributes, InstrumentName, Measure, Span, SpanEvent } from './telemetry/span.ts';
export { Telemetry, type Sink, type TelemetryOptions } from './telemetry/telemetry.ts';
