/**
 * The tools of a tool server, as tools like any other. What a server says of a tool is pinned: right before each call
 * it is asked again, and a tool whose definition is another one than the pinned is not called.
 */
import { basename } from 'node:path';
import { badInput } from '../../errors.ts';
import type { Digest } from '../../event/canonical.ts';
import type { SetAsideTool } from '../../event/definition.ts';
import type { Json } from '../../event/json.ts';
import { SecretMask } from '../../secret/mask.ts';
import { content, type ToolContent } from '../content.ts';
import type { Preview } from '../preview.ts';
import { tool, ToolError, TOOL_TIMEOUT_MS, type Tool, type ToolContext } from '../tool.ts';
import { Connection, RequestFault } from './connection.ts';
import { readListing, type Listed, type ServerTool, type SetAside } from './definition.ts';
import { toolName } from './name.ts';
import { identityOf, readPins, type Pinned } from './pins.ts';
import { resultOf } from './result.ts';
import { readServer, type ServerSpec, type ServerToolSettings, type ToolServerOptions } from './server.ts';

/** One page of a list of tools. */
const LIST_MS = 10_000;
const LIST_PAGES_MAX = 50;
/** The runtime gives up first, and says so in its own words. */
const GRACE_MS = 2000;
/** Sessions whose last look at the server is remembered. */
const SESSIONS_REMEMBERED = 1000;

export type ToolServer = {
  readonly name: string;
  /** Its command line or its address. */
  readonly place: string;
  readonly tools: readonly Tool[];
  /** What it lists that cannot be offered, each with its reason: for `setAside` of defineAgent. */
  readonly setAside: readonly SetAsideTool[];
  /** Asks the server now what it offers. Throws `tool-server-unreachable`. */
  look(): Promise<Pinned & { readonly setAside: readonly SetAside[] }>;
  /** Ends the connection and the process. A later call begins a new one. */
  close(): Promise<void>;
};

/**
 * Opens a tool server: its tools are offered as `name.tool`. Throws `tool-server-invalid`, `tool-pins-invalid`,
 * `tool-server-not-approved` (pins were asked for and there are none), and without pins `tool-server-unreachable`.
 * For the model: tool-changed, tool-gone, tool-error, tool-server-error, tool-server-unreachable, tool-server-refused,
 * tool-server-lost.
 */
export const openToolServer = async (options: ToolServerOptions): Promise<ToolServer> => {
  const spec = readServer(options);
  const server = new Server(spec, new Connection(spec, options.idleMs));
  const offered = options.pins === undefined ? await server.looked() : pinned(spec, options.pins);
  const { tools, setAside } = chosen(spec, offered, options.tools);
  return {
    name: spec.name,
    place: spec.place,
    tools: tools.map((one) => server.tool(one, { ...options.defaults, ...options.tools?.[one.name] })),
    setAside: setAside.map(({ tool: aside, ...why }) => ({ name: `${spec.name}.${aside}`, ...why })),
    look: () => server.looked(),
    close: () => server.close(),
  };
};

const pinned = ({ name, place }: ServerSpec, path: string): Listed => {
  const found = readPins(path).get(name);
  if (found) return { tools: found.tools, setAside: [] };
  throw badInput(
    'tool-server-not-approved',
    `The tool server "${name}" (${place}) has no approved definitions in ${basename(path)}: onrecord mcp approve ${name}`,
    { server: name },
    `onrecord mcp approve ${name}`,
  );
};

const chosen = (
  { name }: ServerSpec,
  { tools, setAside }: Listed,
  only: Readonly<Record<string, ServerToolSettings>> | undefined,
): Listed => {
  if (!only) return { tools, setAside };
  const missing = Object.keys(only).filter(
    (wanted) => !tools.some((one) => one.name === wanted) && !setAside.some((one) => one.tool === wanted),
  );
  if (missing.length > 0)
    throw badInput(
      'tool-server-invalid',
      `Tool server "${name}" has no tool "${missing[0] ?? ''}"; it has ${tools.map((one) => one.name).join(', ') || 'none'}.`,
      { server: name },
    );
  return {
    tools: tools.filter((one) => Object.hasOwn(only, one.name)),
    setAside: setAside.filter((one) => Object.hasOwn(only, one.tool)),
  };
};

class Server {
  readonly #spec: ServerSpec;
  readonly #connection: Connection;
  #listing: Promise<Pinned & Listed> | undefined;
  /** Which session with the server a session of ours has last used. */
  readonly #known = new Map<string, number>();
  /** Calls that were looked at and not made yet, with the session in which that was. */
  readonly #lookedAt = new Map<string, number>();

  constructor(spec: ServerSpec, connection: Connection) {
    this.#spec = spec;
    this.#connection = connection;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** What the server offers now. Calls of one step share a look. */
  looked(): Promise<Pinned & Listed> {
    this.#listing ??= this.#list()
      .catch((error: unknown) => {
        throw this.#failed(error);
      })
      .finally(() => (this.#listing = undefined));
    return this.#listing;
  }

  tool(offered: ServerTool, settings: ServerToolSettings): Tool {
    const { name, description, inputSchema, pin } = offered;
    const { effect = 'once', labels, onError: _, ...rest } = settings;
    const own = toolName(this.#spec.name, name);
    const made = tool<Readonly<Record<string, unknown>>>({
      ...rest,
      name: own,
      description: `From the tool server "${this.#spec.name}", in its own words: ${description}`,
      inputSchema,
      effect,
      egress: settings.egress ?? true,
      labels: { untrusted: true, ...labels },
      preview: (_input, context) => this.#preview(offered, context),
      execute: (input, context) => this.#call(offered, settings, { input, context }),
    });
    return Object.freeze({ ...made, server: { name: this.#spec.name, tool: name, pin } });
  }

  async #list(): Promise<Pinned & Listed> {
    const replies: string[] = [];
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const reply = await this.#again(() =>
        this.#connection.ask({ method: 'tools/list', params: { ...params }, timeoutMs: LIST_MS }),
      );
      replies.push(reply);
      const { result, error } = JSON.parse(reply) as {
        readonly result?: { readonly nextCursor?: unknown };
        readonly error?: { readonly message?: unknown };
      };
      if (error) throw new RequestFault('refused', `it lists no tools: ${String(error.message)}`);
      cursor = typeof result?.nextCursor === 'string' ? result.nextCursor : undefined;
    } while (cursor !== undefined && replies.length < LIST_PAGES_MAX);
    const serverName = await this.#connection.serverName();
    return { serverName, ...readListing(identityOf(this.#spec.name, serverName), replies) };
  }

  /** A server that does not know the session has not looked at the request: one more time, in a new session. */
  async #again(ask: () => Promise<string>): Promise<string> {
    try {
      return await ask();
    } catch (fault) {
      if (fault instanceof RequestFault && fault.kind === 'session-gone') return await ask();
      throw fault;
    }
  }

  /** Fails closed: a tool that is not the pinned one any more is not called. */
  async #check({ name, pin }: ServerTool): Promise<void> {
    const { tools, setAside } = await this.looked();
    const now = tools.find((one) => one.name === name)?.pin;
    if (now === pin) return;
    const aside = setAside.find((one) => one.tool === name);
    if (now === undefined && !aside)
      throw new ToolError(
        `The tool server "${this.#spec.name}" has no tool ${name} any more. Nothing was run.`,
        {
          code: 'tool-gone',
        },
      );
    const what = now === undefined ? `cannot be used (${aside?.message ?? ''})` : `is ${short(now)}`;
    throw new ToolError(
      `The tool server "${this.#spec.name}" has changed ${name}: its definition was ${short(pin)} and now ${what}. ` +
        'Nothing was run. A person has to approve the new one.',
      { code: 'tool-changed', details: { server: this.#spec.name, tool: name, pin, now: now ?? null } },
    );
  }

  async #preview(offered: ServerTool, { call }: ToolContext): Promise<Preview> {
    await this.#check(offered);
    const [session = ''] = call.split(' ');
    const isNew = this.#isNew(session);
    remember(this.#lookedAt, call, this.#connection.begun);
    const { name, place } = this.#spec;
    return {
      title: `Call ${offered.name} on the tool server "${name}".`,
      target: name,
      blocks: [
        {
          kind: 'fields',
          fields: [
            { name: 'server', value: `${name}: ${place}` },
            { name: 'tool', value: offered.name },
            { name: 'definition', value: short(offered.pin) },
          ],
        },
      ],
      ...(isNew && { warnings: [SESSION_LOST] }),
      base: { pin: offered.pin } satisfies Json,
    };
  }

  /** Whether what the server held for this session of ours is gone. */
  #isNew(session: string): boolean {
    const known = this.#known.get(session);
    return known !== undefined && known !== this.#connection.begun;
  }

  async #call(
    offered: ServerTool,
    settings: ServerToolSettings,
    { input, context }: { readonly input: Readonly<Record<string, unknown>>; readonly context: ToolContext },
  ): Promise<ToolContent> {
    const [session = ''] = context.call.split(' ');
    const { timeoutMs = TOOL_TIMEOUT_MS, effect = 'once', onError = 'failed' } = settings;
    const ask = (): Promise<string> =>
      this.#connection.ask({
        method: 'tools/call',
        params: {
          name: offered.name,
          arguments: withDigits(input),
          ...(effect === 'idempotent' && { _meta: { [KEY_FIELD]: context.idempotencyKey } }),
        },
        timeoutMs: timeoutMs + GRACE_MS,
        signal: context.signal,
      });
    const seen = this.#lookedAt.get(context.call);
    this.#lookedAt.delete(context.call);
    if (seen === undefined || seen !== this.#connection.begun) await this.#check(offered);
    let reply: string;
    try {
      reply = await ask().catch(async (fault: unknown) => {
        if (!(fault instanceof RequestFault) || fault.kind !== 'session-gone') throw fault;
        await this.#check(offered);
        return ask();
      });
    } catch (fault) {
      throw this.#failed(fault);
    }
    const isNew = this.#isNew(session);
    remember(this.#known, session, this.#connection.begun);
    const mask = new SecretMask(this.#spec.secrets());
    const result = resultOf(reply, { acts: effect !== 'none', onError, mask });
    return isNew ? content({ kind: 'text', text: `[${SESSION_LOST}]` }, ...result.parts) : result;
  }

  #failed(fault: unknown): unknown {
    if (!(fault instanceof RequestFault)) return fault;
    const { kind, message } = fault;
    const server = `The tool server "${this.#spec.name}"`;
    switch (kind) {
      case 'unsent':
      case 'session-gone':
        return new ToolError(`${server} could not be asked: ${message} Nothing was run.`, {
          code: 'tool-server-unreachable',
          retryable: true,
          cause: fault,
        });
      case 'refused':
        return new ToolError(`${server} did not take the request: ${message}. Nothing was run.`, {
          code: 'tool-server-refused',
          cause: fault,
        });
      case 'lost':
      case 'timeout':
      case 'aborted':
        return new ToolError(`${server} was asked and did not answer: ${message}.`, {
          code: 'tool-server-lost',
          happened: 'unknown',
          cause: fault,
        });
      default:
        return kind satisfies never;
    }
  }
}

/** In `_meta` of a call of an idempotent tool. */
const KEY_FIELD = 'onrecord/idempotency-key';

const SESSION_LOST =
  'The connection to the tool server was begun anew since the last call: what it held for this session may be gone.';

const PIN_CHARS_SHOWN = 12;
const short = (pin: Digest): string => pin.slice(0, PIN_CHARS_SHOWN);

/** The newest entries stay. */
const remember = (map: Map<string, number>, key: string, value: number): void => {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > SESSIONS_REMEMBERED && oldest !== undefined) map.delete(oldest);
};

/** JSON.stringify writes whole numbers beyond 2^53 with all their digits. */
const withDigits = (value: unknown): unknown => {
  const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
  if (typeof value === 'bigint') return rawJSON(value.toString());
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withDigits);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withDigits(member)]));
};
