/**
 * The door from the other side: typed, and safe to use over a network that loses answers. Every change has a key,
 * so that asking again is the same change; streams go on where they broke off.
 */
import type {
  CallView,
  CostsView,
  ForkView,
  Me,
  NewCancel,
  NewFork,
  NewLogin,
  ReplayReport,
  VerifyReport,
} from '../server/reports.ts';
import type {
  Accepted,
  CardView,
  EventView,
  GrantView,
  NewDecision,
  NewMode,
  NewRevocation,
  NewSession,
  NewSettlement,
  NewTurn,
  Page,
  SessionView,
  TurnView,
} from '../server/schemas.ts';
import { readEvents, type ServerEvent } from './server-events.ts';

export type ClientOptions = {
  /** Where the server is: "http://127.0.0.1:4280". */
  readonly url: string;
  /** Absent in a page that has signed in: its cookie says who asks. */
  readonly token?: string;
  /** What `/login` and `/me` answered, of a page that has signed in: goes with every change. */
  readonly forgeryToken?: () => string | undefined;
  readonly fetch?: typeof fetch;
  /** How often a request is sent in all where no answer comes; default 6. */
  readonly attempts?: number;
  /** Milliseconds that one attempt may take; default 90,000. */
  readonly timeoutMs?: number;
  /** Waits between attempts; default is real time. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

export type Changing = {
  /** Names the change; default is a new one. */
  readonly key?: string;
  readonly signal?: AbortSignal;
};

export type Sending = Changing & {
  /** Seconds to wait for the turn to end or to need somebody. */
  readonly waitSeconds?: number;
};

export type Streaming = {
  /** Goes on after this event; default from the first one. */
  readonly after?: number;
  /** Ends when this turn has ended. */
  readonly turn?: number;
  readonly types?: readonly string[];
  readonly deltas?: boolean;
  readonly signal?: AbortSignal;
};

/** What comes over a stream: events of the log, and what the model is just saying. */
export type StreamItem =
  | { readonly kind: 'event'; readonly event: EventView }
  | { readonly kind: 'delta'; readonly delta: Readonly<Record<string, unknown>> };

/** What the stream of all sessions says. */
export type SessionChange =
  | { readonly kind: 'open' | 'look-again' }
  | { readonly kind: 'session'; readonly session: SessionView };

/** The server said no. `code` is stable. */
export class DoorError extends Error {
  override readonly name = 'DoorError';
  readonly status: number;
  readonly code: string;
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(typeof problem['detail'] === 'string' ? problem['detail'] : `The server answered ${status}.`);
    this.status = status;
    this.code = typeof problem['code'] === 'string' ? problem['code'] : 'unknown';
    this.problem = problem;
  }
}

const ATTEMPTS = 6;
const TIMEOUT_MS = 90_000;
const WAIT_MS = 200;
const WAIT_MS_MAX = 5000;
const NO_CONTENT = 204;
/** Answers that say "not now". */
const AGAIN: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string | undefined;
  readonly waitSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

export class OnrecordClient {
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;
  readonly #sleep: NonNullable<ClientOptions['sleep']>;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((...asked) => fetch(...asked));
    this.#sleep = options.sleep ?? realSleep;
  }

  /** Begins a session. Throws `DoorError`. */
  createSession(session: NewSession, sending: Sending & { readonly waitSeconds: number }): Promise<TurnView>;
  createSession(session: NewSession, sending?: Sending): Promise<Accepted>;
  createSession(session: NewSession, sending: Sending = {}): Promise<Accepted | TurnView> {
    return this.#change('/sessions', session, sending);
  }

  /** Sends a message to a session. Throws `DoorError`. */
  send(
    session: string,
    turn: NewTurn,
    sending: Sending & { readonly waitSeconds: number },
  ): Promise<TurnView>;
  send(session: string, turn: NewTurn, sending?: Sending): Promise<Accepted>;
  send(session: string, turn: NewTurn, sending: Sending = {}): Promise<Accepted | TurnView> {
    return this.#change(`/sessions/${name(session)}/turns`, turn, sending);
  }

  decide(
    session: string,
    call: string,
    decision: NewDecision,
    changing: Changing = {},
  ): Promise<SessionView> {
    return this.#change(`/sessions/${name(session)}/calls/${name(call)}/decision`, decision, changing);
  }

  settle(
    session: string,
    call: string,
    settlement: NewSettlement,
    changing: Changing = {},
  ): Promise<SessionView> {
    return this.#change(`/sessions/${name(session)}/calls/${name(call)}/settlement`, settlement, changing);
  }

  /** Which further calls of a session run without a question. */
  grants(session: string): Promise<Page<GrantView>> {
    return this.#json({ method: 'GET', path: `/sessions/${name(session)}/grants` });
  }

  /** Takes leave for further calls back: what the approval of `call` gave, or all that stands. */
  revoke(session: string, options: Changing & NewRevocation = {}): Promise<SessionView> {
    const { call, reason, ...changing } = options;
    const body = { ...(call !== undefined && { call }), ...(reason !== undefined && { reason }) };
    return this.#change(`/sessions/${name(session)}/revoke`, body, changing);
  }

  /** Name the turn where this may be sent again: by then another one may run. */
  cancel(session: string, options: Changing & NewCancel = {}): Promise<SessionView> {
    const { reason, turn, ...changing } = options;
    const body = { ...(reason !== undefined && { reason }), ...(turn !== undefined && { turn }) };
    return this.#change(`/sessions/${name(session)}/cancel`, body, changing);
  }

  withdraw(session: string, turn: number): Promise<TurnView> {
    return this.#json({ method: 'DELETE', path: `/sessions/${name(session)}/turns/${turn}` });
  }

  /** Says what may start, in one session or in the whole store. */
  setMode(mode: NewMode, session?: string): Promise<unknown> {
    const path = session === undefined ? '/mode' : `/sessions/${name(session)}/mode`;
    return this.#json({ method: 'PUT', path, body: mode });
  }

  session(session: string): Promise<SessionView> {
    return this.#get(`/sessions/${name(session)}`);
  }

  turn(session: string, turn: number, waitSeconds?: number): Promise<TurnView> {
    return this.#json({ method: 'GET', path: `/sessions/${name(session)}/turns/${turn}`, waitSeconds });
  }

  turns(session: string): Promise<readonly TurnView[]> {
    return this.#all(`/sessions/${name(session)}/turns`);
  }

  /** A new session on the past of another one, up to an event. */
  fork(session: string, at: NewFork, changing: Changing = {}): Promise<ForkView> {
    return this.#change(`/sessions/${name(session)}/forks`, at, changing);
  }

  replay(session: string): Promise<ReplayReport> {
    return this.#json({ method: 'POST', path: `/sessions/${name(session)}/replay`, body: {} });
  }

  verify(session: string): Promise<VerifyReport> {
    return this.#get(`/sessions/${name(session)}/verify`);
  }

  calls(session: string): Promise<readonly CallView[]> {
    return this.#all(`/sessions/${name(session)}/calls`);
  }

  costs(query: Readonly<Record<string, string>> = {}): Promise<CostsView> {
    return this.#get(`/costs?${new URLSearchParams(query).toString()}`);
  }

  /** Whatever the door answers at an address: for what has no method here. Throws `DoorError`. */
  read<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#json<T>({ method: 'GET', path, signal });
  }

  /** What the door answers to a question that has a body and changes nothing. Throws `DoorError`. */
  ask<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.#json<T>({ method: 'POST', path, body, signal });
  }

  /** The bytes at an address: an exact request, a blob. Throws `DoorError`. */
  async bytes(path: string, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const response = await this.#send({ method: 'GET', path, signal });
    if (!response.ok) throw await doorError(response);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Makes a token, or a ticket for one, the cookie of this page. Throws `DoorError`. */
  signIn(login: NewLogin): Promise<Me> {
    return this.#json({ method: 'POST', path: '/login', body: login });
  }

  /** Takes the cookie away. */
  async signOut(): Promise<void> {
    await this.#json({ method: 'POST', path: '/logout', body: {} });
  }

  /** Sessions as they change, over one connection; a reader that loses it asks for the list again. */
  async *changes(signal: AbortSignal): AsyncGenerator<SessionChange, void, undefined> {
    const headers = { ...this.#headers(), accept: 'text/event-stream' };
    const response = await this.#fetch(this.#url('/changes'), { headers, signal });
    if (!response.ok || !response.body) throw await doorError(response);
    for await (const { type, data } of readEvents(response.body)) {
      if (type === 'session') yield { kind: 'session', session: JSON.parse(data) as SessionView };
      else if (type === 'look-again' || type === 'open') yield { kind: type };
    }
  }

  /** Whom the token belongs to. */
  me(): Promise<Me> {
    return this.#get('/me');
  }

  /** All sessions that fit, page by page. */
  async *sessions(
    query: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<SessionView, void, undefined> {
    yield* this.#pages<SessionView>(`/sessions?${new URLSearchParams(query).toString()}`);
  }

  async *events(session: string, from = 1): AsyncGenerator<EventView, void, undefined> {
    yield* this.#pages<EventView>(`/sessions/${name(session)}/events?from=${from}`);
  }

  approvals(session?: string): Promise<readonly CardView[]> {
    return this.#all(`/approvals${session === undefined ? '' : `?session=${name(session)}`}`);
  }

  doubts(session?: string): Promise<readonly CardView[]> {
    return this.#all(`/doubts${session === undefined ? '' : `?session=${name(session)}`}`);
  }

  /**
   * Every event once, in order, as it is appended, until the turn that was named has ended or the signal is
   * aborted. A connection that breaks is made again after the last event that came.
   */
  async *stream(session: string, streaming: Streaming = {}): AsyncGenerator<StreamItem, void, undefined> {
    let after = streaming.after ?? 0;
    for (let failures = 0, ended = false; ;) {
      try {
        for await (const item of this.#streamOnce(session, { ...streaming, after })) {
          failures = 0;
          ended = item === 'end';
          if (item === 'end') return;
          if (item.kind === 'event') after = item.event.seq;
          yield item;
        }
      } catch (error) {
        // A connection that breaks after the end has told all.
        if (ended || streaming.signal?.aborted === true) return;
        if (error instanceof DoorError && !AGAIN.has(error.status)) throw error;
        failures += 1;
        if (failures >= this.#attempts) throw error;
      }
      if (streaming.signal?.aborted === true) return;
      await this.#sleep(wait(failures), streaming.signal);
    }
  }

  async *#streamOnce(
    session: string,
    { after = 0, turn, types, deltas = true, signal }: Streaming,
  ): AsyncGenerator<StreamItem | 'end', void, undefined> {
    const query = new URLSearchParams({ deltas: String(deltas) });
    if (turn !== undefined) query.set('turn', String(turn));
    if (types) query.set('types', types.join(','));
    const response = await this.#fetch(this.#url(`/sessions/${name(session)}/stream?${query.toString()}`), {
      headers: { ...this.#headers(), accept: 'text/event-stream', 'last-event-id': String(after) },
      ...(signal && { signal }),
    });
    if (!response.ok || !response.body) throw await doorError(response);
    for await (const { type, data } of readEvents(response.body)) {
      // A server that stops ends its streams: the next one is asked for the rest.
      if (type === 'end' && endReason(data) === 'finished') yield 'end';
      const item = streamItem({ type, data });
      if (item) yield item;
    }
  }

  #get<T>(path: string): Promise<T> {
    return this.#json<T>({ method: 'GET', path });
  }

  async #all<T>(first: string): Promise<readonly T[]> {
    const items: T[] = [];
    for await (const item of this.#pages<T>(first)) items.push(item);
    return items;
  }

  async *#pages<T>(first: string): AsyncGenerator<T, void, undefined> {
    for (let path: string | undefined = first; path !== undefined;) {
      const page: Page<T> = await this.#get<Page<T>>(path);
      yield* page.items;
      path = page.next;
    }
  }

  #change<T>(path: string, body: unknown, { key, signal, waitSeconds }: Sending): Promise<T> {
    return this.#json<T>({ method: 'POST', path, body, key: key ?? newKey(), signal, waitSeconds });
  }

  get #attempts(): number {
    return this.#options.attempts ?? ATTEMPTS;
  }

  async #json<T>(call: Call): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= this.#attempts;
      const response = await this.#send(call).catch((error: unknown) => {
        if (last || call.signal?.aborted === true) throw error;
        return undefined;
      });
      if (response?.status === NO_CONTENT) return undefined as T;
      if (response?.ok === true) return (await response.json()) as T;
      if (response && (last || !AGAIN.has(response.status))) throw await doorError(response);
      await this.#sleep(retryAfter(response) ?? wait(attempt), call.signal);
    }
  }

  #send({ method, path, body, key, waitSeconds, signal }: Call): Promise<Response> {
    const timeout = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    return this.#fetch(this.#url(path), {
      method,
      headers: {
        ...this.#headers(method),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': `"${key}"` }),
        ...(waitSeconds !== undefined && { prefer: `wait=${waitSeconds}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  }

  #headers(method: Call['method'] = 'GET'): Readonly<Record<string, string>> {
    const { token, forgeryToken } = this.#options;
    if (token !== undefined) return { authorization: `Bearer ${token}` };
    const forgery = method === 'GET' ? undefined : forgeryToken?.();
    return forgery === undefined ? {} : { 'x-onrecord-csrf': forgery };
  }

  #url(path: string): URL {
    return new URL(path, this.#options.url);
  }
}

const name = (part: string): string => encodeURIComponent(part);

const newKey = (): string => crypto.randomUUID();

/** Doubled for each failure, with jitter, so that many clients do not come back at one moment. */
const wait = (failures: number): number =>
  Math.min(WAIT_MS * 2 ** Math.max(0, failures - 1), WAIT_MS_MAX) * (0.5 + Math.random() / 2);

const retryAfter = (response: Response | undefined): number | undefined => {
  const seconds = response?.headers.get('retry-after');
  return seconds !== null && seconds !== undefined && /^\d{1,4}$/.test(seconds)
    ? Number(seconds) * 1000
    : undefined;
};

const doorError = async (response: Response): Promise<DoorError> => {
  const text = await response.text().catch(() => '');
  try {
    return new DoorError(response.status, JSON.parse(text) as Record<string, unknown>);
  } catch {
    // Not the door's own answer: a proxy in between.
    return new DoorError(response.status, {
      detail: `The server answered ${response.status} without a problem.`,
    });
  }
};

const streamItem = ({ type, data }: ServerEvent): StreamItem | undefined => {
  if (type === 'end') return undefined;
  if (type === 'delta') return { kind: 'delta', delta: JSON.parse(data) as Record<string, unknown> };
  return { kind: 'event', event: JSON.parse(data) as EventView };
};

const endReason = (data: string): unknown => (JSON.parse(data) as { readonly reason?: unknown }).reason;

const realSleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
