/**
 * Web sites of an example: a folder per host, served by a real HTTP server on loopback, so that an agent can be
 * shown without the internet. The server starts with the first request of a process, on any free port, and
 * never keeps the process alive: whoever resumes a session has its own. One server serves a folder for as long as
 * its process lives, however many agents are made.
 */
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { extname, join } from 'node:path';
import type { HttpAllow } from '../src/tool/http/allow.ts';
import type { Dial, Resolve } from '../src/tool/http/connect.ts';

const LOOPBACK = '127.0.0.1';
/** A name below one host's folder: no dots but in the ending, no way out. */
const PATH = /^(?:\/[a-z0-9-]+)+$/;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** What the HTTP tools are given: which hosts there are, and how they are reached. */
export type Site = {
  readonly allow: readonly HttpAllow[];
  readonly resolve: Resolve;
  readonly dial: Dial;
};

/** `folder` holds one folder per host: `folder/rates.example/vat.html` is http://rates.example/vat. */
export const siteOf = (folder: string): Site => {
  const hosts = readdirSync(folder).toSorted();
  let listening: number | undefined;
  return {
    allow: hosts.map((host) => ({ origin: `http://${host}`, allowPrivate: true })),
    async resolve(host) {
      if (!hosts.includes(host)) return [];
      listening = await portOf(folder, hosts);
      return [LOOPBACK];
    },
    // Called after resolve(), never before.
    dial: () => connect({ host: LOOPBACK, port: listening ?? 0 }),
  };
};

/** The port of each folder's server. */
const serving = new Map<string, Promise<number>>();

const portOf = (folder: string, hosts: readonly string[]): Promise<number> => {
  const port = serving.get(folder) ?? serve(answerFrom(folder, hosts));
  serving.set(folder, port);
  return port;
};

const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, LOOPBACK, resolve);
  await promise;
  server.unref();
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
};

const answerFrom =
  (folder: string, hosts: readonly string[]): RequestListener =>
  ({ headers, url = '' }, response) => {
    const host = (headers.host ?? '').replace(/:\d+$/, '');
    const [path = ''] = url.split('?');
    const file = hosts.includes(host) && PATH.test(path) ? fileAt(join(folder, host, path)) : undefined;
    if (file === undefined) return refuse(response);
    response.writeHead(200, { 'content-type': TYPES[extname(file)] });
    createReadStream(file).pipe(response);
  };

const fileAt = (base: string): string | undefined =>
  Object.keys(TYPES)
    .map((ending) => base + ending)
    .find((file) => existsSync(file) && statSync(file).isFile());

const refuse = (response: ServerResponse): void => {
  response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('There is no such page.\n');
};
