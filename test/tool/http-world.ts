/** Real servers on loopback and a caller for the HTTP tool, shared by its tests. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ContentPart, ToolContent } from '../../src/tool/content.ts';
import type { HttpResult, HttpToolOptions } from '../../src/tool/http/get.ts';
import { httpTools } from '../../src/tool/http/get.ts';
import { type Dial, systemDial } from '../../src/tool/http/connect.ts';
import type { Preview } from '../../src/tool/preview.ts';
import { type Tool, type ToolContext, ToolError } from '../../src/tool/tool.ts';

export type Site = { readonly origin: string; readonly port: number; readonly seen: IncomingMessage[] };

/** Servers that end with the test that opened them. */
export class Sites implements AsyncDisposable {
  #servers: Server[] = [];

  async open(listener: RequestListener, address = '127.0.0.1'): Promise<Site> {
    const seen: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      seen.push(request);
      listener(request, response);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const { port } = server.address() as AddressInfo;
    return { origin: `http://${address.includes(':') ? `[${address}]` : address}:${port}`, port, seen };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

export type World = {
  readonly context: ToolContext;
  readonly lines: string[];
};

export const world = (signal: AbortSignal = new AbortController().signal): World => {
  const lines: string[] = [];
  return {
    lines,
    context: {
      signal,
      idempotencyKey: 's_TEST:1',
      attempt: 1,
      call: 's_TEST 1.1.1',
      log: { info: (line) => lines.push(line), warn: (line) => lines.push(line) },
      now: () => Date.UTC(2026, 2, 29, 1, 15),
      startedAt: 0,
      made: [],
      callTool: () => undefined,
      base: undefined,
    },
  };
};

export type Got = {
  readonly result: HttpResult;
  readonly bytes: Uint8Array | undefined;
  readonly lines: string[];
};
type Given = { url: string; headers?: Record<string, string> };

const only = (options: HttpToolOptions): Tool => {
  const [tool] = httpTools(options);
  if (!tool) throw new Error('no tool');
  return tool;
};

export const get = async (options: HttpToolOptions, given: Given, signal?: AbortSignal): Promise<Got> => {
  const { context, lines } = world(signal);
  const returned = await only(options).execute(given as never, context);
  if (!(returned instanceof ToolContent)) throw new Error('expected content');
  const find = <Kind extends ContentPart['kind']>(
    kind: Kind,
  ): Extract<ContentPart, { kind: Kind }> | undefined =>
    returned.parts.find((part): part is Extract<ContentPart, { kind: Kind }> => part.kind === kind);
  return { result: find('json')?.value as HttpResult, bytes: find('bytes')?.bytes, lines };
};

export const previewOf = async (options: HttpToolOptions, given: Given): Promise<Preview> => {
  const { preview } = only(options);
  if (!preview) throw new Error('no preview');
  return preview(given as never, world().context);
};

/** The ToolError that a call ends in; anything else fails the test. */
export const failure = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ToolError)) throw new Error(`expected a ToolError, got ${String(error)}`);
  return error;
};

/** A dial that writes down each connection attempt before it makes it. */
export const watched = (dial: Dial = systemDial): { dial: Dial; dialled: string[] } => {
  const dialled: string[] = [];
  return {
    dialled,
    dial: (target) => {
      dialled.push(target.address);
      return dial(target);
    },
  };
};

export const local = (site: Site): { origin: string; allowPrivate: true } => ({
  origin: site.origin,
  allowPrivate: true,
});
