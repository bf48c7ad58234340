/**
 * The connection to one tool server: made when it is needed, made anew when it was lost, closed when nobody has used it
 * for a while. It knows of every request whether it was sent, whether it was answered and with which text; what that
 * means for a call is said in tools.ts.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { systemClock, type Timer } from '../../clock.ts';
import { isOnrecordError, OnrecordError } from '../../errors.ts';
import { SecretMask } from '../../secret/mask.ts';
import { Exchanges, type Exchange } from './exchange.ts';
import { keptFetch } from './http.ts';
import type { ServerSpec } from './server.ts';
import { StdioTransport } from './stdio.ts';

/** From the start of the process, or the first request, to the end of the handshake. */
export const CONNECT_MS = 10_000;
/** Without a request for so long, the connection is closed and the process ended. */
export const IDLE_MS: number = 5 * 60_000;

/** How long a server may take to hear that a session is over. */
const GOODBYE_MS = 1000;

/** What became of a request that brought no answer. */
export type FaultKind =
  /** Nothing was sent. */
  | 'unsent'
  /** The server does not know the session any more, and so has not looked at the request. */
  | 'session-gone'
  /** An HTTP status by which the server says that it did not take the request. */
  | 'refused'
  /** It was sent, and what became of it is not known. */
  | 'lost'
  | 'timeout'
  | 'aborted';

export class RequestFault extends Error {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type Ask = {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/** Status codes that say: not taken. The specification of the transport asks for one where a message is not accepted. */
const NOT_TAKEN: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 413, 415, 422, 429]);

export class Connection {
  readonly #spec: ServerSpec;
  readonly #idleMs: number;
  #link: Promise<Link> | undefined;
  #idle: Timer | undefined;
  #busy = 0;
  /** How often a session with the server was begun. */
  begun = 0;

  constructor(spec: ServerSpec, idleMs: number = IDLE_MS) {
    this.#spec = spec;
    this.#idleMs = idleMs;
  }

  /** By which name the server goes, as it says itself. */
  async serverName(): Promise<string> {
    return (await this.#linked()).serverName;
  }

  /** The text of the answer. Throws RequestFault. */
  async ask(ask: Ask): Promise<string> {
    this.#busy++;
    this.#idle?.cancel();
    try {
      const link = await this.#linked();
      try {
        return await link.ask(ask);
      } catch (fault) {
        if (fault instanceof RequestFault && fault.kind === 'session-gone') await this.#drop(link);
        throw fault;
      }
    } finally {
      this.#busy--;
      this.#rest();
    }
  }

  async close(): Promise<void> {
    this.#idle?.cancel();
    const link = this.#link;
    this.#link = undefined;
    // One that could not be made has nothing to close.
    await link?.then(
      (made) => made.close(),
      () => undefined,
    );
  }

  #rest(): void {
    if (this.#busy > 0 || !this.#link) return;
    this.#idle = systemClock.after(this.#idleMs, () => void this.close(), true);
  }

  async #linked(): Promise<Link> {
    const current = await this.#link;
    if (current && !current.isOver) return current;
    // Somebody else may have begun a new one in the meantime.
    if (current) await this.#drop(current);
    this.#link ??= this.#begin();
    return this.#link;
  }

  async #drop(link: Link): Promise<void> {
    if ((await this.#link) === link) this.#link = undefined;
    await link.close();
  }

  async #begin(): Promise<Link> {
    try {
      const link = await Link.open(this.#spec);
      this.begun++;
      return link;
    } catch (error) {
      this.#link = undefined;
      throw error;
    }
  }
}

/** One session with the server. */
class Link {
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #exchanges: Exchanges;
  serverName = '';
  isOver = false;

  private constructor(sdk: Sdk, client: Client, transport: Transport, exchanges: Exchanges) {
    this.#sdk = sdk;
    this.#client = client;
    this.#transport = transport;
    this.#exchanges = exchanges;
  }

  static async open(spec: ServerSpec): Promise<Link> {
    const sdk = await loadSdk();
    const exchanges = new Exchanges();
    const mask = new SecretMask(spec.secrets());
    const transport = transportOf(spec, { sdk, exchanges, mask });
    const client = new sdk.Client({ name: 'onrecord', version: '1' }, { capabilities: {} });
    const link = new Link(sdk, client, transport, exchanges);
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client is no event target
    client.onclose = () => {
      link.isOver = true;
      exchanges.allEnded(new Error('the connection was closed'));
    };
    try {
      // What it does wrong beside a request is told by the request that it keeps from being answered.
      // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client is no event target
      client.onerror = () => undefined;
      await client.connect(transport, { timeout: CONNECT_MS, maxTotalTimeout: CONNECT_MS });
    } catch (cause) {
      await transport.close();
      throw unreachable(spec, mask.apply(reasonOf(cause)), transport);
    }
    link.serverName = client.getServerVersion()?.name ?? '';
    return link;
  }

  async ask({ method, params, timeoutMs, signal }: Ask): Promise<string> {
    const exchange = this.#exchanges.begin(params);
    // The SDK listens to its signal for ever, and would call an answered request off: it gets one of its own.
    const stop = new AbortController();
    let lost: Error | undefined;
    exchange.lost.catch((why: Error) => stop.abort((lost = why)));
    const aborted = (): void => stop.abort(signal?.reason);
    if (signal?.aborted === true) throw new RequestFault('unsent', 'it was broken off');
    signal?.addEventListener('abort', aborted, { once: true });
    try {
      const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: stop.signal };
      await this.#client.request({ method, params }, this.#sdk.ResultSchema, options);
    } catch (error) {
      // An answer that says no is one, and so is one that the SDK does not like.
      if (exchange.reply === undefined) throw this.#faultOf(lost ?? error, exchange, signal);
    } finally {
      signal?.removeEventListener('abort', aborted);
    }
    if (exchange.reply === undefined) throw new RequestFault('lost', 'the answer could not be read');
    return exchange.reply;
  }

  /** Tells the server that the session is over, where it can be told. */
  async close(): Promise<void> {
    if (!this.isOver && this.#transport instanceof this.#sdk.Http)
      await Promise.race([this.#transport.terminateSession().catch(() => undefined), after(GOODBYE_MS)]);
    this.isOver = true;
    await this.#client.close();
  }

  #faultOf(error: unknown, { sent }: Exchange, signal: AbortSignal | undefined): RequestFault {
    const message = reasonOf(error);
    if (signal?.aborted === true) return new RequestFault(sent ? 'aborted' : 'unsent', 'it was broken off');
    if (!sent || neverConnected(error)) return new RequestFault('unsent', message);
    const status = error instanceof this.#sdk.StreamableHTTPError ? error.code : undefined;
    if (status === 404)
      return new RequestFault('session-gone', 'the server does not know the session any more');
    if (status !== undefined && NOT_TAKEN.has(status)) return new RequestFault('refused', message);
    if (status === undefined && (error as { readonly code?: unknown }).code === REQUEST_TIMEOUT)
      return new RequestFault('timeout', message);
    return new RequestFault('lost', message);
  }
}

const after = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.after(ms, resolve, true));

/** The SDK's own code where it gives a request up. */
const REQUEST_TIMEOUT = -32_001;

/** Codes of Node and of its fetch for a connection that was never there. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const neverConnected = (error: unknown): boolean => {
  const cause = error instanceof Error ? error.cause : undefined;
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.some((one) => NEVER_CONNECTED.has((one as { readonly code?: unknown } | undefined)?.code));
};

const REASON_CHARS_MAX = 500;

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const message = error instanceof Error ? `${error.message}${cause}` : String(error);
  return message.slice(0, REASON_CHARS_MAX).toWellFormed();
};

const unreachable = (spec: ServerSpec, reason: string, transport: Transport): Error => {
  const said =
    transport instanceof StdioTransport && transport.said !== '' ? ` It said: ${transport.said}` : '';
  return new RequestFault('unsent', `${spec.place} could not be reached: ${reason}.${said}`);
};

type Sdk = {
  readonly Client: typeof Client;
  readonly Http: typeof StreamableHTTPClientTransport;
  readonly StreamableHTTPError: typeof StreamableHTTPError;
  readonly ResultSchema: typeof ResultSchema;
};

/** Throws `mcp-sdk-missing`: it is there only for those who use tool servers. */
const loadSdk = async (): Promise<Sdk> => {
  try {
    const [client, http, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    return {
      Client: client.Client,
      Http: http.StreamableHTTPClientTransport,
      StreamableHTTPError: http.StreamableHTTPError,
      ResultSchema: types.ResultSchema,
    };
  } catch (cause) {
    if (isOnrecordError(cause)) throw cause;
    throw new OnrecordError(
      'Tool servers need the package @modelcontextprotocol/sdk, which is not installed.',
      {
        code: 'mcp-sdk-missing',
        next: 'ask-a-person',
        hint: 'npm install @modelcontextprotocol/sdk',
        cause,
      },
    );
  }
};

type Parts = { readonly sdk: Sdk; readonly exchanges: Exchanges; readonly mask: SecretMask };

const transportOf = (spec: ServerSpec, { sdk, exchanges, mask }: Parts): Transport => {
  const { target } = spec;
  if (target.kind === 'process') return new StdioTransport(target, mask, exchanges);
  const { url, headers } = target;
  const transport = new sdk.Http(new URL(url), { fetch: keptFetch({ exchanges, mask, headers }) });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    exchanges.sending(message);
    return send(message, options);
  };
  return transport;
};
