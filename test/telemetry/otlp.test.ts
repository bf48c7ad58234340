/** Without an SDK: OTLP over HTTP to a collector on a real socket, as the environment says. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { otlpTelemetry } from '../../src/telemetry/begin.ts';
import { otlpSettings } from '../../src/telemetry/environment.ts';
import { OtlpSink } from '../../src/telemetry/otlp.ts';
import { spanIdOf, traceIdOf, type Span } from '../../src/telemetry/span.ts';
import { Stage } from '../kit/stage.ts';
import { Collector } from './collector.ts';

const KEY = 'Bearer key-of-the-collector';

const span = (turn: number): Span => {
  const traceId = traceIdOf('s', turn);
  return {
    traceId,
    spanId: spanIdOf(traceId, 'turn'),
    name: 'invoke_agent clerk',
    kind: 'internal',
    startMs: 1_000_000_000_000.25,
    endMs: 1_000_000_000_001,
    attributes: { text: 'a', whole: 3, part: 0.5, yes: true, list: ['a', 'b'] },
    events: [{ name: 'lost', atMs: 1_000_000_000_001, attributes: {} }],
  };
};

const settingsOf = (collector: Collector, more: Readonly<Record<string, string>> = {}) => {
  const settings = otlpSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    // Sent when a test says so, however long that takes.
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    OTEL_METRIC_EXPORT_INTERVAL: '3600000',
    ...more,
  });
  if (!settings) throw new Error('the endpoint is named');
  return settings;
};

const sink = (collector: Collector, more: Readonly<Record<string, string>> = {}) => {
  const warnings: string[] = [];
  const made = new OtlpSink({
    settings: settingsOf(collector, more),
    scope: { name: 'onrecord', version: '1' },
    clock: systemClock,
    warn: (message, data) => void warnings.push(`${message} ${JSON.stringify(data)}`),
  });
  return { sink: made, warnings };
};

test('a turn arrives whole, with its measures, under the ids of the record', async () => {
  const collector = await Collector.open();
  const telemetry = otlpTelemetry({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(KEY)}`,
      OTEL_SERVICE_NAME: 'desk',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,host.name=a%20b',
    },
    version: '9',
  });
  const usage = { input: 5, output: 16, cacheRead: 0, cacheWrite: 0 };
  const stage = new Stage({
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'none' }] } : { text: 'Done.', usage, cost: 0.5 }),
  });
  const runtime = await stage.open({ telemetry });
  const session = await stage.send();
  await runtime.rest(session);
  await telemetry.flush();
  const traceId = traceIdOf(session, 1);
  const spans = collector.spans();
  expect(spans.map(({ name }) => name).toSorted()).toEqual(
    [
      'invoke_agent clerk',
      'chat stage',
      'attempt',
      'execute_tool none',
      'attempt',
      'chat stage',
      'attempt',
    ].toSorted(),
  );
  const root = spans.find(({ parentSpanId }) => parentSpanId === undefined);
  expect(root).toMatchObject({ traceId, spanId: spanIdOf(traceId, 'turn'), kind: 1, status: {} });
  const ids = new Set(spans.map(({ spanId }) => spanId));
  for (const one of spans) {
    expect(one.traceId).toBe(traceId);
    expect(one === root || ids.has(one.parentSpanId ?? '')).toBe(true);
  }
  const [traces] = collector.received;
  expect(traces?.headers).toMatchObject({ authorization: KEY, 'content-type': 'application/json' });
  const { resourceSpans } = JSON.parse(traces?.body ?? '{}') as {
    resourceSpans: readonly { resource: unknown; scopeSpans: readonly { scope: unknown }[] }[];
  };
  expect(resourceSpans[0]?.resource).toEqual({
    attributes: [
      { key: 'deployment.environment.name', value: { stringValue: 'test' } },
      { key: 'host.name', value: { stringValue: 'a b' } },
      { key: 'service.name', value: { stringValue: 'desk' } },
    ],
  });
  expect(resourceSpans[0]?.scopeSpans[0]?.scope).toEqual({ name: 'onrecord', version: '9' });
  const tokens = collector.metrics().find(({ name }) => name === 'gen_ai.client.token.usage');
  const points = tokens?.histogram?.dataPoints ?? [];
  expect(points.map(({ sum }) => sum)).toEqual([5, 16]);
  for (const { bucketCounts, explicitBounds, count } of points) {
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
    // Both are over 4 and not over 16, a bound being part of what it bounds.
    expect(bucketCounts.indexOf('1')).toBe(explicitBounds.indexOf(16));
    expect(bucketCounts.reduce((sum, one) => sum + Number(one), 0)).toBe(Number(count));
  }
  const cost = collector.metrics().find(({ name }) => name === 'onrecord.cost');
  expect(cost?.sum).toMatchObject({ isMonotonic: true, dataPoints: [{ asDouble: 0.5 }] });
});

test('the JSON form: ids in hexadecimal, 64-bit numbers as strings, values by their type', async () => {
  const collector = await Collector.open();
  const { sink: out } = sink(collector);
  out.span(span(1));
  await out.close();
  expect(collector.spans()).toEqual([
    expect.objectContaining({
      traceId: traceIdOf('s', 1),
      startTimeUnixNano: '1000000000000250000',
      endTimeUnixNano: '1000000000001000000',
      attributes: [
        { key: 'text', value: { stringValue: 'a' } },
        { key: 'whole', value: { intValue: '3' } },
        { key: 'part', value: { doubleValue: 0.5 } },
        { key: 'yes', value: { boolValue: true } },
        { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
      ],
    }),
  ]);
});

test('what a collector does not take for the moment is sent again, what it refuses is not', async () => {
  const collector = await Collector.open();
  const { sink: out, warnings } = sink(collector);
  collector.refusals.push(503);
  out.span(span(1));
  await out.flush();
  expect(collector.spans()).toEqual([]);
  await out.flush();
  expect(collector.spans()).toHaveLength(1);
  collector.refusals.push(400);
  out.span(span(2));
  await out.flush();
  await out.flush();
  expect(collector.spans()).toHaveLength(1);
  expect(out.dropped).toBe(1);
  expect(warnings.map((text) => text.match(/answers (\d+)/)?.[1])).toEqual(['503', '400']);
  await out.close();
});

test('a collector that is away costs spans at its limit, and never a credential in a log', async () => {
  const collector = await Collector.open();
  const settings = settingsOf(collector, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:pass-word@127.0.0.1:1',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=key-of-the-collector',
    OTEL_BSP_MAX_QUEUE_SIZE: '3',
  });
  const warnings: string[] = [];
  const out = new OtlpSink({
    settings,
    scope: { name: 'onrecord', version: '1' },
    clock: systemClock,
    warn: (message, data) => void warnings.push(`${message} ${JSON.stringify(data)}`),
  });
  for (let turn = 1; turn <= 5; turn++) out.span(span(turn));
  await out.close();
  expect(out.dropped).toBe(2);
  expect(warnings).toHaveLength(2);
  expect(warnings.join()).not.toMatch(/key-of|pass-word/);
});

test('batches have the size that was asked for, and a part of the traces is the same part everywhere', async () => {
  const collector = await Collector.open();
  const { sink: out } = sink(collector, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10' });
  for (let turn = 1; turn <= 25; turn++) out.span(span(turn));
  await out.close();
  expect(collector.received.map(({ body }) => body.split('"spanId"').length - 1)).toEqual([10, 10, 5]);
  const half = await Collector.open();
  const sampled = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  for (const { sink: one } of [sink(half, sampled), sink(half, sampled)]) {
    for (let turn = 1; turn <= 100; turn++) one.span(span(turn));
    await one.close();
  }
  const ids = half.spans().map(({ traceId }) => traceId);
  expect(ids.length).toBeGreaterThan(60);
  expect(ids.length).toBeLessThan(140);
  expect(ids.slice(0, ids.length / 2)).toEqual(ids.slice(ids.length / 2));
});

test('the environment: where nothing is asked for nothing is sent, and what is wrong is said', () => {
  const url = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  expect(otlpSettings({})).toBeUndefined();
  expect(otlpSettings({ ...url, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  expect(
    otlpSettings({ ...url, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }),
  ).toBeUndefined();
  expect(otlpSettings({ ...url, OTEL_METRICS_EXPORTER: 'none' })).toMatchObject({
    traces: { url: 'http://collector:4318/v1/traces', headers: {}, timeoutMs: 10_000 },
    metrics: undefined,
    resource: { 'service.name': 'onrecord' },
  });
  expect(
    otlpSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x.example/otlp?team=a' })?.traces?.url,
  ).toBe('https://x.example/otlp?team=a');
  const wrong = (env: Readonly<Record<string, string>>, part: RegExp): void => {
    expect(() => otlpSettings({ ...url, ...env })).toThrow(part);
    expect(() => otlpSettings({ ...url, ...env })).toThrow(
      expect.objectContaining({ code: 'telemetry-settings-invalid' }),
    );
  };
  wrong({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /http\/json.*4318/);
  wrong({ OTEL_TRACES_EXPORTER: 'zipkin' }, /"zipkin"; it takes "otlp" or "none"/);
  wrong({ OTEL_BSP_SCHEDULE_DELAY: 'soon' }, /OTEL_BSP_SCHEDULE_DELAY is "soon"/);
  wrong({ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /always_on, always_off or traceidratio/);
  wrong({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, /a number from 0 to 1/);
  // What may be a credential is not quoted.
  wrong(
    { OTEL_EXPORTER_OTLP_HEADERS: 'secret-without-a-name' },
    /^OTEL_EXPORTER_OTLP_HEADERS takes key=value,key=value\.$/,
  );
  wrong(
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://user:pass-word@host' },
    /^(?!.*pass-word).*no http or https URL/,
  );
});
