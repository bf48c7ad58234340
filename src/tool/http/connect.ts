/**
 * One connection to one checked address. The name is resolved once; every address it has must be allowed;
 * the socket goes to an address from that answer, and the far end is compared before a byte is written.
 * Proxy variables are never read.
 */
import { lookup } from 'node:dns/promises';
import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { ToolError } from '../tool.ts';
import { judgeAddress, sameAddress } from './address.ts';
import { type Admitted, blocked, quote, refuse } from './allow.ts';

/** All addresses of a name, IPv4 and IPv6, in the order in which to try them. */
export type Resolve = (host: string) => Promise<readonly string[]>;
/** Opens a TCP connection to an address. A seam for tests that watch or forbid connections. */
export type Dial = (target: { readonly address: string; readonly port: number }) => Socket;

export type Connection = { readonly socket: Socket | TLSSocket; readonly address: string };

/** Addresses tried for one name before giving up. */
const ADDRESSES_TRIED_MAX = 4;

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);

export const systemDial: Dial = ({ address, port }) => netConnect({ host: address, port });

/** The promise, or the signal's reason as soon as it is aborted; a late answer is dropped. */
export const orAborted = async <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** The checked addresses of an admitted URL. Errors: name-not-found, address-blocked. */
export const checkedAddresses = async (
  { host, literal, entry }: Admitted,
  hop: number,
  { resolve, signal }: { resolve: Resolve; signal: AbortSignal },
): Promise<readonly string[]> => {
  let addresses: readonly string[] = [host];
  if (!literal)
    try {
      addresses = await orAborted(resolve(host), signal);
    } catch {
      signal.throwIfAborted();
      addresses = [];
    }
  if (addresses.length === 0)
    throw new ToolError(`The name ${quote(host)} has no address. Check the spelling, or try again later.`, {
      code: 'name-not-found',
      retryable: true,
      details: { host, hop },
    });
  for (const address of addresses) {
    const verdict = judgeAddress(address);
    if (!verdict.ok && !(verdict.reach === 'private' && entry.allowPrivate === true))
      throw blocked({ address, range: verdict.range }, { host, hop });
  }
  return addresses.slice(0, ADDRESSES_TRIED_MAX);
};

/** Resolves on the event, rejects on an error or on abort; the socket is destroyed on abort. */
const opened = async (
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve);
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('closed before it was open')));
  try {
    await orAborted(promise, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

const secured = async (
  raw: Socket,
  { host, literal, entry }: Admitted,
  signal: AbortSignal,
): Promise<TLSSocket> => {
  const socket = tlsConnect({
    socket: raw,
    // A name for an address is not sent; the certificate is held against `host` in both cases.
    host,
    ...(!literal && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    ...(entry.ca !== undefined && { ca: entry.ca }),
  });
  await opened(socket, 'secureConnect', signal);
  return socket;
};

/** Connects to one of the addresses. Errors: connection-failed, tls-failed, address-changed. */
export const connect = async (
  admitted: Admitted,
  addresses: readonly string[],
  { dial, signal, hop }: { dial: Dial; signal: AbortSignal; hop: number },
): Promise<Connection> => {
  const { host, port } = admitted;
  let reason = 'no address';
  for (const address of addresses) {
    const raw = dial({ address, port });
    // An error after the first must have a listener too, or it would end the process.
    raw.on('error', () => undefined);
    try {
      await opened(raw, 'connect', signal);
    } catch (error) {
      signal.throwIfAborted();
      reason = codeOf(error);
      continue;
    }
    if (!sameAddress(raw.remoteAddress ?? '', address)) {
      raw.destroy();
      throw refuse('address-changed', `The connection to ${quote(host)} did not reach the checked address.`, {
        host,
        hop,
      });
    }
    if (admitted.url.protocol === 'http:') return { socket: raw, address };
    try {
      return { socket: await secured(raw, admitted, signal), address };
    } catch (error) {
      raw.destroy();
      signal.throwIfAborted();
      throw refuse(
        'tls-failed',
        `The secure connection to ${quote(host)} failed (${codeOf(error)}). Nothing was sent.`,
        { host, hop, reason: codeOf(error) },
      );
    }
  }
  throw new ToolError(`No connection to ${quote(host)} on port ${port} (${reason}). Try again later.`, {
    code: 'connection-failed',
    retryable: true,
    details: { host, port, hop, reason },
  });
};

/** The code of a system error; never its message, which may quote addresses, headers or URLs. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
