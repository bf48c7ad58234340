/** Tool servers for tests: real processes, and a real socket with a server behind it that can be started anew. */
import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { onTestFinished } from 'vitest';
import { openToolServer, type ToolServer } from '../../src/tool/mcp/tools.ts';
import type { ToolServerOptions } from '../../src/tool/mcp/server.ts';
import { tempFolder } from './folder.ts';
import { linesIn } from './lines.ts';
import { sdkServer, type ServerPlan, type Taken } from './mcp-server.ts';

export const toolText = (name: string, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ name, description: `does ${name}`, inputSchema: { type: 'object' }, ...more });

/** The options of both kinds may be narrowed. */
export const opened = async (options: ToolServerOptions): Promise<ToolServer> => {
  const server = await openToolServer(options);
  onTestFinished(() => server.close());
  return server;
};

export type ProcessWorld = {
  readonly folder: string;
  readonly command: readonly string[];
  change(plan: Partial<ServerPlan>): void;
  calls(): readonly Taken[];
};

export const processWorld = (given: Partial<ServerPlan> = {}): ProcessWorld => {
  const folder = tempFolder();
  let plan: ServerPlan = { name: 'other', tools: [toolText('save')], acts: {}, ...given };
  // Put in place whole: the server may be reading it.
  const write = (): void => {
    writeFileSync(join(folder, 'plan.next'), JSON.stringify(plan));
    renameSync(join(folder, 'plan.next'), join(folder, 'plan.json'));
  };
  write();
  return {
    folder,
    command: [process.execPath, join(import.meta.dirname, 'mcp-server.ts'), folder],
    change(part) {
      plan = { ...plan, ...part };
      write();
    },
    calls() {
      return linesIn(join(folder, 'calls.jsonl')).map((line) => JSON.parse(line) as Taken);
    },
  };
};

export type SocketWorld = {
  readonly url: string;
  readonly calls: Taken[];
  /** Headers of every request, in order. */
  readonly heard: NodeJS.Dict<string | string[]>[];
  change(plan: Partial<ServerPlan>): void;
  /** All sessions are forgotten, as by a process that was started anew. */
  restart(): void;
  /** Called with each request before the SDK is; true where it has answered it itself. */
  before: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
};

export const socketWorld = async (
  given: Partial<ServerPlan> = {},
  { json = false }: { readonly json?: boolean } = {},
): Promise<SocketWorld> => {
  let plan: ServerPlan = { name: 'other', tools: [toolText('add')], acts: {}, ...given };
  let sessions = new Map<string, StreamableHTTPServerTransport>();
  const calls: Taken[] = [];
  const heard: NodeJS.Dict<string | string[]>[] = [];
  const world: Omit<SocketWorld, 'url'> = {
    calls,
    heard,
    change: (part) => void (plan = { ...plan, ...part }),
    restart: () => void (sessions = new Map()),
    before: () => false,
  };
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const own = sessions;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void own.set(id, transport),
    });
    const server = sdkServer({
      plan: () => plan,
      taken: (call) => void calls.push(call),
      headers: () => heard.at(-1),
    });
    await server.connect(transport);
    return transport;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known)
      return void response
        .writeHead(404)
        .end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    const transport = known ?? (await begin());
    await transport.handleRequest(request, response, body === '' ? undefined : (JSON.parse(body) as unknown));
  };
  const socket = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      heard.push(request.headers);
      if (!world.before(request, response, body)) void answer(request, response, body);
    });
  });
  return Object.assign(world, { url: `${await listening(socket)}/mcp` });
};

const listening = async (socket: Server): Promise<string> => {
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    socket.closeAllConnections();
    socket.close();
  });
  return `http://127.0.0.1:${(socket.address() as AddressInfo).port}`;
};
