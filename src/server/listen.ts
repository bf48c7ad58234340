/** The door on a socket: bound to an address, closed with a word to everybody who is still there. */
import { createAdaptorServer } from '@hono/node-server';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, type Clock } from '../clock.ts';
import { badInput, OnrecordError } from '../errors.ts';
import { createApp, type App, type DoorOptions } from './app.ts';
import { PAGES_FOLDER } from './pages.ts';

export const PORT = 4280;
/** A client leaves this one out of the name. */
const HTTP_PORT = 80;
/** A request's headers, and all of it, have to be there within these times. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 10_000;
const CONNECTIONS_MAX = 4096;
/** How long requests under way may take when the server stops. */
export const CLOSE_MS = 10_000;

export type ListenOptions = Omit<DoorOptions, 'hosts'> & {
  /** An address of this machine; default 127.0.0.1. */
  readonly host?: string;
  /** 0 takes one that is free. */
  readonly port?: number;
  /** Names that a proxy in front is called by: "agents.example.com". */
  readonly names?: readonly string[];
};

export type Listening = {
  readonly url: string;
  readonly port: number;
  readonly app: App;
  /** Takes nothing more, ends the streams, lets requests end for `ms`. */
  close(ms?: number): Promise<void>;
};

/** Throws `port-taken`, `address-unusable`. */
export const listen = async (options: ListenOptions): Promise<Listening> => {
  const { host = '127.0.0.1', port = PORT, names = [], clock = systemClock } = options;
  let hosts: readonly string[] = [];
  const app = createApp({ pages: PAGES_FOLDER, ...options, hosts: () => hosts });
  const server = createAdaptorServer({
    fetch: (request, env) =>
      app.fetch(request, 'incoming' in env ? env.incoming.socket.remoteAddress : undefined),
  }) as Server;
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = CONNECTIONS_MAX;
  // A connection that has just answered would be kept for the next request, and a server that stops wait for it.
  server.on('request', (_, response) =>
    response.once('close', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    }),
  );
  await bound(server, { host, port, hint: 'onrecord serve --port 0' });
  const { port: taken } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  hosts = hostNames(shown, taken, names);
  return {
    url: `http://${shown === '0.0.0.0' || shown === '[::]' ? 'localhost' : shown}:${taken}`,
    port: taken,
    app,
    close: (ms = CLOSE_MS) => close(server, app, { clock, ms }),
  };
};

export type Plain = { readonly url: string; close(): Promise<void> };

/** Pages without a door behind them, on this machine. Throws `port-taken`, `address-unusable`. */
export const listenPlainly = async (
  fetch: (request: Request) => Response,
  { host, port, hint }: Binding,
): Promise<Plain> => {
  const server = createAdaptorServer({ fetch }) as Server;
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.maxConnections = CONNECTIONS_MAX;
  await bound(server, { host, port, hint });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${taken}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
};

/**
 * Loopback has several names, and without a port they are those of whatever else runs there on port 80. Those of a
 * proxy come with or without a port.
 */
const hostNames = (host: string, port: number, names: readonly string[]): readonly string[] => {
  const local = ['127.0.0.1', 'localhost', '[::1]'];
  const here = host === '0.0.0.0' || host === '[::]' || local.includes(host) ? local : [host];
  const own = here.flatMap((name) => (port === HTTP_PORT ? [name, `${name}:${port}`] : [`${name}:${port}`]));
  return [...own, ...names.flatMap((name) => [name, `${name}:${port}`])];
};

type Binding = { readonly host: string; readonly port: number; readonly hint: string };

const bound = (server: Server, binding: Binding): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenProblem(error, binding)));
    server.listen(binding.port, binding.host, () => resolve());
  });

const listenProblem = (error: NodeJS.ErrnoException, { host, port, hint }: Binding): OnrecordError => {
  if (error.code === 'EADDRINUSE')
    return new OnrecordError(`Port ${port} of ${host} is taken already. Name another one, or 0 for any.`, {
      code: 'port-taken',
      next: 'fix-input',
      details: { host, port },
      hint,
      cause: error,
    });
  return badInput(
    'address-unusable',
    `The server cannot listen on ${host}:${port} (${error.code ?? error.message}).`,
    {
      host,
      port,
    },
  );
};

type Closing = { readonly clock: Clock; readonly ms: number };

const close = async (server: Server, app: App, { clock, ms }: Closing): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  app.close();
  server.closeIdleConnections();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  await Promise.race([closed, promise]);
  timer.cancel();
  // Whoever has not ended by now is cut off; what was accepted is in the log.
  server.closeAllConnections();
  await closed;
};
