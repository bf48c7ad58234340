/**
 * Where requests may go: an exact list of origins. Every URL, the first and each redirect's, passes
 * `admit` before a name is looked up.
 */
import { isIP } from 'node:net';
import { badInput } from '../../errors.ts';
import type { JsonObject } from '../../event/json.ts';
import { ToolError } from '../tool.ts';
import { judgeAddress } from './address.ts';

export type HttpCredential = {
  /** The request header, for example "authorization". */
  readonly header: string;
  /** The whole header value, for example "Bearer ...". Asked for once a hop, never recorded. */
  readonly value: () => string | Promise<string>;
  /** What the record says instead of the value: `[secret FEED_KEY]`. A-Z, 0-9 and "_". */
  readonly name: string;
};

export type HttpAllow = {
  /** Scheme, host and port, nothing else: "https://api.example.com". No wildcards. */
  readonly origin: string;
  /** Further ports of the same scheme and host. Credentials and secrets do not go to them. */
  readonly ports?: readonly number[];
  /** Sent to exactly this origin and to no other. */
  readonly credential?: HttpCredential;
  /**
   * Lets this host be on a loopback or private address (intranet, tests). Link-local, metadata, multicast
   * and reserved addresses stay refused.
   */
  readonly allowPrivate?: boolean;
  /** PEM certificates that are trusted for this origin in place of the system's. */
  readonly ca?: string;
};

export type AllowedOrigin = HttpAllow & {
  readonly scheme: string;
  readonly host: string;
  readonly portNumbers: readonly number[];
};

/** A URL that may be requested, as far as names and numbers go. */
export type Admitted = {
  readonly url: URL;
  readonly entry: AllowedOrigin;
  /** Without brackets and without a trailing dot. */
  readonly host: string;
  readonly port: number;
  readonly literal: boolean;
};

export const URL_CHARS_MAX = 8192;
/** Origins named in one error message. */
const ORIGINS_SHOWN_MAX = 10;
const QUOTED_CHARS_MAX = 300;
export const SECRET_NAME: RegExp = /^[A-Z][A-Z0-9_]{0,63}$/;
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
/** Headers that steer the connection or the message and so are never a credential. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

export const quote = (text: string): string =>
  text.length <= QUOTED_CHARS_MAX ? `"${text}"` : `"${text.slice(0, QUOTED_CHARS_MAX)}…"`;

export const refuse = (code: string, message: string, details: JsonObject = {}): ToolError =>
  new ToolError(message, { code, details });

const portOf = (url: URL): number => (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : +url.port);

/** The WHATWG parser has lowered the case and turned every IPv4 spelling into four numbers. */
const hostOf = (url: URL): string => {
  const bare = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return bare.endsWith('.') ? bare.slice(0, -1) : bare;
};

/** Reads the configuration. Throws `tool-invalid`. */
export const readAllow = (tool: string, entries: readonly HttpAllow[]): readonly AllowedOrigin[] =>
  entries.map((entry) => {
    const fail = (what: string): never => {
      throw badInput('tool-invalid', `Tool "${tool}", allow entry "${entry.origin}": ${what}.`, { tool });
    };
    const url = URL.parse(entry.origin);
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      return fail('expected an origin such as "https://api.example.com"');
    if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
      return fail('expected scheme, host and port only, without path, query or user');
    if (url.hostname.includes('*')) return fail('wildcards are not supported; list each host');
    for (const port of entry.ports ?? [])
      if (!Number.isInteger(port) || port < 1 || port > 65_535) fail(`port ${port} is not from 1 to 65535`);
    const { credential } = entry;
    if (credential && !SECRET_NAME.test(credential.name))
      fail(`credential name "${credential.name}" must be A-Z, 0-9 and "_", starting with a letter`);
    const header = credential?.header.toLowerCase();
    if (header !== undefined && (!HEADER_NAME.test(header) || RESERVED_HEADERS.has(header)))
      fail(`"${header}" cannot be a credential header`);
    return {
      ...entry,
      ...(credential && header !== undefined && { credential: { ...credential, header } }),
      origin: url.origin,
      scheme: url.protocol,
      host: hostOf(url),
      portNumbers: [portOf(url), ...(entry.ports ?? [])],
    };
  });

/** Whether a URL goes to the entry's own origin, where its credential belongs. */
export const isHomeOf = (entry: AllowedOrigin, { url, host, port }: Admitted): boolean =>
  url.protocol === entry.scheme && host === entry.host && port === entry.portNumbers[0];

const choose = (
  list: readonly AllowedOrigin[],
  { url, host, port }: { url: URL; host: string; port: number },
  hop: number,
): AllowedOrigin => {
  const origins = [...new Set(list.map((entry) => entry.origin))];
  const shown = origins.slice(0, ORIGINS_SHOWN_MAX).join(', ');
  const allowed = origins.length === 0 ? 'No origin is allowed.' : `Allowed: ${shown}.`;
  const hosts = list.filter((entry) => entry.host === host);
  if (hosts.length === 0)
    throw refuse('host-not-allowed', `The host ${quote(host)} is not on the list of this tool. ${allowed}`, {
      host,
      hop,
    });
  const schemes = hosts.filter((entry) => entry.scheme === url.protocol);
  if (schemes.length === 0)
    throw refuse(
      'scheme-not-allowed',
      `"${url.protocol}" is not allowed for the host ${quote(host)}. ${allowed}`,
      { scheme: url.protocol, host, hop },
    );
  const entry = schemes.find((candidate) => candidate.portNumbers.includes(port));
  if (!entry)
    throw refuse('port-not-allowed', `Port ${port} is not allowed for the host ${quote(host)}. ${allowed}`, {
      port,
      host,
      hop,
    });
  return entry;
};

export const blocked = (
  { address, range }: { address: string; range: string },
  at: { host: string; hop: number },
): ToolError =>
  refuse(
    'address-blocked',
    at.host === address
      ? `The address ${address} is not reachable for this tool (${range}). Use a public host that is allowed.`
      : `The host ${quote(at.host)} leads to ${address}, which is not reachable for this tool (${range}).`,
    { address, range, host: at.host, hop: at.hop },
  );

/**
 * Holds a URL against the list. `hop` is 1 for the URL of the call and counts redirects.
 * Errors: url-invalid, url-too-long, scheme-not-allowed, url-has-user, address-blocked, host-not-allowed,
 * port-not-allowed.
 */
export const admit = (text: string, list: readonly AllowedOrigin[], hop: number, base?: URL): Admitted => {
  if (text.length > URL_CHARS_MAX)
    throw refuse('url-too-long', `The URL has ${text.length} characters; the limit is ${URL_CHARS_MAX}.`, {
      limit: URL_CHARS_MAX,
      hop,
    });
  const url = URL.parse(text, base?.href);
  if (!url) throw refuse('url-invalid', `${quote(text)} is not a URL. Give an absolute https URL.`, { hop });
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('scheme-not-allowed', `"${url.protocol}" is not a web address. Give an https URL.`, {
      scheme: url.protocol,
      hop,
    });
  if (url.username !== '' || url.password !== '')
    throw refuse('url-has-user', 'The URL holds a user name or password before the host. Leave it out.', {
      hop,
    });
  const host = hostOf(url);
  const literal = isIP(host) !== 0;
  const port = portOf(url);
  if (literal && !list.some((entry) => entry.host === host)) {
    const verdict = judgeAddress(host);
    if (!verdict.ok) throw blocked({ address: host, range: verdict.range }, { host, hop });
  }
  const entry = choose(list, { url, host, port }, hop);
  url.hash = '';
  if (!literal) url.hostname = host;
  return { url, entry, host, port, literal };
};
