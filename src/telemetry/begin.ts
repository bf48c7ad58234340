/** Telemetry as it is asked for: by the environment, or through OpenTelemetry's API. */
import { systemClock, type Clock } from '../clock.ts';
import { otlpSettings } from './environment.ts';
import type { Scope } from './otlp-json.ts';
import { OtlpSink } from './otlp.ts';
import { Telemetry, type Sink, type Warn } from './telemetry.ts';

export type OtlpTelemetryOptions = {
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Sinks beside the collector. */
  readonly sinks?: readonly Sink[];
  readonly warn?: Warn;
  readonly clock?: Clock;
  readonly version?: string;
};

/**
 * Sends to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names; where none is named, what is told goes to the given
 * sinks and into the counts of /metrics only. Throws `telemetry-settings-invalid`.
 */
export const otlpTelemetry = (options: OtlpTelemetryOptions = {}): Telemetry => {
  const { env = process.env, sinks = [], warn, clock = systemClock, version = '' } = options;
  const settings = otlpSettings(env);
  const scope: Scope = { name: 'onrecord', version };
  const collector = settings && new OtlpSink({ settings, scope, clock, ...(warn && { warn }) });
  return new Telemetry({ sinks: [...(collector ? [collector] : []), ...sinks], ...(warn && { warn }) });
};
