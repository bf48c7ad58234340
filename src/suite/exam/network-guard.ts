/**
 * The network of a scenario: closed, but for the hosts that it names. While a suite runs, no socket of this process
 * is connected on behalf of a scenario's tools unless its host, or an address of it, was opened. Other work of the
 * process, and requests to a live model, go on as ever.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { lookup } from 'node:dns/promises';
import { isIP, Socket } from 'node:net';

export type Opened = { readonly hosts: ReadonlySet<string>; readonly refused: string[] };

const scope = new AsyncLocalStorage<Opened | undefined>();

let users = 0;
let connect: typeof Socket.prototype.connect | undefined;

/** Names and their addresses as they are now. A name that is not known opens nothing but itself. */
export const openedHosts = async (names: readonly string[]): Promise<Opened> => {
  const hosts = new Set<string>(names);
  for (const name of names.filter((one) => isIP(one) === 0))
    for (const { address } of await lookup(name, { all: true }).catch(() => [])) hosts.add(address);
  return { hosts, refused: [] };
};

/** The work is done with no other host than those. */
export const within = <T>(opened: Opened, work: () => T): T => scope.run(opened, work);

/** The work is nobody's scenario: the request to a live model. */
export const outside = <T>(work: () => T): T => scope.run(undefined, work);

/** Guards as long as anybody has it. Returns what lifts it. */
export const guardNetwork = (): (() => void) => {
  if (users++ === 0) {
    const original: typeof Socket.prototype.connect = Reflect.get(Socket.prototype, 'connect');
    connect = original;
    Socket.prototype.connect = function guarded(this: Socket, ...args: unknown[]): Socket {
      const opened = scope.getStore();
      const host = hostOf(args);
      if (opened && host !== undefined && !opened.hosts.has(host)) {
        opened.refused.push(host);
        const error = new Error(`The network of a scenario is closed: ${host} is not under "network".`);
        // As any connection that fails: an event, later.
        queueMicrotask(() => this.destroy(Object.assign(error, { code: 'ENETUNREACH' })));
        return this;
      }
      return Reflect.apply(original, this, args) as Socket;
    };
  }
  let lifted = false;
  return () => {
    if (lifted) return;
    lifted = true;
    if (--users === 0 && connect) Socket.prototype.connect = connect;
  };
};

/** Undefined for a socket of the file system. net hands options on as a list that it has made already. */
const hostOf = (args: readonly unknown[]): string | undefined => {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === 'object' && first !== null) {
    const { host, path } = first as { readonly host?: unknown; readonly path?: unknown };
    if (typeof path === 'string') return undefined;
    return typeof host === 'string' ? host : 'localhost';
  }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return undefined;
  return typeof second === 'string' ? second : 'localhost';
};
