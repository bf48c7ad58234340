/**
 * One server of the measurement of pages. Usage: page-process.ts floor, or page-process.ts STORE. `floor` is a bare HTTP
 * server of Node that answers "/123" with 123 bytes; the other is the product over a store that was filled before.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openRuntime, SqliteLog } from '../src/index.ts';
import { listen } from '../src/server/listen.ts';
import type { Told } from './door-process.ts';

const [store = 'floor'] = process.argv.slice(2);

const floor = async (): Promise<Told> => {
  const server = createServer(({ url = '/0' }, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(Number(url.slice(1))));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'none' };
};

const product = async (): Promise<Told> => {
  const runtime = await openRuntime({ store: new SqliteLog(store), agents: [], drive: false });
  const door = await listen({ runtime, port: 0 });
  const by = { kind: 'program', name: 'bench' } as const;
  const { token } = await door.app.tokens.add({ name: 'bench', roles: ['read'] }, by);
  return { url: door.url, token };
};

process.send?.(store === 'floor' ? await floor() : await product());
