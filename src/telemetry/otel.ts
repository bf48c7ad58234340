/**
 * Spans and measures through @opentelemetry/api, into whatever SDK the program has set up.
 *
 * The API lets nobody choose a span's id. An SDK that is given `recordIds` as its id generator uses those of the
 * record: then a turn is one whole trace whichever processes worked on it. Without it the trace is still one, named by
 * the turn, but the turn's own span stands beside the spans of its parts, under a parent that is not there.
 */
import {
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { randomBytes } from 'node:crypto';
import { INSTRUMENTS, spanIdOf, type InstrumentName, type Measure, type Span } from './span.ts';
import { TURN } from './open-spans.ts';
import type { Sink } from './telemetry.ts';

/** What an SDK asks for ids; the shape of OpenTelemetry's IdGenerator. */
export type IdGenerator = { generateTraceId(): string; generateSpanId(): string };

type Ids = { readonly traceId: string; readonly spanId: string };
/** Those of the span that is being started right now. */
let wanted: Ids | undefined;

/** For the SDK: `new NodeTracerProvider({ idGenerator: recordIds })`. Other spans get random ids, as ever. */
export const recordIds: IdGenerator = {
  generateTraceId: () => wanted?.traceId ?? randomBytes(16).toString('hex'),
  generateSpanId: () => wanted?.spanId ?? randomBytes(8).toString('hex'),
};

export type OtelOptions = {
  /** Default: the one that is registered with the API. */
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
  readonly version?: string;
};

const SCOPE = 'onrecord';
/** Traces whose sampling is remembered. */
const TRACES_MAX = 1000;

export class OtelSink implements Sink {
  readonly #tracer: Tracer;
  readonly #meter: Meter;
  readonly #instruments = new Map<InstrumentName, Histogram | Counter>();
  /** What the SDK's sampler said of a trace. */
  readonly #flags = new Map<string, number>();

  constructor({ tracerProvider = trace, meterProvider = metrics, version }: OtelOptions = {}) {
    this.#tracer = tracerProvider.getTracer(SCOPE, version);
    this.#meter = meterProvider.getMeter(SCOPE, version);
  }

  span(span: Span): void {
    const started = this.#start(span);
    for (const { name, atMs, attributes } of span.events)
      started.addEvent(name, attributes as Attributes, atMs);
    if (span.error !== undefined) started.setStatus({ code: SpanStatusCode.ERROR, message: span.error });
    started.end(span.endMs);
  }

  measure({ instrument, value, attributes }: Measure): void {
    const made = this.#instruments.get(instrument) ?? this.#instrument(instrument);
    if ('record' in made) made.record(value, attributes as Attributes);
    else made.add(value, attributes as Attributes);
  }

  async flush(): Promise<void> {
    // The SDK is the program's, and so is what it holds back.
  }

  async close(): Promise<void> {
    this.#flags.clear();
  }

  #start(span: Span): ReturnType<Tracer['startSpan']> {
    const { traceId, spanId, parentId, name, kind, startMs, attributes } = span;
    const options = {
      kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: startMs,
      attributes: attributes as Attributes,
    };
    const traceFlags = this.#flagsOf(span);
    const isWhole = traceFlags !== undefined;
    if (parentId === undefined && isWhole)
      return withIds({ traceId, spanId }, () => this.#tracer.startSpan(name, options, ROOT_CONTEXT));
    const parent: Context = trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId: parentId ?? spanId,
      traceFlags: traceFlags ?? TraceFlags.SAMPLED,
      isRemote: true,
    });
    return withIds({ traceId, spanId }, () => this.#tracer.startSpan(name, options, parent));
  }

  /**
   * Whether the turn's span is recorded, asked of the sampler as if it began now; the answer to one trace id is always
   * the same, in every process. Undefined where the SDK makes ids of its own.
   */
  #flagsOf({ traceId, attributes }: Span): number | undefined {
    const known = this.#flags.get(traceId);
    if (known !== undefined) return known;
    const ids = { traceId, spanId: spanIdOf(traceId, TURN) };
    // Never ended, so never exported: the whole span follows with the end of the turn.
    const asked = withIds(ids, () =>
      this.#tracer.startSpan('invoke_agent', { attributes: attributes as Attributes }, ROOT_CONTEXT),
    ).spanContext();
    if (asked.spanId !== ids.spanId) return undefined;
    const [oldest] = this.#flags.keys();
    if (this.#flags.size >= TRACES_MAX && oldest !== undefined) this.#flags.delete(oldest);
    this.#flags.set(traceId, asked.traceFlags);
    return asked.traceFlags;
  }

  #instrument(name: InstrumentName): Histogram | Counter {
    const { kind, unit, description, bounds } = INSTRUMENTS[name];
    const made =
      kind === 'counter'
        ? this.#meter.createCounter(name, { unit, description })
        : this.#meter.createHistogram(name, {
            unit,
            description,
            ...(bounds && { advice: { explicitBucketBoundaries: [...bounds] } }),
          });
    this.#instruments.set(name, made);
    return made;
  }
}

const withIds = <T>(ids: Ids, work: () => T): T => {
  wanted = ids;
  try {
    return work();
  } finally {
    wanted = undefined;
  }
};
