/**
 * One server of the measurement of the door. Usage: door-process.ts floor | serve STORE | drive STORE. `floor` is a bare
 * HTTP server of Node that reads the same body and answers as much; the others are the product, only serving, or
 * driving what was accepted, too. Tells its parent where it listens; asked for its memory, answers after a collection.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineAgent, openRuntime, scriptedModel, SqliteLog } from '../src/index.ts';
import { listen } from '../src/server/listen.ts';

export type Told = { readonly url: string; readonly token: string };
export type Memory = { readonly rssMb: number; readonly heapMb: number };

const [kind = 'floor', file = ''] = process.argv.slice(2);
/** Beyond any load: what is measured is the door, not its limits. */
const UNLIMITED = 1e9;

const floor = async (): Promise<Told> => {
  const answer = JSON.stringify({ session: 's_7Q2N8BXK', turn: 1, url: '/sessions/s_7Q2N8BXK/turns/1' });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(202, { 'content-type': 'application/json' }).end(answer);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'none' };
};

const product = async (drive: boolean): Promise<Told> => {
  const agent = defineAgent({
    name: 'clerk',
    instructions: 'Be brief.',
    model: scriptedModel({ name: 'brief', steps: [{ text: 'Done.' }] }),
  });
  const runtime = await openRuntime({ store: new SqliteLog(file), agents: [agent], drive });
  const door = await listen({
    runtime,
    port: 0,
    limits: {
      requestsPerSecond: UNLIMITED,
      requestBurst: UNLIMITED,
      requestsAtOnce: UNLIMITED,
      streamsPerToken: UNLIMITED,
      streams: UNLIMITED,
      heartbeatMs: UNLIMITED,
    },
  });
  const by = { kind: 'program', name: 'bench' } as const;
  const { token } = await door.app.tokens.add({ name: 'bench', roles: ['submit', 'read'] }, by);
  return { url: door.url, token };
};

const memory = (): Memory => {
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20 };
};

process.on('message', () => process.send?.(memory()));
process.send?.(kind === 'floor' ? await floor() : await product(kind === 'drive'));
