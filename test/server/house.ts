/** A door over a stage: real requests to the app, tokens for people of several kinds. */
import { randomUUID } from 'node:crypto';
import { createApp, type App } from '../../src/server/app.ts';
import type { DoorLimits } from '../../src/server/limits.ts';
import type { NewToken } from '../../src/server/tokens.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';
import type { Runtime } from '../../src/worker/runtime.ts';
import { Stage, type StageOptions } from '../kit/stage.ts';
import { seededRandom } from '../kit/clock.ts';

export const HOST = '127.0.0.1:4280';
const OPERATOR = { kind: 'person', name: 'setup' } as const;

export type Asked = {
  readonly method?: string;
  readonly body?: unknown;
  /** As it stands, whatever it is. */
  readonly raw?: string | Uint8Array;
  readonly key?: string;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export type HouseOptions = StageOptions & {
  readonly door?: Partial<DoorLimits>;
  readonly origins?: readonly string[];
  /** Further names that the server is called by. */
  readonly hosts?: readonly string[];
  readonly openMetrics?: boolean;
  readonly telemetry?: Telemetry;
  readonly drive?: boolean;
};

const appOf = (
  stage: Stage,
  runtime: Runtime,
  { door, origins, hosts = [], openMetrics }: HouseOptions,
): App =>
  createApp({
    runtime,
    hosts: () => [HOST, ...hosts],
    clock: stage.clock,
    random: seededRandom(3),
    log: { info: () => undefined, warn: (message) => void stage.warnings.push(message) },
    ...(door && { limits: door }),
    ...(origins && { origins }),
    ...(openMetrics !== undefined && { openMetrics }),
  });

export class House {
  readonly stage: Stage;
  app: App;
  readonly #options: HouseOptions;
  /** May do all. */
  readonly token: string;

  private constructor(
    stage: Stage,
    options: HouseOptions,
    made: { readonly app: App; readonly token: string },
  ) {
    this.stage = stage;
    this.#options = options;
    this.app = made.app;
    this.token = made.token;
  }

  /** The process is gone and another one takes its place. */
  async restart(): Promise<void> {
    this.stage.crash();
    this.app = appOf(this.stage, await this.stage.open(), this.#options);
  }

  static async open(options: HouseOptions = {}): Promise<House> {
    const stage = new Stage(options);
    const { telemetry, drive = true } = options;
    const runtime = await stage.open({ drive, ...(telemetry && { telemetry }) });
    const app = appOf(stage, runtime, options);
    const roles = ['submit', 'read', 'approve', 'operate'];
    const { token } = await app.tokens.add({ name: 'anna', roles }, OPERATOR);
    return new House(stage, options, { app, token });
  }

  async tokenFor(token: NewToken): Promise<string> {
    return (await this.app.tokens.add(token, OPERATOR)).token;
  }

  ask(path: string, asked: Asked = {}): Promise<Response> {
    const { body, raw, key, token = this.token, headers = {}, signal } = asked;
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const method = asked.method ?? (content === undefined ? 'GET' : 'POST');
    const request = new Request(`http://${HOST}${path}`, {
      method,
      headers: {
        host: HOST,
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(content !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
      ...(signal && { signal }),
    });
    return this.app.fetch(request);
  }

  /** Asks and reads the answer as JSON; the status stands beside it. */
  // eslint-disable-next-line typescript/no-unnecessary-type-parameters -- says once what the answer holds
  async json<T = Record<string, unknown>>(
    path: string,
    asked: Asked = {},
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly body: T }> {
    const response = await this.ask(path, asked);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text === '' ? 'null' : text) as T,
    };
  }

  /** A session that has begun. */
  async begin(message = 'Do it.', key: string = randomUUID()): Promise<string> {
    const { body, status } = await this.json<{ session: string }>('/sessions', {
      body: { agent: 'clerk', message },
      key,
    });
    if (status !== 202) throw new Error(`not accepted: ${JSON.stringify(body)}`);
    return body.session;
  }
}
