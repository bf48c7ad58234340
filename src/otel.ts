/**
 * Traces and metrics through @opentelemetry/api, into the SDK that the program has set up. Needs that package.
 *
 *     const provider = new NodeTracerProvider({ idGenerator: recordIds, spanProcessors: [...] });
 *     openRuntime({ store, agents, telemetry: otelTelemetry({ tracerProvider: provider }) });
 */
import { OtelSink, type OtelOptions } from './telemetry/otel.ts';
import { Telemetry, type TelemetryOptions } from './telemetry/telemetry.ts';

export { OtelSink, recordIds, type IdGenerator, type OtelOptions } from './telemetry/otel.ts';

export const otelTelemetry = (options: OtelOptions & Pick<TelemetryOptions, 'warn'> = {}): Telemetry =>
  new Telemetry({ sinks: [new OtelSink(options)], ...(options.warn && { warn: options.warn }) });
