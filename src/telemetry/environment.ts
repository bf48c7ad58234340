/**
 * The standard OTEL_* environment (opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables), as far as
 * it means something here. As there, a number that is none counts as not set, and is said.
 */
import { badInput } from '../errors.ts';
import type { Attributes } from './span.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type OtlpTarget = {
  readonly url: string;
  /** May hold credentials: never printed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

export type OtlpSettings = {
  /** Absent: not sent. */
  readonly traces: OtlpTarget | undefined;
  readonly metrics: OtlpTarget | undefined;
  readonly resource: Attributes;
  /** The part of all traces that is sent, 0 to 1. */
  readonly sampled: number;
  readonly spansMax: number;
  readonly batchMax: number;
  readonly spansMs: number;
  readonly metricsMs: number;
};

const TIMEOUT_MS = 10_000;
const SERVICE = 'onrecord';

/**
 * Undefined where nothing is to be sent: no endpoint is named, or all is switched off. Throws
 * `telemetry-settings-invalid`.
 */
export const otlpSettings = (env: Environment): OtlpSettings | undefined => {
  if (isTrue(env['OTEL_SDK_DISABLED'])) return undefined;
  const [traces, metrics] = [targetOf(env, 'TRACES'), targetOf(env, 'METRICS')];
  if (!traces && !metrics) return undefined;
  return {
    traces,
    metrics,
    resource: resourceOf(env),
    sampled: sampledOf(env),
    spansMax: count(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048),
    batchMax: count(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    spansMs: count(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
    metricsMs: count(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000),
  };
};

const isTrue = (text: string | undefined): boolean => text?.trim().toLowerCase() === 'true';
const given = (env: Environment, name: string): string | undefined => {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
};

const invalid = (name: string, text: string, expected: string): Error =>
  badInput('telemetry-settings-invalid', `${name} is "${text}"; it takes ${expected}.`, { name });

const count = (env: Environment, name: string, otherwise: number): number => {
  const text = given(env, name);
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalid(name, text, 'a whole number from 1 on');
  return Number(text);
};

type Signal = 'TRACES' | 'METRICS';

const targetOf = (env: Environment, signal: Signal): OtlpTarget | undefined => {
  const exporter = given(env, `OTEL_${signal}_EXPORTER`) ?? 'otlp';
  if (exporter === 'none') return undefined;
  if (exporter !== 'otlp') throw invalid(`OTEL_${signal}_EXPORTER`, exporter, '"otlp" or "none"');
  const own = given(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
  const common = given(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const url = own ?? (common && `${common.replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`);
  if (url === undefined) return undefined;
  const protocol =
    given(env, `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`) ?? given(env, 'OTEL_EXPORTER_OTLP_PROTOCOL');
  // A collector takes both forms of OTLP over HTTP at one address; gRPC is another port.
  if (protocol === 'grpc')
    throw invalid(
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      protocol,
      '"http/json" here, at the HTTP port of a collector (4318)',
    );
  // The URL itself is not quoted: it may hold a password.
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw badInput(
      'telemetry-settings-invalid',
      `The OTLP endpoint for ${signal.toLowerCase()} is no http or https URL. One looks like http://collector:4318.`,
      { signal },
    );
  const headers = {
    ...listOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    ...listOf(env, `OTEL_EXPORTER_OTLP_${signal}_HEADERS`),
  };
  const timeoutMs = count(
    env,
    `OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`,
    count(env, 'OTEL_EXPORTER_OTLP_TIMEOUT', TIMEOUT_MS),
  );
  return { url, headers, timeoutMs };
};

/** `key=value,key=value`, with values percent-encoded as in baggage. What is not of that form is not quoted. */
const listOf = (env: Environment, name: string): Readonly<Record<string, string>> => {
  const pairs = (given(env, name) ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      const key = pair.slice(0, at).trim();
      if (at < 1 || key === '')
        throw badInput('telemetry-settings-invalid', `${name} takes key=value,key=value.`, { name });
      return [key, decoded(pair.slice(at + 1).trim())];
    }),
  );
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // A per cent sign that encodes nothing stands for itself.
    return text;
  }
};

const resourceOf = (env: Environment): Attributes => {
  const named = listOf(env, 'OTEL_RESOURCE_ATTRIBUTES');
  const service = given(env, 'OTEL_SERVICE_NAME') ?? named['service.name'] ?? SERVICE;
  return { ...named, 'service.name': service };
};

const sampledOf = (env: Environment): number => {
  const sampler = (given(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on').replace(/^parentbased_/, '');
  if (sampler === 'always_on') return 1;
  if (sampler === 'always_off') return 0;
  if (sampler !== 'traceidratio')
    throw invalid(
      'OTEL_TRACES_SAMPLER',
      sampler,
      'always_on, always_off or traceidratio, also with parentbased_',
    );
  const text = given(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = /^(0|1|0?\.\d+|[01]\.\d+)$/.test(text) ? Number(text) : NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw invalid('OTEL_TRACES_SAMPLER_ARG', text, 'a number from 0 to 1');
  return ratio;
};
