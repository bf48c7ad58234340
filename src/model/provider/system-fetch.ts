/** The way out: undici without timeouts of its own (the exchange has them), through the proxy that the environment names. */
import type { Dispatcher } from 'undici';
import { isLoopback } from './credential.ts';

export type Fetch = typeof globalThis.fetch;

/** Milliseconds for name resolution, TCP and TLS together. */
const CONNECT_MS = 15_000;

type Ways = { readonly direct: Dispatcher; readonly proxied: Dispatcher; readonly send: Fetch };

let ways: Promise<Ways> | undefined;

/** Sockets are shared by all models of a process; they hold nothing of a session. */
const open = async (): Promise<Ways> => {
  const { Agent, EnvHttpProxyAgent, fetch } = await import('undici');
  const options = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS } };
  return {
    direct: new Agent(options),
    proxied: new EnvHttpProxyAgent(options),
    // undici's own fetch and the platform's have one shape; their types are declared apart.
    send: fetch as unknown as Fetch,
  };
};

export const systemFetch: Fetch = async (input, init) => {
  ways ??= open();
  const { direct, proxied, send } = await ways;
  const { hostname } = new URL(input instanceof Request ? input.url : input);
  const dispatcher = isLoopback(hostname) ? direct : proxied;
  return send(input, { ...init, dispatcher } as unknown as RequestInit);
};
