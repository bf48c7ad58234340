/** Turns of a real runtime, as OpenTelemetry's own SDK gets to know them. */
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { TraceIdRatioBasedSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace-node';
import { expect, test } from 'vitest';
import type { ScriptReply } from '../../src/model/script.ts';
import { traceIdOf } from '../../src/telemetry/span.ts';
import { Telemetry } from '../../src/telemetry/telemetry.ts';
import { until } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';
import { named, sdk, tree, type Point } from './sdk.ts';

const USAGE = { input: 100, output: 20, cacheRead: 40, cacheWrite: 2 };
const SECRET = 'violet-badger';

/** The first request fails once; then a call that a person approves, which fails once; then the answer. */
const says = (_: number, step: number, attempt: number): ScriptReply => {
  if (step === 1 && attempt === 1) return { error: { kind: 'overloaded', status: 529 } };
  if (step === 1)
    return {
      text: `Let me see about ${SECRET}.`,
      calls: [{ tool: 'once', args: { do: 'retryable', note: SECRET }, id: 'call_A' }],
      usage: USAGE,
      cost: 0.25,
    };
  return { text: `Done with ${SECRET}.`, usage: USAGE, cost: 0.5 };
};

const ASK = { rules: [], ask: {} };

/** A turn from the message to its end; a person takes five seconds. */
const drive = async (stage: Stage, telemetry: Telemetry): Promise<string> => {
  const runtime = await stage.open({ telemetry });
  const session = await stage.send(`Please look at ${SECRET}.`);
  await stage.event(session, 'request.retry');
  stage.clock.advance(60_000);
  const [call] = await stage.asking(session, '1.1.1');
  stage.clock.advance(5000);
  await runtime.decide({
    session,
    call: '1.1.1',
    digest: call?.digest ?? ('' as never),
    decision: { do: 'approve' },
    by: { kind: 'person', name: 'anna.meier' },
  });
  await stage.event(session, 'call.retry');
  stage.clock.advance(60_000);
  await runtime.rest(session);
  await telemetry.flush();
  return session;
};

const find = (
  points: readonly Point[],
  name: string,
  part: Readonly<Record<string, unknown>> = {},
): Point => {
  const found = points.find(
    (point) =>
      point.name === name && Object.entries(part).every(([key, value]) => point.attributes[key] === value),
  );
  if (!found) throw new Error(`no point of ${name} with ${JSON.stringify(part)}`);
  return found;
};

const WHOLE = [
  'invoke_agent clerk',
  '  chat stage',
  '    attempt !overloaded',
  '    attempt',
  '  execute_tool once',
  '    wait for approval',
  '    attempt !not-now',
  '    attempt',
  '  chat stage',
  '    attempt',
];

const sorted = (lines: readonly string[]): readonly string[] => lines.toSorted();

test('a turn is one trace: requests, attempts, calls and waits, in their places', async () => {
  const { telemetry, spans, warnings } = sdk();
  const stage = new Stage({ says, policy: ASK });
  const session = await drive(stage, telemetry);
  expect(sorted(tree(spans()))).toEqual(sorted(WHOLE));
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(
    new Set([traceIdOf(session, 1)]),
  );
  const root = named(spans(), 'invoke_agent clerk');
  expect(root).toMatchObject({
    parentSpanContext: undefined,
    kind: SpanKind.INTERNAL,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'clerk',
      'gen_ai.conversation.id': session,
      'gen_ai.usage.input_tokens': 284,
      'gen_ai.usage.output_tokens': 40,
      'onrecord.turn.outcome': 'done',
      'onrecord.turn.cost': 0.75,
      'onrecord.turn.requests': 2,
      'onrecord.turn.calls': 1,
    },
  });
  expect(named(spans(), 'chat stage')).toMatchObject({
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'stage',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.usage.input_tokens': 142,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'gen_ai.usage.cache_write.input_tokens': 2,
    },
  });
  expect(named(spans(), 'execute_tool once')).toMatchObject({
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'once',
      'gen_ai.tool.call.id': 'call_A',
      'onrecord.tool.effect': 'once',
      'onrecord.call': '1.1.1',
      'onrecord.call.attempts': 2,
      'onrecord.call.closing': 'ok',
    },
  });
  const wait = named(spans(), 'wait for approval');
  expect(wait.attributes).toMatchObject({ 'onrecord.wait.for': 'approval', 'onrecord.wait.end': 'approve' });
  expect(wait.duration).toEqual([5, 0]);
  const [lost] = spans().filter((span) => span.status.code === SpanStatusCode.ERROR);
  expect(lost?.attributes).toMatchObject({ 'error.type': 'overloaded', 'onrecord.attempt': 1 });
  expect(warnings).toEqual([]);
  stage.expectNoWarnings();
});

test('no message, argument, result or name of a person leaves with it', async () => {
  const { telemetry, spans, metrics } = sdk();
  await drive(new Stage({ says, policy: ASK }), telemetry);
  const said = JSON.stringify([
    spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    await metrics(),
  ]);
  expect(said).toContain('execute_tool once');
  for (const word of [SECRET, 'anna', 'did', 'Done', 'Be exact']) expect(said).not.toContain(word);
});

test('the metrics have the names, units and attributes of the conventions', async () => {
  const { telemetry, metrics } = sdk();
  await drive(new Stage({ says, policy: ASK }), telemetry);
  const points = await metrics();
  const model = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'stage',
  };
  expect(find(points, 'gen_ai.client.operation.duration', model)).toMatchObject({
    unit: 's',
    value: { count: 2 },
  });
  expect(find(points, 'gen_ai.client.token.usage', { ...model, 'gen_ai.token.type': 'input' })).toMatchObject(
    {
      unit: '{token}',
      value: { count: 2, sum: 284, buckets: { boundaries: expect.arrayContaining([1, 4, 16, 67_108_864]) } },
    },
  );
  expect(find(points, 'gen_ai.client.token.usage', { 'gen_ai.token.type': 'output' })).toMatchObject({
    value: { sum: 40 },
  });
  expect(find(points, 'gen_ai.invoke_agent.duration', { 'onrecord.turn.outcome': 'done' })).toMatchObject({
    value: { count: 1, sum: 125 },
  });
  expect(find(points, 'gen_ai.execute_tool.duration', { 'gen_ai.tool.name': 'once' })).toMatchObject({
    value: { count: 1 },
  });
  expect(find(points, 'onrecord.wait.duration', { 'onrecord.wait.end': 'approve' })).toMatchObject({
    value: { count: 1, sum: 5 },
  });
  expect(find(points, 'onrecord.attempt.duration', { 'error.type': 'overloaded' })).toMatchObject({
    value: { count: 1 },
  });
  expect(find(points, 'onrecord.cost')).toMatchObject({ value: 0.75 });
});

test('a process that is lost in the middle, and the one that goes on, tell one trace', async () => {
  const [first, second] = [sdk(), sdk()];
  const stage = new Stage({
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'none', args: { do: 'hang' } }] } : { text: 'Done.' }),
  });
  await stage.open({ telemetry: first.telemetry });
  const session = await stage.send();
  await stage.event(session, 'call.started');
  await first.telemetry.flush();
  stage.crash();
  stage.clock.advance(60_000);
  const runtime = await stage.open({ telemetry: second.telemetry });
  await stage.event(session, 'driver.changed');
  await until('the next attempt', () => stage.world.executions.length > 1);
  stage.clock.advance(2000);
  await stage.event(session, 'call.failed');
  await runtime.rest(session);
  await second.telemetry.flush();
  expect(first.spans().map((span) => span.name)).toEqual(['attempt', 'chat stage']);
  const all = [...first.spans(), ...second.spans()];
  expect(sorted(tree(all))).toEqual(
    sorted([
      'invoke_agent clerk',
      '  chat stage',
      '    attempt',
      '  execute_tool none !timeout',
      '    attempt !process-lost',
      '    attempt !timeout',
      '  chat stage',
      '    attempt',
    ]),
  );
  expect(new Set(all.map((span) => span.spanContext().spanId)).size).toBe(all.length);
  expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);
  const root = named(all, 'invoke_agent clerk');
  expect(root.events.map((event) => event.name)).toEqual(['onrecord.process_lost']);
  // It began where the first process had begun it.
  expect(root.startTime).toEqual([Date.UTC(2026, 0, 5, 9) / 1000, 0]);
});

test('an SDK with ids of its own still gets one trace a turn', async () => {
  const { telemetry, spans } = sdk({ idGenerator: 'own' });
  const session = await drive(new Stage({ says, policy: ASK }), telemetry);
  expect(spans()).toHaveLength(WHOLE.length);
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(
    new Set([traceIdOf(session, 1)]),
  );
});

test('a sampler takes a trace as a whole or not at all', async () => {
  const { telemetry, spans } = sdk({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) }),
  });
  const stage = new Stage({ says: () => ({ text: 'Done.' }) });
  const runtime = await stage.open({ telemetry });
  const turns = 40;
  for (let i = 0; i < turns; i++) await runtime.rest(await stage.send(`message ${i}`));
  await telemetry.flush();
  const traces = new Map<string, number>();
  for (const span of spans()) {
    const { traceId } = span.spanContext();
    traces.set(traceId, (traces.get(traceId) ?? 0) + 1);
  }
  expect(new Set(traces.values())).toEqual(new Set([3]));
  expect(traces.size).toBeGreaterThan(5);
  expect(traces.size).toBeLessThan(turns - 5);
});

test('a sink that throws keeps nobody from work, and is said', async () => {
  const warnings: string[] = [];
  const telemetry = new Telemetry({
    sinks: [
      {
        span: () => {
          throw new Error('no room');
        },
        measure: () => undefined,
        flush: async () => undefined,
        close: async () => undefined,
      },
    ],
    warn: (message) => void warnings.push(message),
  });
  const stage = new Stage();
  const runtime = await stage.open({ telemetry });
  const session = await stage.send();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  await telemetry.flush();
  expect(warnings.join()).toContain('no room');
  stage.expectNoWarnings();
});
