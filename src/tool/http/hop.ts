/**
 * One GET with its redirects. Each hop is a request of its own: admitted, resolved, checked, connected and
 * given only the credential that belongs to its origin.
 */
import type { Readable } from 'node:stream';
import { Client } from 'undici';
import { SECRET_CHARS_MIN, type SecretMask } from '../../secret/mask.ts';
import type { Logger } from '../tool.ts';
import { ToolError } from '../tool.ts';
import { admit, type Admitted, type AllowedOrigin, type HttpCredential, isHomeOf, refuse } from './allow.ts';
import { ACCEPT_ENCODING, readBody } from './body.ts';
import {
  checkedAddresses,
  codeOf,
  connect,
  type Connection,
  type Dial,
  orAborted,
  type Resolve,
} from './connect.ts';
import { type BoundSecret, checkRedirect, putIn } from './secret.ts';

export type Hop = {
  readonly url: string;
  readonly status: number;
  readonly address: string;
  /** Name of the credential that was sent. */
  readonly credential?: string;
  /** Credential headers of the hop before that were not carried to this origin. */
  readonly dropped?: readonly string[];
};

export type Answer = {
  readonly url: string;
  readonly base: URL;
  readonly status: number;
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
  readonly hops: readonly Hop[];
};

export type Net = {
  readonly allow: readonly AllowedOrigin[];
  readonly secrets: readonly BoundSecret[];
  readonly mask: SecretMask;
  readonly resolve: Resolve;
  readonly dial: Dial;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly bytesMax: number;
  /** Filled hop by hop, so that whoever stops the request can say how far it came. */
  readonly hops: Hop[];
};

type Headers = Readonly<Record<string, string>>;

const REDIRECTS_MAX = 5;
const HEADER_BYTES_MAX = 16_384;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The credential of this origin, asked for now. Errors: credential-missing. */
const attach = async (
  admitted: Admitted,
  net: Net,
): Promise<{ credential: HttpCredential; value: string } | undefined> => {
  const { credential } = admitted.entry;
  if (!credential || !isHomeOf(admitted.entry, admitted)) return undefined;
  let value: unknown;
  try {
    value = await orAborted(Promise.resolve(credential.value()), net.signal);
  } catch {
    // Whatever the caller's function threw may quote the secret.
    net.signal.throwIfAborted();
  }
  if (typeof value !== 'string' || value.length < SECRET_CHARS_MIN || !/^[\x20-\x7e]+$/.test(value))
    throw refuse(
      'credential-missing',
      `The credential ${credential.name} for "${admitted.entry.origin}" could not be read. A person has to set it.`,
      { credential: credential.name, origin: admitted.entry.origin },
    );
  net.mask.add(credential.name, value);
  return { credential, value };
};

type Exchange = {
  readonly status: number;
  readonly location: string | undefined;
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
};

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** A redirect has exactly one target; two Location headers are a disagreement, not a choice. */
const targetOf = (status: number, location: string | string[] | undefined): string | undefined => {
  if (!REDIRECT_STATUSES.has(status) || location === undefined) return undefined;
  if (Array.isArray(location))
    throw refuse('redirect-invalid', 'The redirect names several targets. Ask for the page itself.');
  return location;
};

const exchange = async (url: URL, headers: Headers, connection: Connection, net: Net): Promise<Exchange> => {
  let socket: Connection['socket'] | undefined = connection.socket;
  const client = new Client(url.origin, {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_BYTES_MAX,
    // One socket, checked before: a second connection would not be.
    connect: (_options, callback) => {
      const once = socket;
      socket = undefined;
      // Not before connect() has returned: the client is not ready for an answer until then.
      queueMicrotask(() => (once ? callback(null, once) : callback(new Error('one connection only'), null)));
    },
  });
  let body: Readable | undefined;
  try {
    const answer = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, 'accept-encoding': ACCEPT_ENCODING, 'user-agent': 'onrecord' },
      signal: net.signal,
    });
    body = answer.body;
    // Destroying a body that is not read to its end reports an error that nobody waits for.
    body.on('error', () => undefined);
    const { statusCode: status } = answer;
    const location = targetOf(status, answer.headers.location);
    const bytes =
      location === undefined
        ? await readBody(body, answer.headers['content-encoding'], net)
        : new Uint8Array();
    return { status, location, type: single(answer.headers['content-type']), bytes };
  } catch (error) {
    net.signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    throw new ToolError('The server did not give a valid answer. Try again later.', {
      code: 'answer-broken',
      retryable: true,
      details: { reason: codeOf(error) },
    });
  } finally {
    body?.destroy();
    await client.destroy();
    connection.socket.destroy();
  }
};

/**
 * Errors: those of `admit`, `putIn`, `checkRedirect`, `connect` and `readBody`; too-many-redirects,
 * redirect-invalid, answer-broken.
 */
export const follow = async (first: string, headers: Headers, net: Net): Promise<Answer> => {
  const { hops } = net;
  /** Everything that must not travel on, with where it belongs. */
  const bound = [...net.secrets];
  let admitted = admit(first, net.allow, 1);
  admitted = { ...admitted, url: putIn(admitted, net.secrets) };
  let carried: string | undefined;
  for (;;) {
    const hop = hops.length + 1;
    const addresses = await checkedAddresses(admitted, hop, net);
    const attached = await attach(admitted, net);
    if (attached)
      bound.push({
        name: attached.credential.name,
        value: attached.value,
        origins: [admitted.url.origin],
      });
    const connection = await connect(admitted, addresses, { ...net, hop });
    const sent = attached ? { ...headers, [attached.credential.header]: attached.value } : headers;
    const answer = await exchange(admitted.url, sent, connection, net);
    const dropped =
      carried !== undefined && hops.at(-1)?.credential !== attached?.credential.name ? carried : undefined;
    if (dropped !== undefined) net.log.info(`Redirect hop ${hop}: other origin, headers dropped: ${dropped}`);
    hops.push({
      url: net.mask.apply(admitted.url.href),
      status: answer.status,
      address: connection.address,
      ...(attached && { credential: attached.credential.name }),
      ...(dropped !== undefined && { dropped: [dropped] }),
    });
    if (answer.location === undefined)
      return { ...answer, url: net.mask.apply(admitted.url.href), base: admitted.url, hops };
    if (hops.length > REDIRECTS_MAX)
      throw refuse('too-many-redirects', `More than ${REDIRECTS_MAX} redirects. Ask for the final URL.`, {
        limit: REDIRECTS_MAX,
      });
    carried = attached?.credential.header;
    admitted = admit(answer.location, net.allow, hop + 1, admitted.url);
    checkRedirect(admitted, bound, hop + 1);
  }
};
