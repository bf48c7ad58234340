/** A server of the experiment's own on a free port of this machine, for what stands outside of the product. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Heard = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export class Listener {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(
    answer: (heard: Heard, response: ServerResponse) => Promise<void> | void,
  ): Promise<Listener> {
    const server = createServer((request, response) => {
      void text(request).then(async (body) => {
        await answer({ path: request.url ?? '', headers: request.headers, body }, response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Listener(server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
