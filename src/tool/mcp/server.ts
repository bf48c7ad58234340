/** What a tool server is told to be: a command or an address, what it may see, and what its tools do to the world. */
import { badInput } from '../../errors.ts';
import type { EffectKind } from '../../event/effect-kind.ts';
import type { Approval, OutputLabels } from '../tool.ts';
import { SERVER_NAME, SERVER_NAME_RULE } from './name.ts';

/** Definitions that a person has approved, in the folder of the configuration. */
export const PINS_FILE = 'onrecord.mcp.json';

/** A process on this machine, spoken to over its standard input and output. */
export type StdioServer = {
  /** The program and its arguments, as they are: no shell reads them. */
  readonly command: readonly string[];
  readonly cwd?: string;
  /** All variables that it gets. Default: PATH alone. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further variables whose values are taken out of everything that it says. */
  readonly secrets?: Readonly<Record<string, string>>;
};

/** A server somewhere else, over streamable HTTP. */
export type HttpServer = {
  readonly url: string;
  /** Sent to this server and to no other; its value is read for each request and is never recorded. */
  readonly credential?: {
    readonly header: string;
    /** What stands in its place wherever the server repeats it. */
    readonly name: string;
    readonly value: () => string;
  };
};

/** What one tool does. A server's own annotations are never believed. */
export type ServerToolSettings = {
  /** Default "once": never run again by itself. */
  readonly effect?: Exclude<EffectKind, 'reconcilable'>;
  readonly approval?: Approval;
  readonly timeoutMs?: number;
  /** Default: its results are untrusted, and not private. */
  readonly labels?: OutputLabels;
  /** Default true: what it is given leaves for another program. */
  readonly egress?: boolean;
  /**
   * What its own "that was an error" means. Default "failed": the model is told, and a tool with an effect is said to
   * have had a part of it, perhaps. "in-doubt": a person has to say what happened.
   */
  readonly onError?: 'failed' | 'in-doubt';
};

export type ToolServerOptions = (StdioServer | HttpServer) & {
  /** Leads the names of its tools: `files` makes `files.save`. */
  readonly name: string;
  /** Only these of its tools, by the server's own names. Default: all that it lists. */
  readonly tools?: Readonly<Record<string, ServerToolSettings>>;
  /** For all its tools, where `tools` does not say it. */
  readonly defaults?: ServerToolSettings;
  /**
   * A file of definitions that a person has approved. Only these are offered, and the server is started when one is
   * called. Default: what the server lists now, for as long as this object lives.
   */
  readonly pins?: string;
  /** Milliseconds without a request after which the connection is closed. Default 300,000. */
  readonly idleMs?: number;
};

export type ServerTarget =
  | {
      readonly kind: 'process';
      readonly command: readonly string[];
      readonly cwd: string | undefined;
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: () => Readonly<Record<string, string>>;
    };

export type ServerSpec = {
  readonly name: string;
  /** The command line or the address, for people. */
  readonly place: string;
  readonly target: ServerTarget;
  readonly secrets: () => readonly { readonly name: string; readonly value: string }[];
};

const fail = (name: unknown, what: string): never => {
  throw badInput('tool-server-invalid', `Tool server "${String(name)}": ${what}.`, { server: String(name) });
};

/** Throws `tool-server-invalid`. */
export const readServer = (options: ToolServerOptions): ServerSpec => {
  const { name } = options;
  if (typeof name !== 'string' || !SERVER_NAME.test(name)) fail(name, `the name must be ${SERVER_NAME_RULE}`);
  if ('command' in options === 'url' in options) fail(name, 'it has either a command or a url');
  return 'command' in options ? processSpec(name, options) : httpSpec(name, options);
};

const processSpec = (name: string, { command, cwd, env, secrets = {} }: StdioServer): ServerSpec => {
  if (!Array.isArray(command) || command.length === 0 || command.some((word) => typeof word !== 'string'))
    fail(name, 'command must be a list of a program and its arguments');
  const shared = env ?? pathOnly();
  for (const key of Object.keys(secrets))
    if (Object.hasOwn(shared, key)) fail(name, `${key} stands in env and in secrets`);
  return {
    name,
    place: commandLine(command),
    target: { kind: 'process', command, cwd, env: { ...shared, ...secrets } },
    secrets: () => Object.entries(secrets).map(([key, value]) => ({ name: key, value })),
  };
};

/** Enough for a program to be found. */
const pathOnly = (): Readonly<Record<string, string>> => {
  const { PATH } = process.env;
  return PATH === undefined ? {} : { PATH };
};

/** As a shell would have to be told it, so that what is shown is exactly what is run. */
export const commandLine = (command: readonly string[]): string =>
  command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');

const httpSpec = (name: string, { url, credential }: HttpServer): ServerSpec => {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) fail(name, `"${url}" is no address of https`);
  const { protocol, hostname, username, password } = parsed as URL;
  if (username !== '' || password !== '') fail(name, 'its url holds a user; use credential');
  if (protocol === 'http:' && !isLoopback(hostname))
    fail(name, `"${url}" is not encrypted and not on this machine; use https`);
  return {
    name,
    place: url,
    target: {
      kind: 'http',
      url,
      headers: () => (credential ? { [credential.header]: credential.value() } : {}),
    },
    secrets: () => (credential ? [{ name: credential.name, value: credential.value() }] : []),
  };
};

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
