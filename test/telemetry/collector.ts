/** A collector on a real socket: takes OTLP over HTTP in its JSON form, or refuses it as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

type Pair = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };

export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Pair[];
  readonly status: { readonly code?: number; readonly message?: string };
};

export type OtlpMetric = {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: string;
      readonly sum: number;
      readonly bucketCounts: readonly string[];
      readonly explicitBounds: readonly number[];
    }[];
  };
  readonly sum?: {
    readonly isMonotonic: boolean;
    readonly dataPoints: readonly { readonly asDouble: number }[];
  };
};

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

type Traces = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
};
type Metrics = {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[];
  }[];
};

export class Collector {
  readonly received: Received[] = [];
  /** Answers before those of 200, first one first. */
  readonly refusals: number[] = [];
  readonly #port: number;
  readonly #server: Server;

  private constructor(port: number, server: Server) {
    this.#port = port;
    this.#server = server;
  }

  /** Nobody is there any more. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  static async open(): Promise<Collector> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const { url: path = '', headers } = request;
        response.statusCode = collector.refusals.shift() ?? 200;
        if (response.statusCode === 200) collector.received.push({ path, headers, body });
        response.setHeader('content-type', 'application/json').end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the port is a number');
    const collector = new Collector(address.port, server);
    onTestFinished(() => collector.close());
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  spans(): readonly OtlpSpan[] {
    return (this.#bodies('/v1/traces') as readonly Traces[]).flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  }

  /** Of the last word about metrics, which holds all totals. */
  metrics(): readonly OtlpMetric[] {
    const last = this.#bodies('/v1/metrics').at(-1) as Metrics | undefined;
    return (last?.resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
      scopeMetrics.flatMap(({ metrics }) => metrics),
    );
  }

  #bodies(path: string): readonly unknown[] {
    return this.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as unknown);
  }
}
