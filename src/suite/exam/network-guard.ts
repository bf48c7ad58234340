/**
 * The network of a scenario: closed, but for the hosts that it names. While a suite runs, nothing of this thread
 * connects, sends a datagram or asks for a name on behalf of a scenario's tools unless its host, or an address of it,
 * was opened. Other work of the process, and requests to a live model, go on as ever.
 *
 * TCP covers TLS, HTTP, HTTP/2, fetch and WebSocket: all of them connect a net.Socket. Not covered: sockets of the
 * file system, processes and threads that a tool starts, and native code.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket as Datagrams } from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP, Socket } from 'node:net';

export type Opened = { readonly hosts: ReadonlySet<string>; readonly refused: string[] };

const scope = new AsyncLocalStorage<Opened | undefined>();

/** Names and their addresses as they are now. A name that is not known opens nothing but itself. */
export const openedHosts = async (names: readonly string[]): Promise<Opened> => {
  const hosts = new Set<string>(names);
  for (const name of names.filter((one) => isIP(one) === 0))
    for (const { address } of await dns.promises.lookup(name, { all: true }).catch(() => []))
      hosts.add(address);
  return { hosts, refused: [] };
};

/** The work is done with no other host than those. */
export const within = <T>(opened: Opened, work: () => T): T => scope.run(opened, work);

/** The work is nobody's scenario: the request to a live model. */
export const outside = <T>(work: () => T): T => scope.run(undefined, work);

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

/** Answers for a method that is not to go on, as a network that is not there would. */
type Refusal = (error: Error, self: unknown, args: readonly unknown[]) => unknown;

type Door = {
  readonly of: object;
  readonly name: string;
  /** Undefined: it goes nowhere, or is no concern of the guard. */
  readonly host: (args: readonly unknown[], self: unknown) => string | undefined;
  readonly refuse: Refusal;
};

let users = 0;
let undo: (() => void)[] = [];

/** Guards as long as anybody has it. Returns what lifts it. */
export const guardNetwork = (): (() => void) => {
  if (users++ === 0) {
    undo = DOORS.map(closed);
    syncBuiltinESMExports();
  }
  let lifted = false;
  return () => {
    if (lifted) return;
    lifted = true;
    if (--users > 0) return;
    for (const open of undo) open();
    syncBuiltinESMExports();
  };
};

const closed = ({ of, name, host, refuse }: Door): (() => void) => {
  const original = Reflect.get(of, name) as Method;
  const isOwn = Object.hasOwn(of, name);
  const guarded: Method = function guarded(this: unknown, ...args) {
    const opened = scope.getStore();
    const wanted = opened && host(args, this);
    if (!opened || wanted === undefined || opened.hosts.has(wanted))
      return Reflect.apply(original, this, args);
    opened.refused.push(wanted);
    const error = new Error(`The network of a scenario is closed: ${wanted} is not under "network".`);
    return refuse(Object.assign(error, { code: 'ENETUNREACH' }), this, args);
  };
  Reflect.set(of, name, guarded);
  return () => {
    if (isOwn) Reflect.set(of, name, original);
    else Reflect.deleteProperty(of, name);
  };
};

/** Undefined for a socket of the file system. net hands options on as a list that it has made already. */
const socketHost = (args: readonly unknown[]): string | undefined => {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === 'object' && first !== null) {
    const { host, path } = first as { readonly host?: unknown; readonly path?: unknown };
    if (typeof path === 'string') return undefined;
    return typeof host === 'string' ? host : 'localhost';
  }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return undefined;
  return typeof second === 'string' ? second : 'localhost';
};

/** A connection that others have opened and kept. A server's side of one goes where its client came from. */
const keptHost = (_: readonly unknown[], self: unknown): string | undefined => {
  const { server, remoteAddress } = self as { readonly server?: unknown; readonly remoteAddress?: string };
  return server ? undefined : remoteAddress;
};

/** A socket that is connected names nobody: its peer was looked at when it was connected. */
const datagramHost = (args: readonly unknown[]): string | undefined => {
  const [, ...more] = args;
  if (more.every((one) => typeof one !== 'number')) return undefined;
  return more.find((one) => typeof one === 'string') ?? 'localhost';
};

const peerHost = ([, address]: readonly unknown[]): string =>
  typeof address === 'string' ? address : 'localhost';

/** Addresses need nobody who is asked. */
const askedName = ([name]: readonly unknown[]): string | undefined =>
  typeof name === 'string' && isIP(name) === 0 && name !== 'localhost' ? name : undefined;

/** As any failure of the network: later. */
const byCallback: Refusal = (error, self, args) => {
  const callback = args.findLast((one) => typeof one === 'function') as ((error: Error) => void) | undefined;
  queueMicrotask(() => (callback ? callback(error) : (self as Datagrams).emit('error', error)));
  return undefined;
};

const byRejection: Refusal = async (refused) => {
  throw refused;
};

const QUESTION = /^(?:lookup$|resolve|reverse)/;

const questions = (of: object, refuse: Refusal): readonly Door[] =>
  Object.getOwnPropertyNames(of)
    .filter((name) => QUESTION.test(name) && typeof Reflect.get(of, name) === 'function')
    .map((name) => ({ of, name, host: askedName, refuse }));

const ofSocket =
  (answer: 'self' | false): Refusal =>
  (error, self) => {
    queueMicrotask(() => (self as Socket).destroy(error));
    return answer === 'self' ? self : answer;
  };

const DOORS: readonly Door[] = [
  { of: Socket.prototype, name: 'connect', host: socketHost, refuse: ofSocket('self') },
  { of: Socket.prototype, name: 'write', host: keptHost, refuse: ofSocket(false) },
  { of: Datagrams.prototype, name: 'send', host: datagramHost, refuse: byCallback },
  { of: Datagrams.prototype, name: 'connect', host: peerHost, refuse: byCallback },
  ...questions(dns, byCallback),
  ...questions(dns.Resolver.prototype, byCallback),
  ...questions(dns.promises, byRejection),
  ...questions(dns.promises.Resolver.prototype, byRejection),
];
