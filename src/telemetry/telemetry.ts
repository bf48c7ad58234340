/**
 * What a process tells of its work. It hears of every append that this process made, makes spans and measures of the
 * events, and hands them to its sinks. Nothing of the work waits for it, and nothing of the work fails with it: what
 * cannot be told is counted and left out.
 *
 * Each event is told by the process that appended it, so in the normal case once. A process that ends between an
 * append and its telling leaves a gap in the trace; the log has none.
 */
import { open } from '../event/envelope.ts';
import type { JsonObject } from '../event/json.ts';
import { pages } from '../log/pages.ts';
import type { Append, LogStore } from '../log/store.ts';
import { ObservedStore } from './observed-store.ts';
import { SessionSpans } from './session-spans.ts';
import type { Measure, Span } from './span.ts';
import { Tally } from './tally.ts';

/** Where spans and measures go. What it throws is the operator's to read and keeps nobody from work. */
export type Sink = {
  span(span: Span): void;
  measure(measure: Measure): void;
  /** Hands over what it holds back. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** Tells the operator, in whose log it is one line. */
export type Warn = (message: string, data?: JsonObject) => void;

export type TelemetryOptions = {
  readonly sinks?: readonly Sink[];
  readonly warn?: Warn;
};

/** Appends that wait to be told of; more are left out. */
const PENDING_MAX = 10_000;
/** Sessions whose open spans are remembered; of another one the log is read again. */
const SESSIONS_MAX = 256;

type Pending = { readonly append: Append; readonly store: LogStore };

export class Telemetry {
  /** What was measured in this process, added up. */
  readonly tally: Tally = new Tally();
  readonly #sinks: readonly Sink[];
  readonly #warn: Warn;
  readonly #sessions = new Map<string, SessionSpans>();
  /** By session, in the order of the appends. */
  readonly #pending = new Map<string, Pending[]>();
  #waiting = 0;
  #dropped = 0;
  #working: Promise<void> | undefined;

  constructor({ sinks = [], warn = () => undefined }: TelemetryOptions = {}) {
    this.#sinks = sinks;
    this.#warn = warn;
  }

  /** Appends that were not told of, because more came than could be. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The same store; what is appended to it from here on is told of. */
  observe(store: LogStore): LogStore {
    return new ObservedStore(store, (append) => this.#add({ append, store }));
  }

  /** Until all that was appended so far is handed over. */
  async flush(): Promise<void> {
    while (this.#working) await this.#working;
    await this.#each((sink) => sink.flush());
  }

  async close(): Promise<void> {
    while (this.#working) await this.#working;
    await this.#each((sink) => sink.close());
  }

  #add(pending: Pending): void {
    if (this.#waiting >= PENDING_MAX) {
      if (this.#dropped++ === 0)
        this.#warn(`More is appended than can be told of: traces and metrics have gaps from here on.`, {
          code: 'telemetry-behind',
        });
      return;
    }
    this.#waiting++;
    const { session } = pending.append;
    const before = this.#pending.get(session);
    if (before) before.push(pending);
    else this.#pending.set(session, [pending]);
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    // Whoever appended goes on first.
    await Promise.resolve();
    for (let [first] = this.#pending; first; [first] = this.#pending) {
      const [session, all] = first;
      this.#pending.delete(session);
      try {
        await this.#tell(session, all);
      } catch (error) {
        this.#sessions.delete(session);
        this.#warn(`What was appended to ${session} could not be told: ${messageOf(error)}`, {
          code: 'telemetry-failed',
          session,
        });
      }
      this.#waiting -= all.length;
    }
    // In the same turn as the last look: whoever appends after it begins anew.
    this.#working = undefined;
  }

  async #tell(session: string, all: readonly Pending[]): Promise<void> {
    const spans = this.#sessions.get(session) ?? new SessionSpans(session);
    this.#remember(session, spans);
    const ours = new Set(all.flatMap(({ append }) => append.events.map(({ seq }) => seq)));
    for (const { append, store } of all) {
      const first = (append.events[0]?.seq ?? 1) - 1;
      // What others appended is not ours to tell, but it says when what ends now began.
      if (spans.seq < first)
        for await (const page of pages(store, session, { from: spans.seq + 1, to: first }))
          for (const stored of page) this.#push(spans, stored, ours.has(stored.seq));
      for (const stored of append.events) this.#push(spans, stored, true);
    }
  }

  #push(spans: SessionSpans, stored: Append['events'][number], isOurs: boolean): void {
    if (stored.seq !== spans.seq + 1) return;
    const told = spans.push(open(stored));
    if (!isOurs) return;
    for (const measure of told.measures) this.tally.add(measure);
    for (const sink of this.#sinks) {
      for (const span of told.spans) sink.span(span);
      for (const measure of told.measures) sink.measure(measure);
    }
  }

  #remember(session: string, spans: SessionSpans): void {
    this.#sessions.delete(session);
    this.#sessions.set(session, spans);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest);
  }

  async #each(work: (sink: Sink) => Promise<void>): Promise<void> {
    for (const sink of this.#sinks)
      try {
        await work(sink);
      } catch (error) {
        this.#warn(`Traces and metrics could not be handed over: ${messageOf(error)}`, {
          code: 'telemetry-failed',
        });
      }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
