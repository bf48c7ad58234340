/**
 * The dispatcher of teams that run Restate: one virtual object for each session, and one short invocation for each wake.
 * A wake is a one-way call of the object's handler; Restate keeps it until a worker has answered, lets one of them in at
 * a time for each session, and calls whichever worker stands behind the address that was registered. The handler only
 * claims: it answers as soon as the session is driven or is found to need nothing. So no invocation lasts as long as a
 * turn, none is tied to a build, and Restate's journal holds no word of a conversation.
 *
 * While Restate cannot be reached a worker's own wakes go over a queue in its memory: only others wait for the sweep.
 */
import { createEndpointHandler, object, type ObjectContext } from '@restatedev/restate-sdk/fetch';
import { getRequestListener } from '@hono/node-server';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, type Clock } from '../clock.ts';
import { badInput, OnrecordError } from '../errors.ts';
import type { Logger } from '../tool/tool.ts';
import { LATER_MS, type Dispatcher, type Taker, type Wake } from './dispatcher.ts';
import { InProcessDispatcher } from './in-process-dispatcher.ts';

export type RestateOptions = {
  /** Where Restate takes calls: "http://restate:8080". Of several nodes the first that answers is asked. */
  readonly ingress: string | readonly string[];
  /** Sent with each call to it, for example an authorization. Never printed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where this worker is called; default a free port of 127.0.0.1. Only of a process that drives. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** Public keys of the Restate that may call (`publickeyv1_…`); without them whoever reaches the port may wake. */
  readonly identityKeys?: readonly string[];
  /**
   * Registers this worker's address at the start. Where several workers stand behind one address, `as` is that address,
   * as Restate reaches it. Absent: the operator registers it.
   */
  readonly register?: { readonly admin: string; readonly as?: string };
  /** The object's name, default "OnrecordSession": one for each store. */
  readonly service?: string;
  readonly clock?: Clock;
  readonly log?: Logger;
};

const SERVICE = 'OnrecordSession';
const SERVICE_NAME = /^[A-Za-z][\w.-]{0,63}$/;
const HANDLER = 'advance';
/** How long Restate may take to take a call, and to find out what a worker offers. */
const CALL_MS = 5000;
const REGISTER_MS = 30_000;
/** How long a call waits here for room, before it is sent on to whoever has some. */
const ROOM_MS = 1000;
/** For so long a sweep's word about a session is not said again: the call stands in Restate's queue. */
const SWEPT_MS = 30_000;
/** Sessions that a sweep's word was said about; more are said again. */
const SWEPT_MAX = 100_000;
/** A call that no worker answers is repeated for about a minute and a half; then it would only keep later ones out. */
const RETRIES = {
  initialInterval: 100,
  exponentiationFactor: 2,
  maxInterval: 5000,
  maxAttempts: 22,
  onMaxAttempts: 'kill',
} as const;
const CONFLICT = 409;

export class RestateDispatcher implements Dispatcher {
  readonly name = 'restate';
  readonly shared = true;
  readonly heedsAppends = false;
  readonly #options: RestateOptions;
  readonly #service: string;
  /** The one that answered last stands first. */
  #ingress: readonly string[];
  readonly #clock: Clock;
  /** For what Restate cannot be told. */
  readonly #local: InProcessDispatcher;
  /** Takes under way, by session: a call that Restate repeats waits for the one before. */
  readonly #taking = new Map<string, Promise<unknown>>();
  readonly #forRoom = new Set<() => void>();
  readonly #swept = new Map<string, number>();
  #server: Server | undefined;
  #taker: Taker | undefined;
  #troubled = false;
  #stopping = false;

  /** Nothing is reached yet. Throws `restate-settings-invalid`. */
  constructor(options: RestateOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#service = options.service ?? SERVICE;
    this.#local = new InProcessDispatcher(this.#clock);
    this.#ingress = [options.ingress].flat().map((url) => url.replace(/\/+$/, ''));
    const named = {
      ...options.register,
      ...Object.fromEntries(this.#ingress.map((url, i) => [`ingress ${i + 1}`, url])),
    };
    for (const [name, url] of Object.entries(named))
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
        throw badInput(
          'restate-settings-invalid',
          `"${name}" is no http or https URL. One looks like http://restate:8080.`,
          { name },
        );
    if (!SERVICE_NAME.test(this.#service))
      throw badInput(
        'restate-settings-invalid',
        `"${this.#service}" cannot be the name of an object: a letter, then letters, digits, "_", "-" and ".".`,
      );
  }

  /** Where Restate calls this worker; undefined before start(). */
  get url(): string | undefined {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    if (!address) return undefined;
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}`;
  }

  async wake(wake: Wake): Promise<void> {
    const { session, notBefore, reason } = wake;
    if (reason === 'swept' && this.#wasSaid(session)) return;
    const delayMs = Math.max(0, (notBefore ?? 0) - this.#clock.now());
    try {
      await this.#send(session, delayMs);
      this.#troubled = false;
    } catch (error) {
      this.#swept.delete(session);
      this.#trouble(error);
      // Nothing is taken where nobody has started; then the sweep of whoever drives finds it.
      await this.#local.wake(wake);
    }
  }

  async start(taker: Taker): Promise<void> {
    const { listen = {}, register, identityKeys } = this.#options;
    this.#taker = taker;
    const handler = createEndpointHandler({
      services: [this.#object()],
      bidirectional: false,
      ...(identityKeys && { identityKeys: [...identityKeys] }),
      logger: () => undefined,
    });
    const answer = getRequestListener((request) => handler(request));
    const server = createServer((request, response) => void answer(request, response));
    // A connection that has just answered would be kept for the next call, and a worker that stops wait for it.
    server.on('request', (_, response) =>
      response.once('close', () => {
        if (this.#stopping) setImmediate(() => server.closeIdleConnections());
      }),
    );
    server.listen(listen.port ?? 0, listen.host ?? '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
    if (register) await this.#register(register.admin, register.as ?? this.url ?? '');
    await this.#local.start({
      take: (session) => this.#inTurn(session, () => taker.take(session)),
      room: () => taker.room(),
    });
  }

  look(): void {
    for (const go of this.#forRoom) go();
    this.#local.look();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const go of this.#forRoom) go();
    await this.#local.stop();
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    // Calls under way are answered first: what was not taken has been sent on by then.
    server.close();
    server.closeIdleConnections();
    await Promise.allSettled(this.#taking.values());
    await closed;
    this.#taker = undefined;
  }

  #object() {
    return object({
      name: this.#service,
      handlers: { [HANDLER]: (context: ObjectContext) => this.#advance(context) },
      // Nothing of it has to be kept once it is done, and what nobody answers for long is given up: it is a hint.
      options: { journalRetention: 0, idempotencyRetention: 0, retryPolicy: RETRIES },
    });
  }

  /**
   * One call: the session is claimed here, or sent on. What cannot be sent on throws, and Restate calls again. Nothing of
   * it is journalled, so that it may be answered otherwise when it is called again.
   */
  async #advance({ key: session }: ObjectContext): Promise<void> {
    this.#swept.delete(session);
    const afterMs = await this.#inTurn(session, () => this.#claim(session));
    if (afterMs !== undefined) await this.#send(session, Math.max(1, afterMs));
  }

  /** Undefined where the wake has done what it was for; else after how many milliseconds the session is offered again. */
  async #claim(session: string): Promise<number | undefined> {
    const until = this.#clock.monotonic() + ROOM_MS;
    for (;;) {
      if (this.#stopping || !this.#taker) return 0;
      // In one breath with the take, which counts from its first moment.
      if (this.#taker.room() > 0) return this.#take(this.#taker, session);
      const left = until - this.#clock.monotonic();
      if (left <= 0) return LATER_MS;
      await this.#news(left);
    }
  }

  async #take(taker: Taker, session: string): Promise<number | undefined> {
    try {
      const taken = await taker.take(session);
      return taken.kind === 'later' ? taken.afterMs : undefined;
    } catch {
      // The taker has said so to its operator; the sweep looks at the session again.
      return undefined;
    } finally {
      this.look();
    }
  }

  /** Until somebody says that there may be room, or until `ms` are over. */
  async #news(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(ms, resolve, true);
    this.#forRoom.add(resolve);
    await promise;
    this.#forRoom.delete(resolve);
    timer.cancel();
  }

  async #inTurn<T>(session: string, work: () => Promise<T>): Promise<T> {
    const before = this.#taking.get(session);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#taking.set(session, mine);
    try {
      return await mine;
    } finally {
      if (this.#taking.get(session) === mine) this.#taking.delete(session);
    }
  }

  #wasSaid(session: string): boolean {
    const now = this.#clock.monotonic();
    const last = this.#swept.get(session);
    if (last !== undefined && now - last < SWEPT_MS) return true;
    this.#swept.delete(session);
    this.#swept.set(session, now);
    const [oldest] = this.#swept.keys();
    if (this.#swept.size > SWEPT_MAX && oldest !== undefined) this.#swept.delete(oldest);
    return false;
  }

  /** To the first node that takes it. Throws what the last one said. */
  async #send(session: string, delayMs: number): Promise<void> {
    const place = `${this.#service}/${encodeURIComponent(session)}/${HANDLER}/send`;
    const delay = delayMs > 0 ? `?delay=${Math.ceil(delayMs)}ms` : '';
    let failed: unknown;
    for (const node of this.#ingress)
      try {
        await this.#post(`${node}/${place}${delay}`);
        if (node !== this.#ingress[0])
          this.#ingress = [node, ...this.#ingress.filter((other) => other !== node)];
        return;
      } catch (error) {
        failed = error;
      }
    throw failed;
  }

  async #post(url: string): Promise<void> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...this.#options.headers },
      signal: AbortSignal.timeout(CALL_MS),
    });
    const said = await answer.text();
    if (!answer.ok) throw new Error(`it answers ${answer.status}: ${said.slice(0, 200)}`);
  }

  async #register(admin: string, uri: string): Promise<void> {
    const answer = await fetch(`${admin.replace(/\/+$/, '')}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.#options.headers },
      // One request and one answer for each call: any load balancer can stand in between.
      body: JSON.stringify({ uri, use_http_11: true }),
      signal: AbortSignal.timeout(REGISTER_MS),
    }).catch((error: unknown) => {
      throw notRegistered(uri, causeOf(error));
    });
    const said = await answer.text();
    // It is there already: another worker behind the same address was first.
    if (!answer.ok && answer.status !== CONFLICT)
      throw notRegistered(uri, `${answer.status}: ${said.slice(0, 500)}`);
  }

  /** Once for each time of trouble: it lasts, and nothing is lost by it. */
  #trouble(error: unknown): void {
    if (this.#troubled) return;
    this.#troubled = true;
    this.#options.log?.warn(
      `Restate takes no calls (${causeOf(error)}). What this process drives goes on; what others have to look at waits for their sweep.`,
      { code: 'restate-unavailable' },
    );
  }
}

const causeOf = (error: unknown): string => {
  const { cause, message } = error as {
    readonly cause?: { readonly code?: unknown };
    readonly message?: unknown;
  };
  return typeof cause?.code === 'string' ? cause.code : String(message);
};

const notRegistered = (uri: string, why: string): OnrecordError =>
  new OnrecordError(`Restate did not register ${uri} (${why}). It has to reach that address.`, {
    code: 'restate-not-registered',
    next: 'ask-a-person',
    details: { uri },
  });
