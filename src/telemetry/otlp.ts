/**
 * Spans and measures to an OpenTelemetry collector, as OTLP over HTTP in its JSON form, without an SDK. Spans go in
 * batches, with exactly the ids of the record. What a collector does not take for the moment is sent again; what does
 * not fit any more is left out and counted.
 */
import type { Clock, Timer } from '../clock.ts';
import type { OtlpSettings, OtlpTarget } from './environment.ts';
import { metricsJson, traceJson, type Scope } from './otlp-json.ts';
import type { Measure, Span } from './span.ts';
import { Tally } from './tally.ts';
import type { Sink, Warn } from './telemetry.ts';

export type OtlpOptions = {
  readonly settings: OtlpSettings;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly warn?: Warn;
  readonly fetch?: typeof fetch;
};

/** Answers that mean: later (opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Of a trace id these digits decide whether it is sent, as the SDKs' ratio samplers have it: its random end. */
const SAMPLE_DIGITS = 13;

type Sent = 'taken' | 'later' | 'refused';

export class OtlpSink implements Sink {
  readonly #options: OtlpOptions;
  readonly #tally = new Tally();
  readonly #startMs: number;
  readonly #warned = new Set<string>();
  #spans: Span[] = [];
  #sending: Promise<void> | undefined;
  #spanTimer: Timer | undefined;
  #metricTimer: Timer | undefined;
  #dropped = 0;
  #closed = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#startMs = options.clock.now();
    this.#planMetrics();
  }

  /** Spans that found no place. */
  get dropped(): number {
    return this.#dropped;
  }

  span(span: Span): void {
    const { settings, clock } = this.#options;
    if (!settings.traces || !isSampled(span.traceId, settings.sampled)) return;
    if (this.#spans.length >= settings.spansMax) {
      this.#dropped++;
      this.#say('full', `The collector takes spans more slowly than they come: some are left out.`);
      return;
    }
    this.#spans.push(span);
    if (this.#spans.length >= settings.batchMax && !this.#sending) this.#hurry();
    else this.#spanTimer ??= clock.after(settings.spansMs, () => this.#hurry(), true);
  }

  measure(measure: Measure): void {
    if (this.#options.settings.metrics) this.#tally.add(measure);
  }

  async flush(): Promise<void> {
    await this.#sending;
    await this.#sendSpans();
    await this.#sendMetrics();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#spanTimer?.cancel();
    this.#metricTimer?.cancel();
    await this.flush();
  }

  #hurry(): void {
    this.#spanTimer?.cancel();
    this.#spanTimer = undefined;
    this.#sending ??= this.#sendSpans().finally(() => {
      this.#sending = undefined;
      const { clock, settings } = this.#options;
      // What was not taken waits for the next time.
      if (this.#spans.length > 0 && !this.#closed)
        this.#spanTimer ??= clock.after(settings.spansMs, () => this.#hurry(), true);
    });
  }

  async #sendSpans(): Promise<void> {
    const { settings, scope } = this.#options;
    if (!settings.traces) return;
    while (this.#spans.length > 0) {
      const batch = this.#spans.slice(0, settings.batchMax);
      const sent = await this.#send(settings.traces, traceJson(batch, settings.resource, scope));
      if (sent === 'later') return;
      this.#spans = this.#spans.slice(batch.length);
      if (sent === 'refused') this.#dropped += batch.length;
    }
  }

  #planMetrics(): void {
    const { clock, settings } = this.#options;
    if (!settings.metrics || this.#closed) return;
    this.#metricTimer = clock.after(
      settings.metricsMs,
      () => void this.#sendMetrics().finally(() => this.#planMetrics()),
      true,
    );
  }

  /** Totals since the start: of one that is not taken nothing is lost, the next one has it. */
  async #sendMetrics(): Promise<void> {
    const { clock, settings, scope } = this.#options;
    const tallied = this.#tally.all();
    if (!settings.metrics || tallied.length === 0) return;
    const period = { startMs: this.#startMs, nowMs: clock.now() };
    await this.#send(settings.metrics, metricsJson(tallied, period, settings.resource, scope));
  }

  async #send({ url, headers, timeoutMs }: OtlpTarget, body: string): Promise<Sent> {
    const { fetch: ask = fetch } = this.#options;
    try {
      const answer = await ask(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      await answer.arrayBuffer();
      if (answer.ok) return 'taken';
      this.#say(`status ${answer.status}`, `The collector answers ${answer.status}.`);
      return LATER.has(answer.status) ? 'later' : 'refused';
    } catch (error) {
      // Neither the address nor the headers: both may hold a credential.
      const cause = (error as { cause?: { code?: unknown } }).cause?.code;
      const what = typeof cause === 'string' ? cause : error instanceof Error ? error.name : 'unknown';
      this.#say(what, `The collector cannot be reached (${what}). Spans wait and are sent again.`);
      return 'later';
    }
  }

  /** Each kind of trouble once: it lasts, and work does not wait for it. */
  #say(kind: string, message: string): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#options.warn?.(message, { code: 'telemetry-not-sent' });
  }
}

const isSampled = (traceId: string, part: number): boolean => {
  if (part >= 1) return true;
  const range = 16 ** SAMPLE_DIGITS;
  return Number.parseInt(traceId.slice(-SAMPLE_DIGITS), 16) < part * range;
};
